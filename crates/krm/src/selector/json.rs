//! Label selectors as objects hold them: `matchLabels` and `matchExpressions`.

use serde_json::Value;

use crate::field::{FieldError, Path, quote};
use crate::names;

use super::label::{LabelSelector, Operator, Requirement};

impl LabelSelector {
    /// The selector in an object. An absent one selects nothing, an empty one everything.
    pub fn from_json(selector: Option<&Value>) -> Result<LabelSelector, String> {
        let Some(selector) = selector.filter(|selector| !selector.is_null()) else {
            return Ok(LabelSelector::nothing());
        };
        let mut requirements = Vec::new();
        for (key, value) in labels(selector) {
            requirements.push(Requirement::new(key, Operator::Equals, vec![text(Some(value)).to_owned()])?);
        }
        for expression in expressions(selector) {
            let name = text(expression.get("operator"));
            let operator = operator(name)
                .ok_or_else(|| format!("{} is not a valid label selector operator", quote(name)))?;
            let values = values(expression).map(|value| text(Some(value)).to_owned()).collect();
            requirements.push(Requirement::new(text(expression.get("key")), operator, values)?);
        }
        Ok(LabelSelector::of(requirements))
    }
}

/// What is wrong with a selector in an object.
pub fn validate_label_selector(selector: &Value, path: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let at_labels = path.field("matchLabels");
    for (key, value) in labels(selector) {
        key_faults(key, &at_labels, &mut errors);
        value_faults(text(Some(value)), &at_labels, &mut errors);
    }
    let at_expressions = path.field("matchExpressions");
    for (index, expression) in expressions(selector).enumerate() {
        let path = at_expressions.index(index);
        let name = text(expression.get("operator"));
        let at_values = path.field("values");
        let has_values = values(expression).next().is_some();
        match operator(name) {
            Some(Operator::In | Operator::NotIn) if !has_values => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.push(FieldError::required(&at_values, detail));
            }
            Some(Operator::Exists | Operator::DoesNotExist) if has_values => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(&at_values, detail));
            }
            Some(_) => {}
            None => errors.push(FieldError::invalid_text(
                &path.field("operator"),
                name,
                "not a valid selector operator",
            )),
        }
        key_faults(text(expression.get("key")), &path.field("key"), &mut errors);
        for (index, value) in values(expression).enumerate() {
            value_faults(text(Some(value)), &at_values.index(index), &mut errors);
        }
    }
    errors
}

fn key_faults(key: &str, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    errors.extend(names::label_key(key).into_iter().map(|fault| FieldError::invalid_text(path, key, fault)));
}

fn value_faults(value: &str, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let faults = names::label_value(value).into_iter();
    errors.extend(faults.map(|fault| FieldError::invalid_text(path, value, fault)));
}

fn operator(name: &str) -> Option<Operator> {
    match name {
        "In" => Some(Operator::In),
        "NotIn" => Some(Operator::NotIn),
        "Exists" => Some(Operator::Exists),
        "DoesNotExist" => Some(Operator::DoesNotExist),
        _ => None,
    }
}

fn labels(selector: &Value) -> impl Iterator<Item = (&String, &Value)> {
    selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten()
}

fn expressions(selector: &Value) -> impl Iterator<Item = &Value> {
    selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten()
}

fn values(expression: &Value) -> impl Iterator<Item = &Value> {
    expression.get("values").and_then(Value::as_array).into_iter().flatten()
}

/// A text; what is of another type was refused when the object was decoded.
fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or("")
}
