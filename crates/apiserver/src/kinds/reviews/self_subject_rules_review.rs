//! SelfSubjectRulesReview: what may I do in this namespace?

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
        .says("", "SelfSubjectRulesReview asks what whoever asks may do in a namespace.")
        .says("spec", "What is asked.")
        .says("spec.namespace", "The namespace. It has to be given.")
        .says("status", "The answer.")
        .says("status.resourceRules", "What may be done with resources, in no order.")
        .says("status.nonResourceRules", "What may be done with paths that are no resources, in no order.")
        .says("status.incomplete", "Whether there may be more than the answer tells.")
        .says("status.evaluationError", "What went wrong on the way to the answer.")
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
