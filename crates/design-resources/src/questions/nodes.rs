//! `nodes`: the nodes of the compiled design, selected by effective values.

use design::compile::Node;
use design::inherit::Explanation;
use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;
use serde_json::{Map, Value, json};

use super::{design_of, shown, site_of};
use crate::compiled_design;

/// Answers `…/designs/<name>/nodes?where=path=value,…&fields=path,…&at=`.
pub fn answer(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let design = design_of(asked, look)?;
    let wanted = conditions(asked.option("where").unwrap_or_default())?;
    let fields: Vec<&str> =
        asked.option("fields").map(|fields| fields.split(',').collect()).unwrap_or_default();
    let result = compiled_design::at(&design, asked.option("at").unwrap_or("documents"), look)?;
    let site = site_of(&result)?;
    let mut found = Vec::new();
    for node in &site.nodes {
        let values = values_of(node);
        if wanted.iter().all(|(path, value)| holds(&values, path, value)) {
            found.push((node, values));
        }
    }
    let json = json!({ "nodes": found.iter().map(|(node, values)| as_json(node, values, &fields)).collect::<Vec<_>>() });
    let text = || found.iter().map(|(node, values)| line(node, values, &fields)).collect();
    shown(asked, json, text)
}

fn conditions(text: &str) -> Result<Vec<(&str, &str)>, Status> {
    let parts = text.split(',').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            part.split_once('=').ok_or_else(|| {
                Status::bad_request(format!(
                    "where: {part:?} is not PATH=VALUE, such as platform.image=jammy"
                ))
            })
        })
        .collect()
}

fn values_of(node: &Node) -> Vec<Explanation> {
    let mut values = node.explain();
    let fqdn =
        Explanation { path: "fqdn".to_owned(), value: node.fqdn.clone(), by: None, overrode: Vec::new() };
    values.push(fqdn);
    values
}

/// Matches list items by the path of the list too: `metadata.tags=gpu`.
fn holds(values: &[Explanation], path: &str, value: &str) -> bool {
    let is_at = |one: &Explanation| {
        one.path == path || one.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('['))
    };
    values.iter().any(|one| is_at(one) && one.shown() == value)
}

fn as_json(node: &Node, values: &[Explanation], fields: &[&str]) -> Value {
    let mut json = json!({
        "name": node.name(), "fqdn": node.fqdn, "dnsServers": node.name_servers, "dnsSearch": node.search_domains,
    });
    if !fields.is_empty() {
        let picked: Map<String, Value> =
            fields.iter().map(|field| ((*field).to_owned(), picked(values, field).into())).collect();
        json["fields"] = picked.into();
    }
    json
}

fn picked(values: &[Explanation], field: &str) -> Option<String> {
    let is_at = |one: &&Explanation| {
        one.path == *field || one.path.strip_prefix(field).is_some_and(|rest| rest.starts_with('['))
    };
    let found: Vec<&str> = values.iter().filter(is_at).map(|one| one.shown()).collect();
    (!found.is_empty()).then(|| found.join(","))
}

fn line(node: &Node, values: &[Explanation], fields: &[&str]) -> String {
    let mut line = node.name().to_owned();
    for field in fields {
        line.push_str(&format!(
            "  {}={}",
            field,
            picked(values, field).unwrap_or_else(|| "<none>".to_owned())
        ));
    }
    line.push('\n');
    line
}
