//! Laws of merging.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{patched, service_account};
use crate::body::FieldValidation;
use crate::patch::strategic::Patch;

type Items = Vec<(u8, Option<u8>)>;

fn items() -> impl Strategy<Value = Items> {
    proptest::collection::vec((0..6_u8, proptest::option::of(0..3_u8)), 0..6)
}

fn ports(items: &Items) -> Vec<Value> {
    let of = |(port, name): &(u8, Option<u8>)| match name {
        Some(name) => json!({"port": port, "names": [name.to_string()]}),
        None => json!({"port": port}),
    };
    items.iter().map(of).collect()
}

fn by_port(object: &Value) -> BTreeMap<i64, Vec<String>> {
    let items = object["ports"].as_array().into_iter().flatten();
    let names = |item: &Value| {
        let names = item["names"].as_array().into_iter().flatten();
        names.map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    items.map(|item| (item["port"].as_i64().unwrap(), names(item))).collect()
}

proptest! {
    #[test]
    fn a_keyed_list_merges_as_a_map_would(before in items(), change in items(), gone in proptest::collection::btree_set(0..6_u8, 0..3)) {
        let unique: BTreeMap<u8, Option<u8>> = before.into_iter().collect();
        let before: Items = unique.into_iter().collect();
        let mut patch: Vec<Value> = gone.iter().map(|port| json!({"$patch": "delete", "port": port})).collect();
        patch.extend(ports(&change));
        let object = json!({"ports": ports(&before)});
        let mut model = by_port(&object);
        model.retain(|port, _| !gone.iter().any(|gone| i64::from(*gone) == *port));
        for (port, name) in &change {
            let names = model.entry(i64::from(*port)).or_default();
            for name in name.iter().map(u8::to_string).filter(|name| !names.contains(name)).collect::<Vec<_>>() {
                names.push(name);
            }
        }
        let result = patched(object, json!({"ports": patch})).unwrap();
        let mut merged = by_port(&result);
        merged.values_mut().chain(model.values_mut()).for_each(|names| names.sort());
        prop_assert_eq!(&merged, &model);
        prop_assert_eq!(result["ports"].as_array().map_or(0, Vec::len), model.len());
    }

    #[test]
    fn items_of_a_patch_come_in_its_order_and_the_others_keep_theirs(before in items(), change in items()) {
        let distinct = |items: Items| -> Vec<u8> {
            let mut seen = BTreeSet::new();
            items.into_iter().map(|(port, _)| port).filter(|port| seen.insert(*port)).collect()
        };
        let (before, change) = (distinct(before), distinct(change));
        let list = |ports: &[u8]| json!({"ports": ports.iter().map(|port| json!({"port": port})).collect::<Vec<_>>()});
        let result = patched(list(&before), list(&change)).unwrap();
        let found: Vec<u8> = result["ports"].as_array().unwrap().iter().map(|item| item["port"].as_u64().unwrap() as u8).collect();
        let (asked, others): (Vec<u8>, Vec<u8>) = found.into_iter().partition(|port| change.contains(port));
        let kept: Vec<u8> = before.into_iter().filter(|port| !change.contains(port)).collect();
        prop_assert_eq!(asked, change);
        prop_assert_eq!(others, kept);
    }

    #[test]
    fn no_patch_is_too_odd_to_be_answered(before in odd(), patch in odd()) {
        let object = match Patch::read(before.to_string().as_bytes()) {
            Ok(object) => object.changes().clone(),
            Err(_) => json!({}),
        };
        if let Ok(patch) = Patch::read(patch.to_string().as_bytes()) {
            for validation in [FieldValidation::Ignore, FieldValidation::Strict] {
                let _ = patch.apply(&object, &service_account(), validation);
            }
        }
    }
}

/// Maps and lists of fields and directives, as they should and as they should not be.
fn odd() -> impl Strategy<Value = Value> {
    let keys = [
        "$patch",
        "$retainKeys",
        "$setElementOrder/ports",
        "$setElementOrder/finalizers",
        "$setElementOrder",
        "$deleteFromPrimitiveList/finalizers",
        "$deleteFromPrimitiveList/ports",
        "$deleteFromPrimitiveList",
        "metadata",
        "finalizers",
        "ownerReferences",
        "uid",
        "ports",
        "port",
        "names",
        "strategy",
        "whole",
    ];
    let leaves = ["replace", "delete", "merge", "ports", "metadata"];
    let leaf = prop_oneof![
        Just(Value::Null),
        Just(json!(1)),
        Just(json!(1.5)),
        Just(json!(true)),
        prop::sample::select(leaves.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map(
                prop::sample::select(keys.to_vec()).prop_map(String::from),
                inner,
                0..4
            )
            .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}
