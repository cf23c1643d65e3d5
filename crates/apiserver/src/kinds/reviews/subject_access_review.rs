//! SubjectAccessReview: can a user perform an action?

use krm::kind::{Kind, Scope};
use krm::meta::OBJECT_META;
use krm::shape::{Field, Outline, STRING, Shape, Struct};

use super::AUTHORIZATION;
use super::attributes::{ACCESS, SUBJECT_ACCESS, described, of_whom};
use crate::kinds::declare;

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "SubjectAccessReview",
    type_name: "v1.SubjectAccessReview",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("spec", Shape::Struct(&SUBJECT_ACCESS)),
        Field::always("status", Shape::Struct(&ACCESS)),
    ],
});

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "SubjectAccessReview checks whether a user or group can perform an action.");
    let outline = of_whom(described(outline));
    declare::review(
        AUTHORIZATION,
        "SubjectAccessReview",
        "subjectaccessreviews",
        Scope::Cluster,
        &SHAPE,
        &outline,
    )
}
