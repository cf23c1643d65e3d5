//! The order of layers, from the layering policy.

use super::{DocumentRef, Problem, ProblemKind, definition::Definition};
use crate::{
    document::Document,
    yaml::{Node, Warning},
};

const POLICY_KIND: (&str, &str) = ("deckhand", "LayeringPolicy");

/// The layers, the base first.
pub(super) struct LayerOrder(Vec<String>);

impl LayerOrder {
    /// The order that the first policy gives, if there is a policy.
    pub(super) fn of(documents: &[Document], warnings: &mut Vec<Warning>) -> Result<Option<Self>, Problem> {
        let is_policy = |document: &&Document| {
            document.id.schema_parts().is_some_and(|(namespace, kind, _)| (namespace, kind) == POLICY_KIND)
        };
        let mut policies = documents.iter().filter(is_policy);
        let Some(policy) = policies.next() else { return Ok(None) };
        for other in policies {
            let message = format!("{} is not used: {} came first", other.id, DocumentRef::of(policy));
            warnings.push(Warning { at: other.at.clone(), message });
        }
        let names = policy.data.get("layerOrder").and_then(|order| order.value.as_list());
        let names = names.and_then(|names| names.iter().map(layer_name).collect::<Option<Vec<_>>>());
        let malformed = || Problem {
            kind: ProblemKind::Malformed,
            at: policy.data.at.clone(),
            message: format!("{}: `layerOrder` must be a list of names", policy.id),
            documents: vec![DocumentRef::of(policy)],
        };
        names.map(|names| Some(Self(names))).ok_or_else(malformed)
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.0
    }

    /// Where a document stands: the base is 0. A document without a layer stands nowhere.
    pub(super) fn rank(
        &self,
        document: &Document,
        definition: &Definition,
    ) -> Result<Option<usize>, Problem> {
        let Some((layer, at)) = &definition.layer else { return Ok(None) };
        match self.0.iter().position(|name| name == layer) {
            Some(rank) => Ok(Some(rank)),
            None => Err(Problem {
                kind: ProblemKind::UnknownLayer,
                at: at.clone(),
                message: format!(
                    "{} is in layer {layer:?}, but the policy has only {}",
                    document.id,
                    self.0.join(", ")
                ),
                documents: vec![DocumentRef::of(document)],
            }),
        }
    }
}

fn layer_name(node: &Node) -> Option<String> {
    node.value.as_str().map(str::to_owned)
}
