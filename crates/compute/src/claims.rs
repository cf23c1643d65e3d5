//! Quota of instances: each ordinal of a deployment has a claim, made in the transaction that changes how many are wanted.
//!
//! The claim belongs to the ordinal, not to the instance: when an instance is replaced, nobody else gets its quota in
//! between. It is given back when nothing of the ordinal is left.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Bucket, Change, Effect, Refusal, Resource, View};
use serde_json::{Value, json};

use crate::catalog;
use crate::kinds::{Instance, WorkloadDeployment};
use crate::names::{
    CITY_CODE, DEPLOYMENT_NAME, INSTANCE_INDEX, TOPOLOGY_CITY_CODE, claim_name, instance_name,
};

/// Group of claims.
pub const QUOTA_GROUP: &str = "quota.miloapis.com";
/// Version of claims.
const QUOTA_VERSION: &str = "v1alpha1";
/// Resource of claims.
pub const CLAIMS: &str = "resourceclaims";
/// The bucket of claims by the uid of their owner, which `quota` declares.
pub const PAYING_FOR: Bucket = Bucket::new("quota.miloapis.com/claims-paying-for");
/// The bucket of registrations by their type of resource, which `quota` declares.
pub const REGISTRATIONS: Bucket = Bucket::new("quota.miloapis.com/registrations-by-type");
/// Label of claims that are made by code: what they say nobody else changes.
const POLICY: &str = "quota.miloapis.com/claim-creation-policy";
/// Its value.
const MADE_BY: &str = "compute.datumapis.com-ordinals";
/// Annotation of a claim that takes the place of another one and asks for no more.
const KEEPS: &str = "quota.miloapis.com/keeps-what-was-granted";
/// The type of resource without which no quota is kept of instances.
pub const INSTANCES: &str = "compute.datumapis.com/instances";
const VCPUS: &str = "compute.datumapis.com/vcpus";
const MEMORY: &str = "compute.datumapis.com/memory";
const TENANCY_GROUP: &str = "resourcemanager.miloapis.com";

/// Claims for the ordinals that a deployment wants. Those of ordinals that are no longer wanted go once they have no
/// instance.
pub fn of_deployment(
    change: &Change<WorkloadDeployment>,
    view: &mut View<'_>,
) -> Result<Vec<Effect>, Refusal> {
    let Some(deployment) = change.after() else {
        let Some(gone) = change.before() else { return Ok(Vec::new()) };
        let claims = view.bucket(PAYING_FOR, &gone.metadata.uid);
        return Ok(claims.iter().map(|claim| delete(claim)).collect());
    };
    let is_unchanged = change.before().is_some_and(|before| before.spec == deployment.spec);
    if is_unchanged || deployment.metadata.deletion_timestamp.is_some() {
        return Ok(Vec::new());
    }
    let Some(requests) = requests(&deployment.spec.template.spec.runtime.resources.instance_type, view)
    else {
        return Ok(Vec::new());
    };
    let found = view.bucket(PAYING_FOR, &deployment.metadata.uid);
    let claims = by_ordinal(&found);
    let mut effects = Vec::new();
    for ordinal in 0..deployment.desired() {
        match claims.get(&ordinal) {
            None => effects.push(create(&Ordinal::of(deployment, ordinal), &requests, view, None)),
            Some(claim) if claim.at("spec.requests") == Some(&requests) => {}
            // A claim does not change: another one takes its place.
            Some(claim) => {
                effects.push(delete(claim));
                effects.push(create(&Ordinal::of(deployment, ordinal), &requests, view, Some(claim)));
            }
        }
    }
    for (ordinal, claim) in claims.range(deployment.desired()..) {
        let instance = instance_name(&deployment.metadata.name, *ordinal);
        if !view.exists::<Instance>(&deployment.metadata.namespace, &instance) {
            effects.push(delete(claim));
        }
    }
    Ok(effects)
}

/// An instance has a claim, one that is started beyond what is wanted too. Its claim goes with it if its ordinal is not
/// wanted any more.
pub fn of_instance(change: &Change<Instance>, view: &mut View<'_>) -> Result<Vec<Effect>, Refusal> {
    let Some(instance) = change.after().or(change.before()) else { return Ok(Vec::new()) };
    let owner =
        instance.metadata.owner_references.iter().find(|owner| owner.kind == WorkloadDeployment::KIND);
    let ordinal = instance.metadata.labels.get(INSTANCE_INDEX).and_then(|text| text.parse::<u32>().ok());
    let (Some(owner), Some(ordinal)) = (owner, ordinal) else { return Ok(Vec::new()) };
    match (change.before(), change.after()) {
        (None, Some(_)) => {
            let Some(requests) = requests(&instance.spec.runtime.resources.instance_type, view) else {
                return Ok(Vec::new());
            };
            if own_claim(instance, view).is_some() {
                return Ok(Vec::new());
            }
            let city = instance.metadata.labels.get(CITY_CODE).cloned();
            let namespace = instance.metadata.namespace.clone();
            let (name, uid) = (owner.name.clone(), owner.uid.clone());
            let ordinal = Ordinal { namespace, deployment: name, uid, ordinal, city };
            Ok(vec![create(&ordinal, &requests, view, None)])
        }
        (Some(_), None) => {
            let Some(claim) = own_claim(instance, view) else { return Ok(Vec::new()) };
            let deployment = view.get_in::<WorkloadDeployment>(&instance.metadata.namespace, &owner.name);
            let is_wanted = deployment.is_some_and(|found| {
                found.metadata.uid == owner.uid
                    && found.metadata.deletion_timestamp.is_none()
                    && ordinal < found.desired()
            });
            Ok(if is_wanted { Vec::new() } else { vec![delete(&claim)] })
        }
        _ => Ok(Vec::new()),
    }
}

/// The claim of an instance, if it has one. Looked up by its name, whatever the number of instances.
fn own_claim(instance: &Instance, view: &mut View<'_>) -> Option<Arc<Object>> {
    let name = claim_name(&instance.metadata.name);
    let owners = &instance.metadata.owner_references;
    let is_own =
        |claim: &Arc<Object>| claim.owners().any(|found| owners.iter().any(|owner| owner.uid == found.uid));
    [other_name(&name), name]
        .iter()
        .find_map(|name| view.reader().get(&address(&instance.metadata.namespace, name)).filter(is_own))
}

/// The name of a claim that takes the place of another one.
fn other_name(name: &str) -> String {
    format!("{name}-r")
}

/// An ordinal of a deployment.
struct Ordinal {
    namespace: String,
    deployment: String,
    uid: String,
    ordinal: u32,
    city: Option<String>,
}

impl Ordinal {
    fn of(deployment: &WorkloadDeployment, ordinal: u32) -> Ordinal {
        Ordinal {
            namespace: deployment.metadata.namespace.clone(),
            deployment: deployment.metadata.name.clone(),
            uid: deployment.metadata.uid.clone(),
            ordinal,
            city: deployment.spec.city_code.clone(),
        }
    }
}

/// What an instance of a type asks for, of what quota is kept of. Nothing if none is kept of instances.
fn requests(instance_type: &str, view: &mut View<'_>) -> Option<Value> {
    let size = catalog::size(instance_type, view);
    let asked = [
        (INSTANCES, Some(1)),
        (VCPUS, size.map(|size| size.millicores)),
        (MEMORY, size.map(|size| size.mebibytes)),
    ];
    let mut root = view.root();
    if root.bucket(REGISTRATIONS, INSTANCES).is_empty() {
        return None;
    }
    let kept = asked.into_iter().filter(|(kind, _)| !root.bucket(REGISTRATIONS, kind).is_empty());
    let request =
        |(kind, amount): (&str, Option<i64>)| Some(json!({"resourceType": kind, "amount": amount?}));
    Some(kept.filter_map(request).collect())
}

fn by_ordinal(claims: &[Arc<Object>]) -> BTreeMap<u32, &Arc<Object>> {
    let ordinal = |claim: &Object| claim.label(INSTANCE_INDEX)?.parse::<u32>().ok();
    claims.iter().filter_map(|claim| Some((ordinal(claim)?, claim))).collect()
}

fn create(ordinal: &Ordinal, requests: &Value, view: &View<'_>, replaced: Option<&Arc<Object>>) -> Effect {
    let project = view.project().map(|project| project.name).unwrap_or_default();
    let instance = instance_name(&ordinal.deployment, ordinal.ordinal);
    let mut name = claim_name(&instance);
    // A claim does not change: the one that takes its place has the other name.
    if replaced.is_some_and(|replaced| replaced.name() == name) {
        name = other_name(&name);
    }
    let mut labels = json!({
        POLICY: MADE_BY, INSTANCE_INDEX: ordinal.ordinal.to_string(), DEPLOYMENT_NAME: ordinal.deployment,
    });
    if let Some(city) = &ordinal.city {
        labels[TOPOLOGY_CITY_CODE] = json!(city);
    }
    let keeps = replaced.is_some_and(|replaced| is_granted(replaced) && asks_no_more(requests, replaced));
    let annotations = if keeps { json!({KEEPS: "true"}) } else { json!({}) };
    let claim = json!({
        "apiVersion": format!("{QUOTA_GROUP}/{QUOTA_VERSION}"),
        "kind": "ResourceClaim",
        "metadata": {
            "name": name,
            "namespace": ordinal.namespace,
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [{
                "apiVersion": format!("{}/{}", crate::GROUP, crate::VERSION),
                "kind": WorkloadDeployment::KIND,
                "name": ordinal.deployment,
                "uid": ordinal.uid,
            }],
        },
        "spec": {
            "consumerRef": {"apiGroup": TENANCY_GROUP, "kind": "Project", "name": project},
            "requests": requests,
            "resourceRef": {
                "apiGroup": crate::GROUP, "kind": Instance::KIND, "name": instance,
                "namespace": ordinal.namespace, "resource": Instance::PLURAL,
            },
        },
    });
    Effect::create_object(Object::from_value(claim).unwrap_or_default())
}

/// Whether a claim has what it asks for.
pub fn is_granted(claim: &Object) -> bool {
    krm::condition::find(claim, "Granted").is_some_and(|granted| granted["status"] == "True")
}

fn asks_no_more(requests: &Value, than: &Object) -> bool {
    let amount = |all: Option<&Value>, kind: &Value| -> i64 {
        let all = all.and_then(Value::as_array).into_iter().flatten();
        all.filter(|request| request["resourceType"] == *kind)
            .filter_map(|found| found["amount"].as_i64())
            .sum()
    };
    let asked = requests.as_array().into_iter().flatten();
    asked.into_iter().all(|request| {
        let kind = &request["resourceType"];
        amount(Some(requests), kind) <= amount(than.at("spec.requests"), kind)
    })
}

fn delete(claim: &Object) -> Effect {
    Effect::delete(address(claim.namespace(), claim.name()))
}

fn address(namespace: &str, name: &str) -> Address {
    Address {
        group: QUOTA_GROUP.to_owned(),
        plural: CLAIMS.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}
