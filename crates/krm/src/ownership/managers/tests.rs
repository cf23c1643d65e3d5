//! `managedFields`, read and written.

use serde_json::{Value, json};

use super::*;

fn entry(manager: &str, operation: &str, version: &str, time: Option<&str>) -> Value {
    let mut entry = json!({
        "manager": manager, "operation": operation, "apiVersion": version,
        "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}},
    });
    if let Some(time) = time {
        entry["time"] = json!(time);
    }
    entry
}

#[test]
fn who_applied_comes_before_who_updated_then_by_time_then_by_name() {
    let (early, late) = (Some("2020-01-01T00:00:00Z"), Some("2020-01-01T00:00:01Z"));
    let sorted = [
        entry("z", "Apply", "v1", None),
        entry("y", "Apply", "v1", early),
        entry("a", "Apply", "v1", late),
        entry("b", "Update", "v1", early),
        entry("c", "Update", "v1", early),
        entry("c", "Update", "v2", early),
        entry("a", "Update", "v1", late),
    ];
    let mut shuffled = sorted.to_vec();
    shuffled.reverse();
    assert_eq!(Managers::decode(&shuffled).unwrap().encode(), sorted);
}

#[test]
fn who_applies_is_one_manager_in_all_versions_and_who_updates_is_not() {
    let applies = [entry("a", "Apply", "v1", None), entry("a", "Apply", "v2", None)];
    let managers = Managers::decode(&applies).unwrap();
    assert_eq!(managers.encode(), [entry("a", "Apply", "v2", None)]);
    let updates = [entry("a", "Update", "v1", None), entry("a", "Update", "v2", None)];
    assert_eq!(Managers::decode(&updates).unwrap().encode(), updates);
}

#[test]
fn entries_that_cannot_be_read_say_why() {
    let without = |field: &str| {
        let mut entry = entry("a", "Update", "v1", None);
        entry.as_object_mut().unwrap().remove(field);
        entry
    };
    let with = |field: &str, value: Value| {
        let mut entry = entry("a", "Update", "v1", None);
        entry[field] = value;
        entry
    };
    for (entry, why) in [
        (with("operation", json!("Nope")), "operation must be `Apply` or `Update`"),
        (without("apiVersion"), "apiVersion must not be empty"),
        (without("fieldsType"), "missing fieldsType in managed fields entry 0"),
        (with("fieldsType", json!("V2")), "invalid fieldsType \"V2\" in managed fields entry 0"),
        (with("time", json!("yesterday")), "managed fields entry 0 is malformed"),
        (with("manager", json!(5)), "managed fields entry 0 is malformed"),
        (with("fieldsV1", json!({"spec": {}})), "error decoding set: \"spec\" is not a path element"),
    ] {
        assert_eq!(Managers::decode(&[entry]).unwrap_err().to_string(), why);
    }
    let nothing = Managers::decode(&[without("fieldsV1")]).unwrap();
    assert!(nothing.0[0].fields.is_empty());
}

#[test]
fn managers_are_named_as_kubernetes_names_them() {
    for (identity, named, key) in [
        (
            Identity::new("a\"b", Operation::Apply, "v1", ""),
            r#""a\"b""#,
            r#"{"manager":"a\"b","operation":"Apply"}"#,
        ),
        (
            Identity::new("", Operation::Update, "v1", "status"),
            r#""unknown" with subresource "status" using v1"#,
            r#"{"manager":"unknown","operation":"Update","apiVersion":"v1","subresource":"status"}"#,
        ),
    ] {
        assert_eq!(identity.describe(), named);
        assert_eq!(identity.sort_key(), key);
    }
}
