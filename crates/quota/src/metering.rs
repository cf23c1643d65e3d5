//! Metering: objects of any kind claim quota as they are created, and release it as they go; new consumers get grants.

mod policies;

use std::sync::{Arc, PoisonError, RwLock};

use krm::Object;
use krm::kind::{Address, Effect, EffectPlugin, Kind, RawChange, Refusal, Resource, View};

use crate::bucket_name::{bucket_name, bucket_namespace};
use crate::kinds::allowance_bucket::Sums;
use crate::kinds::claim_creation_policy::WhenExceeded;
use crate::kinds::resource_claim::{KEEPS, PAYING_FOR, POLICY, ResourceRequest};
use crate::kinds::resource_grant::{OF_CONSUMER, consumer_key};
use crate::kinds::{
    AllowanceBucket, ClaimCreationPolicy, ConsumerRef, GrantCreationPolicy, ResourceClaim, ResourceGrant,
};
use policies::{ByKind, ClaimPolicy, is_enabled};

/// Makes claims and grants along with the objects that policies name.
#[derive(Default)]
pub struct Metering {
    /// Policies by the group and kind that trigger them. That they still say so is guarded in the transaction.
    policies: RwLock<Policies>,
}

#[derive(Default)]
struct Policies {
    claims: ByKind<Option<Arc<ClaimPolicy>>>,
    grants: ByKind<()>,
}

impl EffectPlugin for Metering {
    fn name(&self) -> &'static str {
        "quota"
    }

    fn concerns(&self, kind: &Kind, project: Option<&str>) -> bool {
        let policies = self.policies.read().unwrap_or_else(PoisonError::into_inner);
        match project {
            Some(_) => kind.group != crate::GROUP && policies.claims.has(kind),
            None => {
                let is_metered = kind.group != crate::GROUP && policies.claims.has(kind);
                is_consumer(kind) || policies.grants.has(kind) || is_metered
            }
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
        let policies = || self.policies.read().unwrap_or_else(PoisonError::into_inner);
        match view.project() {
            Some(project) => {
                let policies = policies().claims.of(kind);
                claims(policies, kind, change, Some(&project.name), view)
            }
            None => {
                let (to_claim, to_grant) = (policies().claims.of(kind), policies().grants.of(kind));
                let mut effects = claims(to_claim, kind, change, None, view)?;
                match (change.old, change.new) {
                    (None, Some(consumer)) => effects.extend(grants(&to_grant, consumer, view)),
                    (Some(gone), None) if is_consumer(kind) => effects.extend(take_grants_back(gone, view)),
                    _ => {}
                }
                Ok(effects)
            }
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
        match at.plural == ClaimCreationPolicy::PLURAL {
            // A disabled policy still releases what its objects have.
            true => policies.claims.take_in(&at.name, object, ClaimPolicy::read),
            false => policies.grants.take_in(&at.name, object.filter(|policy| is_enabled(policy)), |_| ()),
        }
    }
}

fn is_consumer(kind: &Kind) -> bool {
    let is_one = [crate::PROJECT, crate::ORGANIZATION].contains(&kind.names.kind.as_str());
    kind.group == crate::TENANCY_GROUP && is_one
}

/// The grants of a new consumer.
fn grants(policies: &[(String, ())], consumer: &Object, view: &mut View<'_>) -> Vec<Effect> {
    let policies = policies.iter().filter_map(|(name, ())| view.get::<GrantCreationPolicy>(name));
    let fitting = policies.filter(|policy| !policy.spec.disabled && policy.spec.trigger.fits(consumer));
    let grants: Vec<ResourceGrant> = fitting.map(|policy| policy.grant_for(consumer)).collect();
    grants.iter().map(Effect::create).collect()
}

/// A later consumer of the same name must not inherit the grants of one that is gone.
fn take_grants_back(gone: &Object, view: &mut View<'_>) -> Vec<Effect> {
    let consumer = ConsumerRef { kind: gone.kind().to_owned(), ..ConsumerRef::project(gone.name()) };
    let grants = view.bucket_of::<ResourceGrant>(OF_CONSUMER, &consumer_key(&consumer));
    let delete =
        |grant: &ResourceGrant| ResourceGrant::address(&grant.metadata.namespace, &grant.metadata.name);
    grants.iter().map(|grant| Effect::delete(delete(grant))).collect()
}

/// What a change of a metered object does to its claims.
fn claims(
    policies: Vec<(String, Option<Arc<ClaimPolicy>>)>,
    kind: &Kind,
    change: &RawChange<'_>,
    project: Option<&str>,
    view: &mut View<'_>,
) -> Result<Vec<Effect>, Refusal> {
    let mut effects = Vec::new();
    for (name, known) in policies {
        let Some(policy) = ClaimPolicy::current(&name, known, view) else { continue };
        let spec = &policy.policy().spec;
        match (change.old, change.new) {
            (None, Some(object)) if !spec.disabled && policy.fits(object) => {
                let Some(claim) = claim_for(&policy, kind, object, project)? else { continue };
                if spec.when_exceeded == WhenExceeded::Refuse {
                    fits(&claim, None, view)?;
                }
                effects.push(Effect::create(&claim));
            }
            (Some(_), Some(object)) => effects.extend(adjust(&policy, kind, object, project, view)?),
            (Some(gone), None) => {
                effects.extend(existing(policy.policy(), gone, view).map(|claim| delete(&claim)))
            }
            _ => {}
        }
    }
    Ok(effects)
}

fn claim_for(
    policy: &ClaimPolicy,
    kind: &Kind,
    object: &Object,
    project: Option<&str>,
) -> Result<Option<ResourceClaim>, Refusal> {
    policy.claim_for(kind, object, project).map_err(|why| {
        Refusal::Forbidden(format!(
            "the quota of it can't be determined by ClaimCreationPolicy {}: {why}",
            policy.policy().metadata.name
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
    policy: &ClaimPolicy,
    kind: &Kind,
    object: &Object,
    project: Option<&str>,
    view: &mut View<'_>,
) -> Result<Vec<Effect>, Refusal> {
    let spec = &policy.policy().spec;
    if spec.disabled {
        return Ok(Vec::new());
    }
    let Some(old) = existing(policy.policy(), object, view) else { return Ok(Vec::new()) };
    let Some(mut new) = claim_for(policy, kind, object, project)? else { return Ok(vec![delete(&old)]) };
    let is_of_another = old.spec.consumer_ref != new.spec.consumer_ref;
    if old.spec.requests == new.spec.requests && !is_of_another {
        return Ok(Vec::new());
    }
    // Another claim has another name, so that the history of each is its own.
    new.metadata.name = format!("{}-{}", new.metadata.name, object.generation());
    if new.metadata.name == old.metadata.name {
        new.metadata.name.push_str("-r");
    }
    let has_room = match spec.when_exceeded {
        WhenExceeded::Refuse => {
            fits(&new, Some(&old).filter(|_| !is_of_another), view).map(|()| !is_of_another)?
        }
        WhenExceeded::Wait => {
            !is_of_another
                && old.is_granted()
                && new.spec.requests.iter().all(|request| request.amount <= had(&old, request))
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
fn fits(claim: &ResourceClaim, old: Option<&ResourceClaim>, view: &mut View<'_>) -> Result<(), Refusal> {
    let consumer = &claim.spec.consumer_ref;
    let mut root = view.root();
    for request in &claim.spec.requests {
        let name = bucket_name(consumer, &request.resource_type);
        let at = AllowanceBucket::address(&bucket_namespace(consumer), &name);
        let had = old.map_or(0, |old| had(old, request));
        // Giving some back is never refused, though the limit was lowered below what is used.
        let is_exceeded =
            |sums: &Sums| sums.allocated - had + request.amount > sums.limit && request.amount > had;
        // That there is room is found out again when the claim is counted. That there is none is guarded.
        let seems_exceeded = Sums::peek(&at, &mut root).is_none_or(|sums| is_exceeded(&sums));
        if !seems_exceeded {
            continue;
        }
        let sums = root.reader().get(&at).map(|bucket| Sums::of(&bucket)).unwrap_or_default();
        if is_exceeded(&sums) {
            let Sums { allocated: used, limit, .. } = sums;
            return Err(Refusal::Forbidden(exceeded(
                &request.resource_type,
                request.amount - had,
                used,
                limit,
                consumer,
            )));
        }
    }
    Ok(())
}

/// What is refused, in the words that clients of Kubernetes know, and what to do about it.
fn exceeded(resource: &str, asked: i64, used: i64, limit: i64, consumer: &ConsumerRef) -> String {
    let short = resource.rsplit('/').next().unwrap_or(resource);
    let needed = used.saturating_add(asked).saturating_sub(limit);
    let (whose, name) = (consumer.kind.to_lowercase(), &consumer.name);
    format!(
        "exceeded quota: {resource}, requested: {short}={asked}, used: {short}={used}, limited: {short}={limit}; an \
         administrator can grant more with: groundplane quota grant {resource} {needed} --{whose} {name}"
    )
}
