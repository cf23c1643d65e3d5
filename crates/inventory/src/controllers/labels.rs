//! Topology labels of an object, from the objects that it refers to.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm::Object;
use krm::kind::{QueryContext, Resource};
use serde_json::Value;

use crate::kinds::{Cluster, NetworkDevice, Node, Rack, Site};
use crate::topology::{ALL, CLUSTER, RACK, REGION, SITE, SITE_TYPE};

/// Labels to set (`Some`) or to remove (`None`). All others stay.
pub type Labels = BTreeMap<&'static str, Option<String>>;

/// The topology labels of an inventory object whose references are resolved.
pub fn of(object: &Object, look: &dyn QueryContext) -> Labels {
    let observer = Observer { object, look };
    match object.kind() {
        "Site" => of_site(object),
        "Rack" => observer.at_site("spec.siteRef.name"),
        "Cluster" => observer.cluster(),
        "Node" => observer.device("spec.assignment.clusterRef.name"),
        "NetworkDevice" => observer.device("spec.clusterRef.name"),
        "Link" => observer.link(),
        "Port" => observer.like(text(object, "spec.deviceRef.kind"), "spec.deviceRef.name"),
        "VirtualMachine" => observer.like(Node::KIND, "spec.hostRef.name"),
        _ => Labels::new(),
    }
}

struct Observer<'a> {
    object: &'a Object,
    look: &'a dyn QueryContext,
}

impl Observer<'_> {
    fn find(&self, kind: &str, name: &str) -> Option<Arc<Object>> {
        let address = match kind {
            Site::KIND => Site::address,
            Cluster::KIND => Cluster::address,
            Node::KIND => Node::address,
            NetworkDevice::KIND => NetworkDevice::address,
            Rack::KIND => Rack::address,
            _ => return None,
        };
        self.look.get(&address("", name))
    }

    fn at_site(&self, path: &str) -> Labels {
        let site = self.find(Site::KIND, text(self.object, path));
        site.map(|site| of_site(&site)).unwrap_or_default()
    }

    fn cluster(&self) -> Labels {
        let mut labels = self.at_site("spec.controlPlaneSiteRef.name");
        labels.insert(CLUSTER, Some(self.object.name().to_owned()));
        labels
    }

    /// Region and site come from the device's own site, because its cluster may span several.
    fn device(&self, cluster: &str) -> Labels {
        let text = |path: &str| Some(text(self.object, path).to_owned()).filter(|text| !text.is_empty());
        let mut labels = self.at_site("spec.siteRef.name");
        labels.insert(CLUSTER, text(cluster));
        labels.insert(RACK, text("spec.placement.rackRef.name").or_else(|| self.rack_of_holder()));
        labels
    }

    /// A device in a slot is in the rack of the device with the slot.
    fn rack_of_holder(&self) -> Option<String> {
        let text = |path: &str| text(self.object, path);
        let holder = self.find(text("spec.inSlot.deviceRef.kind"), text("spec.inSlot.deviceRef.name"))?;
        holder.label(RACK).map(str::to_owned)
    }

    /// Ports and virtual machines have the labels of their device.
    fn like(&self, kind: &str, path: &str) -> Labels {
        let Some(device) = self.find(kind, text(self.object, path)) else { return Labels::new() };
        ALL.into_iter().map(|key| (key, device.label(key).map(str::to_owned))).collect()
    }

    /// A link has what its ends have in common.
    fn link(&self) -> Labels {
        let ends = self.object.at("spec.endpoints").and_then(Value::as_array).into_iter().flatten();
        let field = |end: &Value, name: &str| end[name].as_str().unwrap_or_default().to_owned();
        let ends: Vec<Arc<Object>> =
            ends.filter_map(|end| self.find(&field(end, "kind"), &field(end, "name"))).collect();
        let common = |key: &'static str| {
            let first = ends.first()?.label(key)?;
            ends.iter().all(|end| end.label(key) == Some(first)).then(|| first.to_owned())
        };
        [REGION, SITE].map(|key| (key, common(key))).into()
    }
}

/// The topology labels of everything at a site.
fn of_site(site: &Object) -> Labels {
    Labels::from([
        (REGION, Some(text(site, "spec.regionRef.name").to_owned())),
        (SITE, Some(site.name().to_owned())),
        (SITE_TYPE, Some(text(site, "spec.type").to_owned())),
    ])
}

fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}
