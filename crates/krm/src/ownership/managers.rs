//! Who owns which fields of an object: `metadata.managedFields`.

mod cap;
mod entry;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub use entry::MalformedEntry;
pub(super) use entry::{Operation, is_blank};

use super::set::FieldSet;
use crate::encode::to_json_text;
use crate::object::Object;
use crate::time::Moment;

/// The field of metadata that says who owns what.
pub(super) const MANAGED_FIELDS: &str = "managedFields";

/// What a manager is known by.
///
/// Who applies is one manager whatever version is applied; who updates is another one in each version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub name: String,
    pub operation: Operation,
    /// Empty for who applies.
    pub version: String,
    pub subresource: String,
}

/// A manager and what it owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manager {
    pub identity: Identity,
    /// The `apiVersion` its fields are those of.
    pub version: String,
    pub fields: FieldSet,
    /// When it last changed something. Who only agreed with what was there has never.
    pub time: Option<Moment>,
}

/// Everybody who owns fields of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Managers(pub Vec<Manager>);

impl Identity {
    pub(super) fn new(name: &str, operation: Operation, version: &str, subresource: &str) -> Identity {
        let version = match operation {
            Operation::Apply => "",
            Operation::Update => version,
        };
        Identity {
            name: if name.is_empty() { "unknown" } else { name }.to_owned(),
            operation,
            version: version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    /// A text that sorts managers as Kubernetes does, by their JSON.
    pub(super) fn sort_key(&self) -> String {
        let mut key = String::new();
        for (name, value) in [
            ("manager", self.name.as_str()),
            ("operation", self.operation.name()),
            ("apiVersion", &self.version),
            ("subresource", &self.subresource),
        ] {
            if !value.is_empty() {
                key.push_str(if key.is_empty() { "{\"" } else { ",\"" });
                key.push_str(name);
                key.push_str("\":");
                key.push_str(&to_json_text(&Value::from(value)));
            }
        }
        key.push('}');
        key
    }

    /// As messages about conflicts name it.
    pub(super) fn describe(&self) -> String {
        let mut text = crate::field::quote(&self.name);
        if !self.subresource.is_empty() {
            text.push_str(&format!(" with subresource {}", crate::field::quote(&self.subresource)));
        }
        if self.operation == Operation::Update {
            text.push_str(&format!(" using {}", self.version));
        }
        text
    }
}

impl Managers {
    /// Reads `managedFields`. Of two entries of one manager the later counts.
    pub(super) fn decode(entries: &[Value]) -> Result<Managers, MalformedEntry> {
        let mut managers = Managers::default();
        for (at, entry) in entries.iter().enumerate() {
            let manager = entry::decode(at, entry)?;
            match managers.position(&manager.identity) {
                Some(at) => managers.0[at] = manager,
                None => managers.0.push(manager),
            }
        }
        Ok(managers)
    }

    /// Who owns the fields of an object, by what it says itself; nobody, if that is malformed.
    pub(super) fn of(object: &Object) -> Managers {
        Managers::decode(declared_entries(object).unwrap_or(&[])).unwrap_or_default()
    }

    /// Writes `managedFields` into an object; takes it away when nobody owns anything.
    pub(super) fn write_into(self, object: &mut Object) {
        let entries = self.encode();
        object.set_meta(MANAGED_FIELDS, (!entries.is_empty()).then_some(Value::Array(entries)));
    }

    /// As `managedFields`: who applied before who updated, each in the order of time, then of name.
    pub(super) fn encode(mut self) -> Vec<Value> {
        self.0.sort_by(|left, right| {
            let seconds = |manager: &Manager| manager.time.map_or(0, |time| time.seconds);
            let (ours, theirs) = (&left.identity, &right.identity);
            ours.operation
                .cmp(&theirs.operation)
                .then_with(|| seconds(left).cmp(&seconds(right)))
                .then_with(|| ours.name.cmp(&theirs.name))
                .then_with(|| left.version.cmp(&right.version))
                .then_with(|| ours.subresource.cmp(&theirs.subresource))
        });
        self.0.into_iter().map(entry::encode).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn position(&self, identity: &Identity) -> Option<usize> {
        self.0.iter().position(|manager| manager.identity == *identity)
    }

    pub(super) fn get(&self, identity: &Identity) -> Option<&Manager> {
        self.position(identity).map(|at| &self.0[at])
    }

    /// Sets what a manager owns; owning nothing, it is none.
    pub(super) fn set(&mut self, manager: Manager) {
        match (self.position(&manager.identity), manager.fields.is_empty()) {
            (Some(at), true) => {
                self.0.swap_remove(at);
            }
            (Some(at), false) => self.0[at] = manager,
            (None, true) => {}
            (None, false) => self.0.push(manager),
        }
    }
}

/// The entries of `managedFields` that an object comes with; `None` if there is no such list, or one of something else.
pub(super) fn declared_entries(object: &Object) -> Option<&[Value]> {
    let entries = object.meta(MANAGED_FIELDS)?.as_array()?;
    entries.iter().all(|entry| entry.is_object() || entry.is_null()).then_some(entries)
}

/// Takes `managedFields` out of an object.
pub(super) fn forget(object: &mut Object) {
    if let Some(Value::Object(metadata)) = object.0.get_mut("metadata") {
        Map::remove(metadata, MANAGED_FIELDS);
    }
}
