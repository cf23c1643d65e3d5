//! A design that is compiled after each change is the one that is compiled from the start.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeMap, sync::Arc};

use design::{
    compile::{Compiled, Compiler, LshwInputs, compile},
    document::{Document, parse},
    object::{Composer, compose},
    provenance,
    validate::diagnose,
};
use proptest::prelude::*;

/// A change of one document of a small site: its name, and what it says now; nothing removes it.
type Edit = (String, Option<String>);

fn document(name: &str, schema: &str, metadata: &str, data: &str) -> Edit {
    let text = format!("{{schema: {schema}, metadata: {{name: {name}{metadata}}}, data: {data}}}");
    (format!("{schema} {name}"), Some(text))
}

/// The site that edits begin with: three nodes, profiles in a chain and in layers, networks, a substituted value.
fn start() -> Vec<Edit> {
    let layered = ", layeringDefinition: {layer: site, parentSelector: {role: base}, actions: [{method: merge, path: .}]}";
    let mut edits = vec![
        document("a", "drydock/Network/v1", "", "{cidr: 10.0.0.0/24, dns: {domain: a.example}}"),
        document("b", "drydock/Network/v1", "", "{cidr: 10.1.0.0/24, routedomain: d}"),
        document("hw", "drydock/HardwareProfile/v1", "", "{vendor: Dell}"),
        document("v", "shop/Versions/v1", "", "{image: jammy}"),
        document(
            "base",
            "drydock/HostProfile/v1",
            ", labels: {role: base}, layeringDefinition: {layer: global, abstract: true}",
            "{hardware_profile: hw, primary_network: a}",
        ),
        document("p", "drydock/HostProfile/v1", layered, "{metadata: {tags: [x, y]}}"),
        document(
            "q",
            "drydock/HostProfile/v1",
            ", substitutions: [{src: {schema: shop/Versions/v1, name: v, path: .image}, dest: {path: .platform.image}}]",
            "{host_profile: p}",
        ),
        document(
            "join",
            "drydock/BootAction/v1",
            "",
            "{assets: [], node_filter: {filter_set_type: union, filter_set: [{filter_type: union, node_tags: [x]}]}}",
        ),
    ];
    edits.extend((1..4).map(|i| node(i, "q", "")));
    edits
}

fn node(i: usize, profile: &str, more: &str) -> Edit {
    let data =
        format!("{{host_profile: {profile}, addressing: [{{network: a, address: 10.0.0.{i}}}]{more}}}");
    document(&format!("n{i}"), "drydock/BaremetalNode/v1", "", &data)
}

fn edit() -> impl Strategy<Value = Edit> {
    let tag = prop_oneof![Just("x"), Just("z"), Just("'!x'"), Just("'!y'")];
    prop_oneof![
        (1..5_usize, prop_oneof![Just("p"), Just("q"), Just("none")], tag)
            .prop_map(|(i, profile, tag)| node(i, profile, &format!(", metadata: {{tags: [{tag}]}}"))),
        (1..5_usize).prop_map(|i| (format!("drydock/BaremetalNode/v1 n{i}"), None)),
        (1..5_usize).prop_map(|i| document(
            &format!("n{i}"),
            "drydock/BaremetalNode/v1",
            "",
            "{host_profile: p}"
        )),
        "[a-c]{1}".prop_map(|name| document(
            &name,
            "drydock/Network/v1",
            "",
            "{cidr: 10.0.0.0/16, dns: {domain: other.example, servers: '10.0.0.1'}}"
        )),
        "[a-c]{1}".prop_map(|name| (format!("drydock/Network/v1 {name}"), None)),
        "(noble|jammy)".prop_map(|image| document(
            "v",
            "shop/Versions/v1",
            "",
            &format!("{{image: {image}}}")
        )),
        Just(("shop/Versions/v1 v".to_owned(), None)),
        "(x|w)".prop_map(|tag| document(
            "base",
            "drydock/HostProfile/v1",
            ", labels: {role: base}, layeringDefinition: {layer: global, abstract: true}",
            &format!("{{hardware_profile: hw, primary_network: b, metadata: {{rack: {tag}}}}}")
        )),
        "(hw|hw2)".prop_map(|name| document(
            &name,
            "drydock/HardwareProfile/v1",
            "",
            "{vendor: HP, cpu_sets: {a: '1-2'}}"
        )),
        Just(document("q", "drydock/HostProfile/v1", "", "{host_profile: q}")),
        Just(document("q", "drydock/HostProfile/v1", "", "{host_profile: p, hardware_profile: hw}")),
    ]
}

/// All output for a compiled design.
fn told(compiled: Compiled) -> (String, Vec<String>, Vec<String>) {
    let compiled = compiled.validated();
    let nodes = compiled.site().into_iter().flat_map(|site| &site.nodes);
    let nodes = nodes.map(|node| provenance::node_json(node).to_string()).collect();
    let findings = diagnose(&compiled).iter().map(ToString::to_string).collect();
    (compiled.to_drydock_json().to_string(), nodes, findings)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn after_any_changes_the_result_is_that_of_a_compilation_from_the_start(
        edits in proptest::collection::vec(proptest::collection::vec(edit(), 1..3), 1..12)
    ) {
        let layers = ["global".to_owned(), "site".to_owned()];
        let mut documents: BTreeMap<String, Arc<Document>> = BTreeMap::new();
        let (mut composer, mut compiler) = (Composer::default(), Compiler::default());
        for (step, edits) in [start()].into_iter().chain(edits).enumerate() {
            for (name, text) in edits {
                match text {
                    Some(text) => {
                        let mut read = parse(&format!("{step} {name}"), text.as_bytes()).unwrap().documents;
                        documents.insert(name, Arc::new(read.remove(0)));
                    }
                    None => drop(documents.remove(&name)),
                }
            }
            let shared: Vec<Arc<Document>> = documents.values().cloned().collect();
            let whole = compose(shared.iter().map(|one| Document::clone(one)).collect(), &layers);
            match (composer.compose(&shared, &layers), whole) {
                (Ok(shared), Ok(whole)) => {
                    let after = told(compiler.compile(&shared.documents));
                    let fresh = told(compile(&whole.documents, &LshwInputs::new()));
                    prop_assert_eq!(&after, &fresh);
                    prop_assert_eq!(shared.missing.len(), whole.missing.len());
                }
                (a, b) => prop_assert_eq!(a.is_err(), b.is_err()),
            }
        }
    }
}

#[test]
fn a_change_of_one_node_leaves_the_others_untouched() {
    let mut documents: Vec<Arc<Document>> = start()
        .into_iter()
        .map(|(name, text)| Arc::new(parse(&name, text.unwrap().as_bytes()).unwrap().documents.remove(0)))
        .collect();
    let layers = ["global".to_owned(), "site".to_owned()];
    let (mut composer, mut compiler) = (Composer::default(), Compiler::default());
    let mut compiled = |documents: &[Arc<Document>]| {
        compiler.compile(&composer.compose(documents, &layers).unwrap().documents)
    };
    let before = compiled(&documents);
    let changed = node(1, "p", "").1.unwrap();
    let place = documents.iter().position(|one| one.name() == "n1").unwrap();
    documents[place] = Arc::new(parse("changed", changed.as_bytes()).unwrap().documents.remove(0));
    let after = compiled(&documents);
    let is_same = |name: &str| {
        Arc::ptr_eq(before.site().unwrap().node(name).unwrap(), after.site().unwrap().node(name).unwrap())
    };
    assert!(!is_same("n1") && is_same("n2") && is_same("n3"));
    // A value that reaches all of them by substitution changes all that inherit it.
    let place = documents.iter().position(|one| one.name() == "v").unwrap();
    let value = document("v", "shop/Versions/v1", "", "{image: noble}").1.unwrap();
    documents[place] = Arc::new(parse("value", value.as_bytes()).unwrap().documents.remove(0));
    let last = compiled(&documents);
    let image = |name: &str| {
        last.site().unwrap().node(name).unwrap().effective.settings.image.clone().map(|image| image.value)
    };
    assert_eq!((image("n1"), image("n2").as_deref()), (None, Some("noble")));
}
