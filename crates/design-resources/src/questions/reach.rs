//! `reach`: the nodes and fields that a proposed change of documents would affect.

use design::deckhand::{MissingSource, render_with};
use design::document::{Document, parse};
use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;
use serde_json::{Value, json};

use super::{design_of, shown, site_of};
use crate::compiled_design::{self, CompiledDesign};

/// Answers a POST to `…/designs/<name>/reach`: the documents in the body replace those of the same kind and name, and
/// `?delete=Kind/name,…` removes some. Nothing is stored.
pub fn answer(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let design = design_of(asked, look)?;
    let now = compiled_design::documents_now(&design, look);
    let gone: Vec<(&str, &str)> = asked
        .option("delete")
        .map(|all| all.split(',').filter_map(|one| one.split_once('/')).collect())
        .unwrap_or_default();
    let later = compiled_design::changed(now.clone(), sent(asked.body)?, &gone);
    told(asked, &CompiledDesign::of(now), &CompiledDesign::of(later))
}

/// Parses documents in any format, or a list of objects.
fn sent(body: &[u8]) -> Result<Vec<Document>, Status> {
    let refuse = |why: String| Status::bad_request(format!("cannot parse the documents: {why}"));
    let listed =
        serde_json::from_slice::<Value>(body).ok().and_then(|body| body["items"].as_array().cloned());
    if let Some(items) = listed {
        return Ok(design::object::documents_of(&items, &|_, _| None));
    }
    let loaded = parse("request", body).map_err(|error| refuse(error.to_string()))?;
    if let Some(error) = loaded.passed_over.first() {
        return Err(refuse(error.to_string()));
    }
    let is_layered = loaded.documents.iter().any(|one| one.schema() == "deckhand/LayeringPolicy/v1");
    if !is_layered {
        return Ok(loaded.documents);
    }
    let rendered = render_with(loaded.documents, MissingSource::Warn);
    rendered.map(|rendering| rendering.documents).map_err(|problems| {
        refuse(problems.iter().take(5).map(ToString::to_string).collect::<Vec<_>>().join("; "))
    })
}

/// The differences between two states, and the findings that are new in the later one.
pub(super) fn told(
    asked: &Questioned<'_>,
    before: &CompiledDesign,
    after: &CompiledDesign,
) -> Result<Answered, Status> {
    let (old, new) = (site_of(before)?, site_of(after)?);
    let changes = design::reach::reach(old, new);
    let known: Vec<String> = before.diagnostics().iter().map(ToString::to_string).collect();
    let found: Vec<_> =
        after.diagnostics().into_iter().filter(|one| !known.contains(&one.to_string())).collect();
    let json = json!({
        "nodes": changes.iter().map(design::reach::NodeChange::to_json).collect::<Vec<_>>(),
        "changed": changes.len(),
        "total": new.nodes.len(),
        "findings": found.iter().map(design::validate::Diagnostic::to_json).collect::<Vec<_>>(),
    });
    shown(asked, json, || {
        let lines: String = changes.iter().map(|one| format!("{one}\n")).collect();
        let found: String = found.iter().map(|one| format!("{one}\n")).collect();
        format!("{lines}{} of {} nodes differ\n{found}", changes.len(), new.nodes.len())
    })
}
