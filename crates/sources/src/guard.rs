//! Keeps every source to what is its own, whatever way it writes: in the transaction, by the user who writes.

use krm::Object;
use krm::kind::{Effect, EffectPlugin, Kind, RawChange, Refusal, View};
use serde_json::Value;

use crate::kinds::Source;
use crate::labels;

/// Keeps sources to their own hosts, host classes and findings.
pub struct Guard;

impl EffectPlugin for Guard {
    fn name(&self) -> &'static str {
        "sources"
    }

    fn concerns(&self, kind: &Kind, project: Option<&str>) -> bool {
        let plural = kind.names.plural.as_str();
        let is_host = kind.group == fulfillment::GROUP && matches!(plural, "hosts" | "hostclasses");
        project.is_none() && (is_host || (kind.group == crate::GROUP && plural == "sourcefindings"))
    }

    fn effects(
        &self,
        kind: &Kind,
        change: &RawChange<'_>,
        view: &mut View<'_>,
    ) -> Result<Vec<Effect>, Refusal> {
        let source = view.writer().and_then(labels::source_of_user).map(str::to_owned);
        let Some(source) = source.filter(|_| !view.is_effect()) else { return Ok(Vec::new()) };
        match kind.names.plural.as_str() {
            "hosts" => may_write_host(&source, change, view)?,
            "hostclasses" => is_own(&source, change)?,
            _ => may_write_finding(&source, change)?,
        }
        Ok(Vec::new())
    }
}

/// Both what was there and what is to be there belong to the source.
fn is_own(source: &str, change: &RawChange<'_>) -> Result<(), Refusal> {
    for object in [change.old, change.new].into_iter().flatten() {
        match object.label(labels::SOURCE) {
            Some(owner) if owner == source => {}
            Some(owner) => {
                return Err(Refusal::Forbidden(format!("source {owner} owns it, not source {source}")));
            }
            None => {
                let why = format!("it was not made by source {source}, so it stays as it is");
                return Err(Refusal::Forbidden(why));
            }
        }
    }
    Ok(())
}

fn may_write_host(source: &str, change: &RawChange<'_>, view: &mut View<'_>) -> Result<(), Refusal> {
    let at = |object: Option<&Object>, path: &str| object.and_then(|object| object.at(path).cloned());
    if let (Some(old), None) = (change.old, change.new) {
        is_own(source, change)?;
        let cluster = at(Some(old), "status.cluster").unwrap_or_default();
        return match cluster.as_str().is_some_and(|cluster| !cluster.is_empty()) {
            true => Err(Refusal::Conflict(
                "a host that is assigned to a cluster is not deleted by its source".to_owned(),
            )),
            false => Ok(()),
        };
    }
    let is_assigned = at(change.old, "status.cluster")
        .is_some_and(|cluster| cluster.as_str().is_some_and(|id| !id.is_empty()));
    if is_assigned && at(change.old, "spec.class") != at(change.new, "spec.class") {
        let why = "a host that is assigned to a cluster keeps its class";
        return Err(Refusal::Conflict(why.to_owned()));
    }
    if at(change.old, "spec.powerState") != at(change.new, "spec.powerState") {
        let why = "the desired power state is set by users, not by sources";
        return Err(Refusal::Forbidden(why.to_owned()));
    }
    match is_own(source, change) {
        Err(refusal) => match enriches(source, change, view) {
            true => Ok(()),
            false => Err(refusal),
        },
        own => own,
    }
}

/// Whether only fields differ that the Source may set on hosts of others.
fn enriches(source: &str, change: &RawChange<'_>, view: &mut View<'_>) -> bool {
    let (Some(old), Some(new)) = (change.old, change.new) else { return false };
    let Some(source) = view.get::<Source>(source).filter(|source| !source.spec.enriches.is_empty()) else {
        return false;
    };
    let without = |object: &Object| {
        let mut rest = object.0.clone();
        for path in &source.spec.enriches {
            remove(&mut rest, path);
        }
        if let Some(Value::Object(metadata)) = rest.get_mut("metadata") {
            for field in ["managedFields", "resourceVersion", "generation"] {
                metadata.remove(field);
            }
        }
        rest
    };
    without(old) == without(new)
}

fn remove(map: &mut serde_json::Map<String, Value>, path: &str) {
    match path.split_once('.') {
        None => drop(map.remove(path)),
        Some((first, rest)) => {
            if let Some(Value::Object(inner)) = map.get_mut(first) {
                remove(inner, rest);
            }
        }
    }
}

fn may_write_finding(source: &str, change: &RawChange<'_>) -> Result<(), Refusal> {
    let text =
        |object: &Object, path: &str| object.at(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    for finding in [change.old, change.new].into_iter().flatten() {
        let of = text(finding, "spec.source");
        if of != source {
            return Err(Refusal::Forbidden(format!(
                "it is a finding of source {of}, not of source {source}"
            )));
        }
    }
    let decision =
        |object: Option<&Object>| object.map(|object| text(object, "spec.decision")).unwrap_or_default();
    let (before, after) = (decision(change.old), decision(change.new));
    match change.new.is_some() && !after.is_empty() && after != before {
        true => Err(Refusal::Forbidden("an operator decides about findings, not their source".to_owned())),
        false => Ok(()),
    }
}
