//! Selectors over fields: `metadata.name=a,spec.color!=red`.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use crate::number;
use crate::object::Object;

/// What one field has to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldRequirement {
    /// The field, such as `metadata.name`.
    pub field: String,
    /// Whether it has to have the value, or anything but it.
    pub is_equal: bool,
    /// The value.
    pub value: String,
}

/// Which objects by their fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FieldSelector {
    requirements: Vec<FieldRequirement>,
}

impl FieldSelector {
    /// The selector that a query parameter spells. A backslash takes the meaning from a comma, an equals sign and a
    /// backslash in a value.
    ///
    /// The error is what the answer to the request says.
    pub fn parse(text: &str) -> Result<FieldSelector, String> {
        let mut terms = split_terms(text);
        terms.sort_unstable();
        let mut requirements = Vec::with_capacity(terms.len());
        for term in terms.into_iter().filter(|term| !term.is_empty()) {
            let Some((field, is_equal, value)) = split_term(term) else {
                return Err(format!("invalid selector: '{text}'; can't understand '{term}'"));
            };
            let value = unescape(value)?;
            // Neither field nor value: Kubernetes takes it for no requirement at all.
            if !field.is_empty() || !value.is_empty() {
                let (field, value) = (field.to_owned(), value.into_owned());
                requirements.push(FieldRequirement { field, is_equal, value });
            }
        }
        Ok(FieldSelector { requirements })
    }

    /// All of these requirements.
    pub fn of(requirements: Vec<FieldRequirement>) -> FieldSelector {
        FieldSelector { requirements }
    }

    /// Whether every object meets it.
    pub fn selects_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// What is required.
    pub fn requirements(&self) -> &[FieldRequirement] {
        &self.requirements
    }

    /// The one value that a field has to have, where the selector names one.
    pub fn exact(&self, field: &str) -> Option<&str> {
        let is_it = |requirement: &&FieldRequirement| requirement.is_equal && requirement.field == field;
        self.requirements.iter().find(is_it).map(|requirement| requirement.value.as_str())
    }

    /// Whether an object meets it; `values` gives the texts of one of its fields, of which one has to be what is asked
    /// for. Where there are none, the field is empty.
    pub fn matches_any<'a>(&self, values: impl Fn(&str) -> Vec<Cow<'a, str>>) -> bool {
        self.requirements.iter().all(|requirement| {
            let values = values(&requirement.field);
            let is_empty = values.is_empty() && requirement.value.is_empty();
            let has = is_empty || values.iter().any(|value| *value == requirement.value);
            has == requirement.is_equal
        })
    }

    /// Whether an object meets it; `value` gives the text of one of its fields, empty where there is none.
    pub fn matches<'a>(&self, value: impl Fn(&str) -> Cow<'a, str>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| (value(&requirement.field) == requirement.value) == requirement.is_equal)
    }
}

/// The texts at a dotted path, of which one has to be what is asked for; through lists there may be several.
pub fn field_texts<'a>(object: &'a Object, path: &str) -> Vec<Cow<'a, str>> {
    let mut steps = path.split('.');
    let mut values: Vec<&Value> = steps.next().and_then(|first| object.get(first)).into_iter().collect();
    for step in steps {
        let inner = values.into_iter().flat_map(|value| match value {
            Value::Array(items) => items.iter().filter_map(|item| item.get(step)).collect(),
            value => value.get(step).into_iter().collect::<Vec<&Value>>(),
        });
        values = inner.collect();
    }
    values.into_iter().map(|value| field_text(Some(value))).collect()
}

/// The text by which a field is selected; a field that is absent or null has an empty one.
pub fn field_text(value: Option<&Value>) -> Cow<'_, str> {
    match value {
        None | Some(Value::Null) => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(Value::Bool(true)) => Cow::Borrowed("true"),
        Some(Value::Bool(false)) => Cow::Borrowed("false"),
        Some(Value::Number(number)) => Cow::Owned(number::in_text(number)),
        Some(other) => Cow::Owned(other.to_string()),
    }
}

impl fmt::Display for FieldSelector {
    /// The form that parses back to the same selector.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            f.write_str(&requirement.field)?;
            f.write_str(if requirement.is_equal { "=" } else { "!=" })?;
            for c in requirement.value.chars() {
                if matches!(c, '\\' | ',' | '=') {
                    f.write_str("\\")?;
                }
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

/// The parts between commas that no backslash stands before.
fn split_terms(text: &str) -> Vec<&str> {
    let mut is_escaped = false;
    text.split(|c| match c {
        _ if is_escaped => {
            is_escaped = false;
            false
        }
        '\\' => {
            is_escaped = true;
            false
        }
        c => c == ',',
    })
    .collect()
}

/// Field, whether equal, and value with its backslashes; the first operator counts.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let at_equals = term.find('=')?;
    let (before, after) = (&term[..at_equals], &term[at_equals + 1..]);
    match before.strip_suffix('!') {
        Some(field) => Some((field, false, after)),
        None => Some((before, true, after.strip_prefix('=').unwrap_or(after))),
    }
}

fn unescape(text: &str) -> Result<Cow<'_, str>, String> {
    if !text.contains(['\\', ',', '=']) {
        return Ok(Cow::Borrowed(text));
    }
    let mut value = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => value.push(c),
                other => {
                    let what = other.map(String::from).unwrap_or_default();
                    return Err(format!("invalid field selector: invalid escape sequence: \\{what}"));
                }
            },
            ',' | '=' => {
                let number = u32::from(c);
                return Err(format!("invalid field selector: unescaped character in value: {number}"));
            }
            c => value.push(c),
        }
    }
    Ok(Cow::Owned(value))
}
