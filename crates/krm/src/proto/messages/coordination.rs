//! `coordination.k8s.io`.

use super::meta::OBJECT_META;
use crate::proto::message::{Field, Holds, Message};

pub(crate) static LEASE: Message = Message {
    name: "Lease",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "spec", Holds::One(&LEASE_SPEC)),
    ],
};

pub(crate) static LEASE_SPEC: Message = Message {
    name: "LeaseSpec",
    fields: &[
        Field::kept(1, "holderIdentity", Holds::Text),
        Field::kept(2, "leaseDurationSeconds", Holds::Int32),
        Field::kept(3, "acquireTime", Holds::MicroTime),
        Field::kept(4, "renewTime", Holds::MicroTime),
        Field::kept(5, "leaseTransitions", Holds::Int32),
        Field::kept(6, "strategy", Holds::Text),
        Field::kept(7, "preferredHolder", Holds::Text),
    ],
};
