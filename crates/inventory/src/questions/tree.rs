//! Tree and summary: an overview of the whole inventory.

use std::collections::{BTreeMap, BTreeSet};

use krm::kind::{Answered, QueryContext, Questioned, Resource};
use krm::status::Status;
use serde::Serialize;

use super::{shown, table};
use crate::choice::Choice;
use crate::kinds::device::Lifecycle;
use crate::kinds::{Cable, Cluster, GROUP, NetworkDevice, Node, ORDER, Provider, Rack, Region, Site};
use crate::state::{AsIf, Fleet};

/// A region with its clusters and sites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// Name of the region.
    pub region: String,
    /// Its clusters.
    pub clusters: Vec<String>,
    /// Its sites.
    pub sites: Vec<SiteBranch>,
}

/// A site with its racks and nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteBranch {
    /// Name of the site.
    pub site: String,
    /// Its racks.
    pub racks: Vec<String>,
    /// Its nodes.
    pub nodes: Vec<String>,
}

/// All regions, or one, with their clusters and sites. What belongs where is told by references, from indexes: nothing but
/// the sites is read.
pub fn tree(only: Option<&str>, fleet: &Fleet<'_>) -> Vec<Branch> {
    let look = fleet.look();
    // Of one region nothing else is read: what is withheld elsewhere does not matter to it.
    let regions = match only {
        Some(only) => Some(only.to_owned()).filter(|only| look.shows::<Region>(only)).into_iter().collect(),
        None => look.names(GROUP, Region::PLURAL),
    };
    let having = |plural, field, value: &str| look.names_having(GROUP, plural, field, value);
    let branch = |region: String| {
        let sites = having(Site::PLURAL, "spec.regionRef.name", &region);
        let clusters = sites.iter();
        let clusters =
            clusters.flat_map(|site| having(Cluster::PLURAL, "spec.controlPlaneSiteRef.name", site));
        let mut clusters: Vec<String> = clusters.collect();
        clusters.sort_unstable();
        let at_site = |site: String| SiteBranch {
            racks: having(Rack::PLURAL, "spec.siteRef.name", &site),
            nodes: having(Node::PLURAL, "spec.siteRef.name", &site),
            site,
        };
        Branch { clusters, sites: sites.into_iter().map(at_site).collect(), region }
    };
    regions.into_iter().map(branch).collect()
}

/// The states of the sites, racks and nodes of a tree that are not `Active`, as `Kind/name`. Found by the index of lifecycle
/// stages, so that objects in service need not be read.
pub fn states(tree: &[Branch], as_if: &AsIf, fleet: &Fleet<'_>) -> BTreeMap<String, Lifecycle> {
    let mut marked = BTreeSet::new();
    for plural in [Rack::PLURAL, Node::PLURAL] {
        for stage in Lifecycle::ALL.into_iter().filter(|stage| *stage != Lifecycle::Active) {
            let found = fleet.look().names_having(GROUP, plural, "spec.lifecycle", stage.as_str());
            marked.extend(found.into_iter().map(|name| (plural, name)));
        }
    }
    // What is assumed, or marked itself, marks what is inside.
    let is_quiet = marked.is_empty() && as_if.is_empty();
    let mut states = BTreeMap::new();
    let has_racks = marked.iter().any(|(plural, _)| *plural == Rack::PLURAL);
    let looks_inside = has_racks || !as_if.is_empty();
    let mut mark = |kind: &str, plural: &'static str, name: &str| {
        if looks_inside || marked.contains(&(plural, name.to_owned())) {
            states.extend(fleet.mark(kind, name).map(|state| (format!("{kind}/{name}"), state)));
        }
    };
    for site in tree.iter().flat_map(|branch| &branch.sites).filter(|_| !is_quiet) {
        mark(Site::KIND, Site::PLURAL, &site.site);
        site.racks.iter().for_each(|rack| mark(Rack::KIND, Rack::PLURAL, rack));
        site.nodes.iter().for_each(|node| mark(Node::KIND, Node::PLURAL, node));
    }
    states
}

/// Text output: regions, their clusters, their sites and the nodes there, with the states that are not `Active`.
pub fn tree_text(branches: &[Branch], states: &BTreeMap<String, Lifecycle>) -> String {
    let marked = |kind: &str, name: &str| match states.get(&format!("{kind}/{name}")) {
        Some(state) => format!("{name} ({state})"),
        None => name.to_owned(),
    };
    let mut text = String::new();
    for branch in branches {
        text.push_str(&format!("{}\n", branch.region));
        if !branch.clusters.is_empty() {
            text.push_str(&format!("  clusters: {}\n", branch.clusters.join(", ")));
        }
        for site in &branch.sites {
            text.push_str(&format!("  {}\n", marked(Site::KIND, &site.site)));
            for node in &site.nodes {
                text.push_str(&format!("    {}\n", marked(Node::KIND, node)));
            }
        }
    }
    text
}

/// Object counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Number of objects of each kind.
    pub totals: Vec<(String, usize)>,
    /// Name, number of sites and number of nodes of each region.
    pub regions: Vec<(String, usize, usize)>,
    /// Name and number of sites of each provider.
    pub providers: Vec<(String, usize)>,
    /// Kind, lifecycle stage or connection status, and number of the racks, devices and cables that are not `Active` or
    /// `Connected`.
    pub states: Vec<(String, String, usize)>,
}

/// Stands for a missing region or provider.
const NONE: &str = "<none>";

/// Counts all objects, from indexes. What belongs to a region or provider that may not be read is counted in the totals only.
pub fn summary(as_if: &AsIf, fleet: &Fleet<'_>) -> Summary {
    let look = fleet.look();
    let count = |plural, field, value: &str| look.count_having(GROUP, plural, field, value);
    let region = |region: String| {
        let sites = look.names_having(GROUP, Site::PLURAL, "spec.regionRef.name", &region);
        let nodes = sites.iter().map(|site| count(Node::PLURAL, "spec.siteRef.name", site)).sum();
        (region, sites.len(), nodes)
    };
    let totals: Vec<(String, usize)> =
        ORDER.iter().map(|(_, plural)| ((*plural).to_owned(), look.count(GROUP, plural))).collect();
    let mut regions: Vec<(String, usize, usize)> =
        look.names(GROUP, Region::PLURAL).into_iter().map(region).collect();
    let sites: BTreeSet<String> = look.names(GROUP, Site::PLURAL).into_iter().collect();
    let mut providers: BTreeMap<String, usize> = BTreeMap::new();
    for provider in look.names(GROUP, Provider::PLURAL) {
        let sites = count(Site::PLURAL, "spec.providerRef.name", &provider);
        if sites > 0 {
            providers.insert(provider, sites);
        }
    }
    let unnamed = sites
        .iter()
        .filter(|site| look.find::<Site>(site).is_some_and(|site| site.spec.provider_ref.is_none()));
    match unnamed.count() {
        0 => {}
        sites => drop(providers.insert(NONE.to_owned(), sites)),
    }
    let states = states_of(as_if, fleet);
    // Nodes whose site, or its region, does not exist. What may not be read does exist, so nothing is said of it.
    let placed: usize = regions.iter().map(|(_, _, nodes)| nodes).sum();
    let unplaced = look.count(GROUP, Node::PLURAL).saturating_sub(placed);
    if unplaced > 0 && !look.is_incomplete() {
        regions.push((NONE.to_owned(), 0, unplaced));
        regions.sort();
    }
    Summary { totals, regions, providers: providers.into_iter().collect(), states }
}

/// How many racks, devices and cables are in each state that is not `Active` or `Connected`, as recorded or assumed.
fn states_of(as_if: &AsIf, fleet: &Fleet<'_>) -> Vec<(String, String, usize)> {
    let look = fleet.look();
    let mut counts: BTreeMap<(usize, &str, Lifecycle), BTreeSet<String>> = BTreeMap::new();
    let kinds = [
        (Rack::KIND, Rack::PLURAL, "spec.lifecycle"),
        (Node::KIND, Node::PLURAL, "spec.lifecycle"),
        (NetworkDevice::KIND, NetworkDevice::PLURAL, "spec.lifecycle"),
        (Cable::KIND, Cable::PLURAL, "spec.state"),
    ];
    for (order, (kind, plural, field)) in kinds.into_iter().enumerate() {
        for stage in Lifecycle::ALL.into_iter().filter(|stage| *stage != Lifecycle::Active) {
            let names = look.names_having(GROUP, plural, field, stage.as_str()).into_iter();
            let names = names.filter(|name| as_if.of(&format!("{kind}/{name}")).is_none());
            counts.entry((order, plural, stage)).or_default().extend(names);
        }
        for (key, state) in as_if.all().filter(|(_, state)| *state != Lifecycle::Active) {
            if let Some((_, name)) =
                key.split_once('/').filter(|(of, name)| *of == kind && !name.contains(':'))
            {
                counts.entry((order, plural, state)).or_default().insert(name.to_owned());
            }
        }
    }
    let counted = counts.into_iter().filter(|(_, names)| !names.is_empty());
    counted.map(|((_, plural, state), names)| (plural.to_owned(), state.to_string(), names.len())).collect()
}

impl Summary {
    /// Text output.
    pub fn text(&self) -> String {
        let row =
            |cells: &[&dyn ToString]| cells.iter().map(|cell| cell.to_string()).collect::<Vec<String>>();
        let mut totals = vec![row(&[&"KIND", &"COUNT"])];
        totals.extend(self.totals.iter().map(|(kind, count)| row(&[kind, count])));
        let mut regions = vec![row(&[&"REGION", &"SITES", &"NODES"])];
        regions.extend(self.regions.iter().map(|(region, sites, nodes)| row(&[region, sites, nodes])));
        let mut providers = vec![row(&[&"PROVIDER", &"SITES"])];
        providers.extend(self.providers.iter().map(|(provider, sites)| row(&[provider, sites])));
        let mut text = format!(
            "Totals\n{}\nPer region\n{}\nSites per provider\n{}",
            table(&totals),
            table(&regions),
            table(&providers)
        );
        if !self.states.is_empty() {
            let mut states = vec![row(&[&"KIND", &"STATE", &"COUNT"])];
            states.extend(self.states.iter().map(|(kind, state, count)| row(&[kind, state, count])));
            text.push_str(&format!("\nNot active\n{}", table(&states)));
        }
        text
    }
}

/// Answers `…/regions/<name or ->/tree`.
pub fn answer_tree(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    #[derive(Serialize)]
    struct Tree {
        regions: Vec<Branch>,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        states: BTreeMap<String, Lifecycle>,
    }
    let as_if = AsIf::asked(asked, look)?;
    let fleet = Fleet::new(look, &as_if);
    let regions = tree(Some(asked.name).filter(|name| *name != "-"), &fleet);
    let states = states(&regions, &as_if, &fleet);
    let tree = Tree { regions, states };
    shown(asked, &tree, || tree_text(&tree.regions, &tree.states), None)
}

/// Answers `…/regions/-/summary`.
pub fn answer_summary(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let as_if = AsIf::asked(asked, look)?;
    let summary = summary(&as_if, &Fleet::new(look, &as_if));
    shown(asked, &summary, || summary.text(), None)
}
