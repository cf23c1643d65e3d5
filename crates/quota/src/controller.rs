//! The quota controller: grants claims that wait, first come, first served, when there is room again.

use std::collections::BTreeMap;
use std::sync::Arc;

use krm::Object;
use krm::condition::Finding;
use krm::kind::{Planes, QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use reconcile::reconciler::{Changed, DependsOn, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bucket_name::{bucket_name, bucket_namespace};
use crate::kinds::allowance_bucket::{CONSUMER_KIND, CONSUMER_NAME};
use crate::kinds::resource_claim::{EVALUATING, WAITING};
use crate::kinds::{AllowanceBucket, ResourceClaim, ResourceRegistration};

/// Reconciles registrations, and the claims that wait at a bucket.
pub struct QuotaController;

impl Reconciler for QuotaController {
    fn name(&self) -> &'static str {
        "quota-controller"
    }

    fn description(&self) -> &'static str {
        "Grants claims that wait when there is room, and sets the status of registrations."
    }

    fn scope(&self) -> Scope {
        let plurals = [AllowanceBucket::PLURAL, ResourceRegistration::PLURAL];
        Scope::Resources(plurals.map(|plural| (crate::GROUP.into(), plural.into())).into(), Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(crate::GROUP, &["resourceregistrations/status", "resourceclaims/status"], &["update"])]
    }

    fn depends_on(&self) -> DependsOn {
        // The sums of a bucket and the state of a claim are their status.
        DependsOn::Everything
    }

    /// A bucket at which nobody waits has nobody to grant anything to. Whoever comes to wait changes it.
    fn concerns(&self, change: &Changed<'_>) -> bool {
        let Some(bucket) = change.after.filter(|_| change.target.at.plural == AllowanceBucket::PLURAL) else {
            return true;
        };
        let label = |name: &str| bucket.labels().find(|(label, _)| *label == name).map(|(_, value)| value);
        let project = label(CONSUMER_NAME).filter(|_| label(CONSUMER_KIND) == Some(crate::PROJECT));
        let mut planes = project.into_iter().chain([""]);
        !change.world.is_of_one_moment()
            || planes.any(|plane| change.world.has_any(plane, WAITING, bucket.name()))
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        match target.at.plural.as_str() {
            ResourceRegistration::PLURAL => {
                let mut new = Object::clone(object);
                let active =
                    Finding::holds("Active", "RegistrationActive", "The resource can be granted and claimed");
                active.tell(&mut new, &context.now().to_string());
                let mut plan = Plan::nothing();
                plan.change(&target.plane, object, new);
                plan
            }
            _ => bucket(object, context),
        }
    }
}

/// Asks for another evaluation of the claims that wait at a bucket and would be granted, in the order in which they came.
/// None overtakes one before it that the bucket has no room for.
fn bucket(object: &Arc<Object>, context: &Context<'_>) -> Plan {
    let mut plan = Plan::nothing();
    let Some(bucket) = read::<AllowanceBucket>(object) else { return plan };
    let project = Some(bucket.spec.consumer_ref.name.as_str());
    let project = project.filter(|_| bucket.spec.consumer_ref.kind == crate::PROJECT);
    let mut waiting: Vec<(u64, &str, Arc<Object>)> = Vec::new();
    for plane in project.into_iter().chain([""]) {
        for claim in context.look(plane).bucket(WAITING, object.name()) {
            let at = Target::of::<ResourceClaim>(plane, claim.namespace(), claim.name());
            waiting.push((context.world().born(&at).unwrap_or(u64::MAX), plane, claim));
        }
    }
    waiting.sort_by(|one, other| (one.0, one.2.name()).cmp(&(other.0, other.2.name())));
    let mut rooms = Rooms { context, left: BTreeMap::new() };
    for (_, plane, waiting) in &waiting {
        let Some(claim) = read::<ResourceClaim>(waiting) else { continue };
        match rooms.take(&claim, object.name()) {
            Room::Enough => {
                let mut new = Object::clone(waiting);
                let asked = Finding::fails("Granted", EVALUATING, "There is room for the claim again");
                asked.tell(&mut new, &context.now().to_string());
                // The time of the evaluation is that of the grant.
                set_time(&mut new, &context.now().to_string());
                plan.independent.push(Write::Status((*plane).to_owned(), new));
            }
            Room::NotElsewhere => {}
            Room::NotHere => break,
        }
    }
    match waiting.len() - plan.independent.len() {
        0 => plan,
        left => plan.waiting_for(format!("{left} claims wait for room")),
    }
}

fn set_time(claim: &mut Object, now: &str) {
    let Some(Value::Object(mut status)) = claim.get("status").cloned() else { return };
    for condition in status.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten() {
        condition["lastTransitionTime"] = now.into();
    }
    claim.set("status", Some(status.into()));
}

/// Whether there is room for a claim.
enum Room {
    Enough,
    /// Not in the bucket that is planned.
    NotHere,
    /// Not in another bucket that the claim asks.
    NotElsewhere,
}

/// What is left in buckets, as far as this plan has given it out.
struct Rooms<'a> {
    context: &'a Context<'a>,
    left: BTreeMap<String, i64>,
}

impl Rooms<'_> {
    fn take(&mut self, claim: &ResourceClaim, here: &str) -> Room {
        let consumer = &claim.spec.consumer_ref;
        let asked: Vec<(String, i64)> = claim
            .spec
            .requests
            .iter()
            .map(|request| (bucket_name(consumer, &request.resource_type), request.amount))
            .collect();
        let lacking = |rooms: &mut Self, (name, amount): &(String, i64)| {
            rooms.left(&bucket_namespace(consumer), name).is_none_or(|left| left < *amount)
        };
        let lacking: Vec<&(String, i64)> = asked.iter().filter(|request| lacking(self, request)).collect();
        if lacking.iter().any(|(name, _)| name == here) {
            return Room::NotHere;
        }
        if !lacking.is_empty() {
            return Room::NotElsewhere;
        }
        for (name, amount) in asked {
            self.left.entry(name).and_modify(|left| *left -= amount);
        }
        Room::Enough
    }

    fn left(&mut self, namespace: &str, name: &str) -> Option<i64> {
        if !self.left.contains_key(name) {
            let bucket = self.context.root().get(&AllowanceBucket::address(namespace, name))?;
            let status = read::<AllowanceBucket>(&bucket)?.status;
            self.left.insert(name.to_owned(), status.limit - status.allocated);
        }
        self.left.get(name).copied()
    }
}

fn read<T: DeserializeOwned>(object: &Object) -> Option<T> {
    T::deserialize(&object.0).ok()
}
