//! ClusterRole: policy rules for all namespaces and for cluster-scoped resources.

use std::sync::Arc;

use krm::field::{FieldError, Path};
use krm::kind::{Kind, RawChange, Scope};
use krm::meta::OBJECT_META;
use krm::names;
use krm::object::Object;
use krm::selector::{LabelSelector, validate_label_selector};
use krm::shape::{Field, Outline, STRING, STRING_LIST, STRING_MAP, Shape, Struct};
use krm::table::{Column, Columns};
use serde_json::Value;

use super::GROUP;
use super::policy_rule::{self, POLICY_RULES, described, tidy};
use crate::kinds::columns;
use crate::kinds::declare::{self, MOST_ERRORS};

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "ClusterRole",
    type_name: "v1.ClusterRole",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("rules", POLICY_RULES),
        Field::if_absent("aggregationRule", Shape::Struct(&AGGREGATION)),
    ],
});

static AGGREGATION: Struct = Struct {
    name: "AggregationRule",
    type_name: "v1.AggregationRule",
    fields: &[Field::if_empty(
        "clusterRoleSelectors",
        Shape::List("[]v1.LabelSelector", &Shape::Struct(&LABEL_SELECTOR)),
    )],
};

static LABEL_SELECTOR: Struct = Struct {
    name: "LabelSelector",
    type_name: "v1.LabelSelector",
    fields: &[
        Field::if_empty("matchLabels", STRING_MAP),
        Field::if_empty(
            "matchExpressions",
            Shape::List("[]v1.LabelSelectorRequirement", &Shape::Struct(&LABEL_REQUIREMENT)),
        ),
    ],
};

/// `v1.LabelSelectorRequirement`.
pub static LABEL_REQUIREMENT: Struct = Struct {
    name: "LabelSelectorRequirement",
    type_name: "v1.LabelSelectorRequirement",
    fields: &[
        Field::always("key", STRING),
        Field::always("operator", Shape::Text("v1.LabelSelectorOperator")),
        Field::if_empty("values", STRING_LIST),
    ],
};

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "ClusterRole is a cluster-level set of policy rules. A ClusterRoleBinding grants it everywhere, a RoleBinding in one namespace.")
        .says("aggregationRule", "How to build the rules from other ClusterRoles. If set, the controller manages the rules and overwrites changes to them.")
        .says("aggregationRule.clusterRoleSelectors", "Label selectors of the ClusterRoles whose rules are added. A role that matches any of them is included.")
        .whole("aggregationRule.clusterRoleSelectors[]")
        .requires("aggregationRule.clusterRoleSelectors[].matchExpressions[]", &["key", "operator"]);
    let mut kind =
        declare::core(GROUP, "ClusterRole", "clusterroles", Scope::Cluster, &SHAPE, &described(outline));
    kind.create_on_update = true;
    kind.name_rule = names::name_is_path_segment;
    kind.versions[0].columns = Columns::new(vec![Column::name(), columns::created()]);
    kind.prepare.push(Arc::new(|new, _, _| tidy(new)));
    kind.validations.push(Arc::new(validate));
    kind
}

fn validate(change: &RawChange<'_>) -> Vec<FieldError> {
    let Some(new) = change.new else { return Vec::new() };
    let mut errors = policy_rule::validate(new, false);
    if new.get("aggregationRule").is_none() {
        return errors;
    }
    let aggregation = Path::of("aggregationRule");
    let path = aggregation.field("clusterRoleSelectors");
    let selectors = selectors(new);
    if selectors.is_empty() {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.push(FieldError::required(&path, detail));
    }
    for (index, selector) in selectors.iter().enumerate() {
        if errors.len() >= MOST_ERRORS {
            break;
        }
        let path = path.index(index);
        errors.extend(validate_label_selector(selector, &path));
        if LabelSelector::from_json(Some(selector)).is_err() {
            errors.push(FieldError::invalid(&path, &Value::Null, "invalid label selector."));
        }
    }
    errors
}

fn selectors(object: &Object) -> &[Value] {
    let list = object.at("aggregationRule.clusterRoleSelectors").and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}
