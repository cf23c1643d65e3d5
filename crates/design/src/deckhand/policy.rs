//! Whether documents have to be rendered, and whether they can be.

use super::{DocumentRef, Problem, ProblemKind, definition::Definition, definition::Target};
use crate::{
    document::{Document, Envelope},
    yaml::{Node, Position},
};

/// The schema of the document that orders the layers.
pub const LAYERING_POLICY: &str = "deckhand/LayeringPolicy/v1";

/// The layers of Airship's repositories, the most general first, to suggest an order.
const USUAL_LAYERS: [&str; 4] = ["global", "type", "site", "cicd"];

/// Whether documents are to be rendered: they have a policy.
pub fn has_policy(documents: &[Document]) -> bool {
    documents.iter().any(|document| document.schema().starts_with("deckhand/LayeringPolicy/"))
}

/// What keeps documents without a layering policy from being used as they are: rendering would change one of the design's
/// documents. Rendered documents keep the metadata of their layers, and need no policy.
pub fn missing_policy(documents: &[Document]) -> Option<Problem> {
    if has_policy(documents) {
        return None;
    }
    let definitions: Vec<Definition> =
        documents.iter().map(|document| Definition::of(document).unwrap_or_default()).collect();
    let all = || documents.iter().zip(&definitions);
    let ours = all().filter(|(document, _)| is_of_a_design(document));
    let found = ours.filter_map(|(document, definition)| {
        let (at, why) = why_layered(document, definition, &all)?;
        Some((document, at, why))
    });
    found.min_by(|a, b| a.1.cmp(&b.1)).map(|(document, at, why)| no_policy(document, &at, &why, documents))
}

/// The same for a site of a repository, whose documents always have to be rendered.
pub fn site_without_policy(documents: &[Document]) -> Option<Problem> {
    if has_policy(documents) {
        return None;
    }
    let first = documents.iter().find(|document| is_of_a_design(document)).or(documents.first())?;
    Some(no_policy(first, &first.at, "belongs to a site of a repository", documents))
}

fn is_of_a_design(document: &Document) -> bool {
    document.envelope == Envelope::Deckhand && crate::document::native::is_of_a_design(document)
}

fn why_layered<'d, I>(
    document: &Document,
    definition: &Definition,
    all: &impl Fn() -> I,
) -> Option<(Position, String)>
where
    I: Iterator<Item = (&'d Document, &'d Definition)>,
{
    if definition.is_abstract {
        return Some((document.at.clone(), "is abstract".to_owned()));
    }
    let selector = &definition.parent_selector;
    if !selector.is_empty() {
        let is_parent = |(other, theirs): &(&Document, &Definition)| {
            other.schema() == document.schema()
                && !(other.name() == document.name() && other.at == document.at)
                && selector.iter().all(|pair| theirs.labels.contains(pair))
        };
        if let Some((parent, _)) = all().find(is_parent) {
            let at = definition.selector_at.clone().unwrap_or_else(|| document.at.clone());
            return Some((at, format!("inherits from {}", DocumentRef::of(parent))));
        }
    }
    definition.substitutions.iter().find_map(|substitution| {
        let (source, _) =
            all().find(|(other, theirs)| other.id == substitution.source.id && !theirs.is_abstract)?;
        let value = match source.data.value.as_map() {
            Some(_) => substitution.source.path.get(&source.data)?,
            None => &source.data,
        };
        let differs = |data: &Node| {
            substitution.destinations.iter().any(|destination| {
                matches!(destination.target, Target::Whole) && destination.path.get(data) != Some(value)
            })
        };
        (substitution.source.part.is_none() && differs(&document.data))
            .then(|| (substitution.at.clone(), format!("takes values from {}", DocumentRef::of(source))))
    })
}

fn no_policy(document: &Document, at: &Position, why: &str, documents: &[Document]) -> Problem {
    let layers = layers_of(documents).join(", ");
    Problem {
        kind: ProblemKind::NoLayeringPolicy,
        at: at.clone(),
        message: format!(
            "{} {why}, but there is no {LAYERING_POLICY} document to order the layers; add the one of the repository \
             (mostly global/layering-policy.yaml), or this: {{schema: {LAYERING_POLICY}, metadata: {{schema: \
             metadata/Control/v1, name: layering-policy}}, data: {{layerOrder: [{layers}]}}}}",
            document.id
        ),
        documents: vec![DocumentRef::of(document)],
    }
}

/// The layers that documents are in, in the usual order.
fn layers_of(documents: &[Document]) -> Vec<String> {
    let named = documents.iter().filter_map(|document| Definition::of(document).ok()?.layer);
    let mut layers: Vec<String> = named.map(|(layer, _)| layer).collect();
    let rank =
        |layer: &String| USUAL_LAYERS.iter().position(|usual| usual == layer).unwrap_or(USUAL_LAYERS.len());
    layers.sort_by(|a, b| (rank(a), a).cmp(&(rank(b), b)));
    layers.dedup();
    if layers.is_empty() { USUAL_LAYERS[..3].iter().map(ToString::to_string).collect() } else { layers }
}
