//! The effective site, put together.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{
    boot_targets, duplicates,
    lshw::LshwInputs,
    node::{Node, Surroundings},
    route_domains,
};
use crate::{
    inherit::{Effective, Profiles, Refusal, ResolvedBefore, is_same},
    model::{BaremetalNode, BootAction, Design, DocumentRef, Field, HardwareProfile, HostProfile, Network},
};

/// A site after inheritance.
#[derive(Clone, Debug)]
pub struct Site {
    /// The networks with the routes of their domains.
    pub networks: Vec<Arc<Network>>,
    /// The host profiles after inheritance.
    pub profiles: Vec<Profile>,
    /// The nodes after inheritance, with their hardware.
    pub nodes: Vec<Arc<Node>>,
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
    pub effective: Arc<Effective>,
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

/// What was compiled before, by name.
#[derive(Debug, Default)]
pub(super) struct CompiledBefore {
    profiles: ResolvedBefore,
    nodes: HashMap<String, NodeBefore>,
}

/// A node that was compiled, and what it was made of. The same parts make the same again.
#[derive(Debug)]
struct NodeBefore {
    written: Arc<BaremetalNode>,
    parent: Option<Arc<Effective>>,
    hardware: Option<Arc<HardwareProfile>>,
    primary: Option<Arc<Network>>,
    compiled: Arc<Node>,
}

impl NodeBefore {
    fn is_current(
        &self,
        written: &Arc<BaremetalNode>,
        parent: Option<&Arc<Effective>>,
        surroundings: &Surroundings<'_>,
    ) -> bool {
        let (hardware, primary) = surroundings.around(&self.compiled.effective.settings);
        Arc::ptr_eq(&self.written, written)
            && is_same(self.parent.as_ref(), parent)
            && is_same(self.hardware.as_ref(), hardware)
            && is_same(self.primary.as_ref(), primary)
    }
}

impl Site {
    /// Makes a design effective. What keeps it from that is told whole: documents written twice first, then circles, then
    /// what each node lacks.
    pub fn of(design: &Design, lshw: &LshwInputs) -> Result<Self, Vec<Refusal>> {
        Self::of_with(design, lshw, &mut CompiledBefore::default())
    }

    /// The same, without compiling again what was compiled before out of the same parts.
    pub(super) fn of_with(
        design: &Design,
        lshw: &LshwInputs,
        before: &mut CompiledBefore,
    ) -> Result<Self, Vec<Refusal>> {
        let resolved = Profiles::resolve_with(&design.host_profiles, &mut before.profiles);
        let mut refusals = duplicates::of(design);
        let surroundings = Surroundings::of(design);
        let mut nodes = Vec::with_capacity(design.nodes.len());
        let mut made = HashMap::with_capacity(design.nodes.len());
        for node in &design.nodes {
            let lshw = lshw.get(node.name());
            let parent = node.parent.as_ref().and_then(|parent| resolved.get(&parent.value));
            let is_broken = node.parent.as_ref().is_some_and(|one| resolved.mistake(&one.value).is_some());
            let known = before.nodes.remove(node.name()).filter(|_| lshw.is_none() && !is_broken);
            let known = known.filter(|known| known.is_current(node, parent, &surroundings));
            let compiled = match known {
                Some(known) => Ok(known),
                None => {
                    resolved.effective(&node.document, &node.parent, &node.settings).and_then(|effective| {
                        let (hardware, primary) = surroundings.around(&effective.settings);
                        let (hardware, primary) = (hardware.cloned(), primary.cloned());
                        let compiled = Node::of(node, effective, &surroundings, lshw)?;
                        let (written, parent) = (Arc::clone(node), parent.cloned());
                        Ok(NodeBefore { written, parent, hardware, primary, compiled: Arc::new(compiled) })
                    })
                }
            };
            match compiled {
                Ok(one) => {
                    nodes.push(Arc::clone(&one.compiled));
                    made.insert(node.name().to_owned(), one);
                }
                Err(refusal) if refusals.contains(&refusal) => {}
                Err(refusal) => refusals.push(refusal),
            }
        }
        before.nodes = made;
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let used = used_profiles(&nodes);
        let profiles =
            design.host_profiles.iter().filter_map(|one| Profile::of(one, &resolved, &used)).collect();
        let boot_actions =
            design.boot_actions.iter().map(|action| boot_targets::of(action, &nodes)).collect();
        Ok(Self { networks: route_domains::expand(&design.networks), profiles, nodes, boot_actions })
    }

    /// A network by name.
    pub fn network(&self, name: &str) -> Option<&Arc<Network>> {
        self.networks.iter().find(|network| network.name() == name)
    }

    /// A node by name.
    pub fn node(&self, name: &str) -> Option<&Arc<Node>> {
        self.nodes.iter().find(|node| node.name() == name)
    }
}

/// The documents that nodes inherit from. Above one that is known, all are.
fn used_profiles(nodes: &[Arc<Node>]) -> HashSet<&Arc<DocumentRef>> {
    let mut used = HashSet::new();
    for node in nodes {
        let mut ancestors = node.effective.chain();
        while ancestors.next().is_some_and(|document| used.insert(document)) {}
    }
    used
}
