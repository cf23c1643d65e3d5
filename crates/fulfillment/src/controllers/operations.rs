//! The operation controller: does once to a host what a HostOperation asks for, through its BMC.
//!
//! An operation takes the claim on the host and says that it runs in one commit, drives the BMC step by step, and says how it
//! ended and releases the claim in another. Each step is recorded before it begins and may be repeated without harm, so that
//! a process that ends in the middle is followed by one that goes on. A power cycle is off, recorded, and on: it never
//! happens twice.

mod rotation;

use std::sync::Arc;
use std::time::Duration;

use bmc::boot::{BootMode, BootOverride, Persistence};
use bmc::power::PowerAction;
use bmc::{Answer, Bmc, Outcome as Change};
use krm::Object;
use krm::kind::{Planes, QueryContext, Resource};
use krm::time::Moment;
use reconcile::context::Context;
use reconcile::plan::{Action, Deletion, Plan, Write};
use reconcile::reconciler::{DependsOn, Executing, Execution, Outcome, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde::Deserialize;
use serde_json::{Value, json};

use super::claiming::Claim;
use crate::bmcs::ongoing::Ongoing;
use crate::bmcs::{Access, Bmcs, Drivers, Failure, ROLE, Under};
use crate::kinds::host_claim::{Claimant, judge};
use crate::kinds::host_operation::{self as kind, HostAction, HostOperationPhase as Phase, TIMEOUT_SECONDS};
use crate::kinds::{Host, HostOperation};

const NAME: &str = "host-operation-controller";

/// How long an operation is kept that has ended.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
/// Pause before a step is tried again that may succeed later.
const AGAIN: Duration = Duration::from_secs(5);

/// Reconciles operations on hosts.
pub struct OperationController {
    bmcs: Arc<Bmcs>,
    ongoing: Ongoing,
}

impl OperationController {
    /// With drivers of BMCs.
    pub fn new(drivers: Arc<dyn Drivers>) -> OperationController {
        OperationController { bmcs: Arc::new(Bmcs::new(NAME, drivers)), ongoing: Ongoing::default() }
    }
}

impl Reconciler for OperationController {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Power-cycles hosts, sets their boot devices and changes their BMC passwords, as operations ask for."
    }

    fn scope(&self) -> Scope {
        Scope::of::<HostOperation>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::GROUP, &["hostoperations/status"], &["update"]),
            Rule::new(crate::GROUP, &["hostoperations"], &["delete"]),
            Rule::new(crate::GROUP, &["hostclaims"], &["create", "update"]),
            // The new password of a rotation.
            Rule::new(crate::GROUP, &["hosts"], &["patch"]),
            ROLE,
        ]
    }

    fn settings(&self) -> Settings {
        Settings { workers: 8, ..Settings::new(self.name()) }
    }

    fn depends_on(&self) -> DependsOn {
        // Whether another operation goes on is in its status.
        DependsOn::Everything
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let Ok(operation) = HostOperation::deserialize(&Value::Object(object.0.clone())) else {
            return Plan::nothing();
        };
        let mut planner = Planner { target, object, operation: &operation, context, plan: Plan::nothing() };
        planner.plan(&self.ongoing);
        planner.plan
    }

    fn plan_absent(&self, target: &Target, _: &Context<'_>) -> Plan {
        self.ongoing.cancel(target);
        Plan::nothing()
    }

    fn execute<'a>(&'a self, action: &'a Action, execution: &'a Execution) -> Executing<'a> {
        Box::pin(async move {
            let Ok(step) = serde_json::from_value::<Step>(action.parameters.clone()) else {
                return Outcome::Failed("the step of an operation can't be read".to_owned());
            };
            let (bmcs, access) = (self.bmcs.clone(), Access::of(execution));
            let (name, begun_before) = (execution.target.at.name.clone(), execution.was_begun);
            let work = move || async move {
                let done = step.carry_out(&name, begun_before, &bmcs, &access).await;
                match done {
                    Ok(has_changed) => json!({ "changed": has_changed }),
                    Err(failure) => json!({
                        "reason": failure.reason(), "why": failure.to_string(), "transient": failure.is_transient(),
                    }),
                }
            };
            let outcome = self.ongoing.carry(&action.name, execution, work).await;
            match outcome {
                // It is tried again until the operation has taken too long.
                Outcome::Done(result) if result["transient"] == true => Outcome::Pending(result, AGAIN),
                outcome => outcome,
            }
        })
    }
}

/// One step at a BMC.
#[derive(serde::Serialize, Deserialize)]
struct Step {
    host: String,
    who: Claimant,
    epoch: i64,
    what: What,
}

#[derive(Clone, serde::Serialize, Deserialize)]
enum What {
    On,
    Off { graceful: bool },
    Boot(kind::BootChoice),
    Insert(String),
    Eject,
    Rotate,
}

/// A call of a BMC that changes something.
type Call = Box<dyn for<'a> FnOnce(&'a dyn Bmc) -> Answer<'a, Change> + Send>;

impl Step {
    async fn carry_out(
        self,
        operation: &str,
        begun_before: bool,
        bmcs: &Arc<Bmcs>,
        access: &Access,
    ) -> Result<bool, Failure> {
        let under = Under { who: self.who, epoch: self.epoch };
        let call: Call = match self.what {
            What::On => Box::new(|bmc| bmc.set_power(PowerAction::On)),
            What::Off { graceful: true } => Box::new(|bmc| bmc.set_power(PowerAction::GracefulOff)),
            What::Off { graceful: false } => Box::new(|bmc| bmc.set_power(PowerAction::ForceOff)),
            What::Boot(choice) => {
                let wanted = boot_override(&choice);
                Box::new(move |bmc| bmc.set_boot(wanted))
            }
            What::Insert(image) => {
                Box::new(move |bmc| Box::pin(async move { bmc.insert_media(&image).await }))
            }
            What::Eject => Box::new(|bmc| bmc.eject_media()),
            What::Rotate => {
                return rotation::run(operation, &self.host, &under, begun_before, bmcs, access).await;
            }
        };
        let changed = bmcs.drive(&self.host, &under, access).await?.call(call).await?;
        Ok(changed == Change::Changed)
    }
}

fn boot_override(choice: &kind::BootChoice) -> BootOverride {
    use bmc::boot::BootDevice;
    let device = match choice.device {
        kind::BootDevice::Default => BootDevice::Default,
        kind::BootDevice::PXE => BootDevice::Pxe,
        kind::BootDevice::Disk => BootDevice::Disk,
        kind::BootDevice::CD => BootDevice::Cd,
        kind::BootDevice::USB => BootDevice::Usb,
        kind::BootDevice::Setup => BootDevice::Setup,
        kind::BootDevice::HTTP => BootDevice::Http,
    };
    let persistence = match choice.once {
        Some(true) => Persistence::Once,
        _ => Persistence::Always,
    };
    let mode = choice.mode.map(|mode| match mode {
        kind::BootMode::UEFI => BootMode::Uefi,
        kind::BootMode::Legacy => BootMode::Legacy,
    });
    BootOverride { device, persistence, mode }
}

/// Plans one operation.
struct Planner<'a> {
    target: &'a Target,
    object: &'a Arc<Object>,
    operation: &'a HostOperation,
    context: &'a Context<'a>,
    plan: Plan,
}

impl Planner<'_> {
    fn plan(&mut self, ongoing: &Ongoing) {
        let operation = self.operation;
        if matches!(operation.phase(), Phase::Succeeded | Phase::Failed) {
            return self.expire();
        }
        let host = operation.spec.host_ref.name.as_str();
        let claim = Claim::on(host, self.context);
        let own = HostOperation::claimant(self.object.name(), self.object.uid());
        let is_own = claim.holder() == Some(&own);
        if self.context.root().get(&Host::address("", host)).is_none() {
            return self.end(Phase::Failed, "HostNotFound", &format!("there is no host {host}"), None, None);
        }
        let left = self.left();
        if left.is_zero() {
            if ongoing.doing(self.target).is_some() {
                ongoing.cancel(self.target);
            }
            let why = match self.status_message() {
                Some(message) => format!("it took too long; at last: {message}"),
                None => "it took too long".to_owned(),
            };
            return self.end(Phase::Failed, "DeadlineExceeded", &why, None, is_own.then_some(&claim));
        }
        self.plan.again_after(left);
        let (under, is_taken) = match &operation.spec.claim {
            Some(reference) => {
                let verdict = judge(claim.parsed(), host, &reference.driver, reference.epoch);
                if let Err(krm::kind::Refusal::Conflict(why)) = verdict {
                    return self.end(Phase::Failed, "NotClaimed", &why, None, None);
                }
                (Under { who: reference.driver.clone(), epoch: reference.epoch }, true)
            }
            None if is_own => (Under { who: own, epoch: claim.epoch() }, true),
            None => match claim.holder() {
                Some(holder) => {
                    return self.wait("WaitingForClaim", &format!("{holder} holds the host"));
                }
                None => (Under { who: own, epoch: claim.epoch() + 1 }, false),
            },
        };
        let others = self.context.root().bucket(kind::RUNNING, host);
        if let Some(other) = others.iter().find(|other| other.name() != self.object.name()) {
            let why = format!("HostOperation {} is under way at the host", other.name());
            return self.wait("WaitingForOperation", &why);
        }
        if !is_taken {
            claim.take(&under.who, &format!("{:?}", operation.spec.action), &mut self.plan);
        }
        self.drive(host, &under, is_own.then_some(&claim));
    }

    /// Plans the next step, or the end.
    fn drive(&mut self, host: &str, under: &Under, claim: Option<&Claim>) {
        let mut changed = false;
        for (name, what) in steps(&self.operation.spec) {
            let result = self.context.result(name);
            if let Some(why) = result.and_then(|result| result["why"].as_str()) {
                let reason = result.and_then(|result| result["reason"].as_str()).unwrap_or("Failed");
                return self.end(Phase::Failed, reason, why, None, claim);
            }
            let step = Step { host: host.to_owned(), who: under.who.clone(), epoch: under.epoch, what };
            let parameters = serde_json::to_value(&step).unwrap_or_default();
            // Steps that are done stay listed, so that their results stay on record.
            self.plan.actions.push(Action { name: name.to_owned(), parameters, is_external: true });
            match result {
                Some(result) => changed |= result["changed"] == true,
                None => return self.say(Phase::Running, "Driving", &format!("{name} of host {host}"), None),
            }
        }
        self.plan.actions.clear();
        self.end(Phase::Succeeded, "Done", "done, and read back from the BMC", Some(changed), claim);
    }

    fn wait(&mut self, reason: &'static str, why: &str) {
        self.say(Phase::Pending, reason, why, None);
        self.plan.waiting = Some(why.to_owned());
    }

    fn end(
        &mut self,
        phase: Phase,
        reason: &str,
        message: &str,
        changed: Option<bool>,
        claim: Option<&Claim>,
    ) {
        self.plan.actions.clear();
        self.say(phase, reason, message, changed);
        // After the status: a claim stays while an operation is under way.
        if let Some(claim) = claim {
            claim.release(&mut self.plan);
        }
    }

    fn say(&mut self, phase: Phase, reason: &str, message: &str, changed: Option<bool>) {
        let now = self.context.now().to_string();
        let mut new = Object::clone(self.object);
        let status = new.0.entry("status").or_insert_with(|| json!({}));
        status["phase"] = json!(phase);
        status["reason"] = reason.into();
        status["message"] = message.chars().take(4096).collect::<String>().into();
        if phase != Phase::Pending && status.get("startedAt").is_none() {
            status["startedAt"] = now.as_str().into();
        }
        if matches!(phase, Phase::Succeeded | Phase::Failed) {
            status["finishedAt"] = now.into();
        }
        if let Some(changed) = changed {
            status["changed"] = changed.into();
        }
        self.plan.change(&self.target.plane, self.object, new);
    }

    fn status_message(&self) -> Option<String> {
        self.operation.status.as_ref()?.message.clone()
    }

    /// How long it may still take.
    fn left(&self) -> Duration {
        let begun = Moment::parse(self.object.meta_text("creationTimestamp")).unwrap_or_default();
        let limit = self.operation.spec.timeout_seconds.unwrap_or(TIMEOUT_SECONDS);
        let left = begun.seconds + limit - self.context.now().seconds;
        Duration::from_secs(u64::try_from(left).unwrap_or_default())
    }

    /// Deletes an operation that ended a while ago.
    fn expire(&mut self) {
        let finished = self.operation.status.as_ref().and_then(|status| status.finished_at.as_deref());
        let finished = finished.and_then(|at| Moment::parse(at).ok()).unwrap_or_default().seconds;
        let kept = i64::try_from(KEPT.as_secs()).unwrap_or(i64::MAX);
        match u64::try_from(finished + kept - self.context.now().seconds) {
            Ok(left) if left > 0 => self.plan.again_after(Duration::from_secs(left)),
            _ => {
                let deletion = Deletion { uid: Some(self.object.uid().to_owned()), ..Deletion::default() };
                self.plan.write(Write::Delete(self.target.clone(), deletion));
            }
        }
    }
}

/// The steps of an operation, in order. Each has a name of its own.
fn steps(spec: &kind::HostOperationSpec) -> Vec<(&'static str, What)> {
    let off = What::Off { graceful: spec.graceful.unwrap_or(false) };
    match spec.action {
        HostAction::PowerOn => vec![("power-on", What::On)],
        HostAction::PowerOff => vec![("power-off", off)],
        HostAction::PowerCycle => vec![("power-off", off), ("power-on", What::On)],
        HostAction::SetBootDevice => {
            spec.boot.iter().map(|choice| ("set-boot-device", What::Boot(choice.clone()))).collect()
        }
        HostAction::InsertMedia => {
            spec.image.iter().map(|image| ("insert-media", What::Insert(image.clone()))).collect()
        }
        HostAction::EjectMedia => vec![("eject-media", What::Eject)],
        HostAction::RotateCredentials => vec![("rotate-credentials", What::Rotate)],
    }
}
