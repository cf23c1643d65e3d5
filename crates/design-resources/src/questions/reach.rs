//! `reach`: the nodes and fields that a proposed change of documents would affect.

use design::deckhand::{LAYERING_POLICY, layer_order};
use std::sync::Arc;

use design::document::{Document, parse};
use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;
use serde_json::{Value, json};

use super::{design_of, shown, site_of};
use crate::compiled_design::{self, CompiledDesign, State};

/// Answers a POST to `…/designs/<name>/reach`: the documents in the body replace those of the same kind and name, and
/// `?delete=Kind/name,…` removes some. Nothing is stored.
pub fn answer(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let design = design_of(asked, look)?;
    let now = compiled_design::at(&design, "documents", look)?;
    let gone: Vec<(&str, &str)> = asked
        .option("delete")
        .map(|all| all.split(',').filter_map(|one| one.split_once('/')).collect())
        .unwrap_or_default();
    let later = compiled_design::changed(&now.written, sent(asked.body)?, &gone);
    told(asked, &now, &CompiledDesign::of(later))
}

/// Parses documents in any format, or a list of objects. Layers are rendered together with the documents of the design.
fn sent(body: &[u8]) -> Result<State, Status> {
    let refuse = |why: String| Status::bad_request(format!("cannot parse the documents: {why}"));
    let listed =
        serde_json::from_slice::<Value>(body).ok().and_then(|body| body["items"].as_array().cloned());
    if let Some(items) = listed {
        let documents = design::object::documents_of(&items, &|_, _| None);
        return Ok(State { documents: documents.into_iter().map(Arc::new).collect(), layers: Vec::new() });
    }
    let loaded = parse("request", body).map_err(|error| refuse(error.to_string()))?;
    if let Some(error) = loaded.passed_over.first() {
        return Err(refuse(error.to_string()));
    }
    let layers = layer_order(&loaded.documents).unwrap_or_default();
    let is_policy = |one: &Document| one.schema() == LAYERING_POLICY;
    let documents = loaded.documents.into_iter().filter(|one| !is_policy(one)).map(Arc::new).collect();
    Ok(State { documents, layers })
}

/// The differences between two states, and the findings that are new in the later one.
pub(super) fn told(
    asked: &Questioned<'_>,
    before: &CompiledDesign,
    after: &CompiledDesign,
) -> Result<Answered, Status> {
    let (old, new) = (site_of(before)?, site_of(after)?);
    let changes = design::reach::reach(old, new);
    let known: std::collections::HashSet<String> =
        before.diagnostics().iter().map(ToString::to_string).collect();
    let found: Vec<_> = after.diagnostics().iter().filter(|one| !known.contains(&one.to_string())).collect();
    let json = json!({
        "nodes": changes.iter().map(design::reach::NodeChange::to_json).collect::<Vec<_>>(),
        "changed": changes.len(),
        "total": new.nodes.len(),
        "findings": found.iter().map(|one| one.to_json()).collect::<Vec<_>>(),
    });
    shown(asked, json, || {
        let lines: String = changes.iter().map(|one| format!("{one}\n")).collect();
        let found: String = found.iter().map(|one| format!("{one}\n")).collect();
        format!("{lines}{} of {} nodes differ\n{found}", changes.len(), new.nodes.len())
    })
}
