//! Garbage collection: deletes objects whose owners are gone.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, split_api_version};
use krm::object::Owner;
use reconcile::context::{Context, World};
use reconcile::plan::{Deletion, Guard, Plan, Propagation, Write};
use reconcile::reconciler::{Changed, Freshness, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";
/// Dependents that one plan lets go of, at most.
const MOST: usize = 5_000;

/// Deletes what has lost all its owners, and lets owners go once what they wait for is done.
pub struct Garbage;

impl Garbage {
    /// Its name.
    pub const NAME: &'static str = "garbage-collector";
}

impl Reconciler for Garbage {
    fn name(&self) -> &'static str {
        Garbage::NAME
    }

    fn description(&self) -> &'static str {
        "Deletes objects whose owners are gone: background, foreground and orphan deletion."
    }

    fn scope(&self) -> Scope {
        Scope::Everything
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new("*", &["*"], &["get", "delete", "patch"])]
    }

    fn freshness(&self) -> Freshness {
        Freshness::Current
    }

    /// Of an object whose owners are all there, nothing has to be decided before one of them goes.
    fn concerns(&self, change: &Changed<'_>) -> bool {
        let Some(now) = change.after else { return false };
        let has_lost = |owner: &Owner<'_>| {
            let place = place_of(change.world, &change.target.plane, now, owner);
            place.is_some_and(|place| !change.world.lives(&place, owner.uid))
        };
        waits_for_dependents(now) || now.owners().any(|owner| has_lost(&owner))
    }

    fn observes(&self) -> Scope {
        Scope::Everything
    }

    /// Whoever is owned has to look again when the owner goes; whoever waits for what it owns, when that goes or keeps it
    /// waiting no more.
    fn affected(&self, change: &Changed<'_>, queue: &mut dyn FnMut(Target)) {
        let Some(object) = change.after.or(change.before) else { return };
        let plane = &change.target.plane;
        if change.after.is_none() || object.is_deleting() {
            change.world.owned(plane, object.uid()).into_iter().for_each(&mut *queue);
        }
        let Some(was) = change.before else { return };
        let blocks = |object: &Object, uid: &str| {
            object.owners().any(|owner| owner.uid == uid && owner.blocks_deletion)
        };
        for owner in was.owners().filter(|owner| owner.blocks_deletion) {
            if change.after.is_none_or(|now| !blocks(now, owner.uid))
                && let Some(target) = place_of(change.world, plane, was, &owner)
            {
                queue(target);
            }
        }
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        match object.is_deleting() {
            true => let_go(target, object, context),
            false => collect(target, object, context),
        }
    }
}

fn waits_for_dependents(object: &Object) -> bool {
    object.is_deleting()
        && object.finalizers().iter().any(|finalizer| *finalizer == ORPHAN || *finalizer == FOREGROUND)
}

fn waits_in_foreground(object: &Object) -> bool {
    object.is_deleting() && object.finalizers().contains(&FOREGROUND)
}

/// Where an owner is: in the namespace of what it owns, or in none. `None` if its kind is not served.
fn place_of(world: &dyn World, plane: &str, object: &Object, owner: &Owner<'_>) -> Option<Target> {
    let (group, _) = split_api_version(owner.api_version);
    let kind = world.kinds(plane).kind(group, owner.kind)?;
    let namespace = if kind.is_namespaced() { object.namespace() } else { "" };
    let at = Address {
        group: kind.group.clone(),
        plural: kind.names.plural.clone(),
        namespace: namespace.to_owned(),
        name: owner.name.to_owned(),
    };
    Some(Target::new(plane, at))
}

/// Deletes an object whose owners have all gone; one with owners left lets go of the others.
fn collect(target: &Target, object: &Object, context: &Context<'_>) -> Plan {
    let mut plan = Plan::nothing();
    let (mut here, mut gone, mut waiting) = (0, Vec::new(), Vec::new());
    for owner in object.owners() {
        // An owner of a kind that is not known here may well exist: nothing is deleted on a guess.
        let Some(place) = place_of(context.world(), &target.plane, object, &owner) else {
            here += 1;
            continue;
        };
        match context.metadata(&place).filter(|found| found.uid() == owner.uid) {
            Some(found) if waits_in_foreground(&found) => waiting.push(owner.uid),
            Some(_) => here += 1,
            None => {
                plan.guards.push(Guard::Absent(place, owner.uid.to_owned()));
                gone.push(owner.uid);
            }
        }
    }
    if here > 0 {
        // Those that wait must not wait for what stays.
        let lost = [gone, waiting].concat();
        if !lost.is_empty() {
            plan.write(without_owners(target, object, &lost));
        }
        return plan;
    }
    if gone.is_empty() && waiting.is_empty() {
        return plan;
    }
    let mut version = Some(object.resource_version().to_owned());
    if !waiting.is_empty() && owns_what_waits(object, context) {
        plan.write(waited_for_by_nobody(target, object));
        // It is deleted as this commit leaves it.
        version = None;
    }
    let propagation = match (waiting.is_empty(), object.finalizers().contains(&ORPHAN)) {
        (false, _) => Propagation::Foreground,
        (true, true) => Propagation::Orphan,
        (true, false) => Propagation::Background,
    };
    plan.write(Write::Delete(
        target.clone(),
        Deletion { uid: Some(object.uid().to_owned()), version, propagation },
    ));
    plan
}

/// Whether something that it owns waits itself for what it owns: then they may own each other, and wait forever.
fn owns_what_waits(object: &Object, context: &Context<'_>) -> bool {
    let owned = context.owned(object.uid());
    owned.iter().any(|owned| context.listed(owned).is_some_and(|owned| waits_in_foreground(&owned)))
}

/// Does what an object that is being deleted waits for: its dependents go first, or are let go of.
fn let_go(target: &Target, object: &Object, context: &Context<'_>) -> Plan {
    let mut plan = Plan::nothing();
    let finalizers = object.finalizers();
    let (orphans, foreground) = (finalizers.contains(&ORPHAN), finalizers.contains(&FOREGROUND));
    if !orphans && !foreground {
        return plan;
    }
    let mut blocking = 0;
    for owned in context.owned(object.uid()) {
        let is_served = context.resource(&owned.plane, &owned.at.group, &owned.at.plural).is_some();
        let Some(dependent) = context.listed(&owned).filter(|_| is_served) else { continue };
        if orphans {
            if plan.independent.len() < MOST {
                plan.independent.push(without_owners(&owned, &dependent, &[object.uid()]));
            }
            continue;
        }
        blocking +=
            usize::from(dependent.owners().any(|owner| owner.uid == object.uid() && owner.blocks_deletion));
    }
    if !plan.independent.is_empty() {
        // Once nothing depends on it, it may go.
        plan.again_after(std::time::Duration::ZERO);
        return plan;
    }
    if blocking > 0 {
        // Each is deleted by a plan of its own; this one comes again when the last of them goes.
        return plan.waiting_for(format!("{blocking} dependents to be deleted"));
    }
    let keep = finalizers.into_iter().filter(|finalizer| *finalizer != ORPHAN && *finalizer != FOREGROUND);
    let keep: Vec<&str> = keep.collect();
    let metadata = json!({
        "uid": object.uid(),
        "resourceVersion": object.resource_version(),
        "finalizers": keep,
    });
    plan.write(Write::Patch(target.clone(), json!({ "metadata": metadata })));
    plan
}

/// The object as one that none of its owners waits for.
fn waited_for_by_nobody(target: &Target, object: &Object) -> Write {
    let mut owners = object.meta("ownerReferences").and_then(Value::as_array).cloned().unwrap_or_default();
    for owner in owners.iter_mut().filter_map(Value::as_object_mut) {
        owner.insert("blockOwnerDeletion".into(), false.into());
    }
    owned_by(target, object, owners)
}

/// The object without these owners.
fn without_owners(target: &Target, object: &Object, uids: &[&str]) -> Write {
    let owners = object.meta("ownerReferences").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_kept = |owner: &Value| {
        let uid = owner.get("uid").and_then(Value::as_str).unwrap_or_default();
        !uids.contains(&uid)
    };
    owned_by(target, object, owners.into_iter().filter(is_kept).collect())
}

fn owned_by(target: &Target, object: &Object, owners: Vec<Value>) -> Write {
    let owners = if owners.is_empty() { Value::Null } else { owners.into() };
    let metadata = json!({
        "uid": object.uid(),
        "resourceVersion": object.resource_version(),
        "ownerReferences": owners,
    });
    Write::Patch(target.clone(), json!({ "metadata": metadata }))
}
