//! A design out of several sources: each owns what it brings, layers are kept, and every value tells where it is from.

use serde_json::Value;

use crate::program::Ground;

/// A repository: everything but addresses.
const REPOSITORY: &str = "---
{schema: drydock/Network/v1, metadata: {name: oob}, data: {cidr: 10.0.0.0/24}}
---
{schema: drydock/NetworkLink/v1, metadata: {name: oob}, data: {trunking: {default_network: oob}, allowed_networks: [oob]}}
---
{schema: drydock/HardwareProfile/v1, metadata: {name: hw}, data: {}}
---
{schema: drydock/HostProfile/v1, metadata: {name: base}, data: {hardware_profile: hw, primary_network: oob, platform: {image: jammy},
  storage: {physical_devices: {sda: {partitions: [{name: root, size: 30g, filesystem: {mountpoint: /}}]}}}}}
---
schema: drydock/BaremetalNode/v1
metadata: {name: n1}
data:
  host_profile: base
  interfaces:
    oob: {device_link: oob, networks: [oob]}
";

/// An IPAM: nothing but addresses.
const ADDRESSES: &str = "---
schema: drydock/BaremetalNode/v1
metadata: {name: n1}
data:
  addressing:
  - {network: oob, address: 10.0.0.5}
";

#[test]
fn an_ipam_brings_the_addresses_and_a_repository_the_rest_in_any_order() {
    let ground = Ground::fresh();
    ground.file("repository.yaml", REPOSITORY);
    ground.file("addresses.yaml", ADDRESSES);
    let repository = "design import repository.yaml -n NAMESPACE --create-namespace --source repository";
    let ipam = "design import addresses.yaml -n NAMESPACE --create-namespace --source ipam";
    let mut told = Vec::new();
    for (namespace, lines) in [("one", [repository, ipam]), ("two", [ipam, repository])] {
        for line in lines {
            ground.run(&line.replace("NAMESPACE", namespace));
        }
        told.push(ground.run(&format!("design effective n1 -n {namespace} -o json")));
        assert!(
            ground.run(&format!("design validate -n {namespace} -q")).ends_with("0 errors, 2 warnings\n")
        );
    }
    assert_eq!(told[0], told[1]);
    let node: Value = serde_json::from_str(&told[0]).unwrap();
    let by = |path: &str| {
        let values = node["values"].as_array().unwrap();
        values.iter().find(|one| one["path"] == path).unwrap()["by"].clone()
    };
    let address = by("addressing.oob");
    assert_eq!(
        (&address["source"], &address["file"], &address["line"]),
        (&"ipam".into(), &"addresses.yaml".into(), &6.into())
    );
    let link = by("interfaces.oob.device_link");
    assert_eq!(
        (&link["source"], &link["file"], &link["line"]),
        (&"repository".into(), &"repository.yaml".into(), &16.into())
    );

    // Each source may change what is its own, and neither touches the other's.
    ground.file("addresses.yaml", &ADDRESSES.replace("10.0.0.5", "10.0.0.6"));
    ground.run(&ipam.replace("NAMESPACE", "one"));
    ground.file("repository.yaml", &REPOSITORY.replace("jammy", "noble"));
    ground.run(&repository.replace("NAMESPACE", "one"));
    let text = ground.run("design effective n1 -n one");
    assert!(text.contains("addressing.oob = 10.0.0.6") && text.contains("platform.image = noble"), "{text}");

    // A field of another source is a conflict that names it.
    ground.file(
        "repository.yaml",
        &format!("{REPOSITORY}  addressing: [{{network: oob, address: 10.0.0.9}}]\n"),
    );
    let refused = ground.told(&repository.replace("NAMESPACE", "one"));
    assert!(
        refused.code == 1 && refused.err.contains("BaremetalNode/n1: spec.addressing belongs to source ipam"),
        "{refused:?}"
    );
    assert!(refused.err.contains("nothing was imported"), "{refused:?}");

    // When the IPAM lets go of a node, its address goes, and the design says what is missing.
    ground.file("addresses.yaml", "{schema: drydock/Rack/v1, metadata: {name: r1}, data: {}}\n");
    ground.run(&format!("{} --prune", ipam.replace("NAMESPACE", "one")));
    let found = ground.told("design validate -n one -q");
    assert!(found.code == 1 && found.out.contains("at least one address is required"), "{found:?}");
    assert_eq!(ground.run("get baremetalnode n1 -n one -o jsonpath={.spec.host_profile}"), "base");
    ground.until(
        "get design one -n one -o jsonpath={.status.conditions[?(@.type==\"Compiled\")].reason}",
        "Unreadable",
    );
}

const GLOBAL: &str = "---
{schema: deckhand/LayeringPolicy/v1, metadata: {schema: metadata/Control/v1, name: policy}, data: {layerOrder: [global, site]}}
---
schema: drydock/HostProfile/v1
metadata:
  name: base
  labels: {role: base}
  layeringDefinition: {layer: global, abstract: true}
data:
  hardware_profile: hw
  platform:
    image: jammy
    kernel: ga
";
const SITE: &str = "---
schema: drydock/HostProfile/v1
metadata:
  name: compute
  layeringDefinition: {layer: site, parentSelector: {role: base}, actions: [{method: merge, path: .}]}
data:
  platform:
    kernel: hwe
---
{schema: drydock/HardwareProfile/v1, metadata: {name: hw, layeringDefinition: {layer: site}}, data: {}}
---
{schema: drydock/Network/v1, metadata: {name: oob, layeringDefinition: {layer: site}}, data: {cidr: 10.0.0.0/24}}
---
{schema: drydock/BaremetalNode/v1, metadata: {name: n1, layeringDefinition: {layer: site}}, data: {host_profile: compute,
  addressing: [{network: oob, address: 10.0.0.5}]}}
";

#[test]
fn layers_are_kept_and_rendered_on_the_server() {
    let ground = Ground::fresh();
    ground.file("m/global/base.yaml", GLOBAL);
    ground.file("m/site/here/site.yaml", SITE);
    ground.file(
        "m/site/here/site-definition.yaml",
        "{schema: pegleg/SiteDefinition/v1, metadata: {name: here}, data: {site_type: lab}}\n",
    );
    ground.run("design import m --site here -n here --create-namespace --source manifests");
    // The abstract parent is an object of its own.
    assert_eq!(ground.run("get hostprofile base -n here -o jsonpath={.spec.layering.layer}"), "global");
    assert_eq!(
        ground.run("get hostprofile compute -n here -o jsonpath={.spec.platform}"),
        "{\"kernel\":\"hwe\"}"
    );
    assert_eq!(ground.run("get design here -n here -o jsonpath={.spec.layers}"), "[\"global\",\"site\"]");
    let offline: Value =
        serde_json::from_str(&ground.run("design effective n1 m --site here -o json")).unwrap();
    let mut online: Value = serde_json::from_str(&ground.run("design effective n1 -n here -o json")).unwrap();
    for one in online["values"].as_array_mut().unwrap() {
        assert!(
            one["by"].is_null()
                || one["by"].as_object_mut().unwrap().remove("source") == Some("manifests".into()),
            "{one}"
        );
    }
    for one in online["values"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .flat_map(|one| one["overrode"].as_array_mut().unwrap())
    {
        one["by"].as_object_mut().unwrap().remove("source");
        one["setBy"].as_object_mut().unwrap().remove("source");
    }
    assert_eq!(offline, online);
    let text = ground.run("get --raw '/apis/design.groundplane.dev/v1alpha1/namespaces/here/designs/here/effective?node=n1&output=text'");
    assert!(
        text.contains("platform.image = jammy") && text.contains("HostProfile/base (source manifests: m/global/base.yaml:12:12) in layer global, via HostProfile/compute"),
        "{text}"
    );
    // A revision keeps the layers and where values are from.
    ground.run("wait --for=condition=Compiled design/here -n here --timeout=60s");
    ground.run("design promote -n here --allow-errors");
    let then = ground.run("design effective n1 -n here --at 1");
    assert!(then.contains("m/global/base.yaml:12:12") && then.contains("in layer global"), "{then}");
    // A change of the parent reaches the node through the layers.
    ground.run(
        "patch hostprofile base -n here --type=merge -p '{\"spec\":{\"platform\":{\"image\":\"noble\"}}}'",
    );
    let changed = ground.run("design effective n1 -n here");
    assert!(
        changed.contains("platform.image = noble")
            && changed.contains("(source groundplane) in layer global"),
        "{changed}"
    );
    assert!(ground.told("design diff -n here").out.contains("platform.image: jammy -> noble"));
}

#[test]
fn real_sites_compile_to_the_same_on_a_server() {
    let Some(treasuremap) = require::cases("treasuremap") else { return };
    let ground = Ground::fresh();
    let root = treasuremap.to_str().unwrap();
    for site in ["airsloop", "seaworthy"] {
        let line = format!("design compile '{root}' --site {site} --allow-missing-sources -o drydock-json");
        let offline: Value = serde_json::from_str(&ground.run(&line)).unwrap();
        ground.run(&format!(
            "design import '{root}' --site {site} --allow-missing-sources -n {site} --create-namespace"
        ));
        let online: Value =
            serde_json::from_str(&ground.run(&format!("design compile -n {site} -o drydock-json"))).unwrap();
        for part in [
            "region",
            "networks",
            "network_links",
            "hardware_profiles",
            "host_profiles",
            "nodes",
            "error_count",
            "status",
        ] {
            assert_eq!(offline[part], online[part], "{site}: {part}");
        }
    }
}
