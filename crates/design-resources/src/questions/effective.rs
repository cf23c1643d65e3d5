//! `effective`: the effective values of a node or host profile, and which document set each.

use design::compile::Site;
use design::document::Writers;
use design::inherit::explain;
use design::provenance;
use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;
use serde_json::{Value, json};

use super::{design_of, shown, site_of};
use crate::compiled_design::{self, CompiledDesign};

/// Answers `…/designs/<name>/effective?node=|profile=&at=`: one node, one profile, or all nodes.
pub fn answer(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let design = design_of(asked, look)?;
    let result =
        CompiledDesign::of(compiled_design::at(&design, asked.option("at").unwrap_or("documents"), look)?);
    let site = site_of(&result)?;
    let (json, text) = match (asked.option("node"), asked.option("profile")) {
        (Some(node), _) => of_node(site, node)?,
        (None, Some(profile)) => of_profile(site, profile)?,
        (None, None) => of_all(site),
    };
    shown(asked, json, || text)
}

fn of_node(site: &Site, name: &str) -> Result<(Value, String), Status> {
    let writers = Writers::default();
    let node =
        site.node(name).ok_or_else(|| Status::bad_request(format!("the design has no node {name:?}")))?;
    let mut json = provenance::node_json(node, &writers);
    json["node"] = json!(name);
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = provenance::write_node(&mut text, node, &writers);
    Ok((json, String::from_utf8_lossy(&text).into_owned()))
}

fn of_profile(site: &Site, name: &str) -> Result<(Value, String), Status> {
    let writers = Writers::default();
    let profile = site.profiles.iter().find(|profile| profile.document.name == name);
    let profile =
        profile.ok_or_else(|| Status::bad_request(format!("the design has no host profile {name:?}")))?;
    let values = explain(&profile.effective);
    let mut json = provenance::values_json(&values, &profile.effective, &writers);
    json["profile"] = json!(name);
    let mut text =
        format!("{}  ({})\n", profile.document, provenance::chain(&profile.effective)).into_bytes();
    let _ = provenance::write_values(&mut text, &values, &profile.effective, &writers);
    Ok((json, String::from_utf8_lossy(&text).into_owned()))
}

fn of_all(site: &Site) -> (Value, String) {
    let writers = Writers::default();
    let mut text = Vec::new();
    let nodes: Value = site
        .nodes
        .iter()
        .map(|node| (node.name().to_owned(), provenance::node_json(node, &writers)))
        .collect();
    for node in &site.nodes {
        let _ = provenance::write_node(&mut text, node, &writers);
    }
    (json!({ "nodes": nodes }), String::from_utf8_lossy(&text).into_owned())
}
