//! Identifiers of the API and names of resources.

use apiserver::index;
use apiserver::keys::{self, Parts};
use apiserver::plane::Plane;
use krm::Object;
use krm::kind::Address;
use krm::status::{Status, Subject};
use serde_json::Value as Json;
use store::{Entry, Snapshot};

use super::Named;
use crate::collection::GROUP;

/// Hexadecimal digits at the end of a name that was derived from an identifier.
const DIGITS: usize = 16;

/// Finds names of root objects by their identifiers, and the other way round.
pub struct Names {
    snapshot: Snapshot,
}

impl Names {
    /// As of one moment.
    pub fn at(snapshot: Snapshot) -> Names {
        Names { snapshot }
    }

    /// The moment.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    fn entry(&self, plural: &str, name: &str) -> Option<&Entry> {
        let at = Address {
            group: GROUP.to_owned(),
            plural: plural.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        };
        let key = keys::object(&Plane::root(), &at).ok()?;
        self.snapshot.get(&key).map(|entry| &**entry)
    }

    /// A root object by its name.
    pub fn object(&self, plural: &str, name: &str) -> Option<Object> {
        serde_json::from_slice(self.entry(plural, name)?.bytes()).ok().map(Object)
    }

    /// The identifier of the object with a name.
    pub fn shown(&self, plural: &str, name: &str) -> String {
        // Only derived names need a look: any other is the identifier.
        let is_derived = name.rsplit_once('-').is_some_and(|(_, digits)| {
            digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        let id = is_derived.then(|| self.entry(plural, name).and_then(chosen_id)).flatten();
        id.unwrap_or_else(|| name.to_owned())
    }

    /// The name of the object that a client names.
    pub(super) fn stored(&self, plural: &str, text: &str, how: Named, field: &str) -> Result<String, Status> {
        let name = fulfillment::identity::name_of(text);
        if how == Named::ById || self.entry(plural, &name).is_some() {
            return Ok(name);
        }
        let of = Parts { plane: "", group: GROUP, plural, namespace: "", name: "" };
        let term = index::field_is(&of, "displayName", text);
        let mut found = self.snapshot.having(&term).filter_map(|key| Some(keys::parts(key)?.name.to_owned()));
        match (found.next(), found.next()) {
            (Some(name), None) => Ok(name),
            (Some(_), Some(_)) => {
                let why = format!("{field}: several {plural} have the name '{text}'; use the identifier");
                Err(Status::bad_request(why))
            }
            (None, _) => {
                let mut status = Status::not_found(&Subject::new(GROUP, plural), text);
                status.message = format!("{field}: no object has the identifier or name '{text}'");
                Err(status)
            }
        }
    }
}

fn chosen_id(entry: &Entry) -> Option<String> {
    let object: Json = serde_json::from_slice(entry.bytes()).ok()?;
    object.get("id")?.as_str().map(str::to_owned)
}
