//! Keywords of JSON Schema that a structural schema has no place for.

use crate::crd::json_schema::{Items, JsonSchema};

/// The first keyword, from the top down, that keeps a schema from being read as a structural one.
pub(crate) fn first_unsupported(schema: &JsonSchema<'_>) -> Option<&'static str> {
    keyword(schema)
        .or_else(|| {
            let nested = schema.not.as_deref().into_iter().chain(&schema.all_of);
            nested.chain(&schema.any_of).chain(&schema.one_of).find_map(first_unsupported)
        })
        .or_else(|| {
            let detail = "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
            (schema.preserve_unknown == Some(false)).then_some(detail)
        })
        .or_else(|| match &schema.items {
            Some(Items::Each(each)) if !each.is_empty() => {
                Some("OpenAPIV3Schema 'items' must be a schema, but is an array")
            }
            Some(Items::One(item)) => first_unsupported(item),
            _ => None,
        })
        .or_else(|| schema.properties.iter().find_map(|(_, schema)| first_unsupported(schema)))
        .or_else(|| schema.values().and_then(first_unsupported))
}

fn keyword(schema: &JsonSchema<'_>) -> Option<&'static str> {
    let keywords = [
        (!schema.id.is_empty(), "OpenAPIV3Schema 'id' is not supported"),
        (!schema.dialect.is_empty(), "OpenAPIV3Schema 'schema' is not supported"),
        (schema.reference.is_some_and(|it| !it.is_empty()), "OpenAPIV3Schema '$ref' is not supported"),
        (!schema.pattern_properties.is_empty(), "OpenAPIV3Schema 'patternProperties' is not supported"),
        (!schema.dependencies.is_empty(), "OpenAPIV3Schema 'dependencies' is not supported"),
        (schema.additional_items.is_some(), "OpenAPIV3Schema 'additionalItems' is not supported"),
        (!schema.definitions.is_empty(), "OpenAPIV3Schema 'definitions' is not supported"),
    ];
    keywords.into_iter().find(|(is_set, _)| *is_set).map(|(_, detail)| detail)
}
