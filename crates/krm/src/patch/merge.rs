//! Merge patches (RFC 7396), as Kubernetes applies them.

use serde_json::{Map, Value};

use super::PatchError;
use super::written::{Reached, written};
use crate::body::{self, FieldValidation};

/// A merge patch that was read from a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    changes: Value,
    complaints: Vec<String>,
}

impl Patch {
    /// Reads a patch from the body of a request.
    pub fn read(text: &[u8], validation: FieldValidation) -> Result<Patch, PatchError> {
        let invalid = || PatchError::Malformed("Invalid JSON Patch".to_owned());
        let lenient = validation == FieldValidation::Ignore;
        let body = body::read(text).map_err(|error| match lenient {
            true => invalid(),
            false => PatchError::Malformed(format!("error decoding patch: {error}")),
        })?;
        match body.value {
            changes @ Value::Object(_) => Ok(Patch { changes, complaints: body.duplicates }),
            // A list for a patch replaces the object, and then it is none any more.
            list @ Value::Array(_) if lenient => Err(PatchError::BadResult {
                shown: list.to_string(),
                why: "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of \
                      type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                      \"json:\\\"kind,omitempty\\\"\" }"
                    .to_owned(),
            }),
            Value::Null => Err(invalid()),
            _ if lenient => Err(invalid()),
            other => Err(PatchError::Malformed(format!(
                "error decoding patch: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                body::kind_of(&other)
            ))),
        }
    }

    /// What it changes.
    pub fn changes(&self) -> &Value {
        &self.changes
    }

    /// What a strict reader holds against it.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// What came out of it, as a [`PatchError::BadResult`] shows it.
    pub fn shown(&self, result: &Value, api_version: &str, kind: &str) -> String {
        written(result, &Reached::by_merging(&self.changes), api_version, kind)
    }

    /// Makes the changes.
    pub fn apply(&self, object: &mut Value) {
        apply(&self.changes, object);
    }
}

/// Makes the changes of a merge patch.
///
/// It differs from the RFC in one thing, as Kubernetes does: a list that is new, or stands where something else than an
/// object stood, loses the nulls in the objects it holds.
pub fn apply(patch: &Value, object: &mut Value) {
    match (patch, &mut *object) {
        (Value::Object(changes), Value::Object(fields)) => merge(changes, fields),
        (_, Value::Object(_)) => *object = patch.clone(),
        _ => *object = without_nulls(patch),
    }
}

fn merge(changes: &Map<String, Value>, fields: &mut Map<String, Value>) {
    for (key, change) in changes {
        if change.is_null() {
            fields.remove(key);
            continue;
        }
        match fields.get_mut(key) {
            Some(field) => apply(change, field),
            None => {
                fields.insert(key.clone(), without_nulls(change));
            }
        }
    }
}

/// A value without the fields that are null; nulls in lists stay.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let given = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(given.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn patched(object: Value, patch: Value) -> Value {
        let mut object = object;
        apply(&patch, &mut object);
        object
    }

    #[test]
    fn nulls_take_away_and_everything_else_is_put_in() {
        let object = json!({"spec": {"note": "n", "plain": ["a", "b"], "params": {"k": "v", "l": "w"}}});
        let patch =
            json!({"spec": {"note": null, "plain": ["c"], "params": {"k": null, "m": "x"}}, "gone": null});
        let expected = json!({"spec": {"plain": ["c"], "params": {"l": "w", "m": "x"}}});
        assert_eq!(patched(object, patch), expected);
    }

    #[test]
    fn new_objects_lose_their_nulls_and_lists_keep_them() {
        let patch = json!({"free": {"x": {"y": null, "z": 1}, "l": [null, 1, {"a": null}]}});
        assert_eq!(patched(json!({}), patch.clone()), json!({"free": {"x": {"z": 1}, "l": [null, 1, {}]}}));
        assert_eq!(patched(json!({"free": null}), patch.clone()), patched(json!({}), patch));
    }

    #[test]
    fn a_list_in_place_of_an_object_is_taken_as_it_is() {
        let patch = json!({"a": [{"b": null}]});
        assert_eq!(patched(json!({"a": {}}), patch.clone()), json!({"a": [{"b": null}]}));
        assert_eq!(patched(json!({"a": []}), patch), json!({"a": [{}]}));
    }

    #[test]
    fn bodies_that_are_no_merge_patch_are_refused() {
        let refusal = |text: &str, validation| Patch::read(text.as_bytes(), validation).unwrap_err();
        let words = "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}";
        assert_eq!(refusal("[]", FieldValidation::Warn), PatchError::Malformed(words.into()));
        for (text, words) in [
            ("", "error decoding patch: unexpected end of JSON input"),
            ("{", "error decoding patch: unexpected end of JSON input"),
            (
                "5",
                "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}",
            ),
            ("null", "Invalid JSON Patch"),
        ] {
            assert_eq!(refusal(text, FieldValidation::Strict), PatchError::Malformed(words.into()));
        }
        for text in ["", "5", "null"] {
            assert_eq!(
                refusal(text, FieldValidation::Ignore),
                PatchError::Malformed("Invalid JSON Patch".into())
            );
        }
        assert!(matches!(refusal("[1]", FieldValidation::Ignore), PatchError::BadResult { .. }));
    }

    #[test]
    fn fields_given_twice_are_told_of() {
        let patch = Patch::read(br#"{"spec":{"size":4,"size":5}}"#, FieldValidation::Warn).unwrap();
        assert_eq!(patch.complaints(), [r#"duplicate field "spec.size""#]);
        assert_eq!(patch.changes(), &json!({"spec": {"size": 5}}));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<bool>().prop_map(Value::from), any::<i8>().prop_map(Value::from)];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-d]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// The smallest patch from one value to another.
    fn difference(from: &Value, to: &Value) -> Value {
        let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
        let gone = from.keys().filter(|key| !to.contains_key(*key)).map(|key| (key.clone(), Value::Null));
        let put = to.iter().filter(|(key, value)| from.get(*key) != Some(*value)).map(|(key, value)| {
            (key.clone(), from.get(key).map_or_else(|| value.clone(), |old| difference(old, value)))
        });
        Value::Object(gone.chain(put).collect())
    }

    proptest! {
        #[test]
        fn the_difference_leads_from_one_to_the_other(from in value(), to in value()) {
            prop_assert_eq!(patched(from.clone(), difference(&from, &to)), to);
        }

        #[test]
        fn a_patch_changes_nothing_the_second_time(object in value(), other in value()) {
            let patch = difference(&object, &other);
            let once = patched(object, patch.clone());
            prop_assert_eq!(patched(once.clone(), patch), once);
        }
    }
}
