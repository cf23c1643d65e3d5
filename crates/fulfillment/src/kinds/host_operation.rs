//! HostOperation: something that is done to a host once, through its BMC.

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{
    Bucket, Change, Declaration, Metadata, OnDelete, Planes, Reference, Refusal, Resource, Sealed, Sentence,
    Verdict, View, allow,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::host::Host;
use super::host_claim::{Claimant, HostClaim, judge};
use crate::references::{MOST_PASSWORD, NameReference, SealedReference};
use crate::states::HostPowerState;

/// Bucket of the operations that are under way, by host.
pub const RUNNING: Bucket = Bucket::new("fulfillment.groundplane.dev/running-host-operations");

/// Seconds that an operation may take, unless it says otherwise.
pub const TIMEOUT_SECONDS: i64 = 900;

/// Something that is done to a host once, through its BMC: a power cycle, the choice of a boot device, a new password. It is
/// carried out under the claim on the host: under that of its holder if `spec.claim` names it, and otherwise under a claim of
/// its own, which it takes while nobody holds the host and releases at its end. What lasts is not an operation: set
/// `spec.powerState` of the Host to keep it on or off. Operations that have ended are deleted after a week.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HostOperation {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// What is to be done. Immutable.
    pub spec: HostOperationSpec,
    /// How far it is. Set by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<HostOperationStatus>,
}

/// What is to be done to a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "spec is immutable"}]))]
pub struct HostOperationSpec {
    /// Host that it is done to. Must exist.
    pub host_ref: NameReference,
    /// What is done to the host. Decides which of the other fields are required.
    pub action: HostAction,
    /// Whether the operating system is asked to shut down, instead of cutting the power. For `PowerOff` and `PowerCycle`.
    /// Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graceful: Option<bool>,
    /// What the host boots from. For `SetBootDevice`, which requires it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<BootChoice>,
    /// URL of the image that is inserted as virtual media. For `InsertMedia`, which requires it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub image: Option<String>,
    /// Claim of the holder of the host, under which it is done. While it goes on, the claim can't change. If it is not set,
    /// the operation waits until nobody holds the host, and holds it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimReference>,
    /// Seconds after which it fails if it has not succeeded. 10 to 86400. Defaults to 900.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 10, max = 86400))]
    pub timeout_seconds: Option<i64>,
}

/// What is done to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HostAction {
    /// Powers the host on.
    PowerOn,
    /// Powers the host off.
    PowerOff,
    /// Powers the host off, and on again. A host that is off is powered on.
    PowerCycle,
    /// Overrides the boot device.
    SetBootDevice,
    /// Inserts an image as virtual media.
    InsertMedia,
    /// Removes all virtual media.
    EjectMedia,
    /// Changes the password of the account at the BMC to a generated one.
    RotateCredentials,
}

/// What a host boots from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BootChoice {
    /// Device, or class of devices, that the host boots from.
    pub device: BootDevice,
    /// Whether it is for the next boot alone. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once: Option<bool>,
    /// Firmware interface. Defaults to the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<BootMode>,
}

/// A boot device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BootDevice {
    /// The order of the firmware: no override.
    Default,
    /// Network boot by PXE.
    PXE,
    /// The first disk.
    Disk,
    /// Optical media, virtual media included.
    CD,
    /// USB or floppy, virtual media included.
    USB,
    /// The setup of the firmware.
    Setup,
    /// Network boot by HTTP. UEFI only.
    HTTP,
}

/// Firmware interface of a boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BootMode {
    /// UEFI.
    UEFI,
    /// BIOS compatibility.
    Legacy,
}

/// A claim on a host, in an epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimReference {
    /// Who may drive the BMC by the claim: its holder, or the delegate of that.
    pub driver: Claimant,
    /// Epoch of the claim. If the claim is in another one by now, the operation is refused.
    #[schemars(range(min = 0))]
    pub epoch: i64,
}

/// How far an operation is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostOperationStatus {
    /// Phase of the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<HostOperationPhase>,
    /// Machine-readable reason of the phase, in CamelCase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub reason: Option<String>,
    /// What it does, waits for, or failed for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub message: Option<String>,
    /// When it began to drive the BMC, in RFC 3339 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub started_at: Option<String>,
    /// When it ended, in RFC 3339 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub finished_at: Option<String>,
    /// Whether it changed something at the BMC. Set when it has succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    /// How far the change of a password is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<RotationStatus>,
    /// Conditions of the operation. `Progressing` is `False` once it takes longer than it may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub conditions: Vec<Condition>,
}

/// Phase of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HostOperationPhase {
    /// It waits for the claim on the host.
    Pending,
    /// It drives the BMC.
    Running,
    /// It is done, and was read back from the BMC.
    Succeeded,
    /// It was not done, or nobody knows.
    Failed,
}

/// How far the change of a password is. The two passwords are kept sealed until the new one is proven.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotationStatus {
    /// Account whose password changes.
    #[schemars(length(max = 253))]
    pub user: String,
    /// Phase of the change: `Staged`, `Setting`, `Unsure`, `Set`, `Verified`, `Switched`, `Done`, `Refused` or `Quarantined`.
    #[schemars(length(max = 63))]
    pub phase: String,
    /// Number of times that the change was sent to the BMC.
    #[schemars(range(min = 0))]
    pub attempts: u32,
    /// New password. Write-only: `newPasswordRef` says where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_password: Option<String>,
    /// Where the new password is kept. Set by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_password_ref: Option<SealedReference>,
    /// Password before. Write-only: `oldPasswordRef` says where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_password: Option<String>,
    /// Where the password before is kept. Set by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_password_ref: Option<SealedReference>,
}

impl Resource for HostOperation {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "HostOperation";
    const PLURAL: &'static str = "hostoperations";

    fn declare() -> Declaration<HostOperation> {
        Declaration::cluster()
            .planes(Planes::Root)
            .categories(&["fulfillment"])
            .status()
            .seals(Sealed::at("status.rotation.newPassword", MOST_PASSWORD))
            .seals(Sealed::at("status.rotation.oldPassword", MOST_PASSWORD))
            .refers(
                Reference::to::<Host>("spec.hostRef.name")
                    .immutable()
                    .on_delete(OnDelete::Ignore)
                    .tie("done to it"),
            )
            .selects(&["spec.hostRef.name", "spec.action", "status.phase"])
            .prints("Host", "string", ".spec.hostRef.name")
            .prints("Action", "string", ".spec.action")
            .prints("Phase", "string", ".status.phase")
            .prints("Message", "string", ".status.message")
            .prints_age()
            .bucket(RUNNING, |operation: &HostOperation| operation.runs_on().into_iter().collect())
            .validate(says_what_its_action_needs)
            .rule(may_be_done)
            .rule(runs_alone)
            .tells_created(&[Sentence {
                when: "true",
                says: "asked for {{ $.action }} of host {{ $.hostRef.name }}",
            }])
    }
}

impl HostOperation {
    /// The host, while it is under way.
    fn runs_on(&self) -> Option<String> {
        let is_running = self.phase() == HostOperationPhase::Running;
        is_running.then(|| self.spec.host_ref.name.clone())
    }

    /// Its phase.
    pub fn phase(&self) -> HostOperationPhase {
        self.status.as_ref().and_then(|status| status.phase).unwrap_or(HostOperationPhase::Pending)
    }

    /// It as the holder of a claim.
    pub fn claimant(name: &str, uid: &str) -> Claimant {
        Claimant {
            api_group: crate::GROUP.to_owned(),
            kind: HostOperation::KIND.to_owned(),
            project: None,
            namespace: None,
            name: name.to_owned(),
            uid: Some(uid.to_owned()),
        }
    }
}

fn says_what_its_action_needs(change: &Change<HostOperation>) -> Vec<FieldError> {
    let (Some(operation), None) = (change.after(), change.before()) else { return Vec::new() };
    let (spec, path) = (&operation.spec, Path::of("spec"));
    let is = |action: HostAction| spec.action == action;
    let mut faults = Vec::new();
    let fields = [
        ("boot", spec.boot.is_some(), is(HostAction::SetBootDevice), true),
        ("image", spec.image.is_some(), is(HostAction::InsertMedia), true),
        ("graceful", spec.graceful.is_some(), is(HostAction::PowerOff) || is(HostAction::PowerCycle), false),
    ];
    for (field, is_there, belongs, is_required) in fields {
        let at = path.field(field);
        if is_there && !belongs {
            faults.push(FieldError::forbidden(&at, format!("means nothing for {:?}", spec.action)));
        } else if belongs && is_required && !is_there {
            faults.push(FieldError::required(&at, format!("{:?} needs it", spec.action)));
        }
    }
    faults
}

/// It is done under the claim that it names, or on a host that nobody holds for long.
fn may_be_done(change: &Change<HostOperation>, view: &mut View<'_>) -> Verdict {
    let (Some(operation), None) = (change.after(), change.before()) else { return allow() };
    let (spec, host) = (&operation.spec, &operation.spec.host_ref.name);
    let claim = view.get::<HostClaim>(host);
    if let Some(reference) = &spec.claim {
        return judge(claim.as_ref(), host, &reference.driver, reference.epoch);
    }
    let claim = claim.map(|claim| claim.spec);
    if let Some(holder) = claim.as_ref().and_then(|claim| claim.holder.as_ref()).filter(|it| !is_brief(it)) {
        return Err(Refusal::Conflict(format!(
            "{holder} holds the host; only its holder may do this, and names the claim in spec.claim"
        )));
    }
    let wanted = view.get::<Host>(host).and_then(|host| host.spec.power_state).unwrap_or_default();
    let against = match (spec.action, wanted) {
        (HostAction::PowerOn | HostAction::PowerCycle, HostPowerState::Off) => "off",
        (HostAction::PowerOff, HostPowerState::On) => "on",
        _ => return allow(),
    };
    Err(Refusal::Conflict(format!(
        "spec.powerState of host {host} keeps it {against}; change that instead: groundplane host power on|off {host}"
    )))
}

/// Whether a claimant holds hosts for moments only, so that it can be waited for.
fn is_brief(claimant: &Claimant) -> bool {
    claimant.kind == "Controller"
        || (claimant.api_group == crate::GROUP && claimant.kind == HostOperation::KIND)
}

/// Only one operation at a time drives a BMC.
fn runs_alone(change: &Change<HostOperation>, view: &mut View<'_>) -> Verdict {
    let Some(operation) = change.after() else { return allow() };
    let (Some(host), was_running) =
        (operation.runs_on(), change.before().is_some_and(|before| before.runs_on().is_some()))
    else {
        return allow();
    };
    if was_running {
        return allow();
    }
    let others = view.bucket_of::<HostOperation>(RUNNING, &host);
    match others.iter().find(|other| other.metadata.name != operation.metadata.name) {
        Some(other) => Err(Refusal::Conflict(format!(
            "HostOperation {} is under way at host {host}",
            other.metadata.name
        ))),
        None => allow(),
    }
}
