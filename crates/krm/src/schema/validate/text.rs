//! Lengths, patterns and formats of texts.

use serde_json::Value;

use super::finding::Finding;
use super::{Check, Passed};
use crate::field::{Fault, Path, quote};
use crate::schema::node::Limits;

impl Check {
    /// The first that is wrong of length and pattern, and the format.
    pub(super) fn text(&mut self, limits: Option<&Limits>, text: &str, path: &Path<'_>) -> Passed {
        let Some(limits) = limits else { return 1 };
        if let Some(finding) = length_or_pattern(limits, text, path) {
            self.findings.add(finding);
        }
        let format = limits.format.as_ref().filter(|(format, _)| format.is_of_texts());
        let Some((format, name)) = format else { return 1 };
        if !format.accepts(text) {
            let said = format!("{path} in body must be of type {name}: {}", quote(text));
            self.findings.add(Finding::value(Fault::TypeInvalid, path, &Value::from(text), said));
        }
        2
    }
}

fn length_or_pattern(limits: &Limits, text: &str, path: &Path<'_>) -> Option<Finding> {
    if limits.max_length.is_some() || limits.min_length.is_some() {
        let length = text.chars().count() as i64;
        if let Some(most) = limits.max_length.filter(|most| length > *most) {
            let said = format!("{path} in body should be at most {most} chars long");
            return Some(Finding::too_long(path, most, said));
        }
        if let Some(least) = limits.min_length.filter(|least| length < *least) {
            let said = format!("{path} in body should be at least {least} chars long");
            return Some(Finding::value(Fault::Invalid, path, &Value::from(text), said));
        }
    }
    let pattern = limits.pattern.as_ref()?;
    let said = match pattern.matches(text) {
        Ok(true) => return None,
        Ok(false) => format!("{path} in body should match '{}'", pattern.text()),
        Err(why) => {
            format!("{path} in body should match '{}, but pattern is invalid: {why}'", pattern.text())
        }
    };
    Some(Finding::value(Fault::Invalid, path, &Value::from(text), said))
}
