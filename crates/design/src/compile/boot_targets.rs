//! Which nodes a boot action reaches.

use std::sync::Arc;

use super::{node::Node, site::BootActionTargets};
use crate::model::{BootAction, Criteria, NodeFilter, text, values};

pub(super) fn of(action: &BootAction, nodes: &[Arc<Node>]) -> BootActionTargets {
    let reached =
        nodes.iter().filter(|node| action.node_filter.as_ref().is_none_or(|filter| matches(filter, node)));
    let names = reached.map(|node| node.name().to_owned()).collect();
    BootActionTargets { action: action.clone(), nodes: names }
}

/// A filter without criteria, or that does not say how to join them, reaches nobody.
fn matches(filter: &NodeFilter, node: &Node) -> bool {
    let answers = filter.criteria.iter().map(|criteria| meets(criteria, node));
    joined(text(&filter.join), answers.collect())
}

fn meets(criteria: &Criteria, node: &Node) -> bool {
    let settings = &node.effective.settings;
    let mut answers = Vec::new();
    if let Some(names) = criteria.node_names.as_deref().filter(|names| !names.is_empty()) {
        answers.push(values(names).any(|name| name == node.name()));
    }
    if let Some(tags) = criteria.node_tags.as_deref().filter(|tags| !tags.is_empty()) {
        answers.push(values(tags).any(|tag| values(&settings.tags).any(|own| own == tag)));
    }
    if let Some(racks) = criteria.rack_names.as_deref().filter(|racks| !racks.is_empty()) {
        answers.push(values(racks).any(|rack| text(&settings.rack) == Some(rack)));
    }
    if let Some(labels) = criteria.node_labels.as_ref().filter(|labels| !labels.is_empty()) {
        let has = |key: &str, value: &str| settings.owner_data.get(key).is_some_and(|own| own.value == value);
        answers.push(labels.iter().any(|(key, label)| has(key, &label.value)));
    }
    joined(text(&criteria.join), answers)
}

fn joined(join: Option<&str>, answers: Vec<bool>) -> bool {
    match join {
        Some("union") => answers.contains(&true),
        Some("intersection") => !answers.is_empty() && !answers.contains(&false),
        _ => false,
    }
}
