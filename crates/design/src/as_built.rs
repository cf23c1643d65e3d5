//! Compares the detected hardware of a machine with the design, field by field.

mod compare;
mod inventory;
mod lldp;

pub use compare::compare;
pub use inventory::InventoryNode;
pub use lldp::Lldp;

use crate::compile::Lshw;

/// Detected data of a machine.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// What lshw saw on it.
    pub lshw: Option<Lshw>,
    /// LLDP data.
    pub lldp: Option<Lldp>,
    /// Its Node in the inventory.
    pub inventory: Option<InventoryNode>,
}

/// A field of the design and the detected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The field, such as `hardware_profile.bios_version` or `device_aliases.prim_nic01`.
    pub field: String,
    /// Designed value.
    pub designed: String,
    /// Detected value, if any.
    pub built: Option<String>,
    /// How the two stand.
    pub verdict: Verdict,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They agree.
    Same,
    /// They do not.
    Differs,
    /// The device is missing.
    Missing,
    /// Unknown: not in the given data.
    NotSeen,
}

impl Verdict {
    /// Whether the machine differs from the design.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Differs | Self::Missing)
    }

    /// The name of the verdict.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Differs => "differs",
            Self::Missing => "missing",
            Self::NotSeen => "not seen",
        }
    }
}
