//! The key file: the keys that wrap data keys, one `name hex` a line, the first one active.

use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::SealError;
use super::data_key::{Key, random};
use crate::environment::{Randomness, SystemRandomness};
use crate::{hex, private_file};

const PREAMBLE: &str = "# Groundplane keys: `name hex`, the first is active. Without this file no secret opens: back it up,\n\
                        # apart from the store. Keep old lines until their data keys are wrapped with the new key.\n";

/// Key-encryption keys, read from a file that only its owner may read.
pub struct KeyFile {
    path: PathBuf,
    active: (String, Key),
    older: Vec<(String, Key)>,
}

impl KeyFile {
    /// Reads `path`, or creates it with one new key when there is no such file.
    pub fn open_or_create(path: impl Into<PathBuf>) -> Result<KeyFile, SealError> {
        let path = path.into();
        let text = private_file::read_or_create(&path, || {
            let (_, line) = new_line(&SystemRandomness)?;
            Ok::<_, SealError>(joined([PREAMBLE, &line]))
        })?;
        KeyFile::parse(path, &text)
    }

    /// One new key that is kept in no file, for a simulation.
    pub(crate) fn in_memory(randomness: &dyn Randomness) -> Result<KeyFile, SealError> {
        let (_, line) = new_line(randomness)?;
        KeyFile::parse(PathBuf::new(), &line)
    }

    /// Adds a new key to the file and makes it the active one. Returns its name.
    ///
    /// The file is read again first: its comments and what was added by hand stay.
    pub fn add_new_active(&mut self) -> Result<String, SealError> {
        let text = private_file::read(&self.path)?;
        KeyFile::parse(self.path.clone(), &text)?;
        let (kid, line) = new_line(&SystemRandomness)?;
        let (preamble, keys) = text.split_at(start_of_keys(&text));
        let text = joined([preamble, &line, keys]);
        let changed = KeyFile::parse(self.path.clone(), &text)?;
        private_file::replace(&self.path, &text)?;
        *self = changed;
        Ok(kid)
    }

    /// The name of the key that new wrappings use.
    pub fn active_kid(&self) -> &str {
        &self.active.0
    }

    /// The names of all keys, the active one first.
    pub fn kids(&self) -> impl Iterator<Item = &str> {
        self.all().map(|(kid, _)| kid.as_str())
    }

    /// Where the keys are kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn active(&self) -> (&str, &Key) {
        (&self.active.0, &self.active.1)
    }

    pub(super) fn named(&self, kid: &str) -> Option<&Key> {
        self.all().find(|(name, _)| name == kid).map(|(_, key)| key)
    }

    fn all(&self) -> impl Iterator<Item = &(String, Key)> {
        std::iter::once(&self.active).chain(&self.older)
    }

    fn parse(path: PathBuf, text: &str) -> Result<KeyFile, SealError> {
        let mut keys: Vec<(String, Key)> = Vec::new();
        for (nth, line) in text.lines().enumerate().filter(|(_, line)| is_key_line(line)) {
            let bad = |reason| SealError::BadLine { path: path.clone(), line: nth + 1, reason };
            let (kid, key) = parse_line(line).map_err(bad)?;
            if keys.iter().any(|(name, _)| name == kid) {
                return Err(bad("its name was used on an earlier line"));
            }
            keys.push((kid.to_owned(), key));
        }
        if keys.is_empty() {
            return Err(SealError::NoKeys { path });
        }
        let active = keys.remove(0);
        Ok(KeyFile { path, active, older: keys })
    }
}

impl std::fmt::Debug for KeyFile {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kids: Vec<_> = self.kids().collect();
        out.debug_struct("KeyFile").field("path", &self.path).field("kids", &kids).finish()
    }
}

fn is_key_line(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with('#')
}

fn parse_line(line: &str) -> Result<(&str, Key), &'static str> {
    let mut words = line.split_whitespace();
    let (Some(kid), Some(digits), None) = (words.next(), words.next(), words.next()) else {
        return Err("it is not two words");
    };
    let key = hex::decode_array(digits).ok_or("its key is not 64 hexadecimal digits")?;
    Ok((kid, Key(key)))
}

fn start_of_keys(text: &str) -> usize {
    let before = text.split_inclusive('\n').take_while(|line| !is_key_line(line));
    before.map(str::len).sum()
}

/// A new key as a line of the file, and its name.
fn new_line(randomness: &dyn Randomness) -> Result<(String, Zeroizing<String>), SealError> {
    let kid = format!("k{}", hex::encode(&random::<6>(randomness)?).as_str());
    let key = Key::random(randomness)?;
    let line = joined([&kid, " ", &hex::encode(&*key.0), "\n"]);
    Ok((kid, line))
}

/// One allocation of the full length, wiped when dropped.
fn joined<const N: usize>(parts: [&str; N]) -> Zeroizing<String> {
    Zeroizing::new(parts.concat())
}
