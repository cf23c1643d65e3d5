//! Laws of field sets, and their form on the wire.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn decode(fields: Value) -> FieldSet {
    FieldSet::decode(&fields).unwrap()
}

#[test]
fn a_field_and_what_is_below_it_are_in_a_set_apart_from_each_other() {
    let both = decode(json!({"f:spec": {".": {}, "f:size": {}}}));
    assert!(both.contains(&FieldPath::of(&["spec"])));
    assert!(both.contains(&FieldPath::of(&["spec", "size"])));
    let only_below = decode(json!({"f:spec": {"f:size": {}}}));
    assert!(!only_below.contains(&FieldPath::of(&["spec"])));
    let only_itself = decode(json!({"f:spec": {}}));
    assert!(only_itself.contains(&FieldPath::of(&["spec"])));
    assert!(!only_itself.contains(&FieldPath::of(&["spec", "size"])));
    assert_eq!(only_itself, decode(json!({"f:spec": {".": {}}})));
    assert_eq!(only_itself, decode(json!({"f:spec": null})));
}

#[test]
fn the_object_itself_is_in_no_set() {
    assert!(decode(json!({".": {}})).is_empty());
    assert!(!decode(json!({"f:a": {}})).contains(&FieldPath::default()));
}

#[test]
fn steps_of_a_kind_we_do_not_know_are_left_out() {
    assert_eq!(decode(json!({"f:a": {}, "z:b": {"f:c": {}}})), decode(json!({"f:a": {}})));
}

#[test]
fn what_is_no_set_is_refused() {
    assert!(FieldSet::decode(&json!({"spec": {}})).is_err());
    assert_eq!(FieldSet::decode(&json!({"f:a": 1})), Err(MalformedFields::NotAnObject("f:a".into())));
    assert!(FieldSet::decode(&json!([])).is_err());
    let mut deep = json!({});
    for _ in 0..1000 {
        deep = Value::Object([("f:a".to_owned(), deep)].into_iter().collect());
    }
    assert_eq!(FieldSet::decode(&deep), Err(MalformedFields::TooDeep));
    while let Value::Object(map) = &mut deep {
        let Some(below) = map.remove("f:a") else { break };
        deep = below;
    }
}

#[test]
fn taking_out_a_field_leaves_what_is_below_it_unless_asked_to() {
    let set = decode(json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}}));
    let a = FieldSet::of(&[&["a"]]);
    assert_eq!(set.clone().difference(&a), decode(json!({"f:a": {"f:b": {}}, "f:c": {}})));
    assert_eq!(set.clone().recursive_difference(&a), decode(json!({"f:c": {}})));
    assert_eq!(
        set.recursive_difference(&FieldSet::of(&[&["a", "b"]])),
        decode(json!({"f:a": {}, "f:c": {}}))
    );
}

#[test]
fn leaves_are_the_fields_with_nothing_below() {
    let set = decode(json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}}));
    assert_eq!(set.leaves(), decode(json!({"f:a": {"f:b": {}}, "f:c": {}})));
}

#[test]
fn paths_name_the_fields_of_a_level_before_those_below() {
    let set = decode(json!({"f:spec": {"f:a": {"f:b": {}}, "f:size": {}, "f:tags": {"v:\"x\"": {}}}}));
    assert_eq!(set.to_string(), ".spec.size\n.spec.a.b\n.spec.tags[=\"x\"]");
}

fn any_element() -> impl Strategy<Value = Element> {
    prop_oneof![
        "[a-c.:]{0,2}".prop_map(Element::Field),
        (0..3_i64).prop_map(|port| Element::Key(vec![("port".to_owned(), json!(port))])),
        prop_oneof![Just(json!("<x>")), Just(json!(1)), Just(json!(2.5)), Just(json!(true))]
            .prop_map(Element::Value),
        (0..3_i64).prop_map(Element::Index),
    ]
}

fn any_set() -> impl Strategy<Value = FieldSet> {
    let path = prop::collection::vec(any_element(), 1..4).prop_map(FieldPath);
    prop::collection::vec(path, 0..8).prop_map(|paths| {
        let mut set = FieldSet::new();
        paths.iter().for_each(|path| set.insert(path));
        set
    })
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(set in any_set()) {
        prop_assert_eq!(FieldSet::decode(&set.encode()), Ok(set));
    }

    #[test]
    fn a_set_has_the_paths_it_names(set in any_set(), other in any_set()) {
        let paths = set.paths();
        prop_assert_eq!(paths.len(), set.len());
        for path in &paths {
            prop_assert!(set.contains(path));
        }
        for path in other.paths() {
            prop_assert_eq!(set.contains(&path), paths.contains(&path));
        }
    }

    #[test]
    fn union_intersection_and_difference_mean_what_they_say(left in any_set(), right in any_set()) {
        let union = left.clone().union(right.clone());
        let both = left.intersection(&right);
        let only_left = left.clone().difference(&right);
        for path in union.paths() {
            let (in_left, in_right) = (left.contains(&path), right.contains(&path));
            prop_assert!(in_left || in_right);
            prop_assert_eq!(both.contains(&path), in_left && in_right);
            prop_assert_eq!(only_left.contains(&path), in_left && !in_right);
        }
        prop_assert_eq!(union.len() + both.len(), left.len() + right.len());
        prop_assert_eq!(only_left.len() + both.len(), left.len());
        prop_assert_eq!(left.is_subset_of(&right), only_left.is_empty());
        prop_assert_eq!(right.union(left), union);
    }

    #[test]
    fn recursive_difference_leaves_nothing_below_what_it_takes(left in any_set(), right in any_set()) {
        let rest = left.clone().recursive_difference(&right);
        for path in left.paths() {
            let covered = (1..=path.0.len()).any(|upto| right.contains(&FieldPath(path.0[..upto].to_vec())));
            prop_assert_eq!(rest.contains(&path), !covered);
        }
    }
}
