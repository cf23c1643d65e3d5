//! Selectors over labels: every requirement has to be met.

use std::fmt;

use crate::field::{FieldError, Path};
use crate::names;

use super::parser;

/// How a label relates to the values of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `key in (a,b)`: it is there with one of the values.
    In,
    /// `key notin (a,b)`: the label is absent, or has none of the values.
    NotIn,
    /// `key=a`.
    Equals,
    /// `key==a`, which means the same.
    DoubleEquals,
    /// `key!=a`: the label is absent, or has another value.
    NotEquals,
    /// `key`: it is there.
    Exists,
    /// `!key`: the label is absent.
    DoesNotExist,
    /// `key>5`: it is there, a number, and greater.
    GreaterThan,
    /// `key<5`: it is there, a number, and smaller.
    LessThan,
}

/// What one label has to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// The label's key.
    pub key: String,
    /// How it relates to the values.
    pub operator: Operator,
    /// The values, sorted and each of them once.
    pub values: Vec<String>,
}

/// Which objects by their labels.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
    selects_nothing: bool,
}

impl LabelSelector {
    /// The selector that a query parameter spells, such as `app=web,tier in (front,back),!old`.
    ///
    /// The error is what the answer to the request says.
    pub fn parse(text: &str) -> Result<LabelSelector, String> {
        Ok(LabelSelector::of(parser::parse(text)?))
    }

    /// All of these requirements.
    pub fn of(mut requirements: Vec<Requirement>) -> LabelSelector {
        requirements.sort_by(|one, other| one.key.cmp(&other.key));
        LabelSelector { requirements, selects_nothing: false }
    }

    /// The selector that no object meets.
    pub fn nothing() -> LabelSelector {
        LabelSelector { requirements: Vec::new(), selects_nothing: true }
    }

    /// Whether no object meets it, whatever its labels: a selector that was left out of an object.
    pub fn selects_nothing(&self) -> bool {
        self.selects_nothing
    }

    /// Whether every object meets it.
    pub fn selects_everything(&self) -> bool {
        self.requirements.is_empty() && !self.selects_nothing
    }

    /// What is required, sorted by key.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// The one value that a label has to have, where the selector names one.
    pub fn exact(&self, key: &str) -> Option<&str> {
        let requirement = self.requirements.iter().find(|requirement| requirement.key == key)?;
        match requirement.one_of()? {
            [value] => Some(value),
            _ => None,
        }
    }

    /// Whether an object meets it; `label` gives the value of one of its labels.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        !self.selects_nothing
            && self.requirements.iter().all(|requirement| requirement.matches(label(&requirement.key)))
    }
}

impl Requirement {
    /// A requirement, if key and values are such as labels can have and fit the operator.
    pub fn new(key: &str, operator: Operator, values: Vec<String>) -> Result<Requirement, String> {
        let errors = faults(key, operator, &values);
        if !errors.is_empty() {
            return Err(aggregate(&errors));
        }
        let mut values = values;
        values.sort_unstable();
        values.dedup();
        Ok(Requirement { key: key.to_owned(), operator, values })
    }

    /// The values of which the label has to have one, so that an index can answer; `None` for other operators.
    pub fn one_of(&self) -> Option<&[String]> {
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => Some(&self.values),
            _ => None,
        }
    }

    /// Whether the label's value, or its absence, is as required.
    pub fn matches(&self, value: Option<&str>) -> bool {
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => {
                value.is_some_and(|value| self.has(value))
            }
            Operator::NotIn | Operator::NotEquals => !value.is_some_and(|value| self.has(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan => self.compares(value, |found, bound| found > bound),
            Operator::LessThan => self.compares(value, |found, bound| found < bound),
        }
    }

    fn has(&self, value: &str) -> bool {
        self.values.binary_search_by(|known| known.as_str().cmp(value)).is_ok()
    }

    fn compares(&self, value: Option<&str>, holds: fn(i64, i64) -> bool) -> bool {
        let number = |text: &str| text.parse::<i64>().ok();
        match (value.and_then(number), self.values.first().and_then(|bound| number(bound))) {
            (Some(found), Some(bound)) => holds(found, bound),
            _ => false,
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Requirement { key, values, .. } = self;
        let values = values.join(",");
        match self.operator {
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::Exists => f.write_str(key),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}

impl fmt::Display for LabelSelector {
    /// The form that parses back to the same selector; that of a selector that selects nothing is empty, as
    /// Kubernetes has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

/// What is wrong with a key, as the parser says it before anything else.
pub(super) fn key_fault(key: &str, path: &Path<'_>) -> Option<FieldError> {
    let faults = names::label_key(key);
    (!faults.is_empty()).then(|| FieldError::invalid_text(path, key, faults.join("; ")))
}

fn faults(key: &str, operator: Operator, values: &[String]) -> Vec<FieldError> {
    let mut errors: Vec<FieldError> = key_fault(key, &Path::of("key")).into_iter().collect();
    let path = Path::of("values");
    let count = match operator {
        Operator::In | Operator::NotIn if values.is_empty() => {
            Some("for 'in', 'notin' operators, values set can't be empty")
        }
        Operator::Equals | Operator::DoubleEquals | Operator::NotEquals if values.len() != 1 => {
            Some("exact-match compatibility requires one single value")
        }
        Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
            Some("values set must be empty for exists and does not exist")
        }
        Operator::GreaterThan | Operator::LessThan if values.len() != 1 => {
            Some("for 'Gt', 'Lt' operators, exactly one value is required")
        }
        _ => None,
    };
    errors.extend(count.map(|detail| FieldError::invalid(&path, &values.into(), detail)));
    let is_bound = matches!(operator, Operator::GreaterThan | Operator::LessThan);
    for (index, value) in values.iter().enumerate() {
        if is_bound && value.parse::<i64>().is_err() {
            let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
            errors.push(FieldError::invalid_text(&path.index(index), value, detail));
        }
    }
    for (index, value) in values.iter().enumerate() {
        let faults = names::label_value(value);
        if !faults.is_empty() {
            let at = path.index(index);
            errors.push(FieldError::invalid_text(&at.key(key), value, faults.join("; ")));
        }
    }
    errors
}

/// Several errors as one text.
fn aggregate(errors: &[FieldError]) -> String {
    let mut texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let mut seen = std::collections::HashSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    match texts.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}
