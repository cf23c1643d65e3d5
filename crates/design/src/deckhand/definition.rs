//! What a document's metadata says about its layering and substitutions, parsed once.

mod fields;
mod substitution;

use super::{DocumentRef, Problem, ProblemKind, path::Path};
use crate::{
    document::{Document, Envelope},
    yaml::{Node, Position},
};
use fields::Fields;
pub(super) use substitution::{Destination, Source, Substitution, Target};

/// How one document takes part in rendering.
#[derive(Clone, Debug, Default)]
pub(super) struct Definition {
    pub(super) is_abstract: bool,
    pub(super) is_replacement: bool,
    /// Whether it is for Deckhand itself, such as a layering policy.
    pub(super) is_control: bool,
    pub(super) layer: Option<(String, Position)>,
    /// Label and value pairs that a parent must have; empty selects nothing.
    pub(super) parent_selector: Vec<(String, Node)>,
    pub(super) selector_at: Option<Position>,
    pub(super) labels: Vec<(String, Node)>,
    pub(super) actions: Vec<Action>,
    pub(super) substitutions: Vec<Substitution>,
}

/// One step from the parent's data to the child's.
#[derive(Clone, Debug)]
pub(super) struct Action {
    pub(super) method: Method,
    pub(super) path: Path,
    pub(super) at: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Merge,
    Replace,
    Delete,
}

impl Definition {
    /// Reads the metadata of a document. The older envelope knows no layering.
    pub(super) fn of(document: &Document) -> Result<Self, Problem> {
        if document.envelope == Envelope::Legacy {
            return Ok(Self::default());
        }
        Self::read(&document.metadata).map_err(|Malformed { at, message }| Problem {
            kind: ProblemKind::Malformed,
            message: format!("{}: {message}", document.id),
            at,
            documents: vec![DocumentRef::of(document)],
        })
    }

    fn read(metadata: &Node) -> Result<Self, Malformed> {
        let metadata = Fields::of(metadata, "metadata")?;
        let mut definition = Self {
            is_replacement: metadata.flag("replacement")?,
            is_control: is_control(metadata.get("schema")),
            labels: metadata.pairs("labels")?,
            substitutions: metadata.each("substitutions", Substitution::read)?,
            ..Self::default()
        };
        if let Some(layering) = metadata.map("layeringDefinition")? {
            definition.is_abstract = layering.flag("abstract")?;
            definition.layer = layering.optional_text("layer")?.map(|(layer, at)| (layer.to_owned(), at));
            definition.parent_selector = layering.pairs("parentSelector")?;
            definition.selector_at = layering.get("parentSelector").map(|selector| selector.at.clone());
            definition.actions = layering.each("actions", Action::read)?;
        }
        Ok(definition)
    }
}

fn is_control(schema: Option<&Node>) -> bool {
    schema
        .and_then(|schema| schema.value.as_str())
        .is_some_and(|schema| schema.starts_with("metadata/Control"))
}

impl Action {
    fn read(node: &Node) -> Result<Self, Malformed> {
        let action = Fields::of(node, "an action")?;
        let (method, at) = action.text("method")?;
        let method = match method {
            "merge" => Method::Merge,
            "replace" => Method::Replace,
            "delete" => Method::Delete,
            other => {
                return Err(Malformed::new(
                    &at,
                    format!("the method {other:?} is not merge, replace or delete"),
                ));
            }
        };
        let (path, at) = action.text("path")?;
        let path = Path::parse_in_action(path).map_err(|reason| Malformed::new(&at, reason))?;
        Ok(Self { method, path, at: node.at.clone() })
    }
}

/// Metadata that is not of the required form.
#[derive(Debug)]
pub(super) struct Malformed {
    at: Position,
    message: String,
}

impl Malformed {
    fn new(at: &Position, message: impl Into<String>) -> Self {
        Self { at: at.clone(), message: message.into() }
    }
}
