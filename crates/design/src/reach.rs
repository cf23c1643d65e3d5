//! The nodes and fields that differ between two states of a design.

mod display;

use std::{collections::HashMap, fmt, sync::Arc};

use crate::{
    compile::{Node, Site},
    inherit::{self, Explanation},
    model::{HostSettings, MachineSettings, Origin},
    secrets,
};

/// What becomes of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeChange {
    /// It is new.
    Added {
        /// Its name.
        node: String,
    },
    /// It is gone.
    Removed {
        /// Its name.
        node: String,
    },
    /// Some of its values differ; there is at least one.
    Changed {
        /// Its name.
        node: String,
        /// Which values, those of the later state in their order first.
        values: Vec<ValueChange>,
    },
}

impl NodeChange {
    /// The node's name.
    pub fn node(&self) -> &str {
        match self {
            Self::Added { node } | Self::Removed { node } | Self::Changed { node, .. } => node,
        }
    }
}

/// What becomes of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueChange {
    /// The path of the field.
    pub path: String,
    /// What it was; nothing if it was not set.
    pub before: Option<Was>,
    /// What it is; nothing if it is not set.
    pub after: Option<Was>,
}

/// A value and who set it.
#[derive(Clone, PartialEq, Eq)]
pub struct Was {
    value: String,
    is_secret: bool,
    /// Who set it; nobody did if it is a default or computed.
    pub by: Option<Origin>,
}

impl Was {
    /// The value for people to see: a secret is not shown.
    pub fn shown(&self) -> &str {
        if self.is_secret { secrets::HIDDEN } else { &self.value }
    }
}

/// As it is told to people, so that no secret is in it.
impl fmt::Debug for Was {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Was").field("value", &self.shown()).field("by", &self.by).finish()
    }
}

/// The nodes that differ, in the order of the later state; those that are gone come last.
pub fn reach(before: &Site, after: &Site) -> Vec<NodeChange> {
    let earlier: HashMap<&str, &Arc<Node>> = before.nodes.iter().map(|node| (node.name(), node)).collect();
    let later: HashMap<&str, &Arc<Node>> = after.nodes.iter().map(|node| (node.name(), node)).collect();
    let stays = after.nodes.iter().filter_map(|node| match earlier.get(node.name()) {
        None => Some(NodeChange::Added { node: node.name().to_owned() }),
        Some(was) if Arc::ptr_eq(was, node) || is_same(was, node) => None,
        Some(was) => changed(was, node),
    });
    let gone = before.nodes.iter().filter(|node| !later.contains_key(node.name()));
    stays.chain(gone.map(|node| NodeChange::Removed { node: node.name().to_owned() })).collect()
}

/// Most nodes are the same in both; that is seen without a word being written.
fn is_same(before: &Node, after: &Node) -> bool {
    before.effective.settings == after.effective.settings
        && before.addressing == after.addressing
        && before.boot_mac == after.boot_mac
        && before.kernel_params == after.kernel_params
        && before.kernel_params.keys().eq(after.kernel_params.keys())
        && before.selectors == after.selectors
        && before.machine == after.machine
        && before.name_servers == after.name_servers
        && before.search_domains == after.search_domains
        && before.fqdn == after.fqdn
}

fn changed(before: &Node, after: &Node) -> Option<NodeChange> {
    let (old, new) = differing_values(before, after);
    let mut earlier: HashMap<&str, Vec<&Explanation>> = HashMap::new();
    for one in &old {
        earlier.entry(&one.path).or_default().push(one);
    }
    let mut changes = Vec::new();
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for one in &new {
        // A list may hold a value twice; the first meets the first.
        let place = seen.entry(&one.path).or_default();
        let was = earlier.get(one.path.as_str()).and_then(|all| all.get(*place)).copied();
        *place += 1;
        if was.is_none_or(|was| was.value != one.value) {
            changes.push(ValueChange {
                path: one.path.clone(),
                before: was.map(was_of),
                after: Some(was_of(one)),
            });
        }
    }
    for (path, all) in &earlier {
        let left = seen.get(path).copied().unwrap_or_default();
        for one in all.iter().skip(left) {
            changes.push(ValueChange { path: (*path).to_owned(), before: Some(was_of(one)), after: None });
        }
    }
    let first_gone = changes.iter().position(|one| one.after.is_none()).unwrap_or(changes.len());
    changes[first_gone..].sort_by(|a, b| a.path.cmp(&b.path));
    if changes.is_empty() {
        // The same values in another order: it shows in the kernel's command line and in the calls to a provisioner.
        changes.push(ValueChange { path: "order".to_owned(), before: None, after: None });
    }
    Some(NodeChange::Changed { node: after.name().to_owned(), values: changes })
}

/// What is set and what is computed from it, as far as the two differ.
fn differing_values(before: &Node, after: &Node) -> (Vec<Explanation>, Vec<Explanation>) {
    let (mut old, mut new) = inherit::differing(settings(before), settings(after));
    if before.addressing != after.addressing || before.boot_mac != after.boot_mac {
        old.extend(before.own_values());
        new.extend(after.own_values());
    }
    let is_same = before.fqdn == after.fqdn
        && before.name_servers == after.name_servers
        && before.search_domains == after.search_domains
        && before.kernel_params == after.kernel_params
        && before.selectors == after.selectors;
    if !is_same {
        old.extend(computed(before));
        new.extend(computed(after));
    }
    (old, new)
}

fn settings(node: &Node) -> (&HostSettings, &MachineSettings) {
    (&node.effective.settings, &node.machine)
}

/// What follows from the settings and the documents around the node.
fn computed(node: &Node) -> Vec<Explanation> {
    let value = |path: String, value: String| Explanation { path, value, by: None, overrode: Vec::new() };
    let mut values = vec![
        value("fqdn".to_owned(), node.fqdn.clone()),
        value("dns.servers".to_owned(), node.name_servers.join(",")),
        value("dns.search".to_owned(), node.search_domains.join(",")),
    ];
    for (key, set) in &node.kernel_params {
        let written = node.effective.settings.kernel_params.get(key);
        if written.is_some_and(|written| written.value != set.value) {
            values.push(value(format!("platform.kernel_params.{key} (resolved)"), set.value.clone()));
        }
    }
    for (interface, selectors) in node.effective.settings.interfaces.iter().zip(&node.selectors) {
        for (slave, selector) in interface.slaves.iter().zip(selectors) {
            let path = format!("interfaces.{}.slaves[{}] (device)", interface.name.value, slave.value);
            values.push(value(path, selector.to_string()));
        }
    }
    values
}

fn was_of(one: &Explanation) -> Was {
    Was {
        value: one.value.clone(),
        is_secret: secrets::is_hidden(&one.path, &one.value, one.by.as_ref()),
        by: one.by.clone(),
    }
}
