//! `events.k8s.io`.

use super::core::{EVENT_SOURCE, OBJECT_REFERENCE};
use super::meta::OBJECT_META;
use crate::proto::message::{Field, Holds, Message};

pub(crate) static EVENT: Message = Message {
    name: "Event",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "eventTime", Holds::MicroTime),
        Field::kept(3, "series", Holds::One(&EVENT_SERIES)),
        Field::new(4, "reportingController", Holds::Text),
        Field::new(5, "reportingInstance", Holds::Text),
        Field::new(6, "action", Holds::Text),
        Field::new(7, "reason", Holds::Text),
        Field::new(8, "regarding", Holds::One(&OBJECT_REFERENCE)),
        Field::kept(9, "related", Holds::One(&OBJECT_REFERENCE)),
        Field::new(10, "note", Holds::Text),
        Field::new(11, "type", Holds::Text),
        Field::new(12, "deprecatedSource", Holds::One(&EVENT_SOURCE)),
        Field::new(13, "deprecatedFirstTimestamp", Holds::Time),
        Field::new(14, "deprecatedLastTimestamp", Holds::Time),
        Field::new(15, "deprecatedCount", Holds::Int32),
    ],
};

pub(crate) static EVENT_SERIES: Message = Message {
    name: "EventSeries",
    fields: &[Field::new(1, "count", Holds::Int32), Field::new(2, "lastObservedTime", Holds::MicroTime)],
};
