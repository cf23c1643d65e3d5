//! `authentication.k8s.io`.

use super::meta::OBJECT_META;
use crate::proto::message::{Field, Holds, Message};

pub(crate) static SELF_SUBJECT_REVIEW: Message = Message {
    name: "SelfSubjectReview",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "status", Holds::One(&SELF_SUBJECT_REVIEW_STATUS)),
    ],
};

pub(crate) static SELF_SUBJECT_REVIEW_STATUS: Message =
    Message { name: "SelfSubjectReviewStatus", fields: &[Field::new(1, "userInfo", Holds::One(&USER_INFO))] };

pub(crate) static TOKEN_REVIEW: Message = Message {
    name: "TokenReview",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "spec", Holds::One(&TOKEN_REVIEW_SPEC)),
        Field::new(3, "status", Holds::One(&TOKEN_REVIEW_STATUS)),
    ],
};

pub(crate) static TOKEN_REVIEW_SPEC: Message = Message {
    name: "TokenReviewSpec",
    fields: &[Field::new(1, "token", Holds::Text), Field::new(2, "audiences", Holds::Texts)],
};

pub(crate) static TOKEN_REVIEW_STATUS: Message = Message {
    name: "TokenReviewStatus",
    fields: &[
        Field::new(1, "authenticated", Holds::Bool),
        Field::new(2, "user", Holds::One(&USER_INFO)),
        Field::new(4, "audiences", Holds::Texts),
        Field::new(3, "error", Holds::Text),
    ],
};

pub(crate) static USER_INFO: Message = Message {
    name: "UserInfo",
    fields: &[
        Field::new(1, "username", Holds::Text),
        Field::new(2, "uid", Holds::Text),
        Field::new(3, "groups", Holds::Texts),
        Field::new(4, "extra", Holds::TextsByText),
    ],
};

pub(crate) static TOKEN_REQUEST: Message = Message {
    name: "TokenRequest",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "spec", Holds::One(&TOKEN_REQUEST_SPEC)),
        Field::new(3, "status", Holds::One(&TOKEN_REQUEST_STATUS)),
    ],
};

pub(crate) static TOKEN_REQUEST_SPEC: Message = Message {
    name: "TokenRequestSpec",
    fields: &[
        Field::new(1, "audiences", Holds::Texts),
        Field::kept(4, "expirationSeconds", Holds::Int64),
        Field::kept(3, "boundObjectRef", Holds::One(&BOUND_OBJECT_REFERENCE)),
    ],
};

pub(crate) static TOKEN_REQUEST_STATUS: Message = Message {
    name: "TokenRequestStatus",
    fields: &[Field::new(1, "token", Holds::Text), Field::new(2, "expirationTimestamp", Holds::Time)],
};

pub(crate) static BOUND_OBJECT_REFERENCE: Message = Message {
    name: "BoundObjectReference",
    fields: &[
        Field::new(1, "kind", Holds::Text),
        Field::new(2, "apiVersion", Holds::Text),
        Field::new(3, "name", Holds::Text),
        Field::new(4, "uid", Holds::Text),
    ],
};
