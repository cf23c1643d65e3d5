//! SelfSubjectRulesReview: what can the current user do in a namespace?

use krm::kind::{Kind, Scope};
use krm::meta::OBJECT_META;
use krm::shape::{Field, Outline, STRING, STRING_LIST, Shape, Struct};

use super::AUTHORIZATION;
use crate::kinds::declare;

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "SelfSubjectRulesReview",
    type_name: "v1.SelfSubjectRulesReview",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("spec", Shape::Struct(&SPEC)),
        Field::always("status", Shape::Struct(&STATUS)),
    ],
});

static SPEC: Struct = Struct {
    name: "SelfSubjectRulesReviewSpec",
    type_name: "v1.SelfSubjectRulesReviewSpec",
    fields: &[Field::if_empty("namespace", STRING)],
};

static STATUS: Struct = Struct {
    name: "SubjectRulesReviewStatus",
    type_name: "v1.SubjectRulesReviewStatus",
    fields: &[
        Field::always("resourceRules", Shape::List("[]v1.ResourceRule", &Shape::Struct(&RESOURCE_RULE))),
        Field::always(
            "nonResourceRules",
            Shape::List("[]v1.NonResourceRule", &Shape::Struct(&NON_RESOURCE_RULE)),
        ),
        Field::always("incomplete", Shape::Flag),
        Field::if_empty("evaluationError", STRING),
    ],
};

static RESOURCE_RULE: Struct = Struct {
    name: "ResourceRule",
    type_name: "v1.ResourceRule",
    fields: &[
        Field::always("verbs", STRING_LIST),
        Field::if_empty("apiGroups", STRING_LIST),
        Field::if_empty("resources", STRING_LIST),
        Field::if_empty("resourceNames", STRING_LIST),
    ],
};

static NON_RESOURCE_RULE: Struct = Struct {
    name: "NonResourceRule",
    type_name: "v1.NonResourceRule",
    fields: &[Field::always("verbs", STRING_LIST), Field::if_empty("nonResourceURLs", STRING_LIST)],
};

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says(
            "",
            "SelfSubjectRulesReview lists the actions that the current user can perform in a namespace.",
        )
        .says("spec", "The namespace to evaluate.")
        .says("spec.namespace", "Namespace to evaluate rules for. Required.")
        .says("status", "Actions that the current user can perform. Set by the server.")
        .says("status.resourceRules", "Allowed actions on resources, in no particular order.")
        .says("status.nonResourceRules", "Allowed actions on non-resource URLs, in no particular order.")
        .says("status.incomplete", "Whether the lists may be incomplete.")
        .says("status.evaluationError", "Error during the evaluation. The lists may still be useful.")
        .requires("", &["spec"])
        .requires("status", &["resourceRules", "nonResourceRules", "incomplete"])
        .requires("status.resourceRules[]", &["verbs"])
        .requires("status.nonResourceRules[]", &["verbs"]);
    declare::review(
        AUTHORIZATION,
        "SelfSubjectRulesReview",
        "selfsubjectrulesreviews",
        Scope::Cluster,
        &SHAPE,
        &outline,
    )
}
