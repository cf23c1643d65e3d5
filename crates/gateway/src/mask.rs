//! Field masks: which fields of a message an update sets or clears.
//!
//! A path names fields, from the message inwards: `spec.bmc.url`. It can name an index of a list (`parameters.0`) and a key
//! of a map (`metadata.labels.rack`), and go on below either. A key with dots is quoted with backquotes.

mod apply;
mod parse;

use std::collections::BTreeMap;

use prost_reflect::{DynamicMessage, MessageDescriptor, ReflectMessage};

/// Fields of a message, none of them twice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mask {
    root: Node,
}

/// What a mask names below one place: everything there, or some of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Node {
    /// Nothing yet.
    #[default]
    Nothing,
    /// All of it.
    Whole,
    /// Fields of a message by their numbers.
    Fields(BTreeMap<u32, Node>),
    /// Entries of a map by their keys.
    Keys(BTreeMap<String, Node>),
    /// Items of a list by their places.
    Items(BTreeMap<usize, Node>),
}

/// What is wrong with a mask.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MaskError {
    /// A path names a field that the message does not have.
    #[error("update_mask: the path '{path}' names '{field}', which is no field of {message}")]
    Unknown {
        /// The whole path.
        path: String,
        /// The part of it that is wrong.
        field: String,
        /// Full name of the message.
        message: String,
    },
    /// A path goes on below a value that has no parts.
    #[error("update_mask: the path '{path}' goes on below '{field}', which has no fields")]
    TooDeep {
        /// The whole path.
        path: String,
        /// The part that has no parts.
        field: String,
    },
    /// The index of a list is no number.
    #[error("update_mask: the path '{path}' has '{index}' where an index of a list is expected")]
    NotAnIndex {
        /// The whole path.
        path: String,
        /// What is there instead.
        index: String,
    },
    /// The path is empty, or a quote is not closed.
    #[error("update_mask: '{path}' is not a path: {why}")]
    Malformed {
        /// The whole path.
        path: String,
        /// Why.
        why: &'static str,
    },
    /// An item is set beyond the end of a list.
    #[error("update_mask: item {index} of '{field}' can't be set: the list has {length} items")]
    BeyondEnd {
        /// Name of the list.
        field: String,
        /// The index.
        index: usize,
        /// How many items there are.
        length: usize,
    },
    /// A path names what the caller can't write.
    #[error("update_mask: the path '{path}' can't be written: {why}")]
    ReadOnly {
        /// The path.
        path: String,
        /// Why.
        why: &'static str,
    },
}

impl Mask {
    /// Reads paths of fields of a message.
    pub fn parse<'a>(
        message: &MessageDescriptor,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> Result<Mask, MaskError> {
        let mut mask = Mask::default();
        for path in paths {
            parse::add(&mut mask.root, message, path)?;
        }
        Ok(mask)
    }

    /// All fields of a message.
    pub fn whole() -> Mask {
        Mask { root: Node::Whole }
    }

    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        self.root == Node::Nothing
    }

    /// Whether it names a place, something above it or something below it.
    pub fn touches(&self, message: &MessageDescriptor, path: &str) -> bool {
        let mut node = &self.root;
        let mut message = Some(message.clone());
        for name in path.split('.') {
            match node {
                Node::Whole => return true,
                Node::Fields(fields) => {
                    let field = message.as_ref().and_then(|message| message.get_field_by_name(name));
                    let Some((below, field)) =
                        field.and_then(|field| Some((fields.get(&field.number())?, field)))
                    else {
                        return false;
                    };
                    node = below;
                    message = field.kind().as_message().cloned();
                }
                _ => return false,
            }
        }
        *node != Node::Nothing
    }

    /// The same mask without what it names at or below a place.
    pub fn without(mut self, message: &MessageDescriptor, path: &str) -> Mask {
        let names: Vec<&str> = path.split('.').collect();
        parse::remove(&mut self.root, message, &names);
        self
    }

    /// Changes a message: fields that the mask names are set as in `from`, or cleared where `from` lacks them.
    pub fn apply(&self, onto: &mut DynamicMessage, from: &DynamicMessage) -> Result<(), MaskError> {
        apply::message(&self.root, onto, from)
    }

    /// The fields of `from` that the mask names, and nothing else.
    pub fn select(&self, from: &DynamicMessage) -> Result<DynamicMessage, MaskError> {
        let mut selected = DynamicMessage::new(from.descriptor());
        self.apply(&mut selected, from)?;
        Ok(selected)
    }
}
