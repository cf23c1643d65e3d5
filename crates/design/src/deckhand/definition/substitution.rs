//! One entry of `metadata.substitutions`.

use regex::Regex;

use super::{
    Malformed,
    fields::{Fields, wrong},
};
use crate::{
    deckhand::path::Path,
    document::DocumentId,
    yaml::{Node, Position, Value},
};

/// A value of another document that goes into this one, at one or several places.
#[derive(Clone, Debug)]
pub(in crate::deckhand) struct Substitution {
    pub(in crate::deckhand) source: Source,
    pub(in crate::deckhand) destinations: Vec<Destination>,
    pub(in crate::deckhand) at: Position,
}

#[derive(Clone, Debug)]
pub(in crate::deckhand) struct Source {
    pub(in crate::deckhand) id: DocumentId,
    pub(in crate::deckhand) path: Path,
    /// The part of a text to take: the pattern and the group of it.
    pub(in crate::deckhand) part: Option<(Regex, usize)>,
}

#[derive(Clone, Debug)]
pub(in crate::deckhand) struct Destination {
    pub(in crate::deckhand) path: Path,
    pub(in crate::deckhand) target: Target,
    pub(in crate::deckhand) at: Position,
}

/// What of the destination the value takes the place of.
#[derive(Clone, Debug)]
pub(in crate::deckhand) enum Target {
    /// Everything there.
    Whole,
    /// Every match within the text there.
    Matches(Regex),
    /// Every match within the texts there and below that contain the pattern letter by letter, down to a
    /// depth if one is given.
    MatchesBelow { regex: Regex, depth: Option<usize> },
}

impl Substitution {
    pub(super) fn read(node: &Node) -> Result<Self, Malformed> {
        let substitution = Fields::of(node, "a substitution")?;
        let source = Source::read(&substitution.required_map("src")?)?;
        let Some(dest) = substitution.get("dest") else {
            return Err(Malformed::new(&node.at, "a substitution requires `dest`"));
        };
        let destinations = match &dest.value {
            Value::List(items) => items.iter().map(Destination::read).collect::<Result<_, _>>()?,
            _ => vec![Destination::read(dest)?],
        };
        Ok(Self { source, destinations, at: node.at.clone() })
    }
}

impl Source {
    fn read(src: &Fields<'_>) -> Result<Self, Malformed> {
        let id =
            DocumentId { schema: src.text("schema")?.0.to_owned(), name: src.text("name")?.0.to_owned() };
        let group = match src.get("match_group") {
            None => 0,
            Some(node) => {
                let group = node.value.as_int().and_then(|group| usize::try_from(group).ok());
                group.ok_or_else(|| wrong(node, "match_group", "the number of a group"))?
            }
        };
        let part = match pattern(src)? {
            Some((regex, at)) if group >= regex.captures_len() => {
                return Err(Malformed::new(
                    &at,
                    format!("the pattern {:?} has no group {group}", regex.as_str()),
                ));
            }
            pattern => pattern.map(|(regex, _)| (regex, group)),
        };
        Ok(Self { id, path: path(src)?, part })
    }
}

impl Destination {
    fn read(node: &Node) -> Result<Self, Malformed> {
        let dest = Fields::of(node, "a destination")?;
        let target = match (pattern(&dest)?, dest.map("recurse")?) {
            (None, None) => Target::Whole,
            (Some((regex, _)), None) => Target::Matches(regex),
            (Some((regex, _)), Some(recurse)) => Target::MatchesBelow { regex, depth: depth(&recurse)? },
            (None, Some(_)) => return Err(Malformed::new(&node.at, "`recurse` needs a `pattern`")),
        };
        Ok(Self { path: path(&dest)?, target, at: node.at.clone() })
    }
}

fn path(fields: &Fields<'_>) -> Result<Path, Malformed> {
    let (text, at) = fields.text("path")?;
    Path::parse(text).map_err(|reason| Malformed::new(&at, reason))
}

fn pattern(fields: &Fields<'_>) -> Result<Option<(Regex, Position)>, Malformed> {
    let Some((text, at)) = fields.optional_text("pattern")? else { return Ok(None) };
    match Regex::new(text) {
        Ok(regex) => Ok(Some((regex, at))),
        Err(error) => Err(Malformed::new(&at, format!("invalid pattern {text:?}: {error}"))),
    }
}

/// How far to go down; nothing means all the way, which is written -1.
fn depth(recurse: &Fields<'_>) -> Result<Option<usize>, Malformed> {
    let Some(node) = recurse.get("depth") else { return Ok(None) };
    match node.value {
        Value::Int(-1) => Ok(None),
        Value::Int(depth) if depth >= 0 => Ok(usize::try_from(depth).ok()),
        _ => Err(wrong(node, "depth", "-1 or a number of levels")),
    }
}
