//! The effective site, put together.

use std::{collections::HashSet, sync::Arc};

use super::{
    boot_targets, duplicates,
    lshw::LshwInputs,
    node::{Node, Surroundings},
    route_domains,
};
use crate::{
    inherit::{Effective, Profiles, Refusal},
    model::{BootAction, Design, DocumentRef, Field, HostProfile, Network},
};

/// A site after inheritance.
#[derive(Clone, Debug)]
pub struct Site {
    /// The networks with the routes of their domains.
    pub networks: Vec<Network>,
    /// The host profiles after inheritance.
    pub profiles: Vec<Profile>,
    /// The nodes after inheritance, with their hardware.
    pub nodes: Vec<Node>,
    /// The boot actions and whom they reach.
    pub boot_actions: Vec<BootActionTargets>,
}

/// A host profile after inheritance.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// The profile it inherits from.
    pub parent: Field<String>,
    /// What it comes to.
    pub effective: Effective,
    /// What is wrong with it; then no node inherits from it.
    pub mistake: Option<Refusal>,
    /// Whether a node inherits from it.
    pub is_used: bool,
}

impl Profile {
    fn of(profile: &HostProfile, resolved: &Profiles, used: &HashSet<&Arc<DocumentRef>>) -> Option<Self> {
        Some(Self {
            document: Arc::clone(&profile.document),
            parent: profile.parent.clone(),
            effective: resolved.get(profile.name())?.clone(),
            mistake: resolved.mistake(profile.name()).cloned(),
            is_used: used.contains(&profile.document),
        })
    }
}

/// A boot action and the nodes it reaches.
#[derive(Clone, Debug)]
pub struct BootActionTargets {
    /// The boot action.
    pub action: BootAction,
    /// The names of the nodes, in the order of the design.
    pub nodes: Vec<String>,
}

impl Site {
    /// Makes a design effective. What keeps it from that is told whole: documents written twice first, then circles, then
    /// what each node lacks.
    pub fn of(design: &Design, lshw: &LshwInputs) -> Result<Self, Vec<Refusal>> {
        let resolved = Profiles::resolve(&design.host_profiles);
        let networks = route_domains::expand(&design.networks);
        let mut refusals = duplicates::of(design);
        refusals.extend_from_slice(resolved.cycles());
        let surroundings = Surroundings::of(design, &networks);
        let mut nodes = Vec::with_capacity(design.nodes.len());
        for node in &design.nodes {
            let effective = resolved.effective(&node.document, &node.parent, &node.settings);
            match effective
                .and_then(|effective| Node::of(node, effective, &surroundings, lshw.get(node.name())))
            {
                Ok(node) => nodes.push(node),
                Err(refusal) if refusals.contains(&refusal) => {}
                Err(refusal) => refusals.push(refusal),
            }
        }
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let used = used_profiles(&nodes);
        let profiles =
            design.host_profiles.iter().filter_map(|one| Profile::of(one, &resolved, &used)).collect();
        let boot_actions =
            design.boot_actions.iter().map(|action| boot_targets::of(action, &nodes)).collect();
        Ok(Self { networks, profiles, nodes, boot_actions })
    }

    /// A network by name.
    pub fn network(&self, name: &str) -> Option<&Network> {
        self.networks.iter().find(|network| network.name() == name)
    }

    /// A node by name.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name() == name)
    }
}

/// The documents that nodes inherit from. Above one that is known, all are.
fn used_profiles(nodes: &[Node]) -> HashSet<&Arc<DocumentRef>> {
    let mut used = HashSet::new();
    for node in nodes {
        let mut ancestors = node.effective.chain();
        while ancestors.next().is_some_and(|document| used.insert(document)) {}
    }
    used
}
