//! The power controller: reads the power state of hosts, and keeps free hosts in the desired one.
//!
//! Reading needs no claim. To change the power state it takes the claim on the host, which nobody may hold then, and releases
//! it when the BMC reports the desired state, or that it failed.

mod memory;

use std::sync::Arc;
use std::time::Duration;

use bmc::power::{PowerAction, PowerState};
use krm::Object;
use krm::condition::{Finding, withdraw};
use krm::kind::{Planes, QueryContext};
use reconcile::context::Context;
use reconcile::plan::{Action, Plan};
use reconcile::reconciler::{Bell, DependsOn, Executing, Execution, Outcome, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde::Deserialize;
use serde_json::{Value, json};

use self::memory::{Memory, Reading};
use super::claiming::Claim;
use super::hosts::set;
use crate::bmcs::ongoing::Ongoing;
use crate::bmcs::{Access, Bmcs, Drivers, Failure, ROLE, Under};
use crate::kinds::Host;
use crate::kinds::host::ObservedBmc;
use crate::kinds::host_claim::Claimant;
use crate::kinds::host_operation::RUNNING;
use crate::states::HostPowerState;

/// Condition: whether the BMC of a host answers.
pub const BMC_REACHABLE: &str = "BMCReachable";
/// Condition: whether a host is in the desired power state.
pub const POWER_STATE_REACHED: &str = "PowerStateReached";

const NAME: &str = "host-power-controller";
const READ: &str = "read-power";
const CANCEL: &str = "cancel";
const ON: &str = "power-on";
const OFF: &str = "power-off";

/// How often the power state of a host is read that is to be kept in one.
const KEPT_EVERY: Duration = Duration::from_secs(60);
/// How often that of other hosts is read.
const READ_EVERY: Duration = Duration::from_secs(300);
/// How long reading may take.
const READ_LIMIT: Duration = Duration::from_secs(60);
/// How soon it is read again while it changes.
const CHANGING: Duration = Duration::from_secs(5);

/// Reconciles the power state of hosts.
pub struct PowerController {
    bmcs: Arc<Bmcs>,
    ongoing: Ongoing,
    memory: Arc<Memory>,
}

impl PowerController {
    /// With drivers of BMCs.
    pub fn new(drivers: Arc<dyn Drivers>) -> PowerController {
        let (ongoing, memory) = (Ongoing::default(), Arc::default());
        PowerController { bmcs: Arc::new(Bmcs::new(NAME, drivers)), ongoing, memory }
    }
}

impl Reconciler for PowerController {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Reads the power state of hosts from their BMCs, and keeps free hosts in the desired one."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Host>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::GROUP, &["hosts/status"], &["update"]),
            Rule::new(crate::GROUP, &["hostclaims"], &["create", "update"]),
            ROLE,
        ]
    }

    fn settings(&self) -> Settings {
        Settings { workers: 16, ..Settings::new(self.name()) }
    }

    fn depends_on(&self) -> DependsOn {
        // Whether a host is in a cluster, and whether an operation goes on, is in a status.
        DependsOn::Everything
    }

    fn attach(&self, bell: Bell) {
        self.memory.attach(bell);
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let Ok(host) = Host::deserialize(&Value::Object(object.0.clone())) else { return plan };
        let decision = self.decide(target, &host, context, &mut plan);
        let mut new = Object::clone(object);
        let now = context.now().to_string();
        decision.tell(&host, &mut new, &now);
        plan.change(&target.plane, object, new);
        plan
    }

    fn plan_absent(&self, target: &Target, _: &Context<'_>) -> Plan {
        self.memory.forget(&target.at.name);
        self.ongoing.cancel(target);
        Plan::nothing()
    }

    fn execute<'a>(&'a self, action: &'a Action, execution: &'a Execution) -> Executing<'a> {
        Box::pin(async move {
            let host = execution.target.at.name.as_str();
            match action.name.as_str() {
                READ => {
                    self.read(action, execution);
                    Outcome::Done(Value::Null)
                }
                CANCEL => {
                    self.ongoing.cancel(&execution.target);
                    self.memory.ring(&execution.target);
                    Outcome::Done(Value::Null)
                }
                ON => self.change(host, PowerAction::On, action, execution).await,
                _ => self.change(host, PowerAction::ForceOff, action, execution).await,
            }
        })
    }
}

/// What a plan says in the status of a host.
struct Decision {
    reading: Option<Arc<Reading>>,
    /// Whether the desired state is reached; `None` if none is desired.
    reached: Option<Finding>,
    /// Whether that is not known yet, so that what was said before stays.
    is_unknown: bool,
}

impl PowerController {
    fn decide(&self, target: &Target, host: &Host, context: &Context<'_>, plan: &mut Plan) -> Decision {
        let name = host.metadata.name.as_str();
        let (claim, me) = (Claim::on(name, context), Claimant::controller(NAME));
        let is_mine = claim.holder() == Some(&me);
        let bmc = host.spec.bmc.clone().unwrap_or_default();
        if bmc.url.as_deref().unwrap_or_default().is_empty() {
            self.let_go(target, &claim, is_mine, plan);
            return Decision { reading: None, reached: None, is_unknown: false };
        }
        let fingerprint = json!([bmc.url, bmc.user, bmc.password_ref, bmc.insecure, bmc.certificate]);
        // What was read before somebody else drove the host, or before another state was asked for, tells nothing.
        let epoch = claim.epoch() - i64::from(is_mine);
        let occasion = json!([host.metadata.generation, epoch]);
        let reading = self.memory.reading(name, &fingerprint, &occasion);
        let wanted = host.spec.power_state.filter(|wanted| *wanted != HostPowerState::Unspecified);
        let (step, is_on) = match wanted {
            Some(HostPowerState::On) => (ON, true),
            _ => (OFF, false),
        };
        if let Some(result) = wanted.and_then(|_| context.result(step)) {
            // It has ended. The record goes, since the action is no longer wanted.
            let reached = ended(result, is_on);
            self.let_go(target, &claim, is_mine, plan);
            plan.again_after(if reached.holds { CHANGING } else { self.memory.rest(name) });
            return Decision { reading, reached: Some(reached), is_unknown: false };
        }
        let is_used = !context.root().bucket(RUNNING, name).is_empty();
        let doing = self.ongoing.doing(target);
        let is_changing = is_mine && wanted.is_some() && doing.as_deref() == Some(step);
        let every = if wanted.is_some() { KEPT_EVERY } else { READ_EVERY };
        let due = reading.as_ref().map_or(Duration::ZERO, |reading| reading.due_in(every));
        if !is_used && doing.is_none() && !self.memory.is_reading(name) {
            if due.is_zero() {
                let parameters = json!({ "fingerprint": fingerprint, "occasion": occasion });
                plan.actions.push(Action { name: READ.to_owned(), parameters, is_external: false });
            } else {
                plan.again_after(due);
            }
        }
        let Some(wanted) = wanted else {
            self.let_go(target, &claim, is_mine, plan);
            return Decision { reading, reached: None, is_unknown: false };
        };
        let found = reading.as_ref().and_then(|reading| reading.power());
        let reached = match found {
            _ if is_changing => self.go_on(step, &claim, plan),
            _ if doing.is_some() => {
                self.let_go(target, &claim, is_mine, plan);
                Finding::fails(POWER_STATE_REACHED, "Changing", "an earlier change is being given up")
            }
            None if reading.is_some() => {
                self.let_go(target, &claim, is_mine, plan);
                let why = "the BMC does not answer, so the power state is not known";
                Finding::fails(POWER_STATE_REACHED, "NotRead", why)
            }
            None => {
                self.let_go(target, &claim, is_mine, plan);
                return Decision { reading, reached: None, is_unknown: true };
            }
            Some(found) if leads(found) == Some(is_on) => {
                self.let_go(target, &claim, is_mine, plan);
                Finding::holds(POWER_STATE_REACHED, "Reached", format!("the host is {}", wanted.shown()))
            }
            Some(found) if !found.is_settled() => {
                self.let_go(target, &claim, is_mine, plan);
                Finding::fails(POWER_STATE_REACHED, "Changing", format!("the host is {found}"))
            }
            Some(_) if is_mine => self.go_on(step, &claim, plan),
            Some(found) => match blocked(host, &claim, is_used) {
                Some(why) => {
                    Finding::fails(POWER_STATE_REACHED, "Held", format!("the host is {found}; {why}"))
                }
                None => match self.memory.resting(name) {
                    Some(pause) => {
                        plan.again_after(pause);
                        let why = self.memory.failure(name).unwrap_or_default();
                        Finding::fails(POWER_STATE_REACHED, "Failed", why)
                    }
                    None => {
                        let why = format!("the desired power state is {}", wanted.shown());
                        let epoch = claim.take(&me, &why, plan);
                        plan.actions.push(external(step, epoch));
                        Finding::fails(POWER_STATE_REACHED, "Changing", format!("the host is {found}; {why}"))
                    }
                },
            },
        };
        Decision { reading, reached: Some(reached), is_unknown: false }
    }

    /// Goes on with a change under the claim that is held.
    fn go_on(&self, step: &str, claim: &Claim, plan: &mut Plan) -> Finding {
        plan.actions.push(external(step, claim.epoch()));
        Finding::fails(POWER_STATE_REACHED, "Changing", "the power state is being changed")
    }

    /// Releases the host, once nothing of this process drives it any more.
    fn let_go(&self, target: &Target, claim: &Claim, is_mine: bool, plan: &mut Plan) {
        if self.ongoing.doing(target).is_some() {
            plan.actions.push(Action {
                name: CANCEL.to_owned(),
                parameters: Value::Null,
                is_external: false,
            });
        } else if is_mine {
            claim.release(plan);
        }
    }

    /// Reads in a task, since a BMC may take longer than an action may; its end has the host planned again.
    fn read(&self, action: &Action, execution: &Execution) {
        let (target, access) = (execution.target.clone(), Access::of(execution));
        if !self.memory.begin(&target.at.name) {
            return;
        }
        let (bmcs, memory) = (self.bmcs.clone(), self.memory.clone());
        let (of, cancelled) = (action.parameters.clone(), execution.cancelled.clone());
        tokio::spawn(async move {
            let host = target.at.name.as_str();
            let reading = async {
                match bmcs.read(host, &access).await {
                    Ok(readable) => readable.power().await,
                    Err(failure) => Err(failure),
                }
            };
            let reading = tokio::time::timeout(READ_LIMIT, reading);
            let read = tokio::select! {
                biased;
                () = cancelled.cancelled() => None,
                read = reading => Some(read.unwrap_or(Err(Failure::Slow(READ_LIMIT)))),
            };
            match read {
                None => return memory.end(host),
                // Others use it, or it failed too often: what was read before stands.
                Some(Err(Failure::Resting(resting))) => {
                    tokio::time::sleep(resting.pause).await;
                    memory.end(host);
                }
                Some(read) => memory.read(host, (&of["fingerprint"], &of["occasion"]), read),
            }
            memory.ring(&target);
        });
    }

    async fn change(
        &self,
        host: &str,
        power: PowerAction,
        action: &Action,
        execution: &Execution,
    ) -> Outcome {
        let under = Under {
            who: Claimant::controller(NAME),
            epoch: action.parameters["epoch"].as_i64().unwrap_or_default(),
        };
        let (bmcs, access, name) = (self.bmcs.clone(), Access::of(execution), host.to_owned());
        let begin = || async move {
            let done = match bmcs.drive(&name, &under, &access).await {
                Ok(driven) => driven.call(|bmc| bmc.set_power(power)).await,
                Err(failure) => Err(failure),
            };
            match done {
                Ok(_) => json!({ "done": true }),
                Err(failure) => {
                    tracing::warn!(host = name, %failure, "the power state of a host was not changed");
                    json!({ "reason": failure.reason(), "why": failure.to_string() })
                }
            }
        };
        let outcome = self.ongoing.carry(&action.name, execution, begin).await;
        if let Outcome::Done(result) = &outcome {
            self.memory.changed(host, result["why"].as_str(), power.leads_to());
        }
        outcome
    }
}

/// Whether a state is one that lasts, and which.
fn leads(state: PowerState) -> Option<bool> {
    match state {
        PowerState::On => Some(true),
        PowerState::Off => Some(false),
        PowerState::PoweringOn | PowerState::PoweringOff => None,
    }
}

/// Why a host is not free to be powered.
fn blocked(host: &Host, claim: &Claim, is_used: bool) -> Option<String> {
    if let Some(holder) = claim.holder() {
        return Some(format!("{holder} holds it, and its power state is changed once it is released"));
    }
    if host.cluster().is_some() {
        return Some("it is in a cluster".to_owned());
    }
    is_used.then(|| "an operation goes on".to_owned())
}

fn external(step: &str, epoch: i64) -> Action {
    Action { name: step.to_owned(), parameters: json!({ "epoch": epoch }), is_external: true }
}

/// What a change of the power state ended with.
fn ended(result: &Value, is_on: bool) -> Finding {
    match result["why"].as_str() {
        None => {
            let state = if is_on { HostPowerState::On } else { HostPowerState::Off };
            Finding::holds(POWER_STATE_REACHED, "Reached", format!("the host is {}", state.shown()))
        }
        Some(why) => Finding::fails(POWER_STATE_REACHED, "Failed", why),
    }
}

impl Decision {
    fn tell(&self, host: &Host, new: &mut Object, now: &str) {
        if let Some(reading) = &self.reading {
            reading.finding().tell(new, now);
            if let Some(is_on) = reading.power().and_then(leads) {
                let state = if is_on { HostPowerState::On } else { HostPowerState::Off };
                set(new, "powerState", json!(state));
            }
            if let Some((address, certificate)) = reading.pin() {
                let (address, certificate) = (Some(address.clone()), Some(certificate.clone()));
                set(new, "bmc", json!(ObservedBmc { address, certificate }));
            }
        }
        if host.spec.bmc.as_ref().is_none_or(|bmc| bmc.url.is_none()) {
            withdraw(new, BMC_REACHABLE);
        }
        match &self.reached {
            Some(finding) => finding.tell(new, now),
            None if self.is_unknown => {}
            None => withdraw(new, POWER_STATE_REACHED),
        }
    }
}
