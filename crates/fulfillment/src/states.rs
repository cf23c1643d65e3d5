//! Enumerated values of the fulfillment API. Objects hold the names that its protocol gives them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares an enumerated field: its values, each with its name in the protocol and a short one for people.
macro_rules! state {
    ($(#[$about:meta])* $name:ident: $($(#[$of:meta])* $value:ident = $protocol:literal $shown:literal),+ $(,)?) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum $name { $($(#[$of])* #[serde(rename = $protocol)] $value),+ }

        impl $name {
            /// All values, in the order of their numbers in the protocol.
            pub const ALL: &'static [$name] = &[$($name::$value),+];

            /// Name of the value in the protocol and in objects.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$value => $protocol),+ }
            }

            /// Short name of the value, for people.
            pub fn shown(self) -> &'static str {
                match self { $($name::$value => $shown),+ }
            }
        }
    };
}

state! {
    /// Power state of a host.
    HostPowerState:
    /// Nobody said, or it is not known.
    #[default]
    Unspecified = "HOST_POWER_STATE_UNSPECIFIED" "UNSPECIFIED",
    /// Powered on.
    On = "HOST_POWER_STATE_ON" "ON",
    /// Powered off.
    Off = "HOST_POWER_STATE_OFF" "OFF",
}

state! {
    /// State of a host.
    HostState:
    /// Not determined yet.
    #[default]
    Unspecified = "HOST_STATE_UNSPECIFIED" "UNSPECIFIED",
    /// Work on the host goes on.
    Progressing = "HOST_STATE_PROGRESSING" "PROGRESSING",
    /// The host can be used.
    Ready = "HOST_STATE_READY" "READY",
    /// The host can't be used.
    Failed = "HOST_STATE_FAILED" "FAILED",
}

state! {
    /// State of a hub.
    HubState:
    /// Not determined yet.
    #[default]
    Unspecified = "HUB_STATE_UNSPECIFIED" "UNSPECIFIED",
    /// The hub is being prepared.
    Progressing = "HUB_STATE_PROGRESSING" "PROGRESSING",
    /// Clusters can be created on the hub.
    Ready = "HUB_STATE_READY" "READY",
    /// The hub can't be used.
    Failed = "HUB_STATE_FAILED" "FAILED",
}

state! {
    /// State of a cluster.
    ClusterState:
    /// Not determined yet.
    #[default]
    Unspecified = "CLUSTER_STATE_UNSPECIFIED" "UNSPECIFIED",
    /// The cluster is being created or changed.
    Progressing = "CLUSTER_STATE_PROGRESSING" "PROGRESSING",
    /// The cluster can be used.
    Ready = "CLUSTER_STATE_READY" "READY",
    /// The cluster can't be created.
    Failed = "CLUSTER_STATE_FAILED" "FAILED",
}

/// What is being done for a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ClusterPhase {
    /// A place for its control plane is looked for.
    Placing,
    /// Hosts are chosen and claimed.
    Claiming,
    /// Its control plane is installed.
    Installing,
    /// Its hosts boot and are installed.
    Provisioning,
    /// Its names are made to resolve.
    Resolving,
    /// Hosts join, leave or are replaced.
    Resizing,
    /// Its release is changed.
    Upgrading,
    /// It can be used, and nothing is being done.
    Ready,
    /// It is being removed.
    Deleting,
}

impl ClusterPhase {
    /// All phases, in the order in which a cluster goes through them.
    pub const ALL: [ClusterPhase; 9] = [
        ClusterPhase::Placing,
        ClusterPhase::Claiming,
        ClusterPhase::Installing,
        ClusterPhase::Provisioning,
        ClusterPhase::Resolving,
        ClusterPhase::Resizing,
        ClusterPhase::Upgrading,
        ClusterPhase::Ready,
        ClusterPhase::Deleting,
    ];
}

/// How far a host is on its way into a cluster or out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum HostPhase {
    /// Its provisioner does not know it yet.
    Waiting,
    /// Its provisioner gets to know it.
    Registering,
    /// It boots.
    Booting,
    /// It is being installed.
    Installing,
    /// It is part of its cluster.
    Installed,
    /// It could not be installed.
    Failed,
    /// It leaves its cluster.
    Leaving,
    /// It is being cleaned.
    Cleaning,
    /// It could not be cleaned.
    CleaningFailed,
    /// It is clean, and its provisioner forgets it.
    Cleaned,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_the_protocol_names_them() {
        for state in HostPowerState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
            assert!(state.as_str().ends_with(state.shown()));
        }
    }
}
