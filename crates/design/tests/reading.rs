//! What is wrong with documents is told whole, with file and line.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use design::{
    document::parse,
    model::{Design, Fault, Problem},
};

fn problems(text: &str) -> Vec<Problem> {
    let documents = parse("site.yaml", text.as_bytes()).unwrap().documents;
    Design::read(&documents).outcomes.into_iter().flat_map(|outcome| outcome.problems.clone()).collect()
}

fn told(text: &str) -> Vec<String> {
    problems(text).iter().map(ToString::to_string).collect()
}

#[test]
fn every_mistake_of_a_document_is_told_with_its_line() {
    let text = "\
schema: drydock/Network/v1
metadata: {schema: metadata/Document/v1, name: mgmt}
data:
  cidr: 10.0.0.0/24
  vlan: 100
  colour: red
  routes:
    - subnet: 0.0.0.0/0
      gateway: 10.0.0.1
      metric: cheap
";
    let expected = [
        "site.yaml:6:3: unknown field `colour`; known fields are cidr, vlan, mtu, routedomain, dns, ranges, routes, dhcp_relay, labels",
        "site.yaml:5:9: vlan: expected a string, found an integer",
        "site.yaml:10:15: routes[0].metric: expected a number, found a string",
    ];
    assert_eq!(told(text), expected);
    assert!(problems(text).iter().all(|problem| problem.fault == Fault::Shape));
}

#[test]
fn a_network_without_a_subnet_has_the_shape_but_no_meaning() {
    let text = "{schema: drydock/Network/v1, metadata: {name: mgmt}, data: {mtu: 1500}}";
    let problems = problems(text);
    assert_eq!(problems.len(), 1);
    assert_eq!((problems[0].fault, problems[0].path.as_str()), (Fault::Missing, "cidr"));
}

#[test]
fn a_legacy_document_is_read_as_far_as_it_makes_sense() {
    let text = "{apiVersion: drydock/v1, kind: Network, metadata: {name: mgmt}, spec: {cidr: 10.0.0.0/24, vlan: 100, colour: red}}";
    let documents = parse("site.yaml", text.as_bytes()).unwrap().documents;
    let design = Design::read(&documents);
    assert_eq!(design.networks[0].vlan.as_ref().unwrap().value, "100");
    assert_eq!(design.outcomes[0].problems[0].fault, Fault::Ignored);
    assert!(design.is_whole());
}

#[test]
fn scalars_become_the_text_that_python_prints() {
    let text = "
schema: drydock/HostProfile/v1
metadata: {name: p}
data: {platform: {kernel_params: {quiet: true, debug: false, n: 5, f: 1.5}}}
";
    let documents = parse("site.yaml", text.as_bytes()).unwrap().documents;
    let design = Design::read(&documents);
    let params = &design.host_profiles[0].settings.kernel_params;
    let values: Vec<&str> = params.values().map(|set| set.value.as_str()).collect();
    assert_eq!(values, ["True", "False", "5", "1.5"]);
}

#[test]
fn a_value_knows_the_document_layer_and_line_that_set_it() {
    let text = "\
schema: drydock/HostProfile/v1
metadata:
  name: p
  layeringDefinition: {layer: site}
data:
  platform:
    image: jammy
";
    let documents = parse("site.yaml", text.as_bytes()).unwrap().documents;
    let image = Design::read(&documents).host_profiles[0].settings.image.clone().unwrap();
    assert_eq!(image.by.to_string(), "HostProfile/p (site.yaml:7:12) in layer site");
}

#[test]
fn the_legacy_reader_takes_any_version_and_keeps_promenades_documents() {
    let text = "
---
{apiVersion: drydock/v7, kind: Network, metadata: {name: mgmt}, spec: {cidr: 10.0.0.0/24}}
---
{apiVersion: promenade/v1, kind: Genesis, metadata: {name: g, target: all}, spec: {}}
---
{apiVersion: drydock/v1, kind: Region, metadata: {name: r}, spec: {repositories: {main: {colour: red}}}}
";
    let design = Design::read(&parse("site.yaml", text.as_bytes()).unwrap().documents);
    assert!(design.is_whole(), "{:?}", design.outcomes);
    assert_eq!((design.networks.len(), design.outcomes.len()), (1, 3));
    assert!(design.region.unwrap().repositories.is_none());
}
