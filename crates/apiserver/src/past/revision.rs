//! One revision of an object in its history.

use krm::Object;
use krm::diff::{self, Difference, Step};
use krm::status::Status;
use serde_json::{Value, json};
use store::{Change, Entry, Key};

use super::moment;
use crate::call::Call;
use crate::present::Presenter;
use crate::secrets;

/// As many changed paths are named.
const NAMED: usize = 100;

/// One change, with the states that it lies between.
pub struct Revision<'a> {
    call: &'a Call,
    change: &'a Change,
    differences: Vec<Difference>,
}

impl<'a> Revision<'a> {
    /// The change between two states, which are its own, read.
    pub fn new(
        call: &'a Call,
        change: &'a Change,
        before: Option<&Value>,
        after: Option<&Value>,
    ) -> Revision<'a> {
        let mut differences = match (before, after) {
            // Of a deletion it is enough to say that.
            (Some(_), None) => Vec::new(),
            (before, after) => diff::between(before, after),
        };
        if call.key().is_ok_and(|key| call.hides(&key)) {
            secrets::retain_claimed(&mut differences, change, after);
        }
        Revision { call, change, differences }
    }

    /// The paths that it changed.
    pub fn changed(&self) -> Vec<String> {
        let mut paths: Vec<String> =
            self.differences.iter().take(NAMED).map(Difference::shown_path).collect();
        if self.differences.len() > NAMED {
            paths.push("…".to_owned());
        }
        paths
    }

    /// Whether it was nothing but a report.
    pub fn is_status_only(&self) -> bool {
        let of_status = |difference: &Difference| matches!(difference.path.first(), Some(Step::Field(first)) if first == "status");
        !self.differences.is_empty() && self.differences.iter().all(of_status)
    }

    /// As answers have it, with what was there before and after where `with_diff` says so.
    pub fn to_json(&self, with_diff: bool) -> Value {
        let change = self.change;
        let mut told = json!({
            "revision": change.version.to_string(),
            "time": moment(change.time).to_micros(),
            "user": &*change.user,
            "manager": &*change.manager,
            "verb": &*change.verb,
            "uid": uid(change),
            "changed": self.changed(),
        });
        if let Some(impersonator) = &change.impersonator {
            told["impersonatedBy"] = (&**impersonator).into();
        }
        if let Some(message) = &change.message {
            told["message"] = (&**message).into();
        }
        if change.after.is_none() {
            told["deleted"] = true.into();
        }
        if self.is_status_only() {
            told["statusOnly"] = true.into();
        }
        if change.pruned_before {
            told["pruned"] = true.into();
        }
        if with_diff {
            let shown = match self.call.kind.secret {
                true => diff::redacted(self.differences.clone()),
                false => self.differences.clone(),
            };
            told["diff"] = shown.iter().map(Difference::to_json).collect();
        }
        told
    }
}

/// A state of an object as it is stored, read. Tokens stand for values that the caller may not see.
pub fn read(call: &Call, key: &Key, entry: &Entry) -> Result<Value, Status> {
    let object = crate::encode::read(&call.api.reveal(key, entry)?)?;
    let object = call.api.kinds().in_storage_version(key, object);
    Ok(call.covered(key, entry.version().get(), object).into_value())
}

/// A state of an object as the call's version has it, without what is secret.
pub fn shown(call: &Call, key: &Key, entry: &Entry) -> Result<Value, Status> {
    let presenter = Presenter::of(call);
    let mut value = presenter.object(key, entry).map(Object::into_value)?;
    if call.kind.secret {
        diff::redact(&mut value);
    }
    Ok(value)
}

fn uid(change: &Change) -> String {
    let hex: String = change.uid.0.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
