//! HostClaim: who holds a host, and so may drive its BMC.

use std::fmt;

use krm::field::{FieldError, Path};
use krm::kind::{
    Change, Declaration, Effect, History, Metadata, OnDelete, Planes, Reference, Refusal, Resource, Sentence,
    Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::host::Host;
use super::host_operation::{HostOperation, RUNNING};
use crate::references::NameReference;

/// Name of the controller that holds hosts while they are cleaned.
pub const CLEANER: &str = "host-provisioning-controller";

/// Who holds a host. There is at most one for each host, of the same name. Its holder or the delegate of that may drive the
/// BMC of the host, and nobody else. It is created by the first claim; releasing a host leaves it without a holder, so that
/// epochs go on counting.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HostClaim {
    /// Standard object metadata. The name is that of the Host.
    pub metadata: Metadata,
    /// Specification of the claim. Set by claimants and operators to take, delegate or release the host.
    pub spec: HostClaimSpec,
    /// What the server made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<HostClaimStatus>,
}

/// Specification of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostClaimSpec {
    /// Host that is claimed. Must exist, and its name must be that of the claim. Immutable.
    pub host_ref: NameReference,
    /// Holder of the host. Not set while the host is free. Another holder can only take over once it was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<Claimant>,
    /// Who acts for the holder, such as the task that deploys the hosts of a cluster. Needs a holder. While it is set, the
    /// delegate may drive the BMC instead of the holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegate: Option<Claimant>,
    /// System outside that drives the BMC for the holder, such as `Metal3` or `Ironic`. Needs a holder. While it is set, the
    /// server itself does not drive the BMC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"))]
    pub outside_driver: Option<String>,
    /// Node set of the cluster that the host is for. Only for holders that are Clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub node_set: Option<String>,
    /// Why the host is held, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub reason: Option<String>,
}

/// Who holds a host or acts for its holder: an object, a user, or a controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Claimant {
    /// API group of the claimant's kind. Empty for users and controllers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Kind of the claimant: that of an object, such as `Cluster` or `Task`, or `User` or `Controller`.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[A-Z][A-Za-z0-9]*$"))]
    pub kind: String,
    /// Project that the object is in. Not set for objects of the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub project: Option<String>,
    /// Namespace of the object. Not set for objects without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// Name of the object, user or controller.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Unique identifier of the object, so that a later one of the same name does not hold the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub uid: Option<String>,
}

/// What the server made of a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostClaimStatus {
    /// Number of times that the holder, the delegate or the outside driver changed. Who drives a BMC passes it along, so that
    /// a holder that was replaced is refused.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub epoch: i64,
}

impl Claimant {
    /// A user, such as an operator.
    pub fn user(name: &str) -> Claimant {
        Claimant::named("User", name)
    }

    /// A controller of the server.
    pub fn controller(name: &str) -> Claimant {
        Claimant::named("Controller", name)
    }

    /// A cluster of a project.
    pub fn cluster(project: &str, name: &str, uid: &str) -> Claimant {
        Claimant {
            api_group: crate::GROUP.to_owned(),
            project: Some(project.to_owned()),
            uid: Some(uid.to_owned()),
            ..Claimant::named("Cluster", name)
        }
    }

    /// What cleans hosts that leave a cluster, and holds them until they are clean.
    pub fn cleaner() -> Claimant {
        Claimant::controller(CLEANER)
    }

    /// Whether it is a cluster.
    pub fn is_cluster(&self) -> bool {
        self.api_group == crate::GROUP && self.kind == "Cluster"
    }

    /// Whether it is what cleans hosts.
    pub fn is_cleaner(&self) -> bool {
        *self == Claimant::cleaner()
    }

    fn named(kind: &str, name: &str) -> Claimant {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        Claimant { api_group: String::new(), kind, project: None, namespace: None, name, uid: None }
    }
}

impl fmt::Display for Claimant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        write!(f, "{}", self.name)?;
        match &self.project {
            Some(project) => write!(f, " of project {project}"),
            None => Ok(()),
        }
    }
}

impl Resource for HostClaim {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "HostClaim";
    const PLURAL: &'static str = "hostclaims";

    fn declare() -> Declaration<HostClaim> {
        Declaration::cluster()
            .planes(Planes::Root)
            .categories(&["fulfillment"])
            .status()
            .history(History::Everything)
            .unconditional_update()
            // What is released stays, for its epoch; it goes with its host.
            .verbs(&["get", "list", "watch", "create", "update", "patch"])
            .refers(
                Reference::to::<Host>("spec.hostRef.name")
                    .immutable()
                    .on_delete(OnDelete::Ignore)
                    .tie("claims it"),
            )
            .selects(&["spec.holder.kind", "spec.holder.name", "spec.holder.project", "spec.holder.uid"])
            .prints("Holder", "string", ".spec.holder.kind")
            .prints("Name", "string", ".spec.holder.name")
            .prints("Delegate", "string", ".spec.delegate.name")
            .prints("Driver", "string", ".spec.outsideDriver")
            .prints("Epoch", "integer", ".status.epoch")
            .prints_age()
            .validate(is_of_its_host)
            .rule(is_taken_only_when_free)
            .rule(stays_while_an_operation_goes_on)
            .effects(counts_epochs)
            .tells_created(&[Sentence {
                when: "has($.holder)",
                says: "claimed host @ for {{ $.holder.name }}",
            }])
            .tells_updated(&[
                Sentence {
                    when: "has($.holder) && !has(before.spec.holder)",
                    says: "claimed host @ for {{ $.holder.name }}",
                },
                Sentence {
                    when: "!has($.holder) && has(before.spec.holder)",
                    says: "released host @ from {{ before.spec.holder.name }}",
                },
                Sentence {
                    when: "has($.delegate) && !has(before.spec.delegate)",
                    says: "delegated host @ to {{ $.delegate.name }}",
                },
            ])
    }
}

impl HostClaim {
    /// A first claim on a host.
    pub fn of(host: &str, holder: Option<Claimant>) -> HostClaim {
        let spec = HostClaimSpec {
            host_ref: NameReference { name: host.to_owned() },
            holder,
            delegate: None,
            outside_driver: None,
            node_set: None,
            reason: None,
        };
        HostClaim { metadata: Metadata { name: host.to_owned(), ..Metadata::default() }, spec, status: None }
    }

    /// Its epoch.
    pub fn epoch(&self) -> i64 {
        self.status.as_ref().map_or(0, |status| status.epoch)
    }

    /// What decides about who drives the BMC.
    fn drives(&self) -> (Option<&Claimant>, Option<&Claimant>, Option<&str>) {
        let HostClaimSpec { holder, delegate, outside_driver, .. } = &self.spec;
        (holder.as_ref(), delegate.as_ref(), outside_driver.as_deref())
    }

    /// Who may drive the BMC: the delegate, the holder if it has none, nobody while a system outside does.
    pub fn driver(&self) -> Option<&Claimant> {
        match self.spec.outside_driver {
            Some(_) => None,
            None => self.spec.delegate.as_ref().or(self.spec.holder.as_ref()),
        }
    }
}

/// Whether a claimant may drive the BMC of a host in an epoch of its claim. Called by the rules and effects of whatever leads
/// to a call of the BMC: the claim that it reads becomes a guard, so that the write does not land if the claim changes.
pub fn may_drive(view: &mut View<'_>, host: &str, who: &Claimant, epoch: i64) -> Verdict {
    let claim = view.root().get::<HostClaim>(host);
    judge(claim.as_ref(), host, who, epoch)
}

/// The same about a claim that was read.
pub fn judge(claim: Option<&HostClaim>, host: &str, who: &Claimant, epoch: i64) -> Verdict {
    let refuse = |why: String| Err(Refusal::Conflict(why));
    let Some(claim) = claim else {
        return refuse(format!("{who} may not drive host {host}: nobody has claimed it"));
    };
    if let Some(driver) = &claim.spec.outside_driver {
        return refuse(format!("{who} may not drive host {host}: {driver} drives it"));
    }
    match claim.driver() {
        Some(driver) if driver != who => refuse(format!("{who} may not drive host {host}: {driver} may")),
        None => refuse(format!("{who} may not drive host {host}: nobody holds it")),
        Some(_) if claim.epoch() != epoch => {
            let now = claim.epoch();
            refuse(format!(
                "{who} may not drive host {host} in epoch {epoch} of its claim: it is in epoch {now}"
            ))
        }
        Some(_) => allow(),
    }
}

fn is_of_its_host(change: &Change<HostClaim>) -> Vec<FieldError> {
    let Some(claim) = change.after() else { return Vec::new() };
    let spec = Path::of("spec");
    let mut faults = Vec::new();
    let host = &claim.spec.host_ref.name;
    if *host != claim.metadata.name {
        let why = format!("must be {}, the name of the claim", claim.metadata.name);
        faults.push(FieldError::invalid_text(&spec.field("hostRef").field("name"), host, why));
    }
    if claim.spec.holder.is_none() {
        let why = "needs a holder that it acts for";
        let delegate = claim.spec.delegate.as_ref().map(|_| "delegate");
        let outside = claim.spec.outside_driver.as_ref().map(|_| "outsideDriver");
        let alone = delegate.into_iter().chain(outside);
        faults.extend(alone.map(|field| FieldError::forbidden(&spec.field(field), why)));
    }
    faults
}

/// Two claimants never both hold a host. A cluster hands a host over to what cleans it: in between it is never free.
fn is_taken_only_when_free(change: &Change<HostClaim>, _: &mut View<'_>) -> Verdict {
    let holder = |claim: Option<&HostClaim>| claim.and_then(|claim| claim.spec.holder.clone());
    match (holder(change.before()), holder(change.after())) {
        (Some(before), Some(after)) if before.is_cluster() && after.is_cleaner() => allow(),
        (Some(before), Some(after)) if before != after => Err(Refusal::Conflict(format!(
            "{before} holds the host, in epoch {}; it can be claimed for {after} once it is released",
            change.before().map_or(0, HostClaim::epoch)
        ))),
        _ => allow(),
    }
}

/// Who may drive the BMC does not change while an operation drives it.
fn stays_while_an_operation_goes_on(change: &Change<HostClaim>, view: &mut View<'_>) -> Verdict {
    let (Some(before), Some(after)) = (change.before(), change.after()) else { return allow() };
    if before.drives() == after.drives() {
        return allow();
    }
    let running = view.bucket_of::<HostOperation>(RUNNING, &after.metadata.name);
    match running.first() {
        Some(operation) => Err(Refusal::Conflict(format!(
            "HostOperation {} drives the BMC of the host; wait until it has ended",
            operation.metadata.name
        ))),
        None => allow(),
    }
}

fn counts_epochs(change: &Change<HostClaim>, _: &mut View<'_>) -> Result<Vec<Effect>, Refusal> {
    let Some(claim) = change.after() else { return Ok(Vec::new()) };
    let before = change.before();
    let was = before.map_or((None, None, None), HostClaim::drives);
    let epoch = before.map_or(0, HostClaim::epoch) + i64::from(was != claim.drives());
    Ok(vec![Effect::own_status(&HostClaimStatus { epoch })])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_holder_or_its_delegate_drives_and_only_in_the_epoch_of_the_claim() {
        let (alice, task) = (Claimant::user("alice"), Claimant::controller("task"));
        let mut claim = HostClaim::of("h1", Some(alice.clone()));
        claim.status = Some(HostClaimStatus { epoch: 3 });
        assert!(judge(Some(&claim), "h1", &alice, 3).is_ok());
        assert!(judge(Some(&claim), "h1", &alice, 2).is_err(), "an earlier epoch");
        assert!(judge(Some(&claim), "h1", &task, 3).is_err());
        claim.spec.delegate = Some(task.clone());
        assert!(judge(Some(&claim), "h1", &task, 3).is_ok());
        assert!(judge(Some(&claim), "h1", &alice, 3).is_err(), "never two at once");
        claim.spec.outside_driver = Some("Metal3".to_owned());
        assert!(judge(Some(&claim), "h1", &task, 3).is_err());
        assert!(judge(None, "h1", &alice, 0).is_err());
        assert!(judge(Some(&HostClaim::of("h1", None)), "h1", &alice, 0).is_err());
    }
}
