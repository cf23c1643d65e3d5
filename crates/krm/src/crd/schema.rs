//! Validation of the schema of a version.

mod complete;
mod default_values;
mod keywords;
mod lists;
mod patterns;
mod rules;
mod structural;
mod unsupported;

use super::go_text;
use super::json_schema::JsonSchema;
use super::spec::Validation;
use crate::field::{FieldError, Path};

pub(super) use structural::faults as structural_faults;
pub(super) use unsupported::first_unsupported;

/// What is asked of a schema. Rules that came later are not asked of a definition that already broke them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demands {
    /// The schema says what every field is.
    pub structural: bool,
    /// Types are those of OpenAPI.
    pub known_types: bool,
    /// Defaults hold no unknown fields.
    pub pruned_defaults: bool,
    /// Items of sets are compared as a whole.
    pub atomic_sets: bool,
    /// Keys of map-like lists are always there.
    pub sound_map_keys: bool,
    /// No single rule costs too much.
    pub cheap_rules: bool,
}

impl Demands {
    /// Everything.
    pub fn all() -> Demands {
        Demands {
            structural: true,
            known_types: true,
            pruned_defaults: true,
            atomic_sets: true,
            sound_map_keys: true,
            cheap_rules: true,
        }
    }

    /// What these schemas do not break yet.
    pub fn still_met_by<'s, 'a: 's>(validations: impl Iterator<Item = &'s Validation<'a>>) -> Demands {
        let mut demands = Demands::all();
        for validation in validations {
            let (Some(schema), Some(raw)) = (&validation.schema, validation.raw) else { continue };
            let path = Path::ROOT;
            let structural =
                first_unsupported(schema).is_none() && structural::faults(schema, &path).is_empty();
            demands.structural &= structural;
            demands.known_types &= !schema.has(&mut |it| !keywords::type_is_known(it));
            demands.atomic_sets &= !schema.has(&mut |it| lists::is_set_of_granular_items(it));
            demands.sound_map_keys &= !schema.has(&mut |it| !lists::unsound_keys(it, &path).is_empty());
            demands.pruned_defaults &= !(structural && default_values::any_is_unpruned(raw));
        }
        demands
    }
}

/// What may stand at the root of a schema beside the status subresource.
const AT_ROOT_WITH_STATUS: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum \
    ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items \
    Properties ExternalDocs Example XPreserveUnknownFields XValidations]";

/// Everything that is wrong with the schema of a version.
pub(super) fn validate(
    validation: Option<&Validation<'_>>,
    has_status: bool,
    demands: Demands,
    path: &Path<'_>,
) -> Vec<FieldError> {
    let Some(validation) = validation else { return Vec::new() };
    let (Some(schema), Some(raw)) = (&validation.schema, validation.raw) else { return Vec::new() };
    let root = path.field("openAPIV3Schema");
    let mut errors = Vec::new();
    if has_status {
        errors.extend(root_beside_status(schema, path));
    }
    if schema.nullable {
        let path = path.field("openAPIV3Schema.nullable");
        errors.push(FieldError::forbidden(&path, "nullable cannot be true at the root"));
    }
    let mut unsupported = None;
    let mut sound = false;
    if demands.structural {
        unsupported = first_unsupported(schema);
        if unsupported.is_none() {
            let mut faults = structural::faults(schema, &root);
            if faults.is_empty() {
                faults = default_values::faults(raw, demands.pruned_defaults, &root);
            }
            sound = faults.is_empty();
            errors.extend(faults);
        }
    }
    errors.extend(patterns::too_large(schema, &root));
    let has_rules = sound && schema.has(&mut |it| !it.rules.is_empty());
    let rules = has_rules.then(rules::Tally::default);
    errors.extend(keywords::faults(schema, demands, rules, &root));
    if errors.is_empty()
        && let Some(why) = unsupported
    {
        errors.push(FieldError::invalid_text(&root, "", why));
    }
    errors
}

/// The status is validated on its own, by its property; so nothing at the root may reach into it.
fn root_beside_status(schema: &JsonSchema<'_>, path: &Path<'_>) -> Option<FieldError> {
    let misplaced = || {
        let detail = format!(
            "only {AT_ROOT_WITH_STATUS} fields are allowed at the root of the schema if the status subresource \
             is enabled"
        );
        let path = path.field("openAPIV3Schema");
        Some(FieldError::invalid_shown(&path, go_text::schema(schema), detail))
    };
    if !schema.id.is_empty() || !schema.dialect.is_empty() || schema.reference.is_some() {
        return misplaced();
    }
    if !schema.kind.is_empty() && schema.kind != "object" {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the status \
                      subresource is enabled";
        return Some(FieldError::invalid_text(&path.field("openAPIV3Schema.type"), schema.kind, detail));
    }
    let reaches = schema.nullable
        || schema.default.is_some()
        || !schema.allowed.is_empty()
        || schema.max_properties.is_some()
        || schema.min_properties.is_some()
        || !schema.all_of.is_empty()
        || !schema.one_of.is_empty()
        || !schema.any_of.is_empty()
        || schema.not.is_some()
        || schema.additional_properties.is_some()
        || !schema.pattern_properties.is_empty()
        || !schema.dependencies.is_empty()
        || schema.additional_items.is_some()
        || !schema.definitions.is_empty()
        || schema.embedded
        || schema.int_or_string
        || !schema.list_map_keys.is_empty()
        || schema.list_type.is_some()
        || schema.map_type.is_some();
    if reaches { misplaced() } else { None }
}
