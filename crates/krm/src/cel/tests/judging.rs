//! What rules say about objects, and when they are not asked.

use super::*;
use crate::cel::Old;
use crate::schema::Schema;

/// What the rules of a kind say about a change: what is wrong, and what is warned of.
fn change(schema: &Value, new: &Value, old: &Value, passed: bool) -> (Vec<String>, Vec<String>) {
    let rules = Rules::compile(schema).unwrap();
    let parsed = Schema::parse(schema).unwrap();
    let verdict = rules.check(&parsed, new, Some(Old { object: old, passed }));
    (verdict.errors.iter().map(FieldError::to_string).collect(), verdict.warnings)
}

#[test]
fn a_rule_that_does_not_hold_is_told_with_its_message_at_its_field() {
    let schema = json!({"type": "object", "properties": {
        "size": {"type": "integer", "x-kubernetes-validations": [{"rule": " self > 1 "}]},
        "spec": {"type": "object", "properties": {"a": {"type": "string"}, "b-c": {"type": "string"}},
            "x-kubernetes-validations": [
                {"rule": "self.a == 'x'", "message": "wants x", "fieldPath": ".a", "reason": "FieldValueForbidden"},
                {"rule": "self.a == 'y'", "message": "wants y", "fieldPath": "['b-c']", "reason": "FieldValueRequired"},
                {"rule": "self.a == 'z'", "messageExpression": "'got ' + self.a"},
                {"rule": "self.a == 'w'", "message": "same", "reason": "FieldValueDuplicate"},
            ]},
    }});
    let value = json!({"size": 1, "spec": {"a": "q"}});
    assert_eq!(
        judge(&schema, &value, None),
        [
            "size: Invalid value: 1: failed rule: self > 1",
            "spec.a: Forbidden: wants x",
            "spec.b-c: Required value: wants y",
            "spec: Invalid value: got q",
            "spec: Duplicate value",
        ]
    );
}

#[test]
fn a_message_that_is_none_gives_way_to_the_written_one() {
    let long = format!("'{}'", "a".repeat(5121));
    for expression in ["''", "'   '", "'a\\nb'", "string(1 / (self - 1))", &long] {
        let rules = json!([{"rule": "self > 1", "message": "written", "messageExpression": expression}]);
        let schema = with_rules(&json!({"type": "integer"}), rules);
        assert_eq!(judge(&schema, &json!(1), None), ["<nil>: Invalid value: 1: written"], "{expression}");
    }
    let rules = json!([{"rule": "self > 1", "messageExpression": "'got %d'.format([self])"}]);
    let schema = with_rules(&json!({"type": "integer"}), rules);
    assert_eq!(judge(&schema, &json!(1), None), ["<nil>: Invalid value: 1: got 1"]);
}

#[test]
fn rules_are_asked_of_every_item_and_value() {
    let schema = json!({"type": "object", "properties": {
        "list": {"type": "array", "items": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]}},
        "map": {"type": "object", "additionalProperties":
            {"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "message": "empty"}]}},
        "null": {"type": "string", "nullable": true, "x-kubernetes-validations": [{"rule": "false"}]},
    }});
    let value = json!({"list": [2, 1, 3, 0], "map": {"a/b": "", "c": "d"}, "null": null});
    assert_eq!(
        judge(&schema, &value, None),
        [
            "list[1]: Invalid value: 1: failed rule: self > 1",
            "list[3]: Invalid value: 0: failed rule: self > 1",
            "map[a/b]: Invalid value: \"\": empty",
        ]
    );
}

#[test]
fn rules_about_change_are_asked_only_where_something_was_before() {
    let schema = json!({"type": "object", "properties": {
        "fixed": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "fixed"}]},
        "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer"}},
                "x-kubernetes-validations": [{"rule": "self.port >= oldSelf.port", "message": "shrinks"}]}},
    }});
    let old = json!({"fixed": "a", "ports": [{"name": "x", "port": 5}, {"name": "y", "port": 5}]});
    assert_eq!(judge(&schema, &json!({"fixed": "b"}), None), Vec::<String>::new());
    assert_eq!(judge(&schema, &json!({"fixed": "b"}), Some(&json!({}))), Vec::<String>::new());
    let new = json!({"fixed": "b", "ports": [{"name": "z", "port": 1}, {"name": "y", "port": 4}, {"name": "x", "port": 6}]});
    let expected = ["fixed: Invalid value: \"b\": fixed", "ports[1]: Invalid value: shrinks"];
    assert_eq!(judge(&schema, &new, Some(&old)), expected);
    assert_eq!(change(&schema, &new, &old, false).0, expected);
}

#[test]
fn an_old_value_may_be_asked_for_where_there_is_none() {
    let rules = json!([{"rule": "self >= 10 || oldSelf.optMap(old, old <= self).orValue(false)", "optionalOldSelf": true}]);
    let schema = with_rules(&json!({"type": "integer"}), rules);
    let holds =
        |new: i64, old: Option<i64>| judge(&schema, &json!(new), old.map(Value::from).as_ref()).is_empty();
    assert!(holds(10, None) && !holds(9, None));
    assert!(holds(9, Some(5)) && holds(5, Some(5)) && !holds(4, Some(5)));
}

#[test]
fn what_was_wrong_before_and_is_unchanged_is_warned_of() {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "a": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'x'", "message": "wants x"}]},
            "list": {"type": "array", "items": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]}},
            "fixed": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'x' && oldSelf != ''"}]},
        }},
    }});
    let old = json!({"spec": {"a": "q", "list": [1], "fixed": "q"}});
    let warned =
        ["spec.a: Invalid value: \"q\": wants x", "spec.list[0]: Invalid value: 1: failed rule: self > 1"];
    let looks_back = "spec.fixed: Invalid value: \"q\": failed rule: self == 'x' && oldSelf != ''";

    let (errors, warnings) = change(&schema, &old, &old, false);
    assert_eq!((errors, warnings), (vec![looks_back.to_owned()], warned.map(str::to_owned).to_vec()));

    // A list that is no set and no map is taken as a whole.
    let new = json!({"spec": {"a": "q", "list": [1, 2], "fixed": "q"}});
    let (errors, warnings) = change(&schema, &new, &old, false);
    assert_eq!(errors, [looks_back, warned[1]]);
    assert_eq!(warnings, [warned[0]]);

    // An object that is known to have passed is not asked again about what did not change.
    let (errors, warnings) = change(&schema, &new, &old, true);
    assert_eq!(errors, [looks_back, warned[1]]);
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn rules_at_the_root_see_the_name_and_little_else_of_the_metadata() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object"}},
        "x-kubernetes-validations": [{"rule": "self.metadata.name != 'bad' && self.kind == 'K'"}]});
    let rules = Rules::compile(&schema).unwrap();
    let parsed = Schema::parse(&schema).unwrap();
    let object = |name: &str| json!({"apiVersion": "g/v1", "kind": "K", "metadata": {"name": name}});
    assert_eq!(rules.check(&parsed, &object("good"), None).errors, []);
    assert_eq!(rules.check(&parsed, &object("bad"), None).errors.len(), 1);
    let labels = with_rule(&json!({"type": "object"}), "self.metadata.labels.size() == 0");
    assert!(Rules::compile(&labels).is_err());
    assert!(Rules::compile(&json!({"type": "object"})).unwrap().is_empty());
}

#[test]
fn the_budget_of_an_object_is_spent_only_once() {
    let schema = json!({"type": "array", "items": {"type": "string",
        "x-kubernetes-validations": [{"rule": "self.contains(self)"}]}});
    // Each run costs a tenth of the length squared.
    let value = json!(vec!["a".repeat(9_000); 20]);
    let errors = judge(&schema, &value, None);
    assert_eq!(
        errors,
        [
            "[12]: Invalid value: \"string\": validation failed due to running out of cost budget, no further validation \
          rules will be run"
        ]
    );
    let dear = json!(["a".repeat(10_100)]);
    let errors = judge(&schema, &dear, None);
    assert_eq!(
        errors,
        [
            "[0]: Invalid value: \"string\": 'operation cancelled: actual cost limit exceeded': no further validation rules \
          will be run due to call cost exceeds limit for rule: self.contains(self)"
        ]
    );
}
