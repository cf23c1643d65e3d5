//! The node controller: makes Nodes and Ports of hosts whose Source says `inventory: Create`.

use std::sync::Arc;

use fulfillment::controllers::matching::{self, Match};
use fulfillment::kinds::Host;
use fulfillment::kinds::hardware::Hardware;
use krm::Object;
use krm::condition::Finding;
use krm::kind::{Address, Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::kinds::Source;
use crate::kinds::source::InventoryMode;
use crate::labels;
use crate::observation::label;

const INVENTORY: &str = fulfillment::INVENTORY_GROUP;
const API_VERSION: &str = "inventory.miloapis.com/v1alpha1";
/// The condition that tells why no Node was made.
const CREATED: &str = "NodeCreated";

/// Reconciles Nodes and Ports with the hardware of hosts.
pub struct NodeController;

impl Reconciler for NodeController {
    fn name(&self) -> &'static str {
        "source-node-controller"
    }

    fn description(&self) -> &'static str {
        "Creates nodes and ports for hosts whose source asks for it, and keeps their hardware current."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Host>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(INVENTORY, &["nodes", "ports"], &["create", "patch"]),
            Rule::new(fulfillment::GROUP, &["hosts/status"], &["update"]),
        ]
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let Some(owner) = object.label(labels::SOURCE) else { return plan };
        let world = context.root();
        let source = world.get(&Source::address("", owner));
        let source = source.and_then(|source| Source::deserialize(&Value::Object(source.0.clone())).ok());
        let Some(source) = source.filter(|source| source.spec.inventory == Some(InventoryMode::Create))
        else {
            return plan;
        };
        let Some(site) = source.spec.site_ref.map(|site| site.name) else { return plan };
        let Ok(host) = Host::deserialize(&Value::Object(object.0.clone())) else { return plan };
        let (node, exists) = match matching::find(&host, &world) {
            // Only what was made here is kept current; any other Node belongs to somebody else.
            Match::Found(node, _) if node.label(labels::SOURCE) == Some(owner) => {
                (node.name().to_owned(), true)
            }
            Match::Found(..) | Match::Ambiguous(..) => return plan,
            Match::Nothing(_) => (host.display_name().to_owned(), false),
        };
        let hardware = host.spec.hardware.clone().unwrap_or_default();
        let Some(spec) = node_spec(&hardware, &site) else {
            let why = "The source does not tell cores, architecture (amd64 or arm64) and memory of the host";
            let mut new = Object::clone(object);
            Finding::fails(CREATED, "HardwareUnknown", why).tell(&mut new, &context.now().to_string());
            plan.change(&target.plane, object, new);
            return plan;
        };
        ensure(&mut plan, &world, "nodes", named("Node", &node, owner, spec), exists);
        for (name, spec) in ports(&node, &hardware) {
            let exists = world.get(&at("ports", &name)).is_some();
            ensure(&mut plan, &world, "ports", named("Port", &name, owner, spec), exists);
        }
        plan
    }
}

fn at(plural: &str, name: &str) -> Address {
    Address {
        group: INVENTORY.to_owned(),
        plural: plural.to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
    }
}

fn named(kind: &str, name: &str, owner: &str, spec: Value) -> Object {
    let mut object = Object::new(API_VERSION, kind);
    object.set_meta("name", Some(name.into()));
    object.set_label(labels::SOURCE, Some(owner));
    object.set("spec", Some(spec));
    object
}

/// Creates an object, or applies it where what is stored says something else.
fn ensure(plan: &mut Plan, world: &dyn QueryContext, plural: &str, wanted: Object, exists: bool) {
    if !exists {
        plan.write(Write::Create(String::new(), wanted));
        return;
    }
    let Some(stored) = world.get(&at(plural, wanted.name())) else { return };
    let is_ours = stored.label(labels::SOURCE) == wanted.label(labels::SOURCE);
    let says = |field: &str| match (wanted.get(field), stored.get(field)) {
        (Some(wanted), Some(stored)) => is_part(wanted, stored),
        (wanted, _) => wanted.is_none(),
    };
    if is_ours && !says("spec") {
        plan.write(Write::Apply(String::new(), wanted));
    }
}

/// Whether everything that `wanted` says is so in `stored`.
fn is_part(wanted: &Value, stored: &Value) -> bool {
    match (wanted, stored) {
        (Value::Object(wanted), Value::Object(stored)) => {
            wanted.iter().all(|(name, value)| stored.get(name).is_some_and(|stored| is_part(value, stored)))
        }
        (wanted, stored) => wanted == stored,
    }
}

/// The specification of a Node; nothing if what it needs is not known.
fn node_spec(hardware: &Hardware, site: &str) -> Option<Value> {
    let cores: i32 = hardware.cpus.iter().map(|cpu| cpu.cores).sum();
    let architecture = hardware.cpus.iter().find_map(|cpu| match cpu.architecture.as_deref()? {
        architecture @ ("amd64" | "arm64") => Some(architecture.to_owned()),
        _ => None,
    })?;
    let memory = hardware.memory_bytes.filter(|bytes| *bytes > 0)?;
    let disks = hardware.drives.iter().map(|drive| {
        let kind = match drive.kind.as_deref() {
            Some("HDD") => "HDD",
            Some("NVMe") => "NVMe",
            _ => "SSD",
        };
        json!({"name": drive.name, "sizeBytes": drive.size_bytes, "type": kind})
    });
    let disks: Vec<Value> = disks.collect();
    let mut spec = json!({
        "siteRef": {"name": site},
        "hardware": {"cpuCores": cores, "cpuArchitecture": architecture, "memoryBytes": memory},
    });
    if let Some(serial) = &hardware.serial {
        spec["serial"] = serial.as_str().into();
    }
    if !disks.is_empty() {
        spec["hardware"]["disks"] = disks.into();
    }
    (cores > 0).then_some(spec)
}

/// The Ports of a Node, by name.
fn ports(node: &str, hardware: &Hardware) -> Vec<(String, Value)> {
    let port = |nic: &fulfillment::kinds::hardware::Nic| {
        let mut spec = Map::new();
        spec.insert("deviceRef".to_owned(), json!({"kind": "Node", "name": node}));
        spec.insert("type".to_owned(), "Ethernet".into());
        spec.insert("name".to_owned(), nic.name.as_str().into());
        spec.insert("macAddress".to_owned(), nic.mac.as_deref()?.into());
        let name = format!("{node}-{}", label(&nic.name));
        Some((name, Value::Object(spec)))
    };
    hardware.nics.iter().filter_map(port).collect()
}
