//! Cache of encoded watch events, shared by watches that ask for the same format.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use krm::kind::{Kind, Origin};
use store::Version;

use crate::call::Call;
use crate::request::accept::{Accept, Form};

/// How many of the last ones are kept. Those who watch the same get a change at the same time.
const KEPT: usize = 64;

/// What was made last.
#[derive(Default)]
pub struct Shown {
    last: Mutex<VecDeque<(Which, Bytes)>>,
}

/// Everything that the bytes depend on.
#[derive(Clone, PartialEq, Eq)]
pub struct Which {
    /// The write that left the object so.
    object: Version,
    /// The kind, as it is served where it is watched; a definition that changes makes another.
    kind: usize,
    definition: u64,
    version: usize,
    /// Whose values are left out for somebody is not shown to others.
    user: Option<Arc<str>>,
    /// `None` for the object itself in another version than it is kept in.
    form: Option<Accept>,
    /// Ages are told in seconds.
    second: i64,
}

impl Which {
    /// An object at the version of the call.
    pub fn converted(call: &Call, object: Version) -> Which {
        let definition = match &call.kind.origin {
            Origin::Custom { version, .. } => *version,
            Origin::BuiltIn => 0,
        };
        let kind = Arc::<Kind>::as_ptr(&call.kind) as usize;
        let user = call.redacts.then(|| call.who.user.clone());
        Which { object, kind, definition, version: call.version, user, form: None, second: 0 }
    }

    /// The same in a form of its own.
    pub fn formed(call: &Call, object: Version, accept: &Accept) -> Which {
        let second = if accept.form == Form::Table { call.api.now().seconds } else { 0 };
        Which { form: Some(*accept), second, ..Which::converted(call, object) }
    }
}

impl Shown {
    /// What was made for somebody else, or what `make` makes.
    pub fn get<E>(&self, which: Which, make: impl FnOnce() -> Result<Bytes, E>) -> Result<Bytes, E> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = last().iter().rev().find(|(made, _)| *made == which) {
            return Ok(bytes.clone());
        }
        // Not under the lock: two may make it at the same time, and make the same.
        let bytes = make()?;
        let mut last = last();
        if last.len() == KEPT {
            last.pop_front();
        }
        last.push_back((which, bytes.clone()));
        Ok(bytes)
    }
}
