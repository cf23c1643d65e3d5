//! Names of instances.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The longest id, in bytes. Folders, control groups and sockets are named after it.
const LONGEST: usize = 128;

/// The id of an instance, chosen by the caller. Unique on the machine.
///
/// It becomes the name of folders and of control groups, so it is limited to letters, digits, `-`, `_` and `.`, starts with
/// a letter or a digit, and is at most 128 bytes long.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstanceId(String);

impl InstanceId {
    /// Parses an id.
    pub fn new(id: impl Into<String>) -> Result<Self> {
        let id = id.into();
        let refuse = |reason: &str| Err(Error::InvalidId { id: id.clone(), reason: reason.to_owned() });
        if id.len() > LONGEST {
            return refuse("it is longer than 128 bytes");
        }
        if !id.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            return refuse("it does not start with a letter or a digit");
        }
        if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
            return refuse("it has characters other than letters, digits, '-', '_' and '.'");
        }
        Ok(Self(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for InstanceId {
    type Error = Error;

    fn try_from(id: String) -> Result<Self> {
        Self::new(id)
    }
}

impl From<InstanceId> for String {
    fn from(id: InstanceId) -> String {
        id.0
    }
}
