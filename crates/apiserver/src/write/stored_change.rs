//! A change as the code of its kind sees it: in the version that is stored, whichever it was made in.

use krm::Object;
use krm::kind::RawChange;
use krm::status::Status;

use crate::call::Call;

/// A change that was made in another version than the one that is stored.
pub struct StoredChange {
    old: Option<Object>,
    new: Option<Object>,
}

impl StoredChange {
    /// The change in the version that is stored; nothing if it is in that already.
    ///
    /// What was there and can't be converted keeps nobody from putting it right.
    pub fn of(call: &Call, change: &RawChange<'_>) -> Result<Option<StoredChange>, Status> {
        let Some(conversion) = &call.kind.conversion else { return Ok(None) };
        let is_stored = |object: Option<&Object>| object.is_none_or(|object| conversion.is_stored(object));
        if is_stored(change.old) && is_stored(change.new) {
            return Ok(None);
        }
        let old = change.old.and_then(|old| conversion.to_stored(old.clone()).ok());
        let new = change.new.map(|new| conversion.to_stored(new.clone())).transpose();
        Ok(Some(StoredChange { old, new: new.map_err(|error| Status::bad_request(error.to_string()))? }))
    }

    /// The change that rules, references and effects are about.
    pub fn as_change<'a>(&'a self, subresource: &'a str) -> RawChange<'a> {
        RawChange { old: self.old.as_ref(), new: self.new.as_ref(), subresource }
    }
}

/// Sets the fields of a new object that the server decides about.
pub fn prepare(call: &Call, new: &mut Object, old: Option<&Object>) {
    if let Some(annotation) = call.kind.creator {
        keep_creator(annotation, &call.who.user, new, old);
    }
    let change = RawChange { old, new: Some(new), subresource: &call.subresource };
    match StoredChange::of(call, &change) {
        Ok(None) => call.kind.prepare.iter().for_each(|prepare| prepare(new, old, &call.subresource)),
        Ok(Some(StoredChange { old, new: Some(mut stored) })) => {
            for prepare in &call.kind.prepare {
                prepare(&mut stored, old.as_ref(), &call.subresource);
            }
            put_back(call, new, stored);
        }
        // What can't be converted is refused when it is checked.
        Ok(Some(_)) | Err(_) => {}
    }
}

/// Names the creator of an object, whatever was sent: whoever creates it, and from then on the same.
fn keep_creator(annotation: &str, user: &str, new: &mut Object, old: Option<&Object>) {
    let creator = match old {
        None => Some(user.to_owned()),
        Some(old) => old.annotation(annotation).map(str::to_owned),
    };
    if new.annotation(annotation) == creator.as_deref() {
        return;
    }
    let mut annotations = new.meta("annotations").cloned().unwrap_or_else(|| serde_json::json!({}));
    let Some(map) = annotations.as_object_mut() else { return };
    match creator {
        Some(creator) => drop(map.insert(annotation.to_owned(), creator.into())),
        None => drop(map.remove(annotation)),
    }
    let is_empty = map.is_empty();
    new.set_meta("annotations", (!is_empty).then_some(annotations));
}

/// Gives an object the status that it has in the version that is stored.
pub fn set_status(call: &Call, new: &mut Object, status: serde_json::Value) {
    let change = RawChange { old: None, new: Some(new), subresource: &call.subresource };
    match StoredChange::of(call, &change) {
        Ok(Some(StoredChange { new: Some(mut stored), .. })) => {
            stored.set("status", Some(status));
            put_back(call, new, stored);
        }
        _ => new.set("status", Some(status)),
    }
}

fn put_back(call: &Call, new: &mut Object, stored: Object) {
    let Some(conversion) = &call.kind.conversion else { return };
    if let Ok(converted) = conversion.convert(stored, &call.api_version()) {
        *new = converted;
    }
}
