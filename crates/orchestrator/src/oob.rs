//! Drives BMCs for steps of tasks: under the claim of the task, and only while it stands.

use std::sync::Arc;
use std::time::Duration;

use bmc::boot::{BootDevice, BootOverride};
use bmc::power::PowerAction;
use fulfillment::bmcs::ongoing::Ongoing;
use fulfillment::bmcs::{Access, Bmcs, Drivers, Failure, NetworkDrivers, Under};
use fulfillment::kinds::host_claim::Claimant;
use reconcile::reconciler::{Execution, Outcome};
use serde_json::{Value, json};

use crate::action::Step;
use crate::driver::{Call, Progress, Working};

/// Drives the BMCs of hosts.
pub trait Oob: Send + Sync {
    /// Works on a step for a few seconds at most. `under` is the claim that the task holds; steps that only read have none.
    fn work<'a>(
        &'a self,
        call: &'a Call,
        host: &'a str,
        under: Option<&'a (Claimant, i64)>,
        execution: &'a Execution,
    ) -> Working<'a>;
}

/// Pause before a BMC that did not answer is asked again.
const AGAIN: Duration = Duration::from_secs(5);

/// The BMCs of hosts, by their drivers.
pub struct HostBmcs {
    bmcs: Arc<Bmcs>,
    ongoing: Ongoing,
}

impl HostBmcs {
    /// For a controller, with drivers that speak to BMCs over the network.
    pub fn over_network(controller: &'static str) -> HostBmcs {
        HostBmcs::new(controller, Arc::new(NetworkDrivers))
    }

    /// For a controller, with drivers.
    pub fn new(controller: &'static str, drivers: Arc<dyn Drivers>) -> HostBmcs {
        HostBmcs { bmcs: Arc::new(Bmcs::new(controller, drivers)), ongoing: Ongoing::default() }
    }

    async fn read(&self, host: &str, execution: &Execution) -> Progress {
        let read = async { self.bmcs.read(host, &Access::of(execution)).await?.power().await };
        match read.await {
            Ok((state, _)) => Progress::done(format!("the power of host {host} is {state}")),
            Err(failure) => failed(&failure, Value::Null),
        }
    }

    /// Makes one call that changes something and can be repeated. It goes on after this returns, if it takes long.
    async fn drive(&self, change: Change, host: &str, under: Under, execution: &Execution) -> Progress {
        let (bmcs, access, host) = (self.bmcs.clone(), Access::of(execution), host.to_owned());
        let work = || async move {
            let driven = async {
                let driven = bmcs.drive(&host, &under, &access).await?;
                match change {
                    Change::Power(action) => driven.call(|bmc| bmc.set_power(action)).await,
                    Change::Boot(device) => driven.call(|bmc| bmc.set_boot(device)).await,
                }
            };
            let progress = match driven.await {
                Ok(_) => Progress::done(change.done(&host)),
                Err(failure) => failed(&failure, Value::Null),
            };
            json!(progress)
        };
        let waits = |pause| Progress::Waiting { message: change.doing(), handle: Value::Null, pause };
        match self.ongoing.carry(change.name(), execution, work).await {
            Outcome::Done(value) => {
                serde_json::from_value(value).unwrap_or_else(|error| Progress::failed(error.to_string()))
            }
            Outcome::Failed(why) => Progress::failed(why),
            Outcome::Pending(_, pause) => waits(pause),
        }
    }

    /// Off, then on: each can be repeated, so that a restart in between cycles nothing twice.
    async fn cycle(&self, call: &Call, host: &str, under: Under, execution: &Execution) -> Progress {
        let is_off = call.handle["phase"] == "on";
        let action = if is_off { PowerAction::On } else { PowerAction::ForceOff };
        let phase = json!({"phase": if is_off { "on" } else { "off" }});
        match self.drive(Change::Power(action), host, under, execution).await {
            Progress::Done(_) if !is_off => {
                let message = format!("host {host} is off, and is powered on");
                Progress::Waiting { message, handle: json!({"phase": "on"}), pause: Duration::ZERO }
            }
            Progress::Waiting { message, pause, .. } => Progress::Waiting { message, handle: phase, pause },
            ended => ended,
        }
    }
}

impl Oob for HostBmcs {
    fn work<'a>(
        &'a self,
        call: &'a Call,
        host: &'a str,
        under: Option<&'a (Claimant, i64)>,
        execution: &'a Execution,
    ) -> Working<'a> {
        Box::pin(async move {
            if call.step == Step::InterrogateOob {
                return self.read(host, execution).await;
            }
            let Some((who, epoch)) = under.cloned() else {
                return Progress::broken(format!("the task holds no claim on host {host}"));
            };
            let under = Under { who, epoch };
            match call.step {
                Step::SetNodeBoot => {
                    let change = Change::Boot(BootOverride::once(BootDevice::Pxe));
                    self.drive(change, host, under, execution).await
                }
                Step::PowerCycleNode => self.cycle(call, host, under, execution).await,
                other => Progress::broken(format!("{other} is no step of a BMC")),
            }
        })
    }
}

/// A change that can be repeated.
#[derive(Debug, Clone, Copy)]
enum Change {
    Power(PowerAction),
    Boot(BootOverride),
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Change::Power(PowerAction::On) => "power-on",
            Change::Power(_) => "power-off",
            Change::Boot(_) => "set-boot",
        }
    }

    fn doing(self) -> String {
        match self {
            Change::Power(action) => format!("the BMC carries out: {action}"),
            Change::Boot(device) => format!("the BMC is set to boot from {device}"),
        }
    }

    fn done(self, host: &str) -> String {
        match self {
            Change::Power(action) => format!("{action} of host {host}"),
            Change::Boot(device) => format!("host {host} boots from {device}"),
        }
    }
}

/// What a failure comes to: what may pass is waited for, within the time limit of the step.
fn failed(failure: &Failure, handle: Value) -> Progress {
    let message = failure.to_string();
    match failure {
        _ if failure.is_transient() => Progress::Waiting {
            message,
            handle,
            pause: failure.retry_after().unwrap_or(AGAIN).max(Duration::from_secs(1)),
        },
        Failure::Claim(_) | Failure::NoHost | Failure::NoAddress | Failure::NoCredentials => {
            Progress::broken(message)
        }
        _ => Progress::failed(message),
    }
}
