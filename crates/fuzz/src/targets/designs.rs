//! Documents of a site on their whole way: read, layered, compiled, validated, compared, printed, made objects and back. Whatever they say, they are
//! answered, and a site does not differ from itself.

use std::path::Path;

use design::compile::{LshwInputs, compile};
use design::deckhand::{MissingSource, render_with};
use design::document::parse;
use design::object::{Layers, compose, documents_of, item_of, object_of};
use design::reach::reach;
use design::user_kinds::UserKinds;
use design::validate::diagnose;

use super::Target;

pub const TARGET: Target = Target {
    name: "designs",
    check,
    seeds,
    words: &[
        "---\n",
        "schema: drydock/HostProfile/v1",
        "schema: drydock/BaremetalNode/v1",
        "apiVersion: design.groundplane.dev/v1alpha1",
        "metadata: {name: ",
        "host_profile: ",
        "layeringDefinition: {abstract: true, layer: site}",
        "parentSelector: {a: b}",
        "actions: [{method: merge, path: .}]",
        "substitutions: [{src: {",
        "dest: {path: .a[0], pattern: '(', recurse: {depth: -1}}",
        "replacement: true",
        "hardwareprofile:cpuset.",
        "regexp:(",
        "addressing: [{network: a, address: dhcp}]",
        "cidr: 10.0.0.1/33",
        "size: '>99999999999999999999%'",
        "'!': ",
        "'!a': {}",
        "partitions: [{name: root, size: 30g}]",
        "raid: {a: {level: 1, disks: [b]}}",
        "$ref: '#'",
        "null",
    ],
};

fn check(bytes: &[u8]) {
    let Ok(loaded) = parse("bent.yaml", bytes) else { return };
    let _ = UserKinds::of(&loaded.documents).check(&loaded.documents);
    if let Ok(rendering) = render_with(loaded.documents.clone(), MissingSource::Warn) {
        let _ = compile(&rendering.documents, &LshwInputs::new());
    }
    for layers in [Layers::Rendered, Layers::Kept] {
        let kinds = UserKinds::of(&loaded.documents);
        let write = |one| object_of(one, layers).unwrap_or_else(|| item_of(one, layers, &kinds)).object;
        let written: Vec<_> = loaded.documents.iter().map(write).collect();
        let names = ["global".to_owned(), "type".to_owned(), "site".to_owned()];
        if let Ok(composed) = compose(documents_of(&written, &|_, _| None), &names) {
            let _ = compile(&composed.documents, &LshwInputs::new()).to_drydock_json();
        }
    }
    let compiled = compile(&loaded.documents, &LshwInputs::new()).validated();
    let _ = (compiled.to_drydock_json(), diagnose(&compiled));
    let Some(site) = compiled.site() else { return };
    assert!(reach(site, site).is_empty(), "a site differs from itself");
    for node in &site.nodes {
        let values = node.explain();
        assert!(values.iter().all(|one| !one.path.is_empty()), "every value of {} has a path", node.name());
    }
}

/// The corner cases, and documents in layers.
fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/corner");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let bundles = files.filter(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    let mut seeds: Vec<Vec<u8>> = bundles.filter_map(|file| std::fs::read(file).ok()).collect();
    seeds.sort();
    seeds.push(LAYERED.as_bytes().to_vec());
    seeds
}

const LAYERED: &str = "---
{schema: deckhand/LayeringPolicy/v1, metadata: {name: p}, data: {layerOrder: [global, site]}}
---
{schema: drydock/HostProfile/v1, metadata: {name: g, labels: {a: b}, layeringDefinition: {abstract: true, layer: global}}, data: {platform: {image: x}, metadata: {tags: [t]}}}
---
schema: drydock/HostProfile/v1
metadata:
  name: s
  layeringDefinition: {abstract: false, layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}, {method: delete, path: .metadata}]}
  substitutions: [{src: {schema: k/K/v1, name: v, path: .a.b[0], pattern: '(x)', match_group: 1}, dest: {path: .oob.credential}}]
data: {oob: {type: ipmi}}
---
{schema: k/K/v1, metadata: {name: v, layeringDefinition: {abstract: false, layer: site}}, data: {a: {b: [xyz]}}}
";
