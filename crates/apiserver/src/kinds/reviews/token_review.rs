//! TokenReview: authenticates a token.

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
        .says("", "TokenReview authenticates a bearer token and returns its user.")
        .says("spec", "The token to authenticate.")
        .says("spec.token", "Opaque bearer token.")
        .says(
            "spec.audiences",
            "Audiences that the token must be valid for. Defaults to the audience of this server.",
        )
        .says("status", "Result of the authentication. Set by the server.")
        .says("status.authenticated", "Whether the token is associated with a known user.")
        .says("status.user", "User that the token belongs to.")
        .says("status.audiences", "Audiences in spec.audiences that the token is valid for.")
        .says("status.error", "Why the token could not be authenticated.")
        .requires("", &["spec"])
        .requires("spec", &["token"]);
    let outline = described(outline, "status.user");
    declare::review(AUTHENTICATION, "TokenReview", "tokenreviews", Scope::Cluster, &SHAPE, &outline)
}
