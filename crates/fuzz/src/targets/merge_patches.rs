//! Merge patches: what makes one object of another, twice is once, nothing but what is named changes.

use krm::body::FieldValidation;
use krm::patch::merge::{Patch, apply};
use serde_json::{Map, Value};

use super::{Target, noise};
use crate::choices::Choices;
use crate::{differences, recorded, values};

pub const TARGET: Target = Target {
    name: "merge_patches",
    check,
    seeds,
    words: &["{", "}", "null", "[", "]", "\"a\":", "\"spec\":"],
};

fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    if choices.flag() {
        return check_read(choices.rest());
    }
    let before = values::without_nulls(Value::Object(values::object(&mut choices, 3)));
    let after = values::without_nulls(values::changed(&mut choices, &before));
    let made = patched(&before, &differences::merge_patch(&before, &after));
    assert_eq!(made, after, "out of {before}");

    let patch = values::value(&mut choices, 3);
    check_laws(&before, &patch);
}

/// Any patch, on any object.
fn check_laws(before: &Value, patch: &Value) {
    let once = patched(before, patch);
    // Where a list takes an object's place, nulls in it stay; where it takes a list's place, they go. As in Kubernetes.
    let twice = values::without_nulls(patched(&once, patch));
    assert_eq!(twice, values::without_nulls(once.clone()), "{patch} twice on {before}");
    let (Value::Object(before), Value::Object(patch), Value::Object(once)) = (before, patch, &once) else {
        return;
    };
    for (name, value) in before {
        assert!(patch.contains_key(name) || once.get(name) == Some(value), "{name} is nobody's business");
    }
    for (name, change) in patch {
        assert_eq!(once.contains_key(name), !change.is_null(), "{name}");
    }
}

fn check_read(text: &[u8]) {
    for validation in [FieldValidation::Ignore, FieldValidation::Strict] {
        let Ok(patch) = Patch::read(text, validation) else { continue };
        let mut object = Value::Object(Map::new());
        patch.apply(&mut object);
        patch.shown(&object, "v1", "ConfigMap");
        check_laws(&object, patch.changes());
    }
}

fn patched(before: &Value, patch: &Value) -> Value {
    let mut object = before.clone();
    apply(patch, &mut object);
    object
}

fn seeds() -> Vec<Vec<u8>> {
    let read = recorded::bodies("application/merge-patch+json")
        .into_iter()
        .map(|body| [&[1], body.as_slice()].concat());
    read.chain(noise()).collect()
}
