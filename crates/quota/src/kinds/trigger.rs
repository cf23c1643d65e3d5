//! What policies react to: new objects of a kind that fulfil some constraints.

use krm::Object;
use krm::cel::Expression;
use krm::field::{FieldError, Path};
use krm::kind::split_api_version;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a policy reacts to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Trigger {
    /// The kind of the objects.
    pub resource: TriggerResource,
    /// Only objects for which all of these hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    pub constraints: Vec<Constraint>,
}

/// A kind with its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TriggerResource {
    /// Group and version of the kind, such as `compute.datumapis.com/v1alpha`. The policy holds for all versions.
    #[schemars(length(min = 1, max = 316))]
    pub api_version: String,
    /// Name of the kind.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
}

/// A condition on the object.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Constraint {
    /// CEL expression on `trigger`, the object, such as `trigger.spec.tier == 'paid'`.
    #[schemars(length(min = 1, max = 1024))]
    pub expression: String,
    /// What the constraint means, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub message: Option<String>,
}

impl TriggerResource {
    /// Its group.
    pub fn group(&self) -> &str {
        split_api_version(&self.api_version).0
    }
}

impl Trigger {
    /// Whether it is about an object of its kind. A constraint that can't be evaluated does not hold.
    pub fn fits(&self, object: &Object) -> bool {
        self.constraints.iter().all(|constraint| {
            let expression = expression(&constraint.expression);
            expression.is_ok_and(|expression| expression.holds(&about(object)).unwrap_or(false))
        })
    }

    /// What is wrong with its expressions.
    pub fn errors(&self) -> Vec<FieldError> {
        let spec = Path::of("spec");
        let trigger = spec.field("trigger");
        let constraints = trigger.field("constraints");
        let check = |(index, constraint): (usize, &Constraint)| {
            let why = expression(&constraint.expression).err()?;
            let at = constraints.index(index);
            Some(FieldError::invalid(&at.field("expression"), &json!(constraint.expression), why))
        };
        self.constraints.iter().enumerate().filter_map(check).collect()
    }
}

/// An expression about the object that triggers a policy.
pub fn expression(source: &str) -> Result<Expression, String> {
    Expression::about(source, &["trigger"])
}

/// What such an expression is evaluated on.
pub fn about(object: &Object) -> Value {
    json!({ "trigger": object.0 })
}
