//! Keywords of a schema, one by one, from the top down.

use super::rules::{Scope, Tally};
use super::{Demands, lists, rules};
use crate::crd::json_schema::{Dependency, Items, JsonSchema};
use crate::field::{FieldError, Path};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Everything that is wrong with keywords, and, where there is a tally, with rules.
pub(super) fn faults(
    schema: &JsonSchema<'_>,
    demands: Demands,
    tally: Option<Tally>,
    path: &Path<'_>,
) -> Vec<FieldError> {
    let scope = tally.as_ref().map(|_| Scope::root(schema));
    let mut walk = Walk { demands, errors: Vec::new(), rule_errors: Vec::new(), tally };
    let place = SchemaContext { is_root: true, ..SchemaContext::default() };
    walk.visit(schema, place, scope, path);
    let mut errors = walk.errors;
    errors.extend(walk.rule_errors);
    if let Some(tally) = walk.tally {
        errors.extend(tally.total_faults(path));
    }
    errors
}

/// Whether the type is one of OpenAPI, or none.
pub(super) fn type_is_known(schema: &JsonSchema<'_>) -> bool {
    schema.kind.is_empty() || TYPES.contains(&schema.kind)
}

/// Where in a schema we are.
#[derive(Clone, Copy, Default)]
struct SchemaContext<'p> {
    is_root: bool,
    /// Inside of `apiVersion`, `kind` or `metadata`.
    inside_meta: bool,
    /// Why there may be no default.
    no_default: Option<&'static str>,
    /// The highest schema whose parts cannot be told apart between an old and a new value.
    uncorrelatable: Option<&'p Path<'p>>,
}

struct Walk {
    demands: Demands,
    errors: Vec<FieldError>,
    rule_errors: Vec<FieldError>,
    tally: Option<Tally>,
}

impl Walk {
    fn visit(
        &mut self,
        schema: &JsonSchema<'_>,
        place: SchemaContext<'_>,
        scope: Option<Scope>,
        path: &Path<'_>,
    ) {
        let errors_before = self.errors.len();
        self.unsupported(schema, place, path);
        if schema.unique_items {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.errors.push(FieldError::forbidden(&path.field("uniqueItems"), detail));
        }
        let here = SchemaContext { is_root: false, ..place };
        self.values(schema, here, scope.as_ref(), path);
        self.properties(schema, place, scope.as_ref(), path);
        self.logic(schema, here, path);
        self.items(schema, here, scope.as_ref(), path);
        for (name, dependency) in &schema.dependencies {
            if let Dependency::Schema(schema) = dependency {
                self.visit(schema, here, None, &path.field("dependencies").key(name));
            }
        }
        if schema.preserve_unknown == Some(false) {
            let path = path.field("x-kubernetes-preserve-unknown-fields");
            self.errors.push(FieldError::invalid(&path, &false.into(), "must be true or undefined"));
        }
        lists::check(schema, self.demands, path, &mut self.errors);
        rules::check_texts(schema, path, &mut self.errors);
        // A rule cannot be judged by a schema that does not hold.
        if !schema.rules.is_empty()
            && self.errors.len() == errors_before
            && let (Some(scope), Some(tally)) = (scope, &mut self.tally)
        {
            let cheap = self.demands.cheap_rules;
            self.rule_errors.extend(tally.check(schema, &scope, cheap, place.uncorrelatable, path));
        }
    }

    fn unsupported(&mut self, schema: &JsonSchema<'_>, place: SchemaContext<'_>, path: &Path<'_>) {
        if self.demands.known_types && !type_is_known(schema) {
            self.errors.push(FieldError::not_supported(&path.field("type"), &schema.kind.into(), &TYPES));
        }
        if let Some(why) = place.no_default.filter(|_| schema.default.is_some()) {
            self.errors.push(FieldError::forbidden(&path.field("default"), format!("must not be set {why}")));
        }
        let list_of_items = matches!(&schema.items, Some(Items::Each(each)) if !each.is_empty());
        let forbidden = [
            (!schema.id.is_empty(), "id", "id is not supported"),
            (schema.additional_items.is_some(), "additionalItems", "additionalItems is not supported"),
            (
                !schema.pattern_properties.is_empty(),
                "patternProperties",
                "patternProperties is not supported",
            ),
            (!schema.definitions.is_empty(), "definitions", "definitions is not supported"),
            (!schema.dependencies.is_empty(), "dependencies", "dependencies is not supported"),
            (schema.reference.is_some(), "$ref", "$ref is not supported"),
            (schema.kind == "null", "type", "type cannot be set to null, use nullable as an alternative"),
            (list_of_items, "items", "items must be a schema object and not an array"),
            (
                place.inside_meta && schema.embedded,
                "x-kubernetes-embedded-resource",
                "must not be used inside of resource meta",
            ),
        ];
        for (is_set, field, detail) in forbidden {
            if is_set {
                self.errors.push(FieldError::forbidden(&path.field(field), detail));
            }
        }
    }

    fn values(
        &mut self,
        schema: &JsonSchema<'_>,
        here: SchemaContext<'_>,
        scope: Option<&Scope>,
        path: &Path<'_>,
    ) {
        let Some(additional) = &schema.additional_properties else { return };
        let path = path.field("additionalProperties");
        if !schema.properties.is_empty() && (!additional.allowed || additional.schema.is_some()) {
            let detail = "additionalProperties and properties are mutual exclusive";
            self.errors.push(FieldError::forbidden(&path, detail));
        }
        let Some(values) = &additional.schema else { return };
        let no_default =
            here.inside_meta.then_some("inside additionalProperties applying to object metadata");
        let place = SchemaContext { no_default: no_default.or(here.no_default), ..here };
        self.visit(values, place, scope.map(|scope| scope.element(schema, values)), &path);
    }

    fn properties(
        &mut self,
        schema: &JsonSchema<'_>,
        place: SchemaContext<'_>,
        scope: Option<&Scope>,
        path: &Path<'_>,
    ) {
        let properties = path.field("properties");
        let correlatable = matches!(schema.map_type, None | Some("granular" | "atomic"));
        for (name, property) in &schema.properties {
            let mut below = SchemaContext { is_root: false, ..place };
            if !correlatable {
                below.uncorrelatable = below.uncorrelatable.or(Some(path));
            }
            if (place.is_root || schema.embedded) && is_resource_field(name) {
                below.inside_meta = true;
                if place.is_root {
                    below.no_default = Some(match *name {
                        "metadata" => "in top-level metadata",
                        "kind" => "in top-level kind",
                        _ => "in top-level apiVersion",
                    });
                }
            }
            let scope = scope.map(|scope| scope.property(schema, name, property));
            self.visit(property, below, scope, &properties.key(name));
        }
    }

    fn logic(&mut self, schema: &JsonSchema<'_>, here: SchemaContext<'_>, path: &Path<'_>) {
        if let Some(nested) = &schema.not {
            self.visit(nested, here, None, &path.field("not"));
        }
        let lists = [("allOf", &schema.all_of), ("oneOf", &schema.one_of), ("anyOf", &schema.any_of)];
        for (field, nested) in lists {
            let path = path.field(field);
            for (index, nested) in nested.iter().enumerate() {
                self.visit(nested, here, None, &path.index(index));
            }
        }
        let path = path.field("definitions");
        for (name, nested) in &schema.definitions {
            self.visit(nested, here, None, &path.key(name));
        }
    }

    fn items(
        &mut self,
        schema: &JsonSchema<'_>,
        here: SchemaContext<'_>,
        scope: Option<&Scope>,
        path: &Path<'_>,
    ) {
        let mut below = here;
        if schema.list_type != Some("map") {
            below.uncorrelatable = below.uncorrelatable.or(Some(path));
        }
        let items = path.field("items");
        match &schema.items {
            Some(Items::One(item)) => {
                self.visit(item, below, scope.map(|scope| scope.element(schema, item)), &items);
            }
            Some(Items::Each(each)) => {
                for (index, item) in each.iter().enumerate() {
                    let scope = scope.map(|scope| scope.element(schema, item));
                    self.visit(item, below, scope, &items.index(index));
                }
            }
            None => {}
        }
    }
}

fn is_resource_field(name: &str) -> bool {
    matches!(name, "metadata" | "kind" | "apiVersion")
}
