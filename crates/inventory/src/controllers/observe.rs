//! Computes status and topology labels of an object from the objects that it refers to. Read-only.

use std::collections::BTreeMap;

use krm::Object;
use krm::kind::{Address, QueryContext, Resource};
use serde_json::Value;

use crate::graph;
use crate::kinds::node::Phase;
use crate::kinds::{self};
use crate::power;
use crate::topology::{ALL, CLUSTER, RACK, REGION, SITE, SITE_TYPE};

/// The computed status of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The condition `Ready`.
    pub ready: ConditionState,
    /// All other conditions.
    pub conditions: Vec<ConditionState>,
    /// The topology labels to set or remove; `None` while a reference is unresolved.
    pub labels: Option<Labels>,
    /// The phase, for nodes.
    pub phase: Option<Phase>,
}

/// Labels to set (`Some`) or to remove (`None`).
pub type Labels = BTreeMap<&'static str, Option<String>>;

/// The computed state of one condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionState {
    /// Type of the condition.
    pub kind: String,
    /// Whether its status is True.
    pub holds: bool,
    /// Its reason.
    pub reason: String,
    /// Its message.
    pub message: String,
}

impl ConditionState {
    /// With status True.
    pub fn holds(kind: &str, reason: &str, message: String) -> ConditionState {
        ConditionState { kind: kind.to_owned(), holds: true, reason: reason.to_owned(), message }
    }

    /// With status False.
    pub fn fails(kind: &str, reason: &str, message: String) -> ConditionState {
        ConditionState { holds: false, ..ConditionState::holds(kind, reason, message) }
    }

    /// `Ready=True` with reason `Accepted`.
    pub fn accepted(kind: &str) -> ConditionState {
        ConditionState::holds("Ready", "Accepted", format!("{kind} accepted"))
    }
}

/// Computes the status of an object; `None` for kinds of other groups.
pub fn observe(object: &Object, look: &dyn QueryContext) -> Option<Observation> {
    let group = krm::kind::split_api_version(object.api_version()).0;
    if group == graph::GROUP {
        return Some(observe_graph(object, look));
    }
    if group != kinds::GROUP {
        return None;
    }
    let observer = Observer { object, look };
    let seen = match object.kind() {
        "Site" => observer.site(),
        "Rack" => observer.rack(),
        "Cluster" => observer.cluster(),
        "Node" => return Some(observer.node()),
        "NetworkDevice" => observer.network_device(),
        "Link" => return Some(observer.link()),
        "Port" => observer.port(),
        "Cable" => return Some(observer.cable()),
        "Circuit" => return Some(observer.circuit()),
        "VirtualMachine" => observer.virtual_machine(),
        _ => Ok(Labels::new()),
    };
    let mut observed = match seen {
        Ok(labels) => Observation { labels: Some(labels), ..observer.accepted() },
        Err((reason, message)) => observer.missing(reason, message),
    };
    if object.kind() == "Rack" {
        observed.conditions.extend(power::within_rating(object, look));
    }
    Some(observed)
}

/// Reason and message of an unresolved reference.
type Missing = (&'static str, String);

struct Observer<'a> {
    object: &'a Object,
    look: &'a dyn QueryContext,
}

impl Observer<'_> {
    fn text(&self, path: &str) -> &str {
        text(self.object, path)
    }

    fn accepted(&self) -> Observation {
        Observation {
            ready: ConditionState::accepted(self.object.kind()),
            conditions: Vec::new(),
            labels: None,
            phase: None,
        }
    }

    fn missing(&self, reason: &str, message: String) -> Observation {
        Observation { ready: ConditionState::fails("Ready", reason, message), ..self.accepted() }
    }

    fn find(&self, plural: &str, name: &str) -> Option<std::sync::Arc<Object>> {
        let (group, plural, name) = (kinds::GROUP.to_owned(), plural.to_owned(), name.to_owned());
        self.look.get(&Address { group, plural, namespace: String::new(), name })
    }

    /// Resolves a reference; `None` when the field is empty.
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

    /// Region and site come from the device's own site, because its cluster may span several.
    fn of_device(&self, mut labels: Labels, cluster: &str) -> Labels {
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        labels.insert(CLUSTER, text(self.text(cluster)));
        labels.insert(RACK, text(self.text("spec.placement.rackRef.name")).or_else(|| self.rack_of_holder()));
        labels
    }

    /// A device in a slot is in the rack of the device with the slot.
    fn rack_of_holder(&self) -> Option<String> {
        let plural = match self.text("spec.inSlot.deviceRef.kind") {
            "Node" => "nodes",
            "NetworkDevice" => "networkdevices",
            _ => return None,
        };
        let holder = self.find(plural, self.text("spec.inSlot.deviceRef.name"))?;
        holder.label(RACK).map(str::to_owned)
    }

    fn node(&self) -> Observation {
        let cluster = "spec.assignment.clusterRef.name";
        let seen = self.region_of("spec.siteRef.name").and_then(|labels| {
            self.target(cluster, ("Cluster", "clusters", "ClusterNotFound"))?;
            Ok(self.of_device(labels, cluster))
        });
        match seen {
            Err((reason, message)) => {
                Observation { phase: Some(Phase::Unavailable), ..self.missing(reason, message) }
            }
            Ok(labels) => {
                let is_assigned = !self.text(cluster).is_empty();
                let phase = if is_assigned { Phase::Assigned } else { Phase::Unassigned };
                Observation { labels: Some(labels), phase: Some(phase), ..self.accepted() }
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

    fn link(&self) -> Observation {
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
        Observation { labels: Some(labels.into_iter().collect()), ..self.resolved("All endpoints resolved") }
    }

    fn cable(&self) -> Observation {
        for end in self.list("spec.endpoints") {
            let name = field(end, "name");
            if self.find("ports", name).is_none() {
                return self.unresolved(format!("Port \"{name}\" not found"));
            }
        }
        self.resolved("All endpoints resolved")
    }

    fn circuit(&self) -> Observation {
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

    fn resolved(&self, message: &str) -> Observation {
        let found = ConditionState::holds("EndpointsResolved", "Accepted", message.to_owned());
        Observation { conditions: vec![found], ..self.accepted() }
    }

    fn unresolved(&self, message: String) -> Observation {
        let found = ConditionState::fails("EndpointsResolved", "EndpointNotFound", message.clone());
        Observation { conditions: vec![found], ..self.missing("EndpointNotFound", message) }
    }
}

fn observe_graph(object: &Object, look: &dyn QueryContext) -> Observation {
    let observer = Observer { object, look };
    let (word, fits) = match object.kind() {
        "Node" => (
            "NodeTypeNotFound",
            read::<graph::Node>(object).map(|node| {
                graph::node::conforms(&node.spec, look.find::<graph::NodeType>(&node.spec.kind).as_deref())
            }),
        ),
        "Edge" => (
            "EndpointNotFound",
            read::<graph::Edge>(object).map(|edge| {
                let (from, to) =
                    (look.find::<graph::Node>(&edge.spec.from.name), look.find(&edge.spec.to.name));
                let kind = look.find::<graph::EdgeType>(&edge.spec.kind);
                graph::edge::conforms(&edge.spec, kind.as_deref(), from.as_deref(), to.as_deref())
            }),
        ),
        _ => ("", Some(Ok(()))),
    };
    let is_edge = object.kind() == "Edge";
    match fits.unwrap_or_else(|| Err("the object cannot be parsed".to_owned())) {
        Ok(()) if is_edge => observer.resolved("Both endpoints resolve"),
        Ok(()) => observer.accepted(),
        Err(message) if is_edge => observer.unresolved(message),
        Err(message) => observer.missing(word, message),
    }
}

fn read<T: Resource>(object: &Object) -> Option<T> {
    T::deserialize(&Value::Object(object.0.clone())).ok()
}

/// The topology labels of everything at a site.
fn of_site(site: &Object) -> Labels {
    Labels::from([
        (REGION, Some(text(site, "spec.regionRef.name").to_owned())),
        (SITE, Some(site.name().to_owned())),
        (SITE_TYPE, Some(text(site, "spec.type").to_owned())),
    ])
}

/// The topology labels of a device, for its ports and virtual machines.
fn copied(from: &Object) -> Labels {
    ALL.into_iter().map(|key| (key, from.label(key).map(str::to_owned))).collect()
}

fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}

fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
