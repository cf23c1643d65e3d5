//! UserInfo: the user in the status of reviews.

use krm::shape::{Field, Outline, STRING, STRING_LIST, Shape, Struct};

/// `map[string]v1.ExtraValue`.
pub const EXTRA: Shape = Shape::Map("map[string]v1.ExtraValue", &Shape::List("v1.ExtraValue", &STRING));

/// `v1.UserInfo`.
pub static USER_INFO: Struct = Struct {
    name: "UserInfo",
    type_name: "v1.UserInfo",
    fields: &[
        Field::if_empty("username", STRING),
        Field::if_empty("uid", STRING),
        Field::if_empty("groups", STRING_LIST),
        Field::if_empty("extra", EXTRA),
    ],
};

/// Words about a user at a place in a review.
pub fn described(outline: Outline, at: &str) -> Outline {
    outline
        .says(&format!("{at}.username"), "Name that uniquely identifies the user among all active users.")
        .says(&format!("{at}.uid"), "Unique value that identifies the user across time.")
        .says(&format!("{at}.groups"), "Names of the groups that the user is in.")
        .says(&format!("{at}.extra"), "Additional information from the authenticator.")
}
