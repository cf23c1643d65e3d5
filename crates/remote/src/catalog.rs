//! The kinds that a host knows: those that the program links, with their references and buckets, and those that discovery
//! tells of.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use client::{Client, Request};
use krm::kind::{Kind, Planes, Scope, Version};
use reconcile::context::Kinds;
use reconcile::read::Read;
use serde_json::{Value, json};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// All kinds that are known.
pub struct Catalog {
    linked: HashMap<(String, String), Arc<Kind>>,
    /// What discovery told, by plane.
    discovered: RwLock<BTreeMap<String, Arc<Discovered>>>,
}

/// What discovery tells of one plane: the kinds that are not linked.
#[derive(Default)]
struct Discovered(BTreeMap<(String, String), Arc<Kind>>);

impl Catalog {
    /// A catalog with these kinds.
    pub fn new(linked: Vec<Kind>) -> Catalog {
        let keyed = |kind: Kind| ((kind.group.clone(), kind.names.plural.clone()), Arc::new(kind));
        Catalog { linked: linked.into_iter().map(keyed).collect(), discovered: RwLock::default() }
    }

    /// The kinds of a plane, as far as they are known.
    pub(crate) fn of(&self, plane: &str) -> Served<'_> {
        let discovered = self.discovered.read().unwrap_or_else(PoisonError::into_inner);
        Served { catalog: self, is_root: plane.is_empty(), discovered: discovered.get(plane).cloned() }
    }

    /// A resource of a plane. One whose kinds discovery has not told has those of the root: kinds of the server are the same in
    /// all planes, and the server decides on what is written.
    pub(crate) fn resource(&self, plane: &str, group: &str, plural: &str) -> Option<Arc<Kind>> {
        let here = self.of(plane);
        let in_root = || (!here.is_discovered()).then(|| self.of("").resource(group, plural))?;
        here.resource(group, plural).or_else(in_root)
    }

    /// A linked resource that projects have.
    pub(crate) fn in_projects(&self, group: &str, plural: &str) -> Option<Arc<Kind>> {
        let kind = self.linked.get(&(group.to_owned(), plural.to_owned()));
        kind.filter(|kind| kind.planes != Planes::Root).cloned()
    }

    /// A kind of a plane by its name.
    pub(crate) fn kind(&self, plane: &str, group: &str, kind: &str) -> Option<Arc<Kind>> {
        let here = self.of(plane);
        let in_root = || (!here.is_discovered()).then(|| self.of("").kind(group, kind))?;
        here.kind(group, kind).or_else(in_root)
    }

    /// The kinds that are linked, in the order of their names.
    pub fn linked(&self) -> Vec<&Arc<Kind>> {
        let mut kinds: Vec<_> = self.linked.values().collect();
        kinds.sort_by_key(|kind| (&kind.group, &kind.names.plural));
        kinds
    }

    /// The planes that discovery was asked about.
    pub(crate) fn planes(&self) -> Vec<String> {
        self.discovered.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Asks discovery about a plane. Returns what plans may have read of kinds that came or went.
    pub(crate) async fn discover(&self, client: &Client, plane: &str) -> client::Result<Vec<Read>> {
        let client = if plane.is_empty() { client.in_root() } else { client.in_plane(plane) };
        let mut found = Discovered::default();
        for path in ["/api", "/apis"] {
            let list = client.value(&Request::get(path).accept(AGGREGATED)).await?;
            self.read(&list, &mut found);
        }
        let mut discovered = self.discovered.write().unwrap_or_else(PoisonError::into_inner);
        let before = discovered.insert(plane.to_owned(), Arc::new(found));
        let (Some(before), Some(now)) = (before, discovered.get(plane)) else { return Ok(Vec::new()) };
        let changed = |one: &Discovered, other: &Discovered| {
            let differs = one.0.iter().filter(|(key, _)| !other.0.contains_key(*key));
            differs.map(|(_, kind)| kind.clone()).collect::<Vec<_>>()
        };
        let kinds = changed(&before, now).into_iter().chain(changed(now, &before));
        let reads = kinds.flat_map(|kind| {
            let (group, plural) = (&kind.group, &kind.names.plural);
            [Read::served(plane, group, &kind.names.kind), Read::kind(plane, group, plural)]
        });
        Ok(reads.collect())
    }

    fn read(&self, list: &Value, found: &mut Discovered) {
        let all = |value: &Value, field: &str| value[field].as_array().cloned().unwrap_or_default();
        for group in all(list, "items") {
            let name = group["metadata"]["name"].as_str().unwrap_or_default();
            for version in all(&group, "versions") {
                let version_name = version["version"].as_str().unwrap_or_default();
                for resource in all(&version, "resources") {
                    let plural = resource["resource"].as_str().unwrap_or_default();
                    let key = (name.to_owned(), plural.to_owned());
                    // The preferred version comes first.
                    if self.linked.contains_key(&key) || found.0.contains_key(&key) {
                        continue;
                    }
                    if let Some(kind) = kind_of(name, version_name, plural, &resource) {
                        found.0.insert(key, Arc::new(kind));
                    }
                }
            }
        }
    }
}

/// A kind of which only discovery is known.
fn kind_of(group: &str, version: &str, plural: &str, resource: &Value) -> Option<Kind> {
    let verbs = resource["verbs"].as_array()?;
    if !["list", "watch"].iter().all(|verb| verbs.contains(&json!(verb))) {
        return None;
    }
    let scope = if resource["scope"] == "Cluster" { Scope::Cluster } else { Scope::Namespaced };
    let version = Version::new(version, json!({"type": "object"})).ok()?;
    Some(Kind::new(group, resource["responseKind"]["kind"].as_str()?, plural, scope, version))
}

/// The kinds of one plane.
pub(crate) struct Served<'a> {
    catalog: &'a Catalog,
    is_root: bool,
    discovered: Option<Arc<Discovered>>,
}

impl Served<'_> {
    /// Whether discovery has told about the plane.
    pub fn is_discovered(&self) -> bool {
        self.discovered.is_some()
    }

    /// Whether a resource is one of the kinds that the program links.
    pub fn is_linked(&self, group: &str, plural: &str) -> bool {
        self.linked(group, plural).is_some()
    }

    fn linked(&self, group: &str, plural: &str) -> Option<&Arc<Kind>> {
        let kind = self.catalog.linked.get(&(group.to_owned(), plural.to_owned()))?;
        self.serves(kind).then_some(kind)
    }

    fn serves(&self, kind: &Kind) -> bool {
        match kind.planes {
            Planes::Both => true,
            Planes::Root => self.is_root,
            Planes::Project => !self.is_root,
        }
    }

    fn found(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.discovered.iter().flat_map(|found| found.0.values())
    }
}

impl Kinds for Served<'_> {
    fn kind(&self, group: &str, kind: &str) -> Option<Arc<Kind>> {
        let is_it = |found: &&Arc<Kind>| found.group == group && found.names.kind == kind;
        let linked = self.catalog.linked.values().filter(|kind| self.serves(kind)).find(is_it);
        linked.or_else(|| self.found().find(is_it)).cloned()
    }

    fn resource(&self, group: &str, plural: &str) -> Option<Arc<Kind>> {
        let key = (group.to_owned(), plural.to_owned());
        let found = || self.discovered.as_ref()?.0.get(&key);
        self.linked(group, plural).or_else(found).cloned()
    }

    fn all(&self) -> Vec<Arc<Kind>> {
        let linked = self.catalog.linked.values().filter(|kind| self.serves(kind));
        let mut all: Vec<Arc<Kind>> = linked.chain(self.found()).cloned().collect();
        all.sort_by(|one, other| (&one.group, &one.names.plural).cmp(&(&other.group, &other.names.plural)));
        all
    }
}
