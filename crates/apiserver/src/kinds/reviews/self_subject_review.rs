//! SelfSubjectReview: who is the current user?

use krm::kind::{Kind, Scope};
use krm::meta::OBJECT_META;
use krm::shape::{Field, Outline, STRING, Shape, Struct};

use super::AUTHENTICATION;
use super::user_info::{USER_INFO, described};
use crate::kinds::declare;

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "SelfSubjectReview",
    type_name: "v1.SelfSubjectReview",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("status", Shape::Struct(&STATUS)),
    ],
});

static STATUS: Struct = Struct {
    name: "SelfSubjectReviewStatus",
    type_name: "v1.SelfSubjectReviewStatus",
    fields: &[Field::always("userInfo", Shape::Struct(&USER_INFO))],
};

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "SelfSubjectReview returns the user information of the current user.")
        .says("status", "User information of the current user. Set by the server.")
        .says("status.userInfo", "User name, groups and further attributes of the current user.");
    let outline = described(outline, "status.userInfo");
    declare::review(
        AUTHENTICATION,
        "SelfSubjectReview",
        "selfsubjectreviews",
        Scope::Cluster,
        &SHAPE,
        &outline,
    )
}
