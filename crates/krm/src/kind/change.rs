//! Rules: the change that a rule judges, what it may read, and its verdict.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::Resource;
use crate::field::FieldError;
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
        let read = |object: &Object| T::deserialize(&serde_json::Value::Object(object.0.clone()));
        let change =
            Change { old: raw.old.and_then(|old| read(old).ok()), new: raw.new.map(read).transpose()? };
        Ok(Some(change).filter(|change| change.old.is_some() || change.new.is_some()))
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

/// Reads the store inside a transaction: whatever is read is a guard of it.
pub trait Reader {
    /// An object.
    fn get(&mut self, at: &Address) -> Option<Arc<Object>>;
    /// Whether an object is there, at whatever version.
    fn exists(&mut self, at: &Address) -> bool;
    /// The objects in a bucket.
    fn bucket(&mut self, bucket: &str, value: &str) -> Vec<Arc<Object>>;
}

/// What a rule may read.
pub struct View<'a>(&'a mut dyn Reader);

impl<'a> View<'a> {
    /// A view through this reader.
    pub fn new(reader: &'a mut dyn Reader) -> View<'a> {
        View(reader)
    }

    /// An object of a kind of ours, without a namespace.
    pub fn get<T: Resource>(&mut self, name: &str) -> Option<T> {
        self.get_in("", name)
    }

    /// An object of a kind of ours in a namespace.
    pub fn get_in<T: Resource>(&mut self, namespace: &str, name: &str) -> Option<T> {
        let object = self.0.get(&T::address(namespace, name))?;
        read(&object)
    }

    /// Whether an object of a kind of ours is there, whatever it says.
    pub fn exists<T: Resource>(&mut self, namespace: &str, name: &str) -> bool {
        self.0.exists(&T::address(namespace, name))
    }

    /// The objects in a bucket, as they are stored: a bucket may hold several kinds.
    pub fn bucket(&mut self, bucket: &str, value: &str) -> Vec<Arc<Object>> {
        self.0.bucket(bucket, value)
    }

    /// The objects of one kind in a bucket.
    pub fn bucket_of<T: Resource>(&mut self, bucket: &str, value: &str) -> Vec<T> {
        let objects = self.0.bucket(bucket, value);
        objects.iter().filter(|object| object.kind() == T::KIND).filter_map(|object| read(object)).collect()
    }

    /// The reader below.
    pub fn reader(&mut self) -> &mut dyn Reader {
        self.0
    }
}

fn read<T: DeserializeOwned>(object: &Object) -> Option<T> {
    T::deserialize(&serde_json::Value::Object(object.0.clone())).ok()
}
