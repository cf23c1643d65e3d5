//! Rules in `x-kubernetes-validations`.

use crate::cel::{self, Compiled};
use crate::crd::field_path::FieldPath;
use crate::crd::go_text;
use crate::crd::json_schema::{JsonSchema, Rule};
use crate::field::{Fault, FieldError, Path};

const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Checks what a rule says besides its expressions.
pub(super) fn check_texts(schema: &JsonSchema<'_>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let list = path.field("x-kubernetes-validations");
    // Only a schema that can be read as a structural one can be asked where a path leads.
    let readable = std::cell::LazyCell::new(|| super::first_unsupported(schema).is_none());
    for (index, rule) in schema.rules.iter().enumerate() {
        let path = list.index(index);
        errors.extend(message(rule, &path));
        if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(&path.field("messageExpression"), detail));
        }
        if let Some(reason) = rule.reason.filter(|reason| !REASONS.contains(reason)) {
            errors.push(FieldError::not_supported(&path.field("reason"), &reason.into(), &REASONS));
        }
        let field_path = path.field("fieldPath");
        let mut about_path = |detail: &'static str| {
            errors.push(FieldError::invalid_text(&field_path, rule.field_path, detail));
        };
        if rule.field_path.is_empty() {
            continue;
        }
        if rule.field_path.trim().is_empty() {
            about_path("must be non-empty if specified");
        }
        if has_line_break(rule.field_path) {
            about_path("must not contain line breaks");
        }
        if *readable && FieldPath::parse(rule.field_path, schema).is_err() {
            about_path("must be a valid path");
        }
    }
}

fn message(rule: &Rule<'_>, path: &Path<'_>) -> Option<FieldError> {
    let message = path.field("message");
    let trimmed = rule.message.trim();
    if rule.rule.trim().is_empty() {
        Some(FieldError::required(&path.field("rule"), "rule is not specified"))
    } else if !rule.message.is_empty() && trimmed.is_empty() {
        Some(FieldError::invalid_text(&message, rule.message, "must be non-empty if specified"))
    } else if has_line_break(trimmed) {
        Some(FieldError::invalid_text(&message, rule.message, "must not contain line breaks"))
    } else if has_line_break(rule.rule.trim()) && trimmed.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        Some(FieldError::required(&message, detail))
    } else {
        None
    }
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// The most that one rule may cost in all the places of a request where it can run.
const MOST_FOR_ONE: u64 = 10_000_000;
/// The most that all rules of a schema may cost together.
const MOST_FOR_ALL: u64 = 100_000_000;
/// So many of the most expensive are named.
const NAMED: usize = 4;

/// What all rules of a schema cost together.
#[derive(Debug, Default)]
pub(super) struct Tally {
    total: u64,
    /// The most expensive, the worst first.
    worst: Vec<(u64, FieldError)>,
}

/// A place in a schema as rules see it.
#[derive(Debug)]
pub(super) struct Scope {
    seen: cel::Scope,
    /// How often values can stand there; `None` when nothing bounds that.
    times: Option<u64>,
}

impl Scope {
    pub fn root(schema: &JsonSchema<'_>) -> Scope {
        Scope { seen: cel::Scope::root(schema), times: Some(1) }
    }

    pub fn property(&self, schema: &JsonSchema<'_>, name: &str, property: &JsonSchema<'_>) -> Scope {
        Scope { seen: self.seen.property(name, property), times: self.times_below(schema) }
    }

    /// What a list or a map holds.
    pub fn element(&self, schema: &JsonSchema<'_>, element: &JsonSchema<'_>) -> Scope {
        Scope { seen: self.seen.element(element), times: self.times_below(schema) }
    }

    fn times_below(&self, schema: &JsonSchema<'_>) -> Option<u64> {
        let most = |number: i64| u64::try_from(number).unwrap_or(0);
        let here = match (schema.kind, &schema.additional_properties) {
            ("object", Some(_)) => schema.max_properties.map(most)?,
            ("array", _) => schema.max_items.map(most)?,
            _ => 1,
        };
        Some(self.times?.saturating_mul(here))
    }
}

impl Tally {
    /// What is wrong with the rules of a schema, besides what [`check_texts`] says.
    pub fn check(
        &mut self,
        schema: &JsonSchema<'_>,
        scope: &Scope,
        cheap: bool,
        uncorrelatable: Option<&Path<'_>>,
        path: &Path<'_>,
    ) -> Vec<FieldError> {
        let list = path.field("x-kubernetes-validations");
        let Some(compiled) = scope.seen.compile(schema) else {
            let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: \
                          unable to convert structural schema to CEL declarations";
            return vec![FieldError::new(Fault::Internal, &list, detail)];
        };
        let times = scope.times.unwrap_or_else(|| scope.seen.most_in_request());
        let mut errors = Vec::new();
        for (index, (rule, compiled)) in schema.rules.iter().zip(&compiled).enumerate() {
            let path = list.index(index);
            let mut found = Found { rule, path: &path, cheap, errors: &mut errors };
            found.rule(compiled, self, times);
            found.message(compiled, self);
            found.old_self(compiled, uncorrelatable);
        }
        errors
    }

    /// What is wrong with all rules together.
    pub fn total_faults(self, path: &Path<'_>) -> Vec<FieldError> {
        if self.total <= MOST_FOR_ALL {
            return Vec::new();
        }
        let mut errors: Vec<FieldError> = self.worst.into_iter().map(|(_, error)| error).collect();
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.push(FieldError::forbidden(path, too_expensive(what, self.total, MOST_FOR_ALL)));
        errors
    }

    fn count(&mut self, cost: u64, path: &Path<'_>) {
        self.total = self.total.saturating_add(cost);
        // What is less than a hundredth of what all may cost is not what makes it too much.
        if cost < MOST_FOR_ALL / 100 {
            return;
        }
        let detail =
            "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        self.worst.push((cost, FieldError::forbidden(path, detail)));
        self.worst.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
        self.worst.truncate(NAMED);
    }
}

/// What is found out about one rule.
struct Found<'f> {
    rule: &'f Rule<'f>,
    path: &'f Path<'f>,
    cheap: bool,
    errors: &'f mut Vec<FieldError>,
}

impl Found<'_> {
    fn rule(&mut self, compiled: &Compiled, tally: &mut Tally, times: u64) {
        let path = self.path.field("rule");
        let cost = compiled.cost.saturating_mul(times);
        self.cost("estimated rule cost", cost, &path);
        tally.count(cost, &path);
        if let Some(fault) = &compiled.fault {
            let shown = go_text::rule(self.rule);
            self.errors.push(FieldError::invalid_shown(&path, shown, fault.clone()));
        }
    }

    fn message(&mut self, compiled: &Compiled, tally: &mut Tally) {
        let path = self.path.field("messageExpression");
        if let Some(fault) = &compiled.message_fault {
            let shown = go_text::rule(self.rule);
            self.errors.push(FieldError::invalid_shown(&path, shown, fault.clone()));
        } else if let Some(cost) = compiled.message_cost {
            self.cost("estimated messageExpression cost", cost, &path);
            tally.count(cost, &path);
        }
    }

    fn cost(&mut self, what: &str, cost: u64, path: &Path<'_>) {
        if self.cheap && cost > MOST_FOR_ONE {
            self.errors.push(FieldError::forbidden(path, too_expensive(what, cost, MOST_FOR_ONE)));
        }
    }

    fn old_self(&mut self, compiled: &Compiled, uncorrelatable: Option<&Path<'_>>) {
        if compiled.uses_old_self {
            if let Some(within) = uncorrelatable {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {within}"
                );
                let path = self.path.field("rule");
                self.errors.push(FieldError::invalid_text(&path, self.rule.rule, detail));
            }
        } else if let Some(flag) = self.rule.optional_old_self {
            let path = self.path.field("optionalOldSelf");
            let detail = "may not be set if oldSelf is not used in rule";
            self.errors.push(FieldError::invalid(&path, &flag.into(), detail));
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is a factor for people")]
fn too_expensive(what: &str, cost: u64, most: u64) -> String {
    let factor = cost as f64 / most as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    )
}
