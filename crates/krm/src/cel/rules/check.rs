//! Walks an object beside its rules.

use serde_json::{Map, Value};

use super::message::{Message, message};
use super::{BUDGET, Here, Old, PER_RUN, Ready, RuleTree, Verdict};
use crate::cel::budget;
use crate::cel::program::{Inputs, run};
use crate::cel::value::{Effort, Fault as RunFault, Value as CelValue};
use crate::field::{Fault, FieldError, Path};
use crate::schema::{Correlation, Schema};

const NO_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

pub(super) fn check(root: &RuleTree, schema: &Schema, new: &Value, old: Option<Old<'_>>) -> Verdict {
    let change = Change {
        itself: old.map(|old| Correlation::new(schema.root(), new, old.object)),
        nearest: None,
        at_root: true,
    };
    let passed = old.is_some_and(|old| old.passed);
    within_budget(passed, |walk| {
        // What is left when the budget is spent has been told; nothing more is said.
        let _ = walk.place(root, new, old.map(|old| old.object), change, &Path::ROOT);
    })
}

/// The same for a part of an object, of which nothing is let through because it was so before.
pub(super) fn check_part(root: &RuleTree, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let change = Change { itself: None, nearest: None, at_root: true };
    let verdict = within_budget(false, |walk| {
        let _ = walk.place(root, new, old, change, &Path::ROOT);
    });
    verdict.errors
}

/// A walk that may cost what one object may, and no more than its request has left.
fn within_budget(passed: bool, walk: impl FnOnce(&mut Walk)) -> Verdict {
    let request = budget::current();
    let (cost, steps) = request.as_ref().map_or((BUDGET, u64::MAX), |request| request.left());
    let cost = cost.min(BUDGET);
    let mut walked = Walk { verdict: Verdict::default(), left: cost, effort: Effort::at_most(steps), passed };
    let steps = walked.effort.left();
    walk(&mut walked);
    if let Some(request) = request {
        request.spend(cost - walked.left, steps - walked.effort.left());
    }
    walked.verdict
}

/// How a value has changed: by the value it comes from, or by the nearest around it that comes from one.
#[derive(Clone, Copy)]
struct Change<'a> {
    itself: Option<Correlation<'a>>,
    nearest: Option<Correlation<'a>>,
    at_root: bool,
}

impl<'a> Change<'a> {
    fn is_unchanged(&self) -> bool {
        self.itself.or(self.nearest).is_some_and(|it| it.is_unchanged())
    }

    fn field(&self, name: &str) -> Change<'a> {
        let Some(itself) = self.itself else { return Change { at_root: false, ..*self } };
        // These are the same on both sides by the time rules see them, whatever was asked for.
        if self.at_root && matches!(name, "apiVersion" | "kind") {
            return Change { itself: None, nearest: None, at_root: false };
        }
        Change { itself: itself.field(name), nearest: Some(itself), at_root: false }
    }

    fn item(&self, item: Option<Correlation<'a>>) -> Change<'a> {
        match self.itself {
            Some(itself) => Change { itself: item, nearest: Some(itself), at_root: false },
            None => Change { at_root: false, ..*self },
        }
    }
}

/// The budget is spent.
struct Spent;

struct Walk {
    verdict: Verdict,
    left: u64,
    effort: Effort,
    passed: bool,
}

impl Walk {
    fn place<'a>(
        &mut self,
        place: &'a RuleTree,
        new: &'a Value,
        old: Option<&'a Value>,
        change: Change<'a>,
        path: &Path<'_>,
    ) -> Result<(), Spent> {
        if new.is_null() {
            return Ok(());
        }
        if let Some(here) = &place.here {
            self.rules(here, new, old.filter(|old| !old.is_null()), change, path)?;
        }
        match new {
            Value::Array(items) => self.items(place, items, old, change, path),
            Value::Object(fields) => self.fields(place, fields, old, change, path),
            _ => Ok(()),
        }
    }

    fn fields<'a>(
        &mut self,
        place: &'a RuleTree,
        fields: &'a Map<String, Value>,
        old: Option<&'a Value>,
        change: Change<'a>,
        path: &Path<'_>,
    ) -> Result<(), Spent> {
        let before = |name: &str| old.and_then(|old| old.as_object()?.get(name));
        if let Some(elements) = &place.elements {
            for (name, value) in fields {
                self.place(elements, value, before(name), change.field(name), &path.key(name))?;
            }
        }
        for (name, below) in &place.properties {
            if let Some(value) = fields.get(&**name) {
                self.place(below, value, before(name), change.field(name), &path.field(name))?;
            }
        }
        Ok(())
    }

    fn items<'a>(
        &mut self,
        place: &'a RuleTree,
        items: &'a [Value],
        old: Option<&'a Value>,
        change: Change<'a>,
        path: &Path<'_>,
    ) -> Result<(), Spent> {
        let Some(elements) = &place.elements else { return Ok(()) };
        // Only items of lists that are maps come from an old one; the same that correlates them tells which.
        let correlated = change.itself.filter(|_| !place.keys.is_empty()).map(|it| it.items());
        let by_key =
            if correlated.is_none() && !place.keys.is_empty() { keyed(old, &place.keys) } else { Vec::new() };
        for (index, item) in items.iter().enumerate() {
            let comes_from = correlated.as_ref().and_then(|items| items.of(item));
            let old = match comes_from {
                Some(correlation) => Some(correlation.old()),
                None => find(&by_key, item, &place.keys),
            };
            self.place(elements, item, old, change.item(comes_from), &path.index(index))?;
        }
        Ok(())
    }

    fn rules<'a>(
        &mut self,
        here: &'a Here,
        new: &'a Value,
        old: Option<&'a Value>,
        change: Change<'a>,
        path: &Path<'_>,
    ) -> Result<(), Spent> {
        let unchanged = std::cell::LazyCell::new(|| change.is_unchanged());
        for rule in &here.rules {
            let looks_back = rule.compiled.uses_old_self;
            if looks_back && old.is_none() && !rule.optional_old_self {
                continue;
            }
            if self.passed && !looks_back && *unchanged {
                continue;
            }
            if let Some(fault) = &rule.compiled.fault {
                let detail = format!("rule compile error: {fault}");
                self.verdict.errors.push(FieldError::invalid_text(path, &here.kind, detail));
                continue;
            }
            let Some(program) = &rule.compiled.program else { continue };
            let inputs = Inputs {
                decls: &here.decls,
                decl: here.decl,
                itself: new,
                old,
                old_is_optional: rule.optional_old_self,
            };
            let (outcome, cost) =
                run(program, inputs, PER_RUN.min(self.left.saturating_add(1)), &mut self.effort);
            if cost > self.left {
                self.left = 0;
                return self.stop(here, path, NO_BUDGET.to_owned());
            }
            self.left -= cost;
            match outcome {
                Ok(CelValue::Bool(true)) => continue,
                Ok(_) => {}
                Err(fault) => {
                    self.not_run(here, rule, &fault, path)?;
                    continue;
                }
            }
            let error = self.failed(here, rule, inputs, path)?;
            if !looks_back && *unchanged {
                self.verdict.warnings.push(error.to_string());
            } else {
                self.verdict.errors.push(error);
            }
        }
        Ok(())
    }

    fn stop(&mut self, here: &Here, path: &Path<'_>, detail: String) -> Result<(), Spent> {
        self.verdict.errors.push(FieldError::invalid_text(path, &here.kind, detail));
        Err(Spent)
    }

    /// A rule that gave no answer.
    fn not_run(&mut self, here: &Here, rule: &Ready, fault: &RunFault, path: &Path<'_>) -> Result<(), Spent> {
        let name = rule.name();
        let detail = match fault {
            RunFault::TooExpensive => {
                let detail = format!(
                    "'operation cancelled: actual cost limit exceeded': no further validation rules will be run \
                     due to call cost exceeds limit for rule: {name}"
                );
                return self.stop(here, path, detail);
            }
            RunFault::NoOverload => overload_detail("no such overload", name),
            RunFault::Error(why) if why.starts_with("no such overload") => overload_detail(why, name),
            RunFault::Error(why) => format!("{why} evaluating rule: {name}"),
        };
        self.verdict.errors.push(FieldError::invalid_text(path, &here.kind, detail));
        Ok(())
    }

    /// The error for a rule that does not hold.
    fn failed<'a>(
        &mut self,
        here: &Here,
        rule: &'a Ready,
        inputs: Inputs<'a>,
        path: &Path<'_>,
    ) -> Result<FieldError, Spent> {
        let below;
        let path = match &rule.field {
            Some(field) => {
                below = path.field(field);
                &below
            }
            None => path,
        };
        let detail = match message(rule, inputs, &mut self.left, &mut self.effort) {
            Message::Made(text) => text,
            Message::Written if rule.message.is_empty() => format!("failed rule: {}", rule.rule),
            Message::Written => rule.message.to_string(),
            Message::TooExpensive(detail) => {
                self.verdict.errors.push(FieldError::invalid_text(path, &here.kind, detail));
                return Err(Spent);
            }
        };
        Ok(match (rule.fault, here.composite) {
            (fault @ (Fault::Forbidden | Fault::Required), _) => FieldError::new(fault, path, detail),
            (fault @ Fault::Duplicate, true) => FieldError::new(fault, path, ""),
            (fault @ Fault::Duplicate, false) => FieldError::with(fault, path, inputs.itself, ""),
            (fault, true) => FieldError::new(fault, path, detail),
            (fault, false) => FieldError::with(fault, path, inputs.itself, detail),
        })
    }
}

fn overload_detail(why: &str, name: &str) -> String {
    format!(
        "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {name}"
    )
}

/// Old items by the values of their keys, in order.
fn keyed<'a>(old: Option<&'a Value>, keys: &[Box<str>]) -> Vec<(String, &'a Value)> {
    let items = old.and_then(Value::as_array).into_iter().flatten();
    let mut keyed: Vec<(String, &Value)> =
        items.filter_map(|item| Some((identity(item, keys)?, item))).collect();
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    keyed
}

fn find<'a>(by_key: &[(String, &'a Value)], item: &Value, keys: &[Box<str>]) -> Option<&'a Value> {
    if by_key.is_empty() {
        return None;
    }
    let identity = identity(item, keys)?;
    let place = by_key.partition_point(|(key, _)| *key < identity);
    by_key.get(place).filter(|(key, _)| *key == identity).map(|(_, item)| *item)
}

/// The values of the key fields as one text; none when one is missing or is not a single value.
fn identity(item: &Value, keys: &[Box<str>]) -> Option<String> {
    let mut text = String::new();
    for key in keys {
        let value = item.get(&**key).filter(|it| !(it.is_null() || it.is_object() || it.is_array()))?;
        text.push('\0');
        text.push_str(&value.to_string());
    }
    Some(text)
}
