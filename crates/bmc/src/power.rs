//! Power states and actions.

use std::fmt;

/// What a BMC reports about the power of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PowerState {
    /// Powered.
    On,
    /// Not powered, apart from standby.
    Off,
    /// On its way to on.
    PoweringOn,
    /// On its way to off.
    PoweringOff,
}

impl PowerState {
    /// Whether the state lasts until somebody changes it.
    pub fn is_settled(self) -> bool {
        matches!(self, PowerState::On | PowerState::Off)
    }
}

impl fmt::Display for PowerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PowerState::On => "on",
            PowerState::Off => "off",
            PowerState::PoweringOn => "powering on",
            PowerState::PoweringOff => "powering off",
        })
    }
}

/// A change of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PowerAction {
    /// Powers the system on.
    On,
    /// Asks the operating system to shut down. It may refuse, or be unable to.
    GracefulOff,
    /// Cuts power.
    ForceOff,
    /// Off, then on. A system that is off is powered on.
    Cycle,
    /// Restarts a running system without removing power.
    Reset,
}

impl PowerAction {
    /// The state that a BMC must report afterwards.
    pub fn leads_to(self) -> PowerState {
        match self {
            PowerAction::On | PowerAction::Cycle | PowerAction::Reset => PowerState::On,
            PowerAction::GracefulOff | PowerAction::ForceOff => PowerState::Off,
        }
    }

    /// Whether doing it twice is the same as doing it once.
    pub fn is_idempotent(self) -> bool {
        !matches!(self, PowerAction::Cycle | PowerAction::Reset)
    }
}

impl fmt::Display for PowerAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PowerAction::On => "power on",
            PowerAction::GracefulOff => "graceful power off",
            PowerAction::ForceOff => "forced power off",
            PowerAction::Cycle => "power cycle",
            PowerAction::Reset => "reset",
        })
    }
}
