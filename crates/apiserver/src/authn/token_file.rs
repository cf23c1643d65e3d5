//! Static token file: `token,user,uid,"group1,group2"` per line, reloaded when the file changes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;
use ring::hmac;
use ring::rand::SystemRandom;
use zeroize::Zeroizing;

use crate::identity::Identity;

/// How long a change of the file may go unnoticed.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const MAX_BYTES: u64 = 16 << 20;

/// The users of the tokens in a file.
///
/// Tokens are kept and found as keyed hashes: how long a look-up takes says nothing about any token, and none stays
/// in memory.
pub struct TokenFile {
    path: PathBuf,
    key: hmac::Key,
    users: ArcSwap<Users>,
    looked: Mutex<Looked>,
}

type Users = HashMap<[u8; 32], Arc<Identity>>;

struct Looked {
    at: Instant,
    seen: Option<Stamp>,
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
}

/// Why a token file cannot be used. Never a word of its contents but how many columns a line has.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// The operating system refused.
    #[error("cannot read token file {}: check that it exists and is readable by this user", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A record is too short.
    #[error(
        "token file '{}' must have at least 3 columns (token, user name, user uid), found {columns} in line {line}",
        path.display()
    )]
    Columns {
        /// The file.
        path: PathBuf,
        /// Where.
        line: usize,
        /// How many there are.
        columns: usize,
    },
    /// A quote is not where it may be.
    #[error("token file '{}' has a stray or unclosed quote in line {line}: write groups as \"a,b\"", path.display())]
    Quote {
        /// The file.
        path: PathBuf,
        /// Where.
        line: usize,
    },
    /// The operating system gave no random bytes.
    #[error("cannot use token file {}: the operating system gave no random bytes; try again", path.display())]
    NoRandomness {
        /// The file.
        path: PathBuf,
    },
}

impl TokenFile {
    /// Reads the file.
    pub fn open(path: impl Into<PathBuf>) -> Result<TokenFile, TokenFileError> {
        let path = path.into();
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
            .map_err(|_| TokenFileError::NoRandomness { path: path.clone() })?;
        let seen = stamp(&path);
        let users = read(&path, &key)?;
        let looked = Mutex::new(Looked { at: Instant::now(), seen });
        Ok(TokenFile { path, key, users: ArcSwap::from_pointee(users), looked })
    }

    /// The user of a token.
    pub fn find(&self, token: &str) -> Option<Identity> {
        self.look_again(Instant::now());
        self.users.load().get(&hashed(&self.key, token)).map(|identity| Identity::clone(identity))
    }

    /// Reads the file again if it has changed. One that cannot be read leaves the tokens as they were.
    fn look_again(&self, now: Instant) {
        // Whoever finds the lock taken is served by what there is.
        let Ok(mut looked) = self.looked.try_lock() else { return };
        if now.duration_since(looked.at) < LOOK_EVERY {
            return;
        }
        looked.at = now;
        let seen = stamp(&self.path);
        if seen == looked.seen {
            return;
        }
        looked.seen = seen;
        match read(&self.path, &self.key) {
            Ok(users) => self.users.store(Arc::new(users)),
            Err(error) => {
                tracing::warn!(%error, "failed to reload the token file; the previous content stays in use")
            }
        }
    }
}

impl std::fmt::Debug for TokenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenFile").field("path", &self.path).finish_non_exhaustive()
    }
}

fn hashed(key: &hmac::Key, token: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(hmac::sign(key, token.as_bytes()).as_ref());
    hash
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(Stamp { modified: metadata.modified().ok(), length: metadata.len() })
}

fn read(path: &Path, key: &hmac::Key) -> Result<Users, TokenFileError> {
    let failed = |source| TokenFileError::Read { path: path.to_owned(), source };
    if std::fs::metadata(path).map_err(failed)?.len() > MAX_BYTES {
        return Err(failed(std::io::Error::other("it is larger than 16 MiB")));
    }
    let text = Zeroizing::new(std::fs::read_to_string(path).map_err(failed)?);
    let mut users = Users::new();
    for record in records(&text) {
        let (line, fields) = record.map_err(|line| TokenFileError::Quote { path: path.to_owned(), line })?;
        let [token, user, uid, more @ ..] = fields.as_slice() else {
            return Err(TokenFileError::Columns { path: path.to_owned(), line, columns: fields.len() });
        };
        if token.is_empty() {
            tracing::warn!(path = %path.display(), line, "empty token in the token file");
            continue;
        }
        let groups = more.first().map(|groups| groups.split(',').map(Arc::from).collect());
        let identity = Identity {
            user: user.as_str().into(),
            uid: uid.as_str().into(),
            groups: groups.unwrap_or_default(),
            ..Identity::default()
        };
        if users.insert(hashed(key, token), Arc::new(identity)).is_some() {
            tracing::warn!(path = %path.display(), line, "duplicate token in the token file");
        }
    }
    Ok(users)
}

/// The records of a CSV text with the line each starts in; or the line of a quote that is wrong.
fn records(text: &str) -> impl Iterator<Item = Result<(usize, Vec<Zeroizing<String>>), usize>> {
    let mut rest = text;
    let mut line = 1;
    std::iter::from_fn(move || {
        while let Some(after) = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')) {
            rest = after;
            line += 1;
        }
        if rest.is_empty() {
            return None;
        }
        let start = line;
        let mut fields = Vec::new();
        loop {
            let Some((value, after)) = field(rest) else {
                rest = "";
                return Some(Err(start));
            };
            line += value.matches('\n').count();
            fields.push(Zeroizing::new(value));
            match after.strip_prefix(',') {
                Some(after) => rest = after,
                None => {
                    rest = after;
                    return Some(Ok((start, fields)));
                }
            }
        }
    })
}

/// One field and what comes after it: a comma, a line's end or nothing.
fn field(text: &str) -> Option<(String, &str)> {
    let Some(mut quoted) = text.strip_prefix('"') else {
        let end = text.find([',', '\n']).unwrap_or(text.len());
        let (value, after) = text.split_at(end);
        return (!value.contains('"')).then(|| (value.trim_end_matches('\r').to_owned(), after));
    };
    let mut value = String::new();
    loop {
        let (before, after) = quoted.split_once('"')?;
        value.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                value.push('"');
                quoted = more;
            }
            None => {
                let after = after.strip_prefix('\r').filter(|rest| rest.starts_with('\n')).unwrap_or(after);
                let ends = after.is_empty() || after.starts_with([',', '\n']);
                return ends.then_some((value, after));
            }
        }
    }
}

#[cfg(test)]
mod tests;
