//! What compute needs for a first deploy on one machine: the service, quota, locations and a network.

use krm::Object;
use krm::kind::Resource;
use reconcile::module::LocalStart;
use serde_json::{Value, json};

use crate::kinds::{InstanceType, Workload};
use crate::names::TOPOLOGY_CITY_CODE;
use crate::{GROUP, NETWORKING_GROUP, NETWORKING_VERSION, SERVICE, VERSION};

const QUOTA: &str = "quota.miloapis.com/v1alpha1";
const SERVICES: &str = "services.miloapis.com/v1alpha1";
const TENANCY: &str = "resourcemanager.miloapis.com";
/// What a project gets of each resource: workloads, instances, millicores and MiB.
const LIMITS: [(&str, &str, &str, &str, i64, i64); 4] = [
    ("workloads", "Entity", "workload", "workload", 1, 1000),
    ("instances", "Entity", "instance", "instance", 1, 10),
    ("vcpus", "Allocation", "millicore", "vCPU", 1000, 40_000),
    ("memory", "Allocation", "MiB", "MiB", 1, 81_920),
];

/// The objects for a first deploy in these cities.
pub fn start(cities: &[String]) -> LocalStart {
    let mut root = vec![
        object(
            &format!("{GROUP}/{VERSION}"),
            InstanceType::KIND,
            "datumcloud-d1-standard-2",
            json!({"resources": {"cpu": "1000m", "memory": "2048Mi"}, "displayName": "d1-standard-2"}),
        ),
        object(
            SERVICES,
            "Service",
            SERVICE,
            json!({
                "serviceName": GROUP, "phase": "Published", "displayName": "Compute",
                "description": "Containers that run in cities",
                "owner": {"producerProjectRef": {"name": "default"}},
                "enablementPolicy": {"mode": "SelfService"},
            }),
        ),
        object(
            SERVICES,
            "ServiceConfiguration",
            SERVICE,
            json!({
                "serviceRef": {"name": SERVICE}, "phase": "Published",
                "locations": {"supportedClasses": ["datum-managed"]},
            }),
        ),
    ];
    root.extend(LIMITS.map(registration));
    root.push(default_grant());
    root.push(workload_claim());
    for city in cities {
        let name = city.to_lowercase();
        root.push(location(&name, city));
        let spec = json!({"serviceRef": {"name": SERVICE}, "locationRef": {"name": name}});
        root.push(object(SERVICES, "ServiceAvailability", &format!("{SERVICE}-{name}"), spec));
    }
    let network = json!({"ipam": {"mode": "Auto"}});
    let project = vec![
        object(SERVICES, "ServiceEntitlement", SERVICE, json!({"serviceRef": {"name": SERVICE}})),
        object(&format!("{NETWORKING_GROUP}/{NETWORKING_VERSION}"), "Network", "default", network),
    ];
    LocalStart { root, project }
}

fn registration((name, kind, base, shown, factor, _): (&str, &str, &str, &str, i64, i64)) -> Object {
    let claiming = if name == "workloads" { Workload::KIND } else { "Instance" };
    let spec = json!({
        "resourceType": format!("{GROUP}/{name}"), "type": kind,
        "consumerType": {"apiGroup": TENANCY, "kind": "Project"},
        "baseUnit": base, "displayUnit": shown, "unitConversionFactor": factor,
        "claimingResources": [{"apiGroup": GROUP, "kind": claiming}],
    });
    object(QUOTA, "ResourceRegistration", &format!("{SERVICE}-{name}"), spec)
}

/// Each new project gets the default limits.
fn default_grant() -> Object {
    let allowances = LIMITS.map(|(name, .., amount)| {
        json!({"resourceType": format!("{GROUP}/{name}"), "buckets": [{"amount": amount}]})
    });
    let spec = json!({
        "trigger": {"resource": {"apiVersion": format!("{TENANCY}/v1alpha1"), "kind": "Project"}},
        "target": {"resourceGrantTemplate": {
            "metadata": {"name": "{{ trigger.metadata.name }}-compute-quota"},
            "spec": {"allowances": allowances},
        }},
    });
    object(QUOTA, "GrantCreationPolicy", "compute-default-quota", spec)
}

/// A workload that exceeds the number of workloads is refused.
fn workload_claim() -> Object {
    let spec = json!({
        "trigger": {"resource": {"apiVersion": format!("{GROUP}/{VERSION}"), "kind": Workload::KIND}},
        "target": {"resourceClaimTemplate": {
            "metadata": {"name": "workload-{{ trigger.metadata.name }}"},
            "spec": {"requests": [{"resourceType": format!("{GROUP}/workloads"), "amount": 1}]},
        }},
        "whenExceeded": "Refuse",
    });
    object(QUOTA, "ClaimCreationPolicy", "compute-workloads", spec)
}

fn location(name: &str, city: &str) -> Object {
    let spec = json!({
        "locationClassName": "datum-managed", "displayName": format!("{city} (this machine)"),
        "topology": {TOPOLOGY_CITY_CODE: city}, "provider": {"local": {}},
    });
    object(&format!("{NETWORKING_GROUP}/{NETWORKING_VERSION}"), "Location", name, spec)
}

fn object(api_version: &str, kind: &str, name: &str, spec: Value) -> Object {
    let mut made = Object::new(api_version, kind);
    made.set_meta("name", Some(name.into()));
    made.set("spec", Some(spec));
    made
}
