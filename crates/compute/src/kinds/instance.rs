//! Instance: one of the machines or sandboxes of a workload.

use krm::Object;
use krm::condition::Condition;
use krm::kind::{Bucket, Declaration, Metadata, Planes, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::LocationRef;
use super::runtime::Runtime;
use super::template::NetworkInterface;
use super::volume::Volume;
use crate::claims;

/// The bucket of the instances of a deployment, by its uid.
pub const OF_DEPLOYMENT: Bucket = Bucket::new("compute.datumapis.com/instances-of-deployment");

/// One of the machines or sandboxes of a workload. The deployment controller makes it, and the agent of its location runs
/// it; change the Workload instead.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Instance {
    /// Standard object metadata. The name is that of the deployment, a dash and the ordinal.
    pub metadata: Metadata,
    /// Specification of the instance. Set by the deployment controller.
    pub spec: InstanceSpec,
    /// Observed state of the instance. Set by the instance controller and the agent; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<InstanceStatus>,
}

/// Specification of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstanceSpec {
    /// Containers or a virtual machine.
    pub runtime: Runtime,
    /// Networks that the instance is attached to.
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub network_interfaces: Vec<NetworkInterface>,
    /// Volumes that the runtime attaches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub volumes: Vec<Volume>,
    /// Location that the instance runs at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<LocationRef>,
    /// What controllers keep of the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<InstanceController>,
}

/// What controllers keep of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstanceController {
    /// Hash of the template that the instance was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub template_hash: Option<String>,
    /// What the instance waits for: `Network`, `Quota` or `ReferencedData`. Nothing of it runs while one is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub scheduling_gates: Vec<SchedulingGate>,
}

/// Something that an instance waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchedulingGate {
    /// Name of the gate.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
}

/// Observed state of an instance.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstanceStatus {
    /// `Ready` sums up the others: `QuotaGranted`, `ReferencedDataReady`, `Programmed` (the runtime has made the instance)
    /// and `Available` (it can serve). If it is not `True`, its reason and message say what keeps it from being so.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Addresses, in the order of `spec.networkInterfaces`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub network_interfaces: Vec<InterfaceStatus>,
    /// What the agent keeps of the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ObservedController>,
    /// Times that containers of the instance were started again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub restarts: Option<i32>,
    /// When the instance was last started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub started_at: Option<String>,
    /// What the instance uses, if its deployment is scaled by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<InstanceUsage>,
    /// Last lines that a container wrote before it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub last_lines: Vec<String>,
}

/// What an instance uses.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstanceUsage {
    /// CPU in thousandths of a core, on average since the sample before.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub cpu_millicores: i64,
    /// When it was measured.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub sampled_at: String,
}

/// Addresses of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct InterfaceStatus {
    /// The addresses.
    #[serde(default)]
    pub assignments: Assignments,
}

/// Addresses of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Assignments {
    /// Address within the network.
    #[serde(default, rename = "networkIP", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 45))]
    pub network_ip: Option<String>,
    /// Address from outside of the network.
    #[serde(default, rename = "externalIP", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 45))]
    pub external_ip: Option<String>,
}

/// What the agent keeps of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObservedController {
    /// Hash of the template that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub observed_template_hash: Option<String>,
}

impl Resource for Instance {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "Instance";
    const PLURAL: &'static str = "instances";

    fn declare() -> Declaration<Instance> {
        Declaration::namespaced()
            .planes(Planes::Project)
            .status()
            .controlled()
            .streams("log", &["get"])
            .streams("exec", &["create"])
            .selects(&["spec.location.name"])
            .prints_age()
            .prints("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#)
            .prints("Reason", "string", r#".status.conditions[?(@.type=="Ready")].reason"#)
            .prints("Network IP", "string", ".status.networkInterfaces[0].assignments.networkIP")
            .prints("External IP", "string", ".status.networkInterfaces[0].assignments.externalIP")
            .prints_wide("Message", "string", r#".status.conditions[?(@.type=="Ready")].message"#)
            .prints_wide("Quota", "string", r#".status.conditions[?(@.type=="QuotaGranted")].reason"#)
            .bucket_raw(OF_DEPLOYMENT, |instance: &Object| {
                let owners = instance.owners().filter(|owner| owner.kind == "WorkloadDeployment");
                owners.map(|owner| owner.uid.to_owned()).collect()
            })
            .prepare(begin)
            .effects(claims::of_instance)
    }
}

/// A new instance waits for everything.
fn begin(instance: &mut Object, old: Option<&Object>) {
    if old.is_some() {
        return;
    }
    let condition = |kind: &str, reason: &str, message: &str| {
        json!({"type": kind, "status": "Unknown", "reason": reason, "message": message,
            "lastTransitionTime": "1970-01-01T00:00:00Z"})
    };
    let conditions: Vec<Value> = vec![
        condition("Programmed", "Pending", "Waiting for controller"),
        condition("Available", "Pending", "Waiting for controller"),
        condition("Ready", "Pending", "Waiting for controller"),
        condition("QuotaGranted", "PendingEvaluation", "Waiting for quota evaluation"),
    ];
    instance.set("status", Some(json!({ "conditions": conditions })));
}
