//! Reads paths.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use super::{MaskError, Node};

/// What the rest of a path is about.
enum Place {
    Message(MessageDescriptor),
    List(FieldDescriptor),
    Map(FieldDescriptor),
    /// A value without parts, by its name in the path.
    Value(String),
}

/// Adds a path to what a mask names already.
pub fn add(root: &mut Node, message: &MessageDescriptor, path: &str) -> Result<(), MaskError> {
    let segments = segments(path)?;
    if segments.is_empty() {
        return Err(MaskError::Malformed { path: path.to_owned(), why: "it names nothing" });
    }
    let mut node = root;
    let mut place = Place::Message(message.clone());
    for segment in &segments {
        // What is named already includes the rest; it is still read, so that a wrong path is refused.
        let step = step(&place, segment, path)?;
        node = match (&place, node) {
            (_, node @ Node::Whole) => node,
            (Place::Message(_), node) => {
                let Step::Field(field) = &step else { return Ok(()) };
                if !matches!(node, Node::Fields(_)) {
                    *node = Node::Fields(Default::default());
                }
                let Node::Fields(fields) = node else { return Ok(()) };
                fields.entry(field.number()).or_default()
            }
            (Place::Map(_), node) => {
                if !matches!(node, Node::Keys(_)) {
                    *node = Node::Keys(Default::default());
                }
                let Node::Keys(keys) = node else { return Ok(()) };
                keys.entry(segment.clone()).or_default()
            }
            (Place::List(_), node) => {
                let Step::Index(index) = step else { return Ok(()) };
                if !matches!(node, Node::Items(_)) {
                    *node = Node::Items(Default::default());
                }
                let Node::Items(items) = node else { return Ok(()) };
                items.entry(index).or_default()
            }
            (Place::Value(_), node) => node,
        };
        place = below(&place, segment, path)?;
    }
    *node = Node::Whole;
    Ok(())
}

enum Step {
    Field(FieldDescriptor),
    Key,
    Index(usize),
}

fn step(place: &Place, segment: &str, path: &str) -> Result<Step, MaskError> {
    match place {
        Place::Message(message) => field(message, segment, path).map(Step::Field),
        Place::Map(_) => Ok(Step::Key),
        Place::List(_) => match segment.parse() {
            Ok(index) => Ok(Step::Index(index)),
            Err(_) => Err(MaskError::NotAnIndex { path: path.to_owned(), index: segment.to_owned() }),
        },
        Place::Value(name) => Err(MaskError::TooDeep { path: path.to_owned(), field: name.clone() }),
    }
}

fn below(place: &Place, segment: &str, path: &str) -> Result<Place, MaskError> {
    let of_kind = |kind: Kind| match kind {
        // What is in an Any, or when a time is, has no fields that a mask could name.
        Kind::Message(message) if message.parent_pool_is_ours() => Place::Message(message),
        _ => Place::Value(segment.to_owned()),
    };
    Ok(match place {
        Place::Message(message) => {
            let field = field(message, segment, path)?;
            match (field.is_map(), field.is_list()) {
                (true, _) => Place::Map(field),
                (_, true) => Place::List(field),
                _ => of_kind(field.kind()),
            }
        }
        Place::Map(field) => {
            let entry = field.kind();
            let value = entry.as_message().map(|entry| entry.map_entry_value_field().kind());
            value.map_or_else(|| Place::Value(segment.to_owned()), of_kind)
        }
        Place::List(field) => of_kind(field.kind()),
        Place::Value(name) => Place::Value(name.clone()),
    })
}

fn field(message: &MessageDescriptor, name: &str, path: &str) -> Result<FieldDescriptor, MaskError> {
    message.get_field_by_name(name).ok_or_else(|| MaskError::Unknown {
        path: path.to_owned(),
        field: name.to_owned(),
        message: message.full_name().to_owned(),
    })
}

/// Whether a message is one of the API's own, and none of protobuf's.
trait Ours {
    fn parent_pool_is_ours(&self) -> bool;
}

impl Ours for MessageDescriptor {
    fn parent_pool_is_ours(&self) -> bool {
        self.package_name() != "google.protobuf"
    }
}

/// The parts of a path, without the spaces around them. Empty parts are left out.
fn segments(path: &str) -> Result<Vec<String>, MaskError> {
    let mut segments = Vec::new();
    let mut rest = path.trim();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('`') {
            let Some((key, after)) = quoted.split_once('`') else {
                return Err(MaskError::Malformed { path: path.to_owned(), why: "a backquote is not closed" });
            };
            segments.push(key.to_owned());
            let after = after.trim_start();
            rest = match after.strip_prefix('.') {
                Some(after) => after.trim_start(),
                None if after.is_empty() => after,
                None => {
                    let why = "a dot is missing after a backquote";
                    return Err(MaskError::Malformed { path: path.to_owned(), why });
                }
            };
            continue;
        }
        let (segment, after) = rest.split_once('.').unwrap_or((rest, ""));
        if !segment.trim().is_empty() {
            segments.push(segment.trim().to_owned());
        }
        rest = after.trim_start();
    }
    Ok(segments)
}

/// Removes what is named at or below a place.
pub fn remove(node: &mut Node, message: &MessageDescriptor, names: &[&str]) {
    let [name, rest @ ..] = names else { return };
    let Some(field) = message.get_field_by_name(name) else { return };
    if *node == Node::Whole {
        let all = message.fields().map(|field| (field.number(), Node::Whole));
        *node = Node::Fields(all.collect());
    }
    let Node::Fields(fields) = node else { return };
    match (rest, field.kind()) {
        ([], _) => {
            fields.remove(&field.number());
        }
        (rest, Kind::Message(message)) if !field.is_map() && !field.is_list() => {
            if let Some(below) = fields.get_mut(&field.number()) {
                remove(below, &message, rest);
            }
        }
        _ => {}
    }
    fields.retain(|_, node| !matches!(node, Node::Fields(fields) if fields.is_empty()));
    if fields.is_empty() {
        *node = Node::Nothing;
    }
}
