//! Why a design cannot be compiled.

use std::fmt;

use crate::model::Origin;

/// A mistake that leaves a design without meaning: it is refused whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `host_profile` names nothing.
    UnknownHostProfile {
        /// The referring document, as `Kind/name`.
        referrer: String,
        /// Where it refers.
        at: Origin,
        /// The undefined name.
        missing: String,
    },
    /// `hardware_profile` of a node names nothing.
    UnknownHardwareProfile {
        /// The node, as `Kind/name`.
        node: String,
        /// The document that names it, which the node may only inherit from.
        at: Origin,
        /// The undefined name.
        missing: String,
    },
    /// A node has no hardware profile after inheritance.
    NoHardwareProfile {
        /// The node, as `Kind/name`.
        node: String,
    },
    /// A profile is its own ancestor.
    ProfileCycle {
        /// The names of the profiles, closed: the first is also the last.
        chain: Vec<String>,
    },
    /// Two documents of one kind share a name.
    DuplicateName {
        /// The document, as `Kind/name`.
        document: String,
    },
}

impl Refusal {
    /// The stable word for this kind of mistake.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::UnknownHostProfile { .. } => "unknown_host_profile",
            Self::UnknownHardwareProfile { .. } => "unknown_hardware_profile",
            Self::NoHardwareProfile { .. } => "no_hardware_profile",
            Self::ProfileCycle { .. } => "profile_cycle",
            Self::DuplicateName { .. } => "duplicate_name",
        }
    }

    /// The documents concerned, as `Kind/name`, the one that holds the mistake first.
    pub fn about(&self) -> Vec<String> {
        match self {
            Self::UnknownHostProfile { referrer, missing, .. } => {
                vec![referrer.clone(), format!("HostProfile/{missing}")]
            }
            Self::UnknownHardwareProfile { node, missing, .. } => {
                vec![node.clone(), format!("HardwareProfile/{missing}")]
            }
            Self::NoHardwareProfile { node } => vec![node.clone()],
            Self::ProfileCycle { chain } => chain.iter().map(|name| format!("HostProfile/{name}")).collect(),
            Self::DuplicateName { document } => vec![document.clone()],
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownHostProfile { referrer, at, missing } => {
                write!(
                    f,
                    "{}: {referrer} inherits from host profile `{missing}`, which is not in the design",
                    at.at
                )
            }
            Self::UnknownHardwareProfile { node, at, missing } => {
                write!(f, "{node} has hardware profile `{missing}` from {at}, which is not in the design")
            }
            Self::NoHardwareProfile { node } => {
                write!(f, "{node} has no hardware profile; set one on it or on a profile it inherits from")
            }
            Self::ProfileCycle { chain } => {
                write!(f, "cyclic inheritance of host profiles: {}", chain.join(" -> "))
            }
            Self::DuplicateName { document } => {
                write!(f, "duplicate document {document}; rename or remove one")
            }
        }
    }
}

impl std::error::Error for Refusal {}
