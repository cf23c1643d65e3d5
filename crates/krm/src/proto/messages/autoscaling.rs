//! `autoscaling`.

use super::meta::OBJECT_META;
use crate::proto::message::{Field, Holds, Message};

pub(crate) static SCALE: Message = Message {
    name: "Scale",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "spec", Holds::One(&SCALE_SPEC)),
        Field::new(3, "status", Holds::One(&SCALE_STATUS)),
    ],
};

pub(crate) static SCALE_SPEC: Message =
    Message { name: "ScaleSpec", fields: &[Field::new(1, "replicas", Holds::Int32)] };

pub(crate) static SCALE_STATUS: Message = Message {
    name: "ScaleStatus",
    fields: &[Field::new(1, "replicas", Holds::Int32), Field::new(2, "selector", Holds::Text)],
};
