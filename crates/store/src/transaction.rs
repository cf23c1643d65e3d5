//! Transactions: what must still be true, and what is then written, in one commit.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;

use crate::entry::{Body, Entry, Uid};
use crate::error::{Conflict, Error, Result};
use crate::history::Level;
use crate::key::Key;
use crate::memory::indexer::sealing_context;
use crate::seal::Keyring;
use crate::snapshot::Snapshot;
use crate::version::{Revision, Version};

/// Who makes a change, with what, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Author {
    /// The user in whose name it is made.
    pub user: Arc<str>,
    /// The program that makes it: a field manager.
    pub manager: Arc<str>,
    /// The reason given for it.
    pub message: Option<Arc<str>>,
    /// Who really makes it, where they act as the user.
    pub impersonator: Option<Arc<str>>,
}

/// Before the user, in what is recorded, where somebody acts as them; then come the length of the user's name in bytes, a
/// space, that name and the name of who acts. What begins with this mark otherwise is recorded as acted by nobody.
const ACTED_BY: &str = "\0as ";

/// A recorded user: in whose name a change was made, and who acted as them.
pub(crate) fn recorded(recorded: &str) -> (&str, Option<&str>) {
    let parts = recorded.strip_prefix(ACTED_BY).and_then(|rest| {
        let (length, names) = rest.split_once(' ')?;
        names.split_at_checked(length.parse().ok()?)
    });
    match parts {
        Some((user, "")) => (user, None),
        Some((user, impersonator)) => (user, Some(impersonator)),
        None => (recorded, None),
    }
}

impl Author {
    /// `user` by way of `manager`, without a message.
    pub fn new(user: impl Into<Arc<str>>, manager: impl Into<Arc<str>>) -> Author {
        Author { user: user.into(), manager: manager.into(), message: None, impersonator: None }
    }

    /// The same where somebody else acts as the user.
    pub fn acted_by(self, impersonator: impl Into<Arc<str>>) -> Author {
        Author { impersonator: Some(impersonator.into()), ..self }
    }

    /// The user as it is recorded, with who acts as them. Chained to the record, neither can be changed later.
    pub(crate) fn recorded_user(&self) -> Arc<str> {
        match &self.impersonator {
            None if !self.user.starts_with(ACTED_BY) => self.user.clone(),
            impersonator => {
                let impersonator = impersonator.as_deref().unwrap_or_default();
                format!("{ACTED_BY}{} {}{impersonator}", self.user.len(), self.user).into()
            }
        }
    }

    /// The same with a reason.
    pub fn because(self, message: impl Into<Arc<str>>) -> Author {
        Author { message: Some(message.into()), ..self }
    }
}

/// Guards and writes: if every guard holds, all writes land in one revision; else none does.
#[derive(Debug, Clone, Default)]
pub struct Transaction {
    /// Who makes the change.
    pub author: Author,
    /// What must be true at the commit.
    pub guards: Vec<Guard>,
    /// What is written, in order; a key at most once.
    pub writes: Vec<Write>,
    /// What is changed as it is found at the commit; no key that is written too.
    pub amendments: Vec<Amendment>,
}

impl Transaction {
    /// An empty transaction of `author`.
    pub fn by(author: Author) -> Transaction {
        Transaction { author, ..Transaction::default() }
    }

    /// Adds a guard.
    pub fn guard(mut self, guard: Guard) -> Transaction {
        self.guards.push(guard);
        self
    }

    /// Adds a put.
    pub fn put(mut self, put: Put) -> Transaction {
        self.writes.push(Write::Put(put));
        self
    }

    /// Adds a deletion.
    pub fn delete(mut self, key: Key) -> Transaction {
        self.writes.push(Write::Delete { key, verb: Cow::Borrowed("delete") });
        self
    }
}

/// A change of an object that is worked out by the committer, on the object as it is then. Transactions that amend the same
/// object are not in each other's way. It changes nothing that the object is found by. Only engines with one committer take
/// them.
#[derive(Clone)]
pub struct Amendment {
    /// The key of the object.
    pub key: Key,
    pub(crate) change: Change,
}

/// What an object becomes; nothing if it can't be changed so.
pub(crate) type Change = Arc<dyn Fn(&Entry) -> Option<Put> + Send + Sync>;

impl Amendment {
    /// The object that it makes of what is there.
    pub(crate) fn of(&self, found: Option<&Arc<Entry>>) -> Result<Put, Conflict> {
        let Some(found) = found else { return Err(Conflict::Missing(self.key.clone())) };
        // The caller's code: if it panics, its caller is told, and everybody else goes on.
        let made = catch_unwind(AssertUnwindSafe(|| (self.change)(found))).ok().flatten();
        made.ok_or_else(|| Conflict::Unamendable(self.key.clone()))
    }
}

impl std::fmt::Debug for Amendment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Amendment").field("key", &self.key).finish_non_exhaustive()
    }
}

/// One condition of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// The key is at exactly this version; [`Version::ZERO`]: there is no such key.
    At {
        /// The key.
        key: Key,
        /// Its version when it was read.
        version: Version,
    },
    /// The key exists, at whatever version.
    Exists(Key),
    /// The key exists in this life: it was not deleted and created again.
    Life {
        /// The key.
        key: Key,
        /// The identity of the life that was seen.
        uid: Uid,
    },
    /// Nothing entered, left or changed in this bucket after `at`.
    Bucket {
        /// The bucket: the bytes of a [`crate::Term`] declared as one.
        term: Bytes,
        /// The revision at which it was read.
        at: Revision,
    },
    /// The lease is still held by who got this fence.
    Lease(Fence),
}

/// The proof of holding a lease: the lease's key and the version at which it was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    pub(crate) name: Arc<str>,
    pub(crate) taken: Version,
}

/// One write of a transaction.
#[derive(Debug, Clone)]
pub enum Write {
    /// Creates or replaces an object.
    Put(Put),
    /// Deletes an object; a key that is not there is left alone.
    Delete {
        /// The key.
        key: Key,
        /// What the client called it, for the history.
        verb: Cow<'static, str>,
    },
}

impl Write {
    /// The key it writes.
    pub fn key(&self) -> &Key {
        match self {
            Write::Put(put) => &put.key,
            Write::Delete { key, .. } => key,
        }
    }
}

/// An object to be written.
#[derive(Debug, Clone)]
pub struct Put {
    /// Its key.
    pub key: Key,
    /// The identity of this life of the key; the same in every put until it is deleted.
    pub uid: Uid,
    /// Its bytes.
    pub body: Body,
    /// Whether they are sealed at rest.
    pub secret: bool,
    /// How much of this change history keeps.
    pub level: Level,
    /// When the object goes by itself, in milliseconds since 1970.
    pub expires: Option<u64>,
    /// What the client called the change: create, update, patch, apply.
    pub verb: Cow<'static, str>,
}

impl Put {
    /// A plain object with full history.
    pub fn new(key: Key, uid: Uid, body: Body) -> Put {
        Put {
            key,
            uid,
            body,
            secret: false,
            level: Level::Full,
            expires: None,
            verb: Cow::Borrowed("update"),
        }
    }

    /// Sealed at rest.
    pub fn secret(self) -> Put {
        Put { secret: true, ..self }
    }

    /// With another level of history.
    pub fn level(self, level: Level) -> Put {
        Put { level, ..self }
    }

    /// Gone by itself at this time.
    pub fn expires_at(self, milliseconds: u64) -> Put {
        Put { expires: Some(milliseconds), ..self }
    }

    /// Recorded under this verb.
    pub fn verb(self, verb: impl Into<Cow<'static, str>>) -> Put {
        Put { verb: verb.into(), ..self }
    }
}

/// What a commit made.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The revision of the commit; of a transaction that changed nothing, the revision it was checked at.
    pub revision: Revision,
    /// For each write, and after them for each amendment, the object as readers now see it; of a deletion what was deleted, at the version of
    /// the deletion, or nothing where there was nothing to delete.
    pub entries: Vec<Option<Arc<Entry>>>,
}

/// Refuses what no engine could commit, and seals what is secret. A secret that `now` has already keeps its
/// sealed bytes, so that writing it again is no change.
pub(crate) fn prepare(
    mut transaction: Transaction,
    keyring: &Keyring,
    now: &Snapshot,
) -> Result<Transaction> {
    let mut keys: Vec<&Key> = transaction.writes.iter().map(Write::key).collect();
    keys.sort_unstable();
    if let Some(twice) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::Invalid(format!("{} is written twice in one transaction", twice[0])));
    }
    for write in &mut transaction.writes {
        if let Write::Put(put) = write
            && put.secret
        {
            let context = sealing_context(&put.key, put.uid);
            let same = |entry: &&Arc<Entry>| {
                entry.sealed && keyring.open(&context, &entry.bytes).is_ok_and(|old| *old == put.body.bytes)
            };
            put.body.bytes = match now.get(&put.key).filter(same) {
                Some(entry) => entry.bytes.clone(),
                None => keyring.seal(&context, &put.body.bytes)?.into(),
            };
        }
    }
    Ok(transaction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_kind_come_back_from_what_is_recorded() {
        for user in ["", "alice", "\0", "\0as ", "\0as 3 abcdef", "äö\0x"] {
            assert_eq!(recorded(&Author::new(user, "m").recorded_user()), (user, None));
            for impersonator in ["bob", "\0as 1 x", "ß"] {
                let author = Author::new(user, "m").acted_by(impersonator);
                assert_eq!(recorded(&author.recorded_user()), (user, Some(impersonator)));
            }
        }
    }
}
