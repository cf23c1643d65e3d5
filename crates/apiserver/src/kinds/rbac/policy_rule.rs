//! PolicyRule: verbs on resources or on non-resource URLs.

use krm::field::{FieldError, Path};
use krm::object::Object;
use krm::shape::{Field, Outline, STRING_LIST, Shape, Struct};
use serde_json::Value;

use crate::kinds::declare::MOST_ERRORS;

/// `[]v1.PolicyRule`.
pub const POLICY_RULES: Shape = Shape::List("[]v1.PolicyRule", &Shape::Struct(&POLICY_RULE));

static POLICY_RULE: Struct = Struct {
    name: "PolicyRule",
    type_name: "v1.PolicyRule",
    fields: &[
        Field::always("verbs", STRING_LIST),
        Field::if_empty("apiGroups", STRING_LIST),
        Field::if_empty("resources", STRING_LIST),
        Field::if_empty("resourceNames", STRING_LIST),
        Field::if_empty("nonResourceURLs", STRING_LIST),
    ],
};

/// Words about the rules of a role.
pub fn described(outline: Outline) -> Outline {
    outline
        .says("rules", "Policy rules of the role. A request is allowed if any rule matches it.")
        .says(
            "rules[].verbs",
            "Verbs that the rule allows, such as get, list, watch, create, update, patch and delete. * represents all verbs.",
        )
        .says("rules[].apiGroups", "API groups of the resources. \"\" represents the core group, * all groups.")
        .says("rules[].resources", "Resources that the rule applies to, such as configmaps or widgets/status. * represents all resources.")
        .says("rules[].resourceNames", "Names of the objects that the rule applies to. An empty list means all objects.")
        .says("rules[].nonResourceURLs", "URL paths outside of resources, such as /metrics. * is allowed as the full final step. Only for ClusterRoles.")
        .requires("rules[]", &["verbs"])
}

/// An empty list of rules, or of verbs, is kept as no list.
pub fn tidy(object: &mut Object) {
    let Some(rules) = object.0.get_mut("rules") else { return };
    for rule in rules.as_array_mut().into_iter().flatten() {
        if let Some(verbs) = rule.get_mut("verbs") {
            none_if_empty(verbs);
        }
    }
    none_if_empty(rules);
}

fn none_if_empty(list: &mut Value) {
    if list.as_array().is_some_and(Vec::is_empty) {
        *list = Value::Null;
    }
}

/// What is wrong with the rules of a role.
pub fn validate(object: &Object, is_namespaced: bool) -> Vec<FieldError> {
    let path = Path::of("rules");
    let mut errors = Vec::new();
    for (index, rule) in object.get("rules").and_then(Value::as_array).into_iter().flatten().enumerate() {
        if errors.len() >= MOST_ERRORS {
            break;
        }
        faults(rule, is_namespaced, &path.index(index), &mut errors);
    }
    errors
}

fn faults(rule: &Value, is_namespaced: bool, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let has = |field: &str| rule.get(field).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let mut require = |field: &str, detail: &'static str| {
        if !has(field) {
            errors.push(FieldError::required(&path.field(field), detail));
        }
    };
    require("verbs", "verbs must contain at least one value");
    if !has("nonResourceURLs") {
        require("apiGroups", "resource rules must supply at least one api group");
        require("resources", "resource rules must supply at least one resource");
        return;
    }
    let urls = rule.get("nonResourceURLs").unwrap_or(&Value::Null);
    let path = path.field("nonResourceURLs");
    if is_namespaced {
        let detail = "namespaced rules cannot apply to non-resource URLs";
        errors.push(FieldError::invalid(&path, urls, detail));
    }
    if has("apiGroups") || has("resources") || has("resourceNames") {
        let detail = "rules cannot apply to both regular resources and non-resource URLs";
        errors.push(FieldError::invalid(&path, urls, detail));
    }
}
