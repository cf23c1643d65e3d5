//! TokenReview: whose token is this?

use krm::kind::{Kind, Scope};
use krm::meta::OBJECT_META;
use krm::shape::{Field, Outline, STRING, STRING_LIST, Shape, Struct};

use super::AUTHENTICATION;
use super::user_info::{USER_INFO, described};
use crate::kinds::declare;

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "TokenReview",
    type_name: "v1.TokenReview",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("spec", Shape::Struct(&SPEC)),
        Field::always("status", Shape::Struct(&STATUS)),
    ],
});

static SPEC: Struct = Struct {
    name: "TokenReviewSpec",
    type_name: "v1.TokenReviewSpec",
    fields: &[Field::if_empty("token", STRING), Field::if_empty("audiences", STRING_LIST)],
};

static STATUS: Struct = Struct {
    name: "TokenReviewStatus",
    type_name: "v1.TokenReviewStatus",
    fields: &[
        Field::if_empty("authenticated", Shape::Flag),
        Field::always("user", Shape::Struct(&USER_INFO)),
        Field::if_empty("audiences", STRING_LIST),
        Field::if_empty("error", STRING),
    ],
};

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "TokenReview asks whose token it is.")
        .says("spec", "What is asked.")
        .says("spec.token", "The token.")
        .says(
            "spec.audiences",
            "For whom the token has to be good; for the server itself when none are given.",
        )
        .says("status", "The answer.")
        .says("status.authenticated", "Whether it is the token of a known user.")
        .says("status.user", "The user.")
        .says("status.audiences", "Those of the audiences that the token is good for.")
        .says("status.error", "Why the token was not taken.")
        .requires("", &["spec"])
        .requires("spec", &["token"]);
    let outline = described(outline, "status.user");
    declare::review(AUTHENTICATION, "TokenReview", "tokenreviews", Scope::Cluster, &SHAPE, &outline)
}
