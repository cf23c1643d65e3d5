//! Tree and summary: an overview of the whole inventory.

use std::collections::BTreeMap;

use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;
use serde::Serialize;

use super::{shown, table};
use crate::kinds::{Cluster, GROUP, Node, Region, Site};
use crate::topology::REGION;

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

/// All regions, or one, with their clusters and sites.
pub fn tree(only: Option<&str>, look: &dyn QueryContext) -> Vec<Branch> {
    let regions = look.every::<Region>().into_iter().map(|region| region.metadata.name);
    let mut clusters: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for cluster in look.every::<Cluster>() {
        let region = cluster.metadata.labels.get(REGION).cloned().unwrap_or_default();
        clusters.entry(region).or_default().push(cluster.metadata.name);
    }
    let branch = |region: String| Branch {
        clusters: clusters.get(&region).cloned().unwrap_or_default(),
        sites: look
            .with::<Site>("spec.regionRef.name", &region)
            .iter()
            .map(|site| at_site(site, look))
            .collect(),
        region,
    };
    regions.filter(|region| only.is_none_or(|only| only == region)).map(branch).collect()
}

fn at_site(site: &Site, look: &dyn QueryContext) -> SiteBranch {
    let name = &site.metadata.name;
    let names = |plural: &str| -> Vec<String> {
        let found = look.having(GROUP, plural, "spec.siteRef.name", name);
        found.iter().map(|object| object.name().to_owned()).collect()
    };
    SiteBranch { site: name.clone(), racks: names("racks"), nodes: names("nodes") }
}

/// Text output: regions, their clusters, their sites and the nodes there.
pub fn tree_text(branches: &[Branch]) -> String {
    let mut text = String::new();
    for branch in branches {
        text.push_str(&format!("{}\n", branch.region));
        if !branch.clusters.is_empty() {
            text.push_str(&format!("  clusters: {}\n", branch.clusters.join(", ")));
        }
        for site in &branch.sites {
            text.push_str(&format!("  {}\n", site.site));
            for node in &site.nodes {
                text.push_str(&format!("    {node}\n"));
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
}

const COUNTED: [&str; 12] = [
    "providers",
    "regions",
    "sites",
    "racks",
    "clusters",
    "nodes",
    "networkdevices",
    "virtualmachines",
    "ports",
    "cables",
    "links",
    "circuits",
];

/// Counts all objects.
pub fn summary(look: &dyn QueryContext) -> Summary {
    let mut regions: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut providers: BTreeMap<String, usize> = BTreeMap::new();
    for region in look.every::<Region>() {
        regions.entry(region.metadata.name).or_default();
    }
    for site in look.every::<Site>() {
        let provider = site.spec.provider_ref.map_or("<none>".to_owned(), |provider| provider.name);
        *providers.entry(provider).or_default() += 1;
        regions.entry(site.spec.region_ref.name).or_default().0 += 1;
    }
    for node in look.every::<Node>() {
        let region = node.metadata.labels.get(REGION).cloned().unwrap_or("<none>".to_owned());
        regions.entry(region).or_default().1 += 1;
    }
    Summary {
        totals: COUNTED.iter().map(|plural| ((*plural).to_owned(), look.count(GROUP, plural))).collect(),
        regions: regions.into_iter().map(|(region, (sites, nodes))| (region, sites, nodes)).collect(),
        providers: providers.into_iter().collect(),
    }
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
        format!(
            "Totals\n{}\nPer region\n{}\nSites per provider\n{}",
            table(&totals),
            table(&regions),
            table(&providers)
        )
    }
}

/// Answers `…/regions/<name or ->/tree`.
pub fn answer_tree(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    #[derive(Serialize)]
    struct Tree {
        regions: Vec<Branch>,
    }
    let regions = tree(Some(asked.name).filter(|name| *name != "-"), look);
    let tree = Tree { regions };
    shown(asked, &tree, || tree_text(&tree.regions), None)
}

/// Answers `…/regions/-/summary`.
pub fn answer_summary(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let summary = summary(look);
    shown(asked, &summary, || summary.text(), None)
}
