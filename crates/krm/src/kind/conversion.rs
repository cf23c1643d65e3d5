//! Versions of a kind of ours besides the one that is stored, and conversions between them.

use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use super::{Resource, api_version};
use crate::object::Object;
use crate::table::Column;

/// A version of a kind that is served besides the stored one, as the type of its objects.
///
/// Conversions are pure, and there and back they lose nothing: what one of the versions has no field for is kept in an
/// annotation. [`round_trip`] and [`round_trip_of_stored`] are for a property test of that.
pub trait OtherVersion: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The type that is stored.
    type Stored: Resource;
    /// The name of the version: `v1alpha1`.
    const VERSION: &'static str;
    /// Warning for clients that use the version, if they should not any more; empty for the default warning.
    const DEPRECATED: Option<&'static str> = None;

    /// The object in the version that is stored.
    fn into_stored(self) -> Self::Stored;
    /// The object in this version.
    fn from_stored(stored: Self::Stored) -> Self;

    /// The columns of its table after the name. By default, those of the stored version whose fields it has.
    fn columns() -> Option<Vec<Column>> {
        None
    }

    /// Fields that can be used in field selectors. They need not be those of the stored version, but a selector by them
    /// has to convert every object.
    fn selectable() -> Vec<&'static str> {
        Vec::new()
    }
}

/// The conversions of a kind between the version that is stored and the others.
#[derive(Clone)]
pub struct Conversion {
    /// The group of the kind.
    pub group: &'static str,
    /// The resource of the kind, for roles.
    pub resources: &'static [&'static str],
    kind: &'static str,
    stored: String,
    others: Vec<(String, Functions)>,
}

#[derive(Clone, Copy)]
struct Functions {
    up: fn(&Object) -> Result<Value, serde_json::Error>,
    down: fn(&Object) -> Result<Value, serde_json::Error>,
}

impl Conversion {
    /// Of a kind that so far has the stored version only.
    pub(super) fn of<T: Resource>() -> Conversion {
        Conversion {
            group: T::GROUP,
            resources: T::RESOURCES,
            kind: T::KIND,
            stored: api_version(T::GROUP, T::VERSION),
            others: Vec::new(),
        }
    }

    /// The same with another version.
    pub(super) fn with<V: OtherVersion>(mut self) -> Conversion {
        let functions = Functions {
            up: |object| serde_json::to_value(V::deserialize(&object.0)?.into_stored()),
            down: |object| serde_json::to_value(V::from_stored(V::Stored::deserialize(&object.0)?)),
        };
        self.others.push((api_version(V::Stored::GROUP, V::VERSION), functions));
        self
    }

    /// Whether an object is in the version that is stored.
    pub fn is_stored(&self, object: &Object) -> bool {
        object.api_version() == self.stored
    }

    /// The object in the version that is stored.
    pub fn to_stored(&self, object: Object) -> Result<Object, Unconvertible> {
        self.convert(object, &self.stored)
    }

    /// The object in another version, by its `apiVersion`. What is of a version that is not known is taken for one of
    /// the stored version, as is what wants to become one.
    pub fn convert(&self, object: Object, to: &str) -> Result<Object, Unconvertible> {
        if object.api_version() == to {
            return Ok(object);
        }
        let functions = |version: &str| self.others.iter().find(|(known, _)| known == version);
        let stored = match functions(object.api_version()) {
            Some((_, functions)) => self.made(&object, &self.stored, functions.up)?,
            None => object,
        };
        match functions(to) {
            Some((to, functions)) => self.made(&stored, to, functions.down),
            None => Ok(stored),
        }
    }

    /// Only labels and annotations are a conversion's; all other metadata are the server's.
    fn made(
        &self,
        object: &Object,
        to: &str,
        make: fn(&Object) -> Result<Value, serde_json::Error>,
    ) -> Result<Object, Unconvertible> {
        let fails = |why: String| Unconvertible {
            object: format!("{} {}", self.kind, object.name()),
            from: object.api_version().to_owned(),
            to: to.to_owned(),
            why,
        };
        let value = make(object).map_err(|error| fails(error.to_string()))?;
        let made =
            Object::from_value(value).ok_or_else(|| fails("the result is not an object".to_owned()))?;
        let mut made = made.with_metadata_of(object);
        made.set_type(to, self.kind);
        Ok(made)
    }
}

impl fmt::Debug for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others: Vec<&String> = self.others.iter().map(|(version, _)| version).collect();
        f.debug_struct("Conversion").field("stored", &self.stored).field("others", &others).finish()
    }
}

/// An object that can't be read as its version has it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{object} cannot be converted from {from} to {to}: {why}")]
pub struct Unconvertible {
    object: String,
    from: String,
    to: String,
    why: String,
}

/// An error unless an object of another version is the same after it was stored and read again.
pub fn round_trip<V: OtherVersion>(object: &V) -> Result<(), String> {
    let before = serde_json::to_value(object).map_err(|error| error.to_string())?;
    let copy = V::deserialize(&before).map_err(|error| error.to_string())?;
    let after =
        serde_json::to_value(V::from_stored(copy.into_stored())).map_err(|error| error.to_string())?;
    same(V::VERSION, &before, &after)
}

/// An error unless a stored object is the same after it was read and written in another version.
pub fn round_trip_of_stored<V: OtherVersion>(stored: &V::Stored) -> Result<(), String> {
    let before = serde_json::to_value(stored).map_err(|error| error.to_string())?;
    let copy = V::Stored::deserialize(&before).map_err(|error| error.to_string())?;
    let after =
        serde_json::to_value(V::from_stored(copy).into_stored()).map_err(|error| error.to_string())?;
    same(V::Stored::VERSION, &before, &after)
}

fn same(version: &str, before: &Value, after: &Value) -> Result<(), String> {
    match before == after {
        true => Ok(()),
        false => Err(format!("{version} does not survive the way there and back:\n{before}\n{after}")),
    }
}
