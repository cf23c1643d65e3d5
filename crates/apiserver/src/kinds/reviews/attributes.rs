//! The attributes that access reviews evaluate.

use krm::shape::{Field, Outline, STRING, STRING_LIST, Shape, Struct};

use super::user_info::EXTRA;

/// `v1.SubjectAccessReviewSpec`.
pub static SUBJECT_ACCESS: Struct = Struct {
    name: "SubjectAccessReviewSpec",
    type_name: "v1.SubjectAccessReviewSpec",
    fields: &[
        Field::if_absent("resourceAttributes", Shape::Struct(&RESOURCE)),
        Field::if_absent("nonResourceAttributes", Shape::Struct(&NON_RESOURCE)),
        Field::if_empty("user", STRING),
        Field::if_empty("groups", STRING_LIST),
        Field::if_empty("extra", EXTRA),
        Field::if_empty("uid", STRING),
    ],
};

/// `v1.SelfSubjectAccessReviewSpec`.
pub static SELF_ACCESS: Struct = Struct {
    name: "SelfSubjectAccessReviewSpec",
    type_name: "v1.SelfSubjectAccessReviewSpec",
    fields: &[
        Field::if_absent("resourceAttributes", Shape::Struct(&RESOURCE)),
        Field::if_absent("nonResourceAttributes", Shape::Struct(&NON_RESOURCE)),
    ],
};

/// `v1.SubjectAccessReviewStatus`.
pub static ACCESS: Struct = Struct {
    name: "SubjectAccessReviewStatus",
    type_name: "v1.SubjectAccessReviewStatus",
    fields: &[
        Field::always("allowed", Shape::Flag),
        Field::if_empty("denied", Shape::Flag),
        Field::if_empty("reason", STRING),
        Field::if_empty("evaluationError", STRING),
    ],
};

static RESOURCE: Struct = Struct {
    name: "ResourceAttributes",
    type_name: "v1.ResourceAttributes",
    fields: &[
        Field::if_empty("namespace", STRING),
        Field::if_empty("verb", STRING),
        Field::if_empty("group", STRING),
        Field::if_empty("version", STRING),
        Field::if_empty("resource", STRING),
        Field::if_empty("subresource", STRING),
        Field::if_empty("name", STRING),
        Field::if_absent("fieldSelector", Shape::Struct(&FIELD_SELECTOR)),
        Field::if_absent("labelSelector", Shape::Struct(&LABEL_SELECTOR)),
    ],
};

static FIELD_SELECTOR: Struct = Struct {
    name: "FieldSelectorAttributes",
    type_name: "v1.FieldSelectorAttributes",
    fields: &[
        Field::if_empty("rawSelector", STRING),
        Field::if_empty(
            "requirements",
            Shape::List("[]v1.FieldSelectorRequirement", &Shape::Struct(&FIELD_REQUIREMENT)),
        ),
    ],
};

static LABEL_SELECTOR: Struct = Struct {
    name: "LabelSelectorAttributes",
    type_name: "v1.LabelSelectorAttributes",
    fields: &[
        Field::if_empty("rawSelector", STRING),
        Field::if_empty(
            "requirements",
            Shape::List("[]v1.LabelSelectorRequirement", &Shape::Struct(&LABEL_REQUIREMENT)),
        ),
    ],
};

static FIELD_REQUIREMENT: Struct = Struct {
    name: "FieldSelectorRequirement",
    type_name: "v1.FieldSelectorRequirement",
    fields: &[
        Field::always("key", STRING),
        Field::always("operator", Shape::Text("v1.FieldSelectorOperator")),
        Field::if_empty("values", STRING_LIST),
    ],
};

static LABEL_REQUIREMENT: Struct = Struct {
    name: "LabelSelectorRequirement",
    type_name: "v1.LabelSelectorRequirement",
    fields: &[
        Field::always("key", STRING),
        Field::always("operator", Shape::Text("v1.LabelSelectorOperator")),
        Field::if_empty("values", STRING_LIST),
    ],
};

static NON_RESOURCE: Struct = Struct {
    name: "NonResourceAttributes",
    type_name: "v1.NonResourceAttributes",
    fields: &[Field::if_empty("path", STRING), Field::if_empty("verb", STRING)],
};

/// Words about what is wanted.
pub fn described(outline: Outline) -> Outline {
    outline
        .says("spec", "The action that is evaluated. Exactly one of resourceAttributes and nonResourceAttributes must be set.")
        .says("spec.resourceAttributes", "Attributes of an action on a resource.")
        .says("spec.resourceAttributes.fieldSelector", "Limits the action to objects that match the field selector.")
        .says("spec.resourceAttributes.labelSelector", "Limits the action to objects that match the label selector.")
        .says("spec.nonResourceAttributes", "Attributes of an action on a URL path that is not a resource.")
        .says("status", "Result of the evaluation. Set by the server.")
        .says("status.allowed", "Whether the action is allowed.")
        .says("status.denied", "Whether the action is denied, even if another authorizer would allow it.")
        .says("status.reason", "Why the action is allowed or denied.")
        .says("status.evaluationError", "Error during the evaluation. The result may still be valid.")
        .requires("", &["spec"])
        .requires("status", &["allowed"])
}

/// Words about whom is asked about.
pub fn of_whom(outline: Outline) -> Outline {
    outline
        .says("spec.user", "User to evaluate. Either user or groups must be set.")
        .says("spec.groups", "Groups of the user.")
        .says("spec.extra", "Extra information from the authenticator, as input to the authorizer.")
        .says("spec.uid", "Unique identifier of the user.")
}
