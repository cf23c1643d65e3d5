//! Rules: the change that a rule judges, and its verdict.

use serde::de::DeserializeOwned;

use crate::field::{FieldError, Path};
use crate::object::Object;

/// A change as the server sees it: of a creation there is no old object, of a deletion no new one.
#[derive(Clone, Copy)]
pub struct RawChange<'a> {
    /// What was there.
    pub old: Option<&'a Object>,
    /// What is to be there.
    pub new: Option<&'a Object>,
    /// The subresource it is made through; empty for the object itself.
    pub subresource: &'a str,
}

/// A change of an object of a kind of ours.
pub struct Change<T> {
    old: Option<T>,
    new: Option<T>,
}

impl<T: DeserializeOwned> Change<T> {
    /// The change with both objects read as their type. An old object that can't be read, having been written when its
    /// type was another, keeps nobody from putting it right or taking it away: what comes in its place is judged as
    /// something new, and of its deletion there is nothing to judge.
    pub(crate) fn read(raw: &RawChange<'_>) -> Result<Option<Change<T>>, serde_json::Error> {
        let read = |object: &Object| T::deserialize(&object.0);
        let change =
            Change { old: raw.old.and_then(|old| read(old).ok()), new: raw.new.map(read).transpose()? };
        Ok(Some(change).filter(|change| change.old.is_some() || change.new.is_some()))
    }
}

impl<T: DeserializeOwned> Change<T> {
    /// The change of a raw one, for rules that look at the JSON first; nothing if there is nothing to judge.
    pub fn of(raw: &RawChange<'_>) -> Result<Option<Change<T>>, Refusal> {
        Change::read(raw).map_err(|error| {
            Refusal::from(FieldError::new(crate::field::Fault::Invalid, &Path::ROOT, error.to_string()))
        })
    }
}

impl<T> Change<T> {
    /// What was there; nothing when it is created.
    pub fn before(&self) -> Option<&T> {
        self.old.as_ref()
    }

    /// What is to be there; nothing when it is deleted.
    pub fn after(&self) -> Option<&T> {
        self.new.as_ref()
    }
}

/// Why a rule says no.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// Fields are wrong: 422.
    Invalid(Vec<FieldError>),
    /// It may not be done: 403.
    Forbidden(String),
    /// Something else is in the way: 409.
    Conflict(String),
    /// It is turned down as a validating webhook would: 400.
    Denied(String),
}

/// What a rule answers.
pub type Verdict = Result<(), Refusal>;

/// Nothing against it.
pub fn allow() -> Verdict {
    Ok(())
}

/// Not allowed, for this reason.
pub fn refuse(reason: impl Into<String>) -> Verdict {
    Err(Refusal::Forbidden(reason.into()))
}

/// Turned down as a validating webhook would, for this reason.
pub fn deny(reason: impl Into<String>) -> Verdict {
    Err(Refusal::Denied(reason.into()))
}

impl From<FieldError> for Refusal {
    fn from(error: FieldError) -> Refusal {
        Refusal::Invalid(vec![error])
    }
}

/// Where an object is to be found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// Its group.
    pub group: String,
    /// Its resource.
    pub plural: String,
    /// Its namespace; empty when it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// A stored object as its type.
pub(crate) fn read<T: DeserializeOwned>(object: &Object) -> Option<T> {
    T::deserialize(&object.0).ok()
}
