//! Holding a value against its schema, with every word Kubernetes says about what does not fit.
//!
//! The checks, their order and their quirks are those of the validator Kubernetes uses; clients have come to depend on
//! what passes and on what is said.

mod branches;
mod finding;
mod number;
mod text;
mod types;

use serde_json::{Map, Value};

use self::finding::{Finding, Findings};
use self::number::Numeric;
use super::correlation::Correlation;
use super::node::{Additional, Limits, Node};
use crate::field::{Fault, FieldError, Path};
use crate::shown;

/// Everything that is wrong with a value, or that is wrong with what has changed since `old`.
///
/// `inside` names the field the value stands in, where paths in messages begin below it.
pub(super) fn shape(
    node: &Node,
    new: &Value,
    old: Option<&Value>,
    inside: Option<&'static str>,
) -> Vec<FieldError> {
    let mut check = Check { findings: Findings::new(inside) };
    check.value(node, new, &Path::ROOT, None);
    // Most writes are valid: what they come from is only looked up when something is wrong.
    if let (false, Some(old)) = (check.findings.is_empty(), old) {
        check = Check { findings: Findings::new(inside) };
        check.value(node, new, &Path::ROOT, Some(Correlation::new(node, new, old)));
    }
    check.findings.into_errors()
}

/// How many checks a value passed. Of several alternatives that failed, the one that came furthest is reported.
type Passed = usize;

struct Check {
    findings: Findings,
}

impl Check {
    /// Everything about one value. Findings about a value that has not changed are dropped.
    fn value(
        &mut self,
        node: &Node,
        value: &Value,
        path: &Path<'_>,
        past: Option<Correlation<'_>>,
    ) -> Passed {
        if self.findings.is_full() {
            return 0;
        }
        let before = self.findings.len();
        let passed = match value {
            Value::Null => self.null(node, path),
            value => self.present(node, value, path, past),
        };
        if self.findings.len() > before && past.is_some_and(|past| past.is_unchanged()) {
            self.findings.take_after(before);
        }
        passed
    }

    fn null(&mut self, node: &Node, path: &Path<'_>) -> Passed {
        let passed = match types::null(node, path) {
            None => 1,
            Some(finding) => self.findings.add(finding),
        };
        self.allowed(node, &Value::Null, path);
        passed
    }

    fn present(
        &mut self,
        node: &Node,
        value: &Value,
        path: &Path<'_>,
        past: Option<Correlation<'_>>,
    ) -> Passed {
        let limits = node.limits.as_deref();
        let mut passed = 1;
        if types::applies(node) {
            passed += 1;
            passed += match types::wrong(node, value, path) {
                None => 1,
                Some(finding) => self.findings.add(finding),
            };
        }
        passed += 1 + self.branches(node, value, path);
        match value {
            Value::String(text) => passed += self.text(limits, text, path),
            Value::Number(number) => passed += 2 + self.number(node, Numeric::from(number), path),
            Value::Array(list) => passed += 2 + self.list(node, list, path, past),
            _ => {}
        }
        passed += 1;
        self.allowed(node, value, path);
        if let Value::Object(map) = value {
            passed += 1 + self.object(node, map, path, past);
        }
        passed
    }

    fn list(
        &mut self,
        node: &Node,
        list: &[Value],
        path: &Path<'_>,
        past: Option<Correlation<'_>>,
    ) -> Passed {
        let mut passed = 0;
        if let Some(items) = &node.items {
            let old_items = past.map(|past| past.items());
            for (index, item) in list.iter().enumerate() {
                let past = old_items.as_ref().and_then(|old_items| old_items.of(item));
                passed += self.value(items, item, &path.index(index), past);
            }
        }
        let Some(limits) = &node.limits else { return passed };
        let size = list.len() as i64;
        if let Some(least) = limits.min_items.filter(|least| size < *least) {
            let said = format!("{path} in body should have at least {least} items");
            self.findings.add(Finding::value(Fault::Invalid, path, &Value::from(size), said));
        }
        if let Some(most) = limits.max_items.filter(|most| size > *most) {
            let said = format!("{path} in body should have at most {most} items");
            self.findings.add(Finding::too_many(path, size, most, said));
        }
        if limits.unique_items && has_duplicates(list) {
            let said = format!("{path} in body shouldn't contain duplicates");
            self.findings.add(Finding::value(Fault::Invalid, path, &Value::from(""), said));
        }
        passed
    }

    fn object(
        &mut self,
        node: &Node,
        map: &Map<String, Value>,
        path: &Path<'_>,
        past: Option<Correlation<'_>>,
    ) -> Passed {
        if let Some(limits) = &node.limits {
            self.object_size(limits, map.len() as i64, path);
        }
        let mut passed = 0;
        // Fields without a name are called `.key` at the root, those with one are called `key`.
        let nameless = if path.is_root() { Path::of("") } else { *path };
        for (key, value) in map {
            if let Some(property) = node.properties.get(key) {
                // Old and new are read as the same version, so a change of the type cannot be seen.
                let is_type = path.is_root() && matches!(key.as_str(), "apiVersion" | "kind");
                let past = past.filter(|_| !is_type).and_then(|past| past.field(key));
                passed += self.value(property, value, &path.field(key), past);
                continue;
            }
            match &node.additional {
                Additional::Each(each) => {
                    let past = past.and_then(|past| past.field(key));
                    passed += self.value(each, value, &nameless.field(key), past);
                }
                Additional::Nothing => {
                    let said = format!("{path}.{key} in body is a forbidden property");
                    self.findings.add(Finding::value(Fault::Invalid, path, &Value::from(key.as_str()), said));
                }
                Additional::Unsaid | Additional::Anything => {}
            }
        }
        for name in node.required() {
            if !map.contains_key(name) {
                let said = format!("{path}.{name} in body is required");
                self.findings.add(Finding::required(&path.field(name), said));
            }
        }
        passed
    }

    fn object_size(&mut self, limits: &Limits, size: i64, path: &Path<'_>) {
        if let Some(least) = limits.min_properties.filter(|least| size < *least) {
            let said = format!("{path} in body should have at least {least} properties");
            self.findings.add(Finding::value(Fault::Invalid, path, &Value::from(size), said));
        }
        if let Some(most) = limits.max_properties.filter(|most| size > *most) {
            let said = format!("{path} in body should have at most {most} properties");
            self.findings.add(Finding::too_many(path, size, most, said));
        }
    }

    fn allowed(&mut self, node: &Node, value: &Value, path: &Path<'_>) {
        let Some(limits) = node.limits.as_deref().filter(|limits| !limits.allowed.is_empty()) else { return };
        let allowed = &limits.allowed;
        let is_one = match (value, &limits.allowed_texts) {
            (Value::String(text), Some(texts)) => texts.contains(text),
            (value, _) => allowed.iter().any(|member| is_member(value, member)),
        };
        if is_one {
            return;
        }
        let texts: Vec<String> = allowed
            .iter()
            .map(|member| match member {
                Value::String(text) => text.clone(),
                other => shown::json(other),
            })
            .collect();
        let said = format!("{path} in body should be one of {texts:?}");
        self.findings.add(Finding::not_supported(path, value, &texts, said));
    }
}

/// Whether a value is the allowed `member`. Numbers are converted to the member's type; null never is one.
fn is_member(value: &Value, member: &Value) -> bool {
    match (value, member) {
        (Value::Null, _) => false,
        (Value::Number(value), Value::Number(member)) => {
            match (Numeric::from(value), Numeric::from(member)) {
                (Numeric::Whole(value), Numeric::Whole(member)) => value == member,
                (Numeric::Float(value), Numeric::Whole(member)) => value as i64 == member,
                (Numeric::Whole(value), Numeric::Float(member)) => value as f64 == member,
                (Numeric::Float(value), Numeric::Float(member)) => value == member,
            }
        }
        (value, member) => value == member,
    }
}

fn has_duplicates(list: &[Value]) -> bool {
    let mut seen = std::collections::HashSet::with_capacity(list.len());
    !list.iter().all(|item| seen.insert(item))
}
