//! What every object has, and options of requests.

use crate::proto::message::{Field, Holds, Message};

pub(crate) static OBJECT_META: Message = Message {
    name: "ObjectMeta",
    fields: &[
        Field::new(1, "name", Holds::Text),
        Field::new(2, "generateName", Holds::Text),
        Field::new(3, "namespace", Holds::Text),
        Field::new(4, "selfLink", Holds::Text),
        Field::new(5, "uid", Holds::Text),
        Field::new(6, "resourceVersion", Holds::Text),
        Field::new(7, "generation", Holds::Int64),
        Field::new(8, "creationTimestamp", Holds::Time),
        Field::kept(9, "deletionTimestamp", Holds::Time),
        Field::kept(10, "deletionGracePeriodSeconds", Holds::Int64),
        Field::new(11, "labels", Holds::TextByText),
        Field::new(12, "annotations", Holds::TextByText),
        Field::new(13, "ownerReferences", Holds::Many(&OWNER_REFERENCE)),
        Field::new(14, "finalizers", Holds::Texts),
        Field::new(17, "managedFields", Holds::Many(&MANAGED_FIELDS_ENTRY)),
    ],
};

pub(crate) static OWNER_REFERENCE: Message = Message {
    name: "OwnerReference",
    fields: &[
        Field::new(5, "apiVersion", Holds::Text),
        Field::new(1, "kind", Holds::Text),
        Field::new(3, "name", Holds::Text),
        Field::new(4, "uid", Holds::Text),
        Field::kept(6, "controller", Holds::Bool),
        Field::kept(7, "blockOwnerDeletion", Holds::Bool),
    ],
};

pub(crate) static MANAGED_FIELDS_ENTRY: Message = Message {
    name: "ManagedFieldsEntry",
    fields: &[
        Field::new(1, "manager", Holds::Text),
        Field::new(2, "operation", Holds::Text),
        Field::new(3, "apiVersion", Holds::Text),
        Field::kept(4, "time", Holds::Time),
        Field::new(6, "fieldsType", Holds::Text),
        Field::kept(7, "fieldsV1", Holds::Json),
        Field::new(8, "subresource", Holds::Text),
    ],
};

pub(crate) static LABEL_SELECTOR: Message = Message {
    name: "LabelSelector",
    fields: &[
        Field::new(1, "matchLabels", Holds::TextByText),
        Field::new(2, "matchExpressions", Holds::Many(&LABEL_SELECTOR_REQUIREMENT)),
    ],
};

pub(crate) static LABEL_SELECTOR_REQUIREMENT: Message = Message {
    name: "LabelSelectorRequirement",
    fields: &[
        Field::new(1, "key", Holds::Text),
        Field::new(2, "operator", Holds::Text),
        Field::new(3, "values", Holds::Texts),
    ],
};

pub(crate) static FIELD_SELECTOR_REQUIREMENT: Message = Message {
    name: "FieldSelectorRequirement",
    fields: &[
        Field::new(1, "key", Holds::Text),
        Field::new(2, "operator", Holds::Text),
        Field::new(3, "values", Holds::Texts),
    ],
};

pub(crate) static DELETE_OPTIONS: Message = Message {
    name: "DeleteOptions",
    fields: &[
        Field::kept(1, "gracePeriodSeconds", Holds::Int64),
        Field::kept(2, "preconditions", Holds::One(&PRECONDITIONS)),
        Field::kept(3, "orphanDependents", Holds::Bool),
        Field::kept(4, "propagationPolicy", Holds::Text),
        Field::new(5, "dryRun", Holds::Texts),
        Field::kept(6, "ignoreStoreReadErrorWithClusterBreakingPotential", Holds::Bool),
    ],
};

pub(crate) static PRECONDITIONS: Message = Message {
    name: "Preconditions",
    fields: &[Field::kept(1, "uid", Holds::Text), Field::kept(2, "resourceVersion", Holds::Text)],
};

pub(crate) static LIST_META: Message = Message {
    name: "ListMeta",
    fields: &[
        Field::new(1, "selfLink", Holds::Text),
        Field::new(2, "resourceVersion", Holds::Text),
        Field::new(3, "continue", Holds::Text),
        Field::kept(4, "remainingItemCount", Holds::Int64),
    ],
};

pub(crate) static STATUS: Message = Message {
    name: "Status",
    fields: &[
        Field::new(1, "metadata", Holds::One(&LIST_META)),
        Field::new(2, "status", Holds::Text),
        Field::new(3, "message", Holds::Text),
        Field::new(4, "reason", Holds::Text),
        Field::kept(5, "details", Holds::One(&STATUS_DETAILS)),
        Field::new(6, "code", Holds::Int32),
    ],
};

pub(crate) static STATUS_DETAILS: Message = Message {
    name: "StatusDetails",
    fields: &[
        Field::new(1, "name", Holds::Text),
        Field::new(2, "group", Holds::Text),
        Field::new(3, "kind", Holds::Text),
        Field::new(4, "causes", Holds::Many(&STATUS_CAUSE)),
        Field::new(5, "retryAfterSeconds", Holds::Int32),
        Field::new(6, "uid", Holds::Text),
    ],
};

pub(crate) static STATUS_CAUSE: Message = Message {
    name: "StatusCause",
    fields: &[
        Field::new(1, "reason", Holds::Text),
        Field::new(2, "message", Holds::Text),
        Field::new(3, "field", Holds::Text),
    ],
};

pub(crate) static CONDITION: Message = Message {
    name: "Condition",
    fields: &[
        Field::new(1, "type", Holds::Text),
        Field::new(2, "status", Holds::Text),
        Field::new(3, "observedGeneration", Holds::Int64),
        Field::new(4, "lastTransitionTime", Holds::Time),
        Field::new(5, "reason", Holds::Text),
        Field::new(6, "message", Holds::Text),
    ],
};

pub(crate) static PARTIAL_OBJECT_METADATA: Message =
    Message { name: "PartialObjectMetadata", fields: &[Field::new(1, "metadata", Holds::One(&OBJECT_META))] };
