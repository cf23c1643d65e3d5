//! What there is to see about an object, given what it refers to. Nothing here writes.

use std::collections::BTreeMap;

use krm::Object;
use krm::kind::{Address, Look, Resource};
use serde_json::Value;

use crate::graph;
use crate::kinds::node::Phase;
use crate::kinds::{self};
use crate::power;
use crate::topology::{ALL, CLUSTER, RACK, REGION, SITE, SITE_TYPE};

/// What was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// Whether it is ready.
    pub ready: Found,
    /// What else there is to say.
    pub conditions: Vec<Found>,
    /// The topology labels that it should have, or not; nothing while something is missing.
    pub labels: Option<Labels>,
    /// Of a node: whether it is at work.
    pub phase: Option<Phase>,
}

/// Labels that should be there with a value, or not be there.
pub type Labels = BTreeMap<&'static str, Option<String>>;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is about.
    pub kind: String,
    /// Whether it holds.
    pub holds: bool,
    /// Why, in a word.
    pub reason: String,
    /// Why, for people.
    pub message: String,
}

impl Found {
    /// It holds.
    pub fn holds(kind: &str, reason: &str, message: String) -> Found {
        Found { kind: kind.to_owned(), holds: true, reason: reason.to_owned(), message }
    }

    /// It does not.
    pub fn fails(kind: &str, reason: &str, message: String) -> Found {
        Found { holds: false, ..Found::holds(kind, reason, message) }
    }

    /// An object of this kind is ready.
    pub fn accepted(kind: &str) -> Found {
        Found::holds("Ready", "Accepted", format!("{kind} accepted"))
    }
}

/// What there is to see about an object; nothing for kinds that nobody looks after.
pub fn observe(object: &Object, look: &dyn Look) -> Option<Observed> {
    let group = krm::kind::split_api_version(object.api_version()).0;
    if group == graph::GROUP {
        return Some(of_graph(object, look));
    }
    if group != kinds::GROUP {
        return None;
    }
    let around = Around { object, look };
    let seen = match object.kind() {
        "Site" => around.site(),
        "Rack" => around.rack(),
        "Cluster" => around.cluster(),
        "Node" => return Some(around.node()),
        "NetworkDevice" => around.network_device(),
        "Link" => return Some(around.link()),
        "Port" => around.port(),
        "Cable" => return Some(around.cable()),
        "Circuit" => return Some(around.circuit()),
        "VirtualMachine" => around.virtual_machine(),
        _ => Ok(Labels::new()),
    };
    let mut observed = match seen {
        Ok(labels) => Observed { labels: Some(labels), ..around.accepted() },
        Err((reason, message)) => around.missing(reason, message),
    };
    if object.kind() == "Rack" {
        observed.conditions.extend(power::within_rating(object, look));
    }
    Some(observed)
}

/// Why something is missing: a word, and a sentence.
type Missing = (&'static str, String);

struct Around<'a> {
    object: &'a Object,
    look: &'a dyn Look,
}

impl Around<'_> {
    fn text(&self, path: &str) -> &str {
        text(self.object, path)
    }

    fn accepted(&self) -> Observed {
        Observed {
            ready: Found::accepted(self.object.kind()),
            conditions: Vec::new(),
            labels: None,
            phase: None,
        }
    }

    fn missing(&self, reason: &str, message: String) -> Observed {
        Observed { ready: Found::fails("Ready", reason, message), ..self.accepted() }
    }

    fn find(&self, plural: &str, name: &str) -> Option<std::sync::Arc<Object>> {
        let (group, plural, name) = (kinds::GROUP.to_owned(), plural.to_owned(), name.to_owned());
        self.look.get(&Address { group, plural, namespace: String::new(), name })
    }

    /// What a field refers to, or that it is not there; nothing when the field is empty.
    fn target(
        &self,
        path: &str,
        of: (&str, &str, &'static str),
    ) -> Result<Option<std::sync::Arc<Object>>, Missing> {
        let (kind, plural, reason) = of;
        let name = self.text(path);
        if name.is_empty() {
            return Ok(None);
        }
        match self.find(plural, name) {
            Some(found) => Ok(Some(found)),
            None => Err((reason, format!("{kind} \"{name}\" not found"))),
        }
    }

    fn region_of(&self, path: &str) -> Result<Labels, Missing> {
        let site = self.target(path, ("Site", "sites", "SiteNotFound"))?;
        Ok(site.map(|site| of_site(&site)).unwrap_or_default())
    }

    fn site(&self) -> Result<Labels, Missing> {
        self.target("spec.regionRef.name", ("Region", "regions", "RegionNotFound"))?;
        self.target("spec.providerRef.name", ("Provider", "providers", "ProviderNotFound"))?;
        Ok(of_site(self.object))
    }

    fn rack(&self) -> Result<Labels, Missing> {
        self.region_of("spec.siteRef.name")
    }

    fn cluster(&self) -> Result<Labels, Missing> {
        let mut labels = self.region_of("spec.controlPlaneSiteRef.name")?;
        labels.insert(CLUSTER, Some(self.object.name().to_owned()));
        Ok(labels)
    }

    /// Region and site are those of the device's own site: its cluster may span several.
    fn of_device(&self, mut labels: Labels, cluster: &str) -> Labels {
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        labels.insert(CLUSTER, text(self.text(cluster)));
        labels.insert(RACK, text(self.text("spec.placement.rackRef.name")).or_else(|| self.rack_of_holder()));
        labels
    }

    /// A device in a slot is in the rack of the one that has the slot.
    fn rack_of_holder(&self) -> Option<String> {
        let plural = match self.text("spec.inSlot.deviceRef.kind") {
            "Node" => "nodes",
            "NetworkDevice" => "networkdevices",
            _ => return None,
        };
        let holder = self.find(plural, self.text("spec.inSlot.deviceRef.name"))?;
        holder.label(RACK).map(str::to_owned)
    }

    fn node(&self) -> Observed {
        let cluster = "spec.assignment.clusterRef.name";
        let seen = self.region_of("spec.siteRef.name").and_then(|labels| {
            self.target(cluster, ("Cluster", "clusters", "ClusterNotFound"))?;
            Ok(self.of_device(labels, cluster))
        });
        match seen {
            Err((reason, message)) => {
                Observed { phase: Some(Phase::Unavailable), ..self.missing(reason, message) }
            }
            Ok(labels) => {
                let is_assigned = !self.text(cluster).is_empty();
                let phase = if is_assigned { Phase::Assigned } else { Phase::Unassigned };
                Observed { labels: Some(labels), phase: Some(phase), ..self.accepted() }
            }
        }
    }

    fn network_device(&self) -> Result<Labels, Missing> {
        self.target("spec.clusterRef.name", ("Cluster", "clusters", "ClusterNotFound"))?;
        let labels = self.region_of("spec.siteRef.name")?;
        Ok(self.of_device(labels, "spec.clusterRef.name"))
    }

    fn port(&self) -> Result<Labels, Missing> {
        let kind = self.text("spec.deviceRef.kind");
        let plural = match kind {
            "Node" => "nodes",
            "NetworkDevice" => "networkdevices",
            _ => "racks",
        };
        let device = self.target("spec.deviceRef.name", (kind, plural, "DeviceNotFound"))?;
        Ok(device.map(|device| copied(&device)).unwrap_or_default())
    }

    fn virtual_machine(&self) -> Result<Labels, Missing> {
        let host = self.target("spec.hostRef.name", ("Node", "nodes", "HostNotFound"))?;
        self.target("spec.providerRef.name", ("Provider", "providers", "ProviderNotFound"))?;
        Ok(host.map(|host| copied(&host)).unwrap_or_default())
    }

    fn link(&self) -> Observed {
        let mut ends = Vec::new();
        for end in self.list("spec.endpoints") {
            let (kind, name) = (field(end, "kind"), field(end, "name"));
            let plural = match kind {
                "Site" => "sites",
                "Cluster" => "clusters",
                _ => "networkdevices",
            };
            match self.find(plural, name) {
                Some(found) => ends.push(found),
                None => return self.unresolved(format!("endpoint {kind}/{name} not found")),
            }
        }
        let common = |key: &'static str| {
            let first = ends.first()?.label(key)?;
            ends.iter().all(|end| end.label(key) == Some(first)).then(|| first.to_owned())
        };
        let labels = [REGION, SITE].map(|key| (key, common(key)));
        Observed { labels: Some(labels.into_iter().collect()), ..self.resolved("All endpoints resolved") }
    }

    fn cable(&self) -> Observed {
        for end in self.list("spec.endpoints") {
            let name = field(end, "name");
            if self.find("ports", name).is_none() {
                return self.unresolved(format!("Port \"{name}\" not found"));
            }
        }
        self.resolved("All endpoints resolved")
    }

    fn circuit(&self) -> Observed {
        let provider = self.target("spec.providerRef.name", ("Provider", "providers", "ProviderNotFound"));
        if let Err((reason, message)) = provider {
            return self.missing(reason, message);
        }
        let mut all_sites = true;
        for end in ["spec.aEnd", "spec.zEnd"] {
            let (kind, name) = (self.text(&format!("{end}.kind")), self.text(&format!("{end}.name")));
            all_sites &= kind == "Site";
            let plural = if kind == "Site" { "sites" } else { "ports" };
            if self.find(plural, name).is_none() {
                return self.unresolved(format!("{kind} \"{name}\" not found"));
            }
        }
        self.resolved(if all_sites { "All Site endpoints resolved" } else { "All endpoints resolved" })
    }

    fn list(&self, path: &str) -> &[Value] {
        self.object.at(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn resolved(&self, message: &str) -> Observed {
        let found = Found::holds("EndpointsResolved", "Accepted", message.to_owned());
        Observed { conditions: vec![found], ..self.accepted() }
    }

    fn unresolved(&self, message: String) -> Observed {
        let found = Found::fails("EndpointsResolved", "EndpointNotFound", message.clone());
        Observed { conditions: vec![found], ..self.missing("EndpointNotFound", message) }
    }
}

fn of_graph(object: &Object, look: &dyn Look) -> Observed {
    let around = Around { object, look };
    let (word, fits) = match object.kind() {
        "Node" => (
            "NodeTypeNotFound",
            read::<graph::Node>(object).map(|node| {
                graph::node::fits(&node.spec, look.find::<graph::NodeType>(&node.spec.kind).as_deref())
            }),
        ),
        "Edge" => (
            "EndpointNotFound",
            read::<graph::Edge>(object).map(|edge| {
                let (from, to) =
                    (look.find::<graph::Node>(&edge.spec.from.name), look.find(&edge.spec.to.name));
                let kind = look.find::<graph::EdgeType>(&edge.spec.kind);
                graph::edge::fits(&edge.spec, kind.as_deref(), from.as_deref(), to.as_deref())
            }),
        ),
        _ => ("", Some(Ok(()))),
    };
    let is_edge = object.kind() == "Edge";
    match fits.unwrap_or_else(|| Err("it can't be read".to_owned())) {
        Ok(()) if is_edge => around.resolved("Both endpoints resolve"),
        Ok(()) => around.accepted(),
        Err(message) if is_edge => around.unresolved(message),
        Err(message) => around.missing(word, message),
    }
}

fn read<T: Resource>(object: &Object) -> Option<T> {
    T::deserialize(&Value::Object(object.0.clone())).ok()
}

/// What a site gives to everything at it.
fn of_site(site: &Object) -> Labels {
    Labels::from([
        (REGION, Some(text(site, "spec.regionRef.name").to_owned())),
        (SITE, Some(site.name().to_owned())),
        (SITE_TYPE, Some(text(site, "spec.type").to_owned())),
    ])
}

/// The labels of what something is on.
fn copied(from: &Object) -> Labels {
    ALL.into_iter().map(|key| (key, from.label(key).map(str::to_owned))).collect()
}

fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}

fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
