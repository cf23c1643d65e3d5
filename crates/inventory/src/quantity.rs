//! Kubernetes quantities: `25G`, `250m`, `3`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

const PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// A Kubernetes quantity: a number with an optional suffix, kept as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quantity(pub String);

impl Quantity {
    /// The numeric value.
    pub fn value(&self) -> Option<f64> {
        krm::quantity::amount(self.0.trim())
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Quantity(text)),
            Value::Number(number) => Ok(Quantity(number.to_string())),
            other => Err(D::Error::custom(format!(
                "{other} is not a quantity: use a number with an optional suffix, such as 25G or 250m"
            ))),
        }
    }
}

impl JsonSchema for Quantity {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "x-kubernetes-int-or-string": true, "pattern": PATTERN })
    }
}

#[cfg(test)]
mod tests {
    use super::Quantity;

    #[test]
    fn a_quantity_amounts_to_its_number_times_its_unit() {
        for (text, amount) in
            [("3", 3.0), ("25G", 25e9), ("250m", 0.25), ("1Ki", 1024.0), ("1.5k", 1500.0), ("2e3", 2000.0)]
        {
            assert_eq!(Quantity(text.into()).value(), Some(amount), "{text}");
        }
        assert_eq!(Quantity("metres".into()).value(), None);
    }
}
