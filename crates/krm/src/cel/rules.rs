//! All rules of a version of a kind, and what they say about an object.

mod check;
mod message;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::compile::Compiled;
use super::decl::{DeclId, Decls};
use super::scope::Scope;
use crate::crd::{FieldPath, JsonSchema, Rule};
use crate::field::{Fault, FieldError, Path};
use crate::schema::Schema;

/// What all rules together may cost for one object.
pub(super) const BUDGET: u64 = 10_000_000;
/// What a single run of a rule may cost.
const PER_RUN: u64 = 1_000_000;

/// The rules of a version of a kind, ready to run.
#[derive(Debug)]
pub struct Rules {
    root: Option<RuleTree>,
}

/// What rules say about an object.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verdict {
    /// What is wrong.
    pub errors: Vec<FieldError>,
    /// What is wrong and was so before, in words: it is let through, and warned of.
    pub warnings: Vec<String>,
}

/// What an object was before.
#[derive(Debug, Clone, Copy)]
pub struct Old<'a> {
    /// The object.
    pub object: &'a Value,
    /// Whether these same rules had nothing to say about it: then those whose values did not change are not run again.
    pub passed: bool,
}

/// The rules at one place of a schema and below it.
#[derive(Debug, Default)]
struct RuleTree {
    here: Option<Here>,
    properties: BTreeMap<Box<str>, RuleTree>,
    /// Of a list, its items; of a map, its values.
    elements: Option<Box<RuleTree>>,
    /// The keys of a list that is a map.
    keys: Vec<Box<str>>,
}

/// The rules at one place.
#[derive(Debug)]
struct Here {
    rules: Vec<Ready>,
    decls: Arc<Decls>,
    decl: DeclId,
    /// The type, as messages name it.
    kind: Box<str>,
    /// Whether the values are lists or objects, which messages do not show.
    composite: bool,
}

/// A rule that can run.
#[derive(Debug)]
struct Ready {
    compiled: Compiled,
    /// The rule itself, for messages.
    rule: Box<str>,
    message: Box<str>,
    message_expression: Box<str>,
    /// What kind of fault a cause tells.
    fault: Fault,
    /// The field a cause names, below the value.
    field: Option<Box<str>>,
    optional_old_self: bool,
}

impl Rules {
    /// Makes the rules of a schema ready. It is one that was admitted; what is wrong with a rule of another is the error.
    pub fn compile(schema: &Value) -> Result<Rules, Vec<FieldError>> {
        let schema = JsonSchema::parse(schema);
        if !schema.has(&mut |it| !it.rules.is_empty()) {
            return Ok(Rules { root: None });
        }
        let mut errors = Vec::new();
        let root = RuleTree::of(&schema, &Scope::root(&schema), &Path::ROOT, &mut errors);
        if errors.is_empty() { Ok(Rules { root }) } else { Err(errors) }
    }

    /// The rules of a part of a schema, those too that cannot run.
    pub(crate) fn of_part(schema: &Value, is_resource: bool) -> Rules {
        let schema = JsonSchema::parse(schema);
        if !schema.has(&mut |it| !it.rules.is_empty()) {
            return Rules { root: None };
        }
        let scope = if is_resource { Scope::root(&schema) } else { Scope::part(&schema) };
        Rules { root: RuleTree::of(&schema, &scope, &Path::ROOT, &mut Vec::new()) }
    }

    /// What the rules of a part say about a value of it; what was wrong before is still wrong.
    pub(crate) fn check_part(&self, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
        match &self.root {
            Some(root) => check::check_part(root, new, old),
            None => Vec::new(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// What the rules say about an object, which `schema` has nothing to say about that [blocks](blocked_by) them.
    pub fn check(&self, schema: &Schema, new: &Value, old: Option<Old<'_>>) -> Verdict {
        match &self.root {
            Some(root) => check::check(root, schema, new, old),
            None => Verdict::default(),
        }
    }
}

/// What is said instead of running rules on an object that does not fit its schema; `None` when rules can run.
pub fn blocked_by(errors: &[FieldError]) -> Option<FieldError> {
    let blocks = |error: &FieldError| {
        matches!(
            error.fault,
            Fault::NotSupported | Fault::Required | Fault::TooLong | Fault::TooMany | Fault::TypeInvalid
        )
    };
    let detail = "some validation rules were not checked because the object was invalid; correct the existing errors to \
                  complete validation";
    errors.iter().any(blocks).then(|| FieldError::invalid(&Path::ROOT, &Value::Null, detail))
}

impl RuleTree {
    /// The rules at a place and below; `None` when there are none.
    fn of(
        schema: &JsonSchema<'_>,
        scope: &Scope,
        path: &Path<'_>,
        errors: &mut Vec<FieldError>,
    ) -> Option<RuleTree> {
        let mut place = RuleTree::default();
        if !schema.rules.is_empty() {
            place.here = Here::of(schema, scope, path, errors);
        }
        let properties = path.field("properties");
        for (name, property) in &schema.properties {
            let below =
                RuleTree::of(property, &scope.property(name, property), &properties.key(name), errors);
            if let Some(below) = below {
                place.properties.insert(Box::from(*name), below);
            }
        }
        let (element, field) = match (schema.item(), schema.values()) {
            (Some(item), _) => (Some(item), "items"),
            (None, values) => (values, "additionalProperties"),
        };
        if let Some(element) = element {
            let below = RuleTree::of(element, &scope.element(element), &path.field(field), errors);
            place.elements = below.map(Box::new);
        }
        if schema.list_type == Some("map") {
            place.keys = schema.list_map_keys.iter().map(|key| Box::from(*key)).collect();
        }
        let empty = place.here.is_none() && place.properties.is_empty() && place.elements.is_none();
        (!empty).then_some(place)
    }
}

impl Here {
    fn of(
        schema: &JsonSchema<'_>,
        scope: &Scope,
        path: &Path<'_>,
        errors: &mut Vec<FieldError>,
    ) -> Option<Here> {
        let list = path.field("x-kubernetes-validations");
        let (Some((decls, decl)), Some(compiled)) = (scope.declared(), scope.compile(schema)) else {
            let detail = "failed to convert to declType for CEL validation rules";
            errors.push(FieldError::new(Fault::Internal, &list, detail));
            return None;
        };
        let mut rules = Vec::with_capacity(compiled.len());
        for (index, (rule, compiled)) in schema.rules.iter().zip(compiled).enumerate() {
            let path = list.index(index);
            for (field, fault) in [("rule", &compiled.fault), ("messageExpression", &compiled.message_fault)]
            {
                if let Some(fault) = fault {
                    errors.push(FieldError::invalid_text(&path.field(field), rule.rule, fault.clone()));
                }
            }
            rules.push(Ready::of(rule, compiled, schema));
        }
        Some(Here {
            rules,
            decls: decls.clone(),
            decl: *decl,
            kind: schema.kind.into(),
            composite: matches!(schema.kind, "object" | "array"),
        })
    }
}

impl Ready {
    fn of(rule: &Rule<'_>, compiled: Compiled, schema: &JsonSchema<'_>) -> Ready {
        let fault = match rule.reason {
            Some("FieldValueForbidden") => Fault::Forbidden,
            Some("FieldValueRequired") => Fault::Required,
            Some("FieldValueDuplicate") => Fault::Duplicate,
            _ => Fault::Invalid,
        };
        let field = FieldPath::parse(rule.field_path, schema).ok().map(|path| path.text);
        Ready {
            compiled,
            rule: rule.rule.trim().into(),
            message: rule.message.trim().into(),
            message_expression: rule.message_expression.into(),
            fault,
            field: field.filter(|field| !field.is_empty()).map(Into::into),
            optional_old_self: rule.optional_old_self == Some(true),
        }
    }

    /// The rule as it is named when it could not be run.
    fn name(&self) -> &str {
        if self.message.is_empty() { &self.rule } else { &self.message }
    }
}
