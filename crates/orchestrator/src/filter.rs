//! Selects the nodes of a compiled design that a filter is about, in the order of the design.

use std::collections::HashSet;
use std::sync::Arc;

use design::compile::{Node, Site};
use design::model::{text, values};

use crate::kinds::node_filter::{Criteria, Join, NodeFilter};

/// The nodes that a filter selects.
pub fn select<'s>(site: &'s Site, filter: Option<&NodeFilter>) -> Vec<&'s Arc<Node>> {
    let Some(filter) = filter else { return site.nodes.iter().collect() };
    let asked: Vec<Asked<'_>> = filter.filter_set.iter().map(Asked::of).collect();
    let answers = |node: &Node| asked.iter().map(|one| one.meets(node)).collect::<Vec<_>>();
    site.nodes.iter().filter(|node| joined(filter.filter_set_type, &answers(node))).collect()
}

/// A filter, made ready for many nodes.
struct Asked<'a> {
    criteria: &'a Criteria,
    names: HashSet<&'a str>,
}

impl<'a> Asked<'a> {
    fn of(criteria: &'a Criteria) -> Asked<'a> {
        Asked { criteria, names: criteria.node_names.iter().map(String::as_str).collect() }
    }

    fn meets(&self, node: &Node) -> bool {
        let settings = &node.effective.settings;
        let criteria = self.criteria;
        let mut answers = Vec::new();
        if !self.names.is_empty() {
            answers.push(self.names.contains(node.name()));
        }
        if !criteria.node_tags.is_empty() {
            answers.push(criteria.node_tags.iter().any(|tag| values(&settings.tags).any(|own| own == tag)));
        }
        if !criteria.rack_names.is_empty() {
            let rack = text(&settings.rack);
            answers.push(criteria.rack_names.iter().any(|name| rack == Some(name)));
        }
        let has = |(key, value): (&String, &String)| {
            settings.owner_data.get(key).is_some_and(|own| own.value == *value)
        };
        if !criteria.node_labels.is_empty() {
            answers.push(match criteria.filter_type {
                Join::Intersection => criteria.node_labels.iter().all(has),
                Join::Union => criteria.node_labels.iter().any(has),
            });
        }
        joined(criteria.filter_type, &answers)
    }
}

fn joined(join: Join, answers: &[bool]) -> bool {
    match join {
        Join::Union => answers.contains(&true),
        Join::Intersection => !answers.is_empty() && !answers.contains(&false),
    }
}
