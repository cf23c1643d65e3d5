//! `effective`: the effective values of a node or host profile, and which document set each.

use design::compile::{Node, Site};
use design::inherit::explain;
use design::provenance;
use krm::kind::{Answered, Form, Lazy, QueryContext, Questioned};
use krm::status::Status;
use serde_json::{Value, json};

use super::{design_of, shown, site_of};
use crate::compiled_design;

/// Answers `…/designs/<name>/effective?node=|profile=&at=`: one node, one profile, or all nodes.
pub fn answer(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let design = design_of(asked, look)?;
    let result = compiled_design::at(&design, asked.option("at").unwrap_or("documents"), look)?;
    let site = site_of(&result)?;
    let (json, text) = match (asked.option("node"), asked.option("profile")) {
        (Some(node), _) => of_node(site, node)?,
        (None, Some(profile)) => of_profile(site, profile)?,
        (None, None) => return of_all(asked, site),
    };
    shown(asked, json, || text)
}

fn of_node(site: &Site, name: &str) -> Result<(Value, String), Status> {
    let node =
        site.node(name).ok_or_else(|| Status::bad_request(format!("the design has no node {name:?}")))?;
    let mut json = provenance::node_json(node);
    json["node"] = json!(name);
    Ok((json, in_words(node)))
}

fn of_profile(site: &Site, name: &str) -> Result<(Value, String), Status> {
    let profile = site.profiles.iter().find(|profile| profile.document.name == name);
    let profile =
        profile.ok_or_else(|| Status::bad_request(format!("the design has no host profile {name:?}")))?;
    let values = explain(&profile.effective);
    let mut json = provenance::values_json(&values, &profile.effective);
    json["profile"] = json!(name);
    let mut text =
        format!("{}  ({})\n", profile.document, provenance::chain(&profile.effective)).into_bytes();
    let _ = provenance::write_values(&mut text, &values, &profile.effective);
    Ok((json, String::from_utf8_lossy(&text).into_owned()))
}

/// All nodes, each made when it is sent.
fn of_all(asked: &Questioned<'_>, site: &Site) -> Result<Answered, Status> {
    let nodes = site.nodes.clone();
    match asked.form {
        Form::Json => {
            let members = Lazy::new(move || {
                nodes.clone().into_iter().map(|node| (node.name().to_owned(), provenance::node_json(&node)))
            });
            Ok(Answered::Members { field: "nodes", members })
        }
        Form::Text => {
            Ok(Answered::Pieces(Lazy::new(move || nodes.clone().into_iter().map(|node| in_words(&node)))))
        }
        Form::Svg => shown(asked, Value::Null, String::new),
    }
}

fn in_words(node: &Node) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = provenance::write_node(&mut text, node);
    String::from_utf8_lossy(&text).into_owned()
}
