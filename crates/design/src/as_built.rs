//! Compares the detected hardware of a machine with the design, field by field.

mod compare;
mod inventory;
mod lldp;

pub use compare::compare;
pub use inventory::InventoryNode;
pub use lldp::Lldp;

use crate::compile::Lshw;

/// What is known of a machine as it was built.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// What lshw saw on it.
    pub lshw: Option<Lshw>,
    /// What it heard from its neighbours.
    pub lldp: Option<Lldp>,
    /// What the inventory holds of it.
    pub inventory: Option<InventoryNode>,
}

/// One field of the design beside what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The field, such as `hardware_profile.bios_version` or `device_aliases.prim_nic01`.
    pub field: String,
    /// What the design says.
    pub designed: String,
    /// What was found, if anything was.
    pub built: Option<String>,
    /// How the two stand.
    pub verdict: Verdict,
}

/// How what was designed stands beside what was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They agree.
    Same,
    /// They do not.
    Differs,
    /// What was looked for is not there.
    Missing,
    /// Nothing that was given tells of it.
    NotSeen,
}

impl Verdict {
    /// Whether the machine is not what was designed.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Differs | Self::Missing)
    }

    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Differs => "differs",
            Self::Missing => "missing",
            Self::NotSeen => "not seen",
        }
    }
}
