//! Power: reset actions, read back.

use serde_json::json;

use super::Redfish;
use crate::contract::Outcome;
use crate::error::{Cause, Result};
use crate::power::{PowerAction, PowerState};
use crate::readback;

impl Redfish {
    pub(super) async fn read_power(&self) -> Result<PowerState> {
        let path = self.system().await?;
        let system = self.service.get(path).await?;
        let state = system.text("PowerState").unwrap_or_default();
        // BMCs that have just started, or whose system is changing, have none for a while.
        if state.is_empty() {
            let why = format!("{path} has no PowerState");
            return Err(self.failed("read the power state", Cause::Busy { why, retry_after: None }));
        }
        parse(&state).ok_or_else(|| {
            let why = format!("{path} has the PowerState \"{state}\"");
            self.failed("read the power state", Cause::WrongShape { why })
        })
    }

    pub(super) async fn change_power(&self, action: PowerAction) -> Result<Outcome> {
        let name = action.to_string();
        let before = self.read_power().await.map_err(|error| error.during(&name))?;
        if action.is_idempotent() && before == action.leads_to() {
            return Ok(Outcome::Unchanged);
        }
        if action == PowerAction::Reset && before == PowerState::Off {
            let why = "a system that is off cannot be reset; power it on".to_owned();
            return Err(self.failed(&name, Cause::Invalid { why }));
        }
        // A BMC that is told to power off a system that is powering on may drop either; the transition ends first.
        let before = self.settled(&name, before).await?;
        if action.is_idempotent() && before == action.leads_to() {
            return Ok(Outcome::Unchanged);
        }
        match action {
            PowerAction::Cycle if before == PowerState::Off => self.reset(PowerAction::On, &name).await?,
            PowerAction::Cycle => self.cycle(&name).await?,
            _ => self.reset(action, &name).await?,
        }
        self.verify_power(&name, action.leads_to()).await?;
        Ok(Outcome::Changed)
    }

    /// Off, seen off, and on: a power cycle in one request can't be read back, since the system is on before and after.
    async fn cycle(&self, name: &str) -> Result<()> {
        self.reset(PowerAction::ForceOff, name).await?;
        self.verify_power(name, PowerState::Off).await?;
        self.reset(PowerAction::On, name).await
    }

    async fn settled(&self, name: &str, before: PowerState) -> Result<PowerState> {
        if before.is_settled() {
            return Ok(before);
        }
        let read = || Box::pin(self.read_power()) as _;
        let address = self.service.address();
        readback::until(address, name, "a settled state", self.patience, read, |state: &PowerState| {
            state.is_settled()
        })
        .await
    }

    async fn verify_power(&self, name: &str, wanted: PowerState) -> Result<PowerState> {
        let read = || Box::pin(self.read_power()) as _;
        let address = self.service.address();
        readback::until(address, name, wanted, self.patience, read, |state| *state == wanted).await
    }

    async fn reset(&self, action: PowerAction, name: &str) -> Result<()> {
        let quirks = self.quirks().await?;
        let path = self.system().await?;
        let system = self.service.get(path).await?;
        let (target, allowed) = system
            .action("#ComputerSystem.Reset", "ResetType")
            .unwrap_or_else(|| (format!("{path}/Actions/ComputerSystem.Reset"), None));
        let or = |own: &[String], standard: &[&str]| match own.is_empty() {
            true => standard.iter().map(|name| (*name).to_owned()).collect(),
            false => own.to_vec(),
        };
        let candidates: Vec<String> = match action {
            PowerAction::On => or(&[], &["On", "ForceOn"]),
            PowerAction::GracefulOff => or(&quirks.graceful, &["GracefulShutdown"]),
            PowerAction::ForceOff => or(&[], &["ForceOff"]),
            PowerAction::Cycle | PowerAction::Reset => or(&[], &["ForceRestart", "GracefulRestart"]),
        };
        let is_allowed = |kind: &&String| allowed.as_ref().is_none_or(|allowed| allowed.contains(kind));
        let Some(kind) = candidates.iter().find(is_allowed) else {
            let what = format!(
                "{} (the BMC allows {})",
                candidates.join(" or "),
                allowed.unwrap_or_default().join(", ")
            );
            return Err(self.failed(name, Cause::Unsupported { what }));
        };
        self.service.post(&target, &json!({ "ResetType": kind })).await.map_err(|error| error.during(name))
    }
}

pub(super) fn parse(state: &str) -> Option<PowerState> {
    Some(match state {
        "On" | "Paused" => PowerState::On,
        "Off" => PowerState::Off,
        "PoweringOn" => PowerState::PoweringOn,
        "PoweringOff" => PowerState::PoweringOff,
        _ => return None,
    })
}
