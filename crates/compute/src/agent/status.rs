//! What the runtime reports of an instance, as its conditions and the texts of them.

use std::time::{SystemTime, UNIX_EPOCH};

use containers::{ContainerPhase, Error, InstanceState, Phase};
use krm::Object;
use krm::time::Moment;
use serde_json::{Value, json};

use crate::conditions::ConditionUpdate;

const PROGRAMMED: &str = "Programmed";
const AVAILABLE: &str = "Available";

/// What is written into the status of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    programmed: ConditionUpdate,
    available: ConditionUpdate,
    is_running: bool,
    addresses: Vec<String>,
    external: Option<String>,
    restarts: u32,
    started_at: Option<String>,
    last_lines: Vec<String>,
    /// CPU that it uses, in thousandths of a core, and when that was measured.
    pub usage: Option<(i64, SystemTime)>,
}

/// What an instance in this state reports.
pub fn report(state: &InstanceState) -> Report {
    let (programmed, available) = told(state);
    let lines = state.containers.iter().filter_map(|container| container.last_exit.as_ref());
    let since = state.containers.iter().filter_map(|container| match container.phase {
        ContainerPhase::Running { since } => Some(since),
        _ => None,
    });
    Report {
        programmed,
        available,
        is_running: state.phase == Phase::Running,
        addresses: state.addresses.iter().map(ToString::to_string).collect(),
        external: state.published.first().map(|port| port.address.ip().to_string()),
        restarts: state.containers.iter().map(|container| container.restarts).max().unwrap_or(0),
        started_at: since.max().map(|since| moment(since).to_string()),
        last_lines: lines.max_by_key(|exit| exit.at).map(|exit| exit.last_lines.clone()).unwrap_or_default(),
        usage: None,
    }
}

fn told(state: &InstanceState) -> (ConditionUpdate, ConditionUpdate) {
    if let Some(error) = &state.failure
        && !state.ready
    {
        return failed(error);
    }
    match state.phase {
        Phase::Pending | Phase::Pulling | Phase::Starting | Phase::BackOff => starting(),
        Phase::Running if state.ready => (
            ConditionUpdate::yes(PROGRAMMED, "Programmed", "Instance has been programmed"),
            ConditionUpdate::yes(AVAILABLE, "Available", "Instance is available"),
        ),
        Phase::Running => {
            let waiting = state.containers.iter().find_map(|container| {
                let why = container.probe_failure.as_ref()?;
                Some(format!("Container {} is not ready: {why}", container.name))
            });
            let message = waiting.unwrap_or_else(|| "Instance is starting".to_owned());
            (
                ConditionUpdate::yes(PROGRAMMED, "Programmed", "Instance has been programmed"),
                ConditionUpdate::unknown(AVAILABLE, "Starting", message),
            )
        }
        Phase::Stopping => both("Stopping", "Instance is stopping"),
        Phase::Stopped => (
            ConditionUpdate::yes(PROGRAMMED, "Programmed", "Instance has been programmed"),
            ConditionUpdate::no(AVAILABLE, "Stopped", "Instance is stopped"),
        ),
        Phase::Succeeded => (
            ConditionUpdate::yes(PROGRAMMED, "Programmed", "Instance has been programmed"),
            ConditionUpdate::no(AVAILABLE, "Stopped", "All containers have exited"),
        ),
        Phase::Failed => both("Failed", "A container has failed and is not restarted"),
    }
}

fn starting() -> (ConditionUpdate, ConditionUpdate) {
    (
        ConditionUpdate::unknown(PROGRAMMED, "ProgrammingInProgress", "Instance is being programmed"),
        ConditionUpdate::unknown(AVAILABLE, "Provisioning", "Instance is provisioning"),
    )
}

fn both(reason: &str, message: &str) -> (ConditionUpdate, ConditionUpdate) {
    (ConditionUpdate::no(PROGRAMMED, reason, message), ConditionUpdate::no(AVAILABLE, reason, message))
}

/// A failure in the words that users know, with the cause.
fn failed(error: &Error) -> (ConditionUpdate, ConditionUpdate) {
    let (reason, what) = match error {
        error if error.is_about_the_image() => ("ImageUnavailable", "The instance image could not be pulled"),
        Error::Crashed { .. } | Error::OutOfMemory { .. } | Error::Unhealthy { .. } => {
            ("InstanceCrashing", "The instance is repeatedly failing to start")
        }
        Error::NotStartable { .. }
        | Error::InvalidSpec { .. }
        | Error::InvalidId { .. }
        | Error::PortInUse { .. }
        | Error::AddressInUse { .. } => {
            ("ConfigurationError", "The instance could not be started due to a configuration error")
        }
        Error::MachineNotReady { .. } => ("MachineNotReady", "The machine can't run containers"),
        Error::NoSpace { .. } | Error::NoFreeAddress { .. } => {
            ("Failed", "The machine can't run the instance")
        }
        _ => {
            let (programmed, available) = starting();
            let message = format!("Instance is provisioning: {error}");
            return (programmed, ConditionUpdate { message, ..available });
        }
    };
    let message = format!("{what}: {error}");
    both(reason, &message)
}

impl Report {
    fn of((programmed, available): (ConditionUpdate, ConditionUpdate)) -> Report {
        Report {
            programmed,
            available,
            is_running: false,
            addresses: Vec::new(),
            external: None,
            restarts: 0,
            started_at: None,
            last_lines: Vec::new(),
            usage: None,
        }
    }

    /// It was asked for.
    pub fn starting() -> Report {
        Report::of(starting())
    }

    /// The runtime refused it.
    pub fn refused(error: &Error) -> Report {
        Report::of(failed(error))
    }

    /// It can't be started as it is written.
    pub fn misconfigured(why: &str) -> Report {
        let message = format!("The instance could not be started due to a configuration error: {why}");
        Report::of(both("ConfigurationError", &message))
    }

    /// The project is suspended.
    pub fn suspended(why: &str) -> Report {
        let programmed = ConditionUpdate::yes(PROGRAMMED, "Programmed", "Instance has been programmed");
        Report::of((programmed, ConditionUpdate::no(AVAILABLE, "Suspended", why)))
    }

    /// Writes it into the status of an instance. What it does not know stays.
    pub fn write(&self, instance: &mut Object, now: &str) {
        self.programmed.tell_of(instance, now);
        self.available.tell_of(instance, now);
        let hash = instance.at("spec.controller.templateHash").cloned();
        let mut status = instance.get("status").cloned().unwrap_or_else(|| json!({}));
        if let Some(hash) = hash.filter(|_| self.is_running) {
            status["controller"] = json!({ "observedTemplateHash": hash });
        }
        if !self.addresses.is_empty() {
            let mut assignments = json!({ "networkIP": self.addresses[0] });
            if let Some(external) = &self.external {
                assignments["externalIP"] = json!(external);
            }
            status["networkInterfaces"] = json!([{ "assignments": assignments }]);
        }
        if self.restarts > 0 {
            status["restarts"] = json!(self.restarts);
        }
        if let Some(time) = &self.started_at {
            status["startedAt"] = json!(time);
        }
        if !self.last_lines.is_empty() {
            let lines: Vec<Value> = self.last_lines.iter().take(50).map(|line| json!(line)).collect();
            status["lastLines"] = json!(lines);
        }
        if let Some((millicores, at)) = self.usage {
            status["usage"] = json!({"cpuMillicores": millicores, "sampledAt": moment(at).to_micros()});
        }
        instance.set("status", Some(status));
    }
}

fn moment(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanoseconds: since.subsec_nanos() }
}
