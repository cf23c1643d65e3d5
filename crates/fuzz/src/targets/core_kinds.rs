//! Objects of Kubernetes' own kinds on their way through the server: decoded, completed, judged, owned, shown.

use std::sync::LazyLock;

use krm::kind::{Kind, RawChange};
use krm::time::Moment;
use krm::{Object, Path, body, shape};
use serde_json::Value;

use super::Target;
use crate::choices::Choices;
use crate::recorded;

pub const TARGET: Target = Target {
    name: "core_kinds",
    check,
    seeds,
    words: &[
        "\"metadata\":",
        "\"labels\":",
        "\"data\":",
        "\"stringData\":",
        "\"type\":\"kubernetes.io/tls\"",
        "\"rules\":",
        "\"verbs\":",
        "\"subjects\":",
        "\"roleRef\":",
        "\"involvedObject\":",
        "\"eventTime\":",
        "\"series\":",
        "\"spec\":",
        "\"status\":",
        "null",
        "\"2026-01-02T03:04:05.123456Z\"",
        "\"aggregationRule\":",
        "\"immutable\":true",
        "\"binaryData\":",
        "\"finalizers\":",
        "\"ownerReferences\":",
        "\"creationTimestamp\":",
    ],
};

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(apiserver::kinds::all);

fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let kind = &KINDS[choices.below(KINDS.len())];
    let Ok(body::Body { value: mut value @ Value::Object(_), .. }) = body::read(choices.rest()) else {
        return;
    };
    let Some(shape) = kind.shape else { return };
    let mut unknown = Vec::new();
    if shape::conform(&mut value, shape, &Path::ROOT, &mut unknown).is_err() {
        return;
    }
    let (mut again, mut still_unknown) = (value.clone(), Vec::new());
    let conformed = shape::conform(&mut again, shape, &Path::ROOT, &mut still_unknown);
    assert_eq!((conformed, &again), (Ok(()), &value), "what was decoded decodes as it is");
    assert_eq!(still_unknown, Vec::<String>::new());

    let Some(mut new) = Object::from_value(value) else { return };
    let api_version = kind.api_version(&kind.stored().name);
    new.set_type(&api_version, &kind.names.kind);
    kind.complete.iter().for_each(|complete| complete(&mut new));
    let completed = new.clone();
    kind.complete.iter().for_each(|complete| complete(&mut new));
    assert_eq!(new, completed, "what is complete stays as it is");
    kind.prepare.iter().for_each(|prepare| prepare(&mut new, None, ""));
    let now = Moment::of_seconds(1_800_000_000);
    let _ = kind.owned().endpoint(&api_version, "").update(None, &mut new, "fuzzer", now);

    let judge = |old: Option<&Object>, new: Option<&Object>| {
        let change = RawChange { old, new, subresource: "" };
        kind.warnings.iter().for_each(|warn| drop(warn(&change)));
        kind.validations.iter().flat_map(|validate| validate(&change)).count()
    };
    judge(None, Some(&new));
    judge(Some(&completed), Some(&new));
    judge(Some(&new), None);
    kind.stored().columns.cells(&Value::Object(new.0.clone()), now);
    if let Some(lifetime) = &kind.lifetime {
        lifetime(&new);
    }
    for field in &kind.stored().selectable {
        kind.selected.as_ref().map(|selected| selected(&new, field));
    }
    if let Some(mark) = &kind.mark {
        mark(&mut new, "2026-01-02T03:04:05Z");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for body in recorded::bodies("") {
        let Ok(value) = serde_json::from_slice::<Value>(&body) else { continue };
        let of_kind = |kind: &Kind| value["kind"] == kind.names.kind.as_str();
        if let Some(index) = KINDS.iter().position(of_kind).and_then(|index| u8::try_from(index).ok()) {
            seeds.push([&[index], body.as_slice()].concat());
        }
    }
    seeds
}
