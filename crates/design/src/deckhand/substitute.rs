//! Puts values of other documents into one.

use std::borrow::Cow;

use regex::{NoExpand, Regex};

use super::{
    ProblemKind,
    definition::{Destination, Source, Substitution, Target},
    limits,
};
use crate::{
    document::Document,
    yaml::{Node, Position, Value, Warning},
};

/// Why one document can't be rendered, in words that follow its name.
pub(super) struct Failure {
    pub(super) kind: ProblemKind,
    pub(super) at: Position,
    pub(super) message: String,
}

/// Does one substitution on a document's data; `source` is the data of the rendered source, `document` the
/// one it is.
pub(super) fn apply(
    substitution: &Substitution,
    source: &Node,
    document: &Document,
    data: &mut Node,
    warnings: &mut Vec<Warning>,
) -> Result<(), Failure> {
    let value = value_of(substitution, source, document)?;
    let value = part_of(&substitution.source, value, &substitution.at, warnings);
    for destination in &substitution.destinations {
        put(destination, &value, data)?;
        limits::check(data, &destination.at)?;
    }
    Ok(())
}

/// A source that is not a map is taken whole, whatever the path.
fn value_of<'a>(
    substitution: &Substitution,
    data: &'a Node,
    document: &Document,
) -> Result<&'a Node, Failure> {
    if data.value.as_map().is_none() && !data.value.is_null() {
        return Ok(data);
    }
    let value = substitution.source.path.get(data).filter(|node| !node.value.is_null());
    value.ok_or_else(|| Failure {
        kind: ProblemKind::MissingInSource,
        at: substitution.at.clone(),
        message: format!(
            "takes {} of {} ({}:{}), which has nothing there",
            substitution.source.path, document.id, document.at.file, document.at.line
        ),
    })
}

/// The part of a text that the source's pattern picks; the whole when it picks nothing.
fn part_of<'a>(
    source: &Source,
    value: &'a Node,
    at: &Position,
    warnings: &mut Vec<Warning>,
) -> Cow<'a, Node> {
    let Some((regex, group)) = &source.part else { return Cow::Borrowed(value) };
    let found = value.value.as_str().and_then(|text| regex.captures(text)?.get(*group));
    if let Some(found) = found {
        return Cow::Owned(Node::new(found.as_str(), value.at.clone()));
    }
    let message = format!(
        "the pattern {:?} finds nothing at {} of {}; all of it is taken",
        regex.as_str(),
        source.path,
        source.id
    );
    warnings.push(Warning { at: at.clone(), message });
    Cow::Borrowed(value)
}

fn put(destination: &Destination, value: &Node, data: &mut Node) -> Result<(), Failure> {
    let refuse = |message| Failure { kind: ProblemKind::BadDestination, at: destination.at.clone(), message };
    let path = &destination.path;
    if matches!(destination.target, Target::Whole) {
        return path
            .set(data, value.clone())
            .map_err(|reason| refuse(format!("cannot take the value: {reason}")));
    }
    let Some(text) = value.value.text() else {
        return Err(refuse(format!("cannot insert {} into a string at {path}", value.value.kind())));
    };
    let Some(place) = path.get_mut(data) else {
        return Err(refuse(format!("has no value at {path} for the pattern to match")));
    };
    let insertion = Insertion { text: &text, is_secret: value.at.file.is_secret(), at: &destination.at };
    match (&destination.target, &place.value) {
        (Target::Whole, _) => Ok(()),
        (Target::Matches(regex), Value::String(_)) => insertion.replace_all(regex, place),
        (Target::Matches(_), other) => {
            Err(refuse(format!("has {} at {path}, but a pattern requires a string", other.kind())))
        }
        (Target::MatchesBelow { regex, depth }, _) => insertion.replace_below(regex, *depth, place),
    }
}

/// A text that takes the place of what a pattern matches.
struct Insertion<'a> {
    text: &'a str,
    is_secret: bool,
    at: &'a Position,
}

impl Insertion<'_> {
    /// The value goes in as it is: `$1` or `\1` in a password is not a reference to a group. A string that holds a part of
    /// a secret is one.
    fn replace_all(&self, regex: &Regex, node: &mut Node) -> Result<(), Failure> {
        let Value::String(old) = &mut node.value else { return Ok(()) };
        if regex.find_iter(old).count().saturating_mul(self.text.len()) > limits::MAX_DOCUMENT {
            return Err(limits::too_large(self.at, "puts too large a value at too many places".to_owned()));
        }
        if let Cow::Owned(replaced) = regex.replace_all(old, NoExpand(self.text)) {
            *old = replaced;
            if self.is_secret {
                node.at.file = node.at.file.secret();
            }
        }
        Ok(())
    }

    fn replace_below(&self, regex: &Regex, depth: Option<usize>, node: &mut Node) -> Result<(), Failure> {
        if let Value::String(old) = &node.value {
            return if old.contains(regex.as_str()) { self.replace_all(regex, node) } else { Ok(()) };
        }
        if depth == Some(0) {
            return Ok(());
        }
        let depth = depth.map(|depth| depth - 1);
        match &mut node.value {
            Value::List(items) => {
                items.iter_mut().try_for_each(|item| self.replace_below(regex, depth, item))
            }
            Value::Map(map) => map.values_mut().try_for_each(|value| self.replace_below(regex, depth, value)),
            _ => Ok(()),
        }
    }
}
