//! SelfSubjectAccessReview: can the current user perform an action?

use krm::kind::{Kind, Scope};
use krm::meta::OBJECT_META;
use krm::shape::{Field, Outline, STRING, Shape, Struct};

use super::AUTHORIZATION;
use super::attributes::{ACCESS, SELF_ACCESS, described};
use crate::kinds::declare;

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "SelfSubjectAccessReview",
    type_name: "v1.SelfSubjectAccessReview",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("spec", Shape::Struct(&SELF_ACCESS)),
        Field::always("status", Shape::Struct(&ACCESS)),
    ],
});

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "SelfSubjectAccessReview checks whether the current user can perform an action.");
    let outline = described(outline);
    declare::review(
        AUTHORIZATION,
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
        Scope::Cluster,
        &SHAPE,
        &outline,
    )
}
