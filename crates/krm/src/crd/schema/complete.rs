//! Every field that logic at the root judges has to be declared outside of it.

use crate::crd::json_schema::JsonSchema;
use crate::field::{FieldError, Path};

/// Checks the logic at the root of a schema, the only place where Kubernetes looks.
pub(super) fn check(schema: &JsonSchema<'_>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    logic(schema, schema, path, path, errors);
}

/// The schemas in the logic of `judging` against what `declared` says.
fn logic(
    judging: &JsonSchema<'_>,
    declared: &JsonSchema<'_>,
    at: &Path<'_>,
    from: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    if let Some(nested) = &judging.not {
        inside(nested, Some(declared), at, &from.field("not"), errors);
    }
    let lists = [("allOf", &judging.all_of), ("anyOf", &judging.any_of), ("oneOf", &judging.one_of)];
    for (field, nested) in lists {
        let from = from.field(field);
        for (index, nested) in nested.iter().enumerate() {
            inside(nested, Some(declared), at, &from.index(index), errors);
        }
    }
}

fn inside(
    judging: &JsonSchema<'_>,
    declared: Option<&JsonSchema<'_>>,
    at: &Path<'_>,
    from: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    let Some(declared) = declared else {
        errors.push(FieldError::required(at, format!("because it is defined in {from}")));
        return;
    };
    logic(judging, declared, at, from, errors);
    if let Some(item) = judging.item() {
        inside(item, declared.item(), &at.field("items"), &from.field("items"), errors);
    }
    let (at, from) = (at.field("properties"), from.field("properties"));
    for (name, property) in &judging.properties {
        inside(property, declared.property(name), &at.key(name), &from.key(name), errors);
    }
}
