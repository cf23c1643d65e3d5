//! Metering: objects of any kind claim quota as they are created, and release it as they go; new consumers get grants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{PoisonError, RwLock};

use krm::Object;
use krm::kind::{Address, Effect, EffectPlugin, Kind, RawChange, Refusal, Resource, View};
use serde_json::Value;

use crate::bucket_name::{bucket_name, bucket_namespace};
use crate::kinds::claim_creation_policy::WhenExceeded;
use crate::kinds::resource_claim::{KEEPS, PAYING_FOR, POLICY, ResourceRequest};
use crate::kinds::resource_grant::{OF_CONSUMER, consumer_key};
use crate::kinds::{
    AllowanceBucket, ClaimCreationPolicy, ConsumerRef, GrantCreationPolicy, ResourceClaim, ResourceGrant,
};

/// Makes claims and grants along with the objects that policies name.
#[derive(Default)]
pub struct Metering {
    /// Names of policies, by the group and kind that trigger them. What they say is read in the transaction.
    policies: RwLock<Policies>,
}

#[derive(Default)]
struct Policies {
    claims: ByKind,
    grants: ByKind,
}

#[derive(Default)]
struct ByKind(BTreeMap<(String, String), BTreeSet<String>>);

impl ByKind {
    fn of(&self, kind: &Kind) -> Vec<String> {
        let found = self.0.get(&(kind.group.clone(), kind.names.kind.clone()));
        found.into_iter().flatten().cloned().collect()
    }

    fn has(&self, kind: &Kind) -> bool {
        // Asked with every write: nothing is allocated for it.
        self.0.keys().any(|(group, name)| *group == kind.group && *name == kind.names.kind)
    }

    fn take_in(&mut self, policy: &str, object: Option<&Object>) {
        for names in self.0.values_mut() {
            names.remove(policy);
        }
        let text = |path: &str| object?.at(path)?.as_str();
        if let (Some(version), Some(kind)) =
            (text("spec.trigger.resource.apiVersion"), text("spec.trigger.resource.kind"))
        {
            let (group, _) = krm::kind::split_api_version(version);
            self.0.entry((group.to_owned(), kind.to_owned())).or_default().insert(policy.to_owned());
        }
        self.0.retain(|_, names| !names.is_empty());
    }
}

impl EffectPlugin for Metering {
    fn name(&self) -> &'static str {
        "quota"
    }

    fn concerns(&self, kind: &Kind, project: Option<&str>) -> bool {
        let policies = self.policies.read().unwrap_or_else(PoisonError::into_inner);
        match project {
            Some(_) => kind.group != crate::GROUP && policies.claims.has(kind),
            None => is_project(kind) || policies.grants.has(kind),
        }
    }

    fn effects(
        &self,
        kind: &Kind,
        change: &RawChange<'_>,
        view: &mut View<'_>,
    ) -> Result<Vec<Effect>, Refusal> {
        if change.subresource == "status" {
            return Ok(Vec::new());
        }
        let names = |of: fn(&Policies) -> &ByKind| {
            of(&self.policies.read().unwrap_or_else(PoisonError::into_inner)).of(kind)
        };
        match view.project() {
            Some(project) => {
                let policies = names(|policies| &policies.claims);
                claims(&policies, kind, change, &project.name, view)
            }
            None => match (change.old, change.new) {
                (None, Some(consumer)) => Ok(grants(&names(|policies| &policies.grants), consumer, view)),
                (Some(gone), None) if is_project(kind) => Ok(take_grants_back(gone, view)),
                _ => Ok(Vec::new()),
            },
        }
    }

    fn follows(&self) -> &[(&'static str, &'static str)] {
        &[
            (ClaimCreationPolicy::GROUP, ClaimCreationPolicy::PLURAL),
            (GrantCreationPolicy::GROUP, GrantCreationPolicy::PLURAL),
        ]
    }

    fn take_in(&self, project: Option<&str>, at: &Address, object: Option<&Object>) {
        if project.is_some() {
            return;
        }
        let mut policies = self.policies.write().unwrap_or_else(PoisonError::into_inner);
        let is_disabled = |object: &&Object| object.at("spec.disabled") != Some(&Value::Bool(true));
        match at.plural == ClaimCreationPolicy::PLURAL {
            // A disabled policy still releases what its objects have.
            true => policies.claims.take_in(&at.name, object),
            false => policies.grants.take_in(&at.name, object.filter(is_disabled)),
        }
    }
}

fn is_project(kind: &Kind) -> bool {
    kind.group == crate::TENANCY_GROUP && kind.names.kind == crate::PROJECT
}

/// The grants of a new consumer.
fn grants(policies: &[String], consumer: &Object, view: &mut View<'_>) -> Vec<Effect> {
    let policies = policies.iter().filter_map(|name| view.get::<GrantCreationPolicy>(name));
    let fitting = policies.filter(|policy| !policy.spec.disabled && policy.spec.trigger.fits(consumer));
    let grants: Vec<ResourceGrant> = fitting.map(|policy| policy.grant_for(consumer)).collect();
    grants.iter().map(Effect::create).collect()
}

/// A later project of the same name must not inherit the grants of a project that is gone.
fn take_grants_back(gone: &Object, view: &mut View<'_>) -> Vec<Effect> {
    let grants =
        view.bucket_of::<ResourceGrant>(OF_CONSUMER, &consumer_key(&ConsumerRef::project(gone.name())));
    let delete =
        |grant: &ResourceGrant| ResourceGrant::address(&grant.metadata.namespace, &grant.metadata.name);
    grants.iter().map(|grant| Effect::delete(delete(grant))).collect()
}

/// What a change of a metered object does to its claims.
fn claims(
    policies: &[String],
    kind: &Kind,
    change: &RawChange<'_>,
    project: &str,
    view: &mut View<'_>,
) -> Result<Vec<Effect>, Refusal> {
    let mut effects = Vec::new();
    for name in policies {
        let Some(policy) = view.root().get::<ClaimCreationPolicy>(name) else { continue };
        match (change.old, change.new) {
            (None, Some(object)) if !policy.spec.disabled && policy.spec.trigger.fits(object) => {
                let claim = claim_for(&policy, kind, object, project)?;
                if policy.spec.when_exceeded == WhenExceeded::Refuse {
                    fits(&claim, None, project, view)?;
                }
                effects.push(Effect::create(&claim));
            }
            (Some(_), Some(object)) => effects.extend(adjust(&policy, kind, object, project, view)?),
            (Some(gone), None) => effects.extend(existing(&policy, gone, view).map(|claim| delete(&claim))),
            _ => {}
        }
    }
    Ok(effects)
}

fn claim_for(
    policy: &ClaimCreationPolicy,
    kind: &Kind,
    object: &Object,
    project: &str,
) -> Result<ResourceClaim, Refusal> {
    policy.claim_for(kind, object, project).map_err(|why| {
        Refusal::Forbidden(format!(
            "the quota of it can't be determined by ClaimCreationPolicy {}: {why}",
            policy.metadata.name
        ))
    })
}

/// The claim that a policy made for this very object.
fn existing(policy: &ClaimCreationPolicy, object: &Object, view: &mut View<'_>) -> Option<ResourceClaim> {
    let claims = view.bucket_of::<ResourceClaim>(PAYING_FOR, object.uid());
    claims.into_iter().find(|claim| claim.metadata.labels.get(POLICY) == Some(&policy.metadata.name))
}

/// When an object changes what it asks for, its claim is replaced. What can't be granted is refused, or waits.
fn adjust(
    policy: &ClaimCreationPolicy,
    kind: &Kind,
    object: &Object,
    project: &str,
    view: &mut View<'_>,
) -> Result<Vec<Effect>, Refusal> {
    if policy.spec.disabled {
        return Ok(Vec::new());
    }
    let Some(old) = existing(policy, object, view) else { return Ok(Vec::new()) };
    let mut new = claim_for(policy, kind, object, project)?;
    if old.spec.requests == new.spec.requests {
        return Ok(Vec::new());
    }
    // Another claim has another name, so that the history of each is its own.
    new.metadata.name = format!("{}-{}", new.metadata.name, object.generation());
    if new.metadata.name == old.metadata.name {
        new.metadata.name.push_str("-r");
    }
    let has_room = match policy.spec.when_exceeded {
        WhenExceeded::Refuse => fits(&new, Some(&old), project, view).map(|()| true)?,
        WhenExceeded::Wait => {
            old.is_granted() && new.spec.requests.iter().all(|request| request.amount <= had(&old, request))
        }
    };
    if has_room {
        new.metadata.annotations.insert(KEEPS.to_owned(), "true".to_owned());
    }
    Ok(vec![delete(&old), Effect::create(&new)])
}

/// What a claim has of what another one asks for.
fn had(old: &ResourceClaim, request: &ResourceRequest) -> i64 {
    let granted = old.spec.requests.iter().filter(|_| old.is_granted());
    granted.filter(|other| other.resource_type == request.resource_type).map(|other| other.amount).sum()
}

fn delete(claim: &ResourceClaim) -> Effect {
    Effect::delete(ResourceClaim::address(&claim.metadata.namespace, &claim.metadata.name))
}

/// Refuses a claim that would have to wait. `old` is one that it replaces.
fn fits(
    claim: &ResourceClaim,
    old: Option<&ResourceClaim>,
    project: &str,
    view: &mut View<'_>,
) -> Result<(), Refusal> {
    let consumer = &claim.spec.consumer_ref;
    let mut root = view.root();
    for request in &claim.spec.requests {
        let name = bucket_name(consumer, &request.resource_type);
        let bucket = root.get_in::<AllowanceBucket>(&bucket_namespace(consumer), &name);
        let (used, limit) = bucket.map_or((0, 0), |bucket| (bucket.status.allocated, bucket.status.limit));
        let had = old.map_or(0, |old| had(old, request));
        // Giving some back is never refused, though the limit was lowered below what is used.
        if used - had + request.amount > limit && request.amount > had {
            return Err(Refusal::Forbidden(exceeded(
                &request.resource_type,
                request.amount - had,
                used,
                limit,
                project,
            )));
        }
    }
    Ok(())
}

/// What is refused, in the words that clients of Kubernetes know, and what to do about it.
fn exceeded(resource: &str, asked: i64, used: i64, limit: i64, project: &str) -> String {
    let short = resource.rsplit('/').next().unwrap_or(resource);
    let needed = used.saturating_add(asked).saturating_sub(limit);
    format!(
        "exceeded quota: {resource}, requested: {short}={asked}, used: {short}={used}, limited: {short}={limit}; an \
         administrator can grant more with: groundplane quota grant {resource} {needed} --project {project}"
    )
}
