//! A map that keeps the order it was written in.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use indexmap::{Equivalent, IndexMap};

use super::{File, Node, Position};

/// A map that keeps the order of its keys, each with the place it was written at.
///
/// Equality ignores the order, as it does for the readers of these documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    entries: IndexMap<Key, Entry>,
}

/// What stands under a key.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where the key was written.
    pub key_at: Position,
    /// The value.
    pub value: Node,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// A key: nearly always text, yet YAML lets any scalar be one and documents hold such mistakes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// An empty key or `~`.
    Null,
    /// `yes:`, `on:` and the like.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A number with a point, as Python prints it.
    Float(String),
    /// Text.
    String(String),
}

impl Key {
    /// The key, if it is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }
}

impl Hash for Key {
    /// Text hashes as `str` does, so that a map can be asked with one; the rest hashes as its text and is
    /// told apart by equality.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::String(text) | Self::Float(text) => text.as_str().hash(state),
            Self::Null => "".hash(state),
            Self::Bool(flag) => flag.hash(state),
            Self::Int(number) => number.hash(state),
        }
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

#[derive(Hash)]
struct TextKey<'a>(&'a str);

impl Equivalent<Key> for TextKey<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        key.as_str() == Some(self.0)
    }
}

impl Map {
    /// A map without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value under a text key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The value under a text key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.get_mut(&TextKey(key)).map(|entry| &mut entry.value)
    }

    /// The value under a text key with the place of the key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.get(&TextKey(key))
    }

    /// Whether a text key is there.
    pub fn contains_key(&self, key: &str) -> bool {
        self.entries.contains_key(&TextKey(key))
    }

    /// Puts a value under a key; a key that was there keeps its place in the order. Gives back what stood
    /// there.
    pub fn insert(&mut self, key: impl Into<Key>, key_at: Position, value: Node) -> Option<Entry> {
        self.entries.insert(key.into(), Entry { key_at, value })
    }

    /// Takes a text key out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        self.entries.shift_remove(&TextKey(key))
    }

    /// The keys and values in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Key, &Node)> + ExactSizeIterator {
        self.entries.iter().map(|(key, entry)| (key, &entry.value))
    }

    /// The keys and entries in order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (&Key, &Entry)> + ExactSizeIterator {
        self.entries.iter()
    }

    /// The values in order, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.entries.values_mut().map(|entry| &mut entry.value)
    }

    pub(super) fn move_to(&mut self, file: &Arc<File>) {
        for entry in self.entries.values_mut() {
            entry.key_at.file = Arc::clone(file);
            entry.value.move_to(file);
        }
    }

    pub(crate) fn get_key_mut(&mut self, key: &Key) -> Option<&mut Node> {
        self.entries.get_mut(key).map(|entry| &mut entry.value)
    }
}

impl IntoIterator for Map {
    type Item = (Key, Entry);
    type IntoIter = indexmap::map::IntoIter<Key, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
