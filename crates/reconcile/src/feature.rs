//! Feature gates: what of a module is there only while it is asked for.

use std::collections::BTreeMap;
use std::fmt;

/// A name for something that may be turned on and off at the start of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureGate {
    /// Name, in CamelCase, unique among all modules.
    pub name: &'static str,
    /// How far it is.
    pub stage: Stage,
    /// Whether it is on unless somebody says otherwise. What is generally available always is.
    pub default: bool,
    /// What it adds, in a sentence.
    pub description: &'static str,
}

/// How far a feature is, in the terms of Kubernetes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It may change or go without notice.
    Alpha,
    /// It stays, and details may change.
    Beta,
    /// It stays as it is. Its gate can't be closed.
    GeneralAvailability,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Alpha => "ALPHA",
            Stage::Beta => "BETA",
            Stage::GeneralAvailability => "",
        })
    }
}

/// The gates of a program, each open or closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeatureGates(BTreeMap<&'static str, (FeatureGate, bool)>);

/// Why gates can't be set as somebody asks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeatureGateError {
    /// There is none of this name.
    #[error("unknown feature gate {name:?}; {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Which there are, as a sentence.
        known: String,
    },
    /// It is not written as `name=true` or `name=false`.
    #[error("{0:?} is not of the form NAME=true or NAME=false")]
    Malformed(String),
    /// It is generally available.
    #[error("feature gate {0} can't be closed: the feature is generally available")]
    Locked(&'static str),
}

impl FeatureGates {
    /// Gates at their defaults.
    pub fn new(gates: impl IntoIterator<Item = FeatureGate>) -> FeatureGates {
        let is_open = |gate: &FeatureGate| gate.default || gate.stage == Stage::GeneralAvailability;
        FeatureGates(gates.into_iter().map(|gate| (gate.name, (gate, is_open(&gate)))).collect())
    }

    /// The same, set as in `Name=true,Other=false`. `AllAlpha` and `AllBeta` set those that are not named.
    pub fn set(mut self, settings: &str) -> Result<FeatureGates, FeatureGateError> {
        let mut named = Vec::new();
        for setting in settings.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
            let malformed = || FeatureGateError::Malformed(setting.to_owned());
            let (name, value) = setting.split_once('=').ok_or_else(malformed)?;
            let is_open: bool = value.trim().to_ascii_lowercase().parse().map_err(|_| malformed())?;
            match name.trim() {
                "AllAlpha" => self.set_all(Stage::Alpha, is_open),
                "AllBeta" => self.set_all(Stage::Beta, is_open),
                name => named.push((name, is_open)),
            }
        }
        for (name, is_open) in named {
            let Some((gate, state)) = self.0.get_mut(name) else {
                return Err(FeatureGateError::Unknown { name: name.to_owned(), known: self.known() });
            };
            if gate.stage == Stage::GeneralAvailability && !is_open {
                return Err(FeatureGateError::Locked(gate.name));
            }
            *state = is_open;
        }
        Ok(self)
    }

    fn set_all(&mut self, stage: Stage, is_open: bool) {
        for (gate, state) in self.0.values_mut().filter(|(gate, _)| gate.stage == stage) {
            tracing::debug!(gate = gate.name, is_open, "feature gate set with all of its stage");
            *state = is_open;
        }
    }

    fn known(&self) -> String {
        let names: Vec<&str> = self.0.keys().copied().collect();
        match names.is_empty() {
            true => "this program has none".to_owned(),
            false => format!("there are AllAlpha, AllBeta, {}", names.join(", ")),
        }
    }

    /// Whether a gate is open. One that nobody knows is not.
    pub fn is_open(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|(_, is_open)| *is_open)
    }

    /// All gates by name, and whether each is open.
    pub fn all(&self) -> impl Iterator<Item = &(FeatureGate, bool)> {
        self.0.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gates() -> FeatureGates {
        let gate =
            |name, stage, default| FeatureGate { name, stage, default, description: "Does something." };
        FeatureGates::new([
            gate("Cells", Stage::Alpha, false),
            gate("Claims", Stage::Alpha, false),
            gate("Quota", Stage::Beta, true),
            gate("Plans", Stage::GeneralAvailability, true),
        ])
    }

    fn open(settings: &str) -> Vec<&'static str> {
        let gates = gates().set(settings).unwrap();
        gates.all().filter(|(_, is_open)| *is_open).map(|(gate, _)| gate.name).collect()
    }

    #[test]
    fn gates_are_set_by_name_or_by_stage() {
        assert_eq!(open(""), ["Plans", "Quota"]);
        assert_eq!(open("Cells=true"), ["Cells", "Plans", "Quota"]);
        assert_eq!(open("AllAlpha=true, Quota=False"), ["Cells", "Claims", "Plans"]);
        assert_eq!(open("Claims=false,AllAlpha=true,AllBeta=false"), ["Cells", "Plans"], "names win");
    }

    #[test]
    fn what_can_not_be_set_is_refused_with_a_reason() {
        let refused = |settings: &str| gates().set(settings).unwrap_err().to_string();
        assert_eq!(
            refused("Cell=true"),
            "unknown feature gate \"Cell\"; there are AllAlpha, AllBeta, Cells, Claims, Plans, Quota"
        );
        assert_eq!(refused("Cells"), "\"Cells\" is not of the form NAME=true or NAME=false");
        assert_eq!(refused("Cells=on"), "\"Cells=on\" is not of the form NAME=true or NAME=false");
        assert_eq!(
            refused("Plans=false"),
            "feature gate Plans can't be closed: the feature is generally available"
        );
        let none = FeatureGates::default().set("Cells=true").unwrap_err().to_string();
        assert_eq!(none, "unknown feature gate \"Cells\"; this program has none");
    }
}
