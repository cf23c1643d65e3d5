//! What holds of inheritance for any documents.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chains;

use chains::chains;
use design::inherit::{Change, Manner, explain};
use proptest::prelude::*;
use serde_json::{Value, json};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn provenance_explains_every_effective_value(chain in chains()) {
        let compiled = chain.compile();
        let node = compiled.site().unwrap().node("n").unwrap();
        let explanations = explain(&node.effective);
        let text = chain.text();
        for one in &explanations {
            let Some(by) = &one.by else { continue };
            prop_assert!(node.effective.chain().any(|document| *document == by.document), "{}", by.document);
            let line = text.lines().nth(by.at.line as usize - 1).unwrap();
            prop_assert!(line.contains(&one.value), "{}: `{}` is not on line {line}", one.path, one.value);
        }
        for value in effective_values(&chain.printed_node()) {
            prop_assert!(explanations.iter().any(|one| one.value == value), "nobody explains `{value}`");
        }
    }

    #[test]
    fn the_nearest_document_that_speaks_decides_a_scalar(chain in chains()) {
        let compiled = chain.compile();
        let node = compiled.site().unwrap().node("n").unwrap();
        let image = node.effective.settings.image.as_ref();
        let speaker = chain.nearest_first().find_map(|(name, data)| Some((name, data.pointer("/platform/image")?)));
        match speaker {
            None => prop_assert!(image.is_none()),
            Some((_, value)) if value == "!" => prop_assert!(image.is_none()),
            Some((name, value)) => {
                prop_assert_eq!(image.map(|set| json!(set.value)), Some(value.clone()));
                prop_assert_eq!(&image.unwrap().by.document.name, name);
            }
        }
    }

    #[test]
    fn a_profile_without_content_changes_nothing(chain in chains(), place in any::<prop::sample::Index>()) {
        let with_more = chain.with_empty_profile(place);
        let mut before = chain.printed_node();
        let mut after = with_more.printed_node();
        for printed in [&mut before, &mut after] {
            printed.as_object_mut().unwrap().remove("parent_profile");
        }
        prop_assert_eq!(before, after);
    }

    #[test]
    fn objects_of_an_api_come_to_the_same_as_their_documents(chain in chains()) {
        let documents = design::document::parse("chain.yaml", chain.text().as_bytes()).unwrap().documents;
        let written: Vec<_> = documents.iter().map(|one| design::object::object_of(one, design::object::Layers::Rendered).unwrap()).collect();
        let kept: Vec<Value> = written.iter().map(|one| serde_json::from_str(&one.object.to_string()).unwrap()).collect();
        let secret = |secret: &str, key: &str| {
            let all = written.iter().flat_map(|one| &one.secrets);
            all.filter(|one| one.secret == secret && one.key == key).map(|one| one.value.clone()).next()
        };
        let back = design::object::documents_of(&kept, &secret);
        let compiled = design::compile::compile(&back, &design::compile::LshwInputs::new());
        prop_assert_eq!(chain.printed(), compiled.to_drydock_json());
    }

    #[test]
    fn no_effective_value_is_a_marker(chain in chains()) {
        for value in effective_values(&chain.printed_node()) {
            prop_assert!(!value.starts_with('!'), "{value}");
        }
    }

    #[test]
    fn without_its_marker_what_was_removed_is_back(chain in chains()) {
        let compiled = chain.compile();
        let node = compiled.site().unwrap().node("n").unwrap();
        let own = node.effective.ledger.changes().iter().filter(|change| change.manner == Manner::Removed);
        for change in own.filter(|change| !chain.node_speaks_of(&change.path)) {
            let restored = chain.without_marker(change);
            let compiled = restored.compile();
            let node = compiled.site().unwrap().node("n").unwrap();
            prop_assert!(is_back(change, node), "{change}");
        }
    }

    #[test]
    fn the_order_of_documents_does_not_matter(chain in chains(), seed in any::<prop::sample::Index>()) {
        let (printed, shuffled) = (chain.printed(), chain.rotated(seed).printed());
        prop_assert_eq!(&printed["nodes"], &shuffled["nodes"]);
        prop_assert_eq!(&printed["host_profiles"], &shuffled["host_profiles"]);
    }
}

fn is_back(change: &Change, node: &design::compile::Node) -> bool {
    let explanations = explain(&node.effective);
    let mut same_path = explanations.iter().filter(|one| one.path == change.path);
    // Which line an inherited value stands on moves with the marker; the document does not.
    let is_same = |by: &design::model::Origin| by.document == change.lost_by.document;
    same_path.any(|one| one.value == change.lost && one.by.as_ref().is_some_and(is_same))
}

/// All scalars that inheritance decides; not names of the node itself, nor what is computed from the values.
fn effective_values(node: &Value) -> Vec<String> {
    const OWN: [&str; 8] = [
        "name",
        "parent_profile",
        "addressing",
        "slave_selectors",
        "sriov",
        "_fqdn",
        "_kernel_param_string",
        "_logicalnames",
    ];
    let mut values = Vec::new();
    let fields = node.as_object().unwrap().iter().filter(|(key, _)| !OWN.contains(&key.as_str()));
    fields.for_each(|(_, value)| collect(value, &OWN[3..], &mut values));
    values
}

fn collect(value: &Value, except: &[&str], values: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(key, _)| !except.contains(&key.as_str()));
            fields.for_each(|(_, value)| collect(value, except, values));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, except, values)),
        Value::String(text) => values.push(text.clone()),
        other => values.push(other.to_string()),
    }
}
