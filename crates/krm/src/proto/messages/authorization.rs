//! `authorization.k8s.io`.

use super::meta::{FIELD_SELECTOR_REQUIREMENT, LABEL_SELECTOR_REQUIREMENT, OBJECT_META};
use crate::proto::message::{Field, Holds, Message};

pub(crate) static SELF_SUBJECT_ACCESS_REVIEW: Message = Message {
    name: "SelfSubjectAccessReview",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "spec", Holds::One(&SELF_SUBJECT_ACCESS_REVIEW_SPEC)),
        Field::new(3, "status", Holds::One(&SUBJECT_ACCESS_REVIEW_STATUS)),
    ],
};

pub(crate) static SELF_SUBJECT_ACCESS_REVIEW_SPEC: Message = Message {
    name: "SelfSubjectAccessReviewSpec",
    fields: &[
        Field::kept(1, "resourceAttributes", Holds::One(&RESOURCE_ATTRIBUTES)),
        Field::kept(2, "nonResourceAttributes", Holds::One(&NON_RESOURCE_ATTRIBUTES)),
    ],
};

pub(crate) static SUBJECT_ACCESS_REVIEW: Message = Message {
    name: "SubjectAccessReview",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "spec", Holds::One(&SUBJECT_ACCESS_REVIEW_SPEC)),
        Field::new(3, "status", Holds::One(&SUBJECT_ACCESS_REVIEW_STATUS)),
    ],
};

pub(crate) static LOCAL_SUBJECT_ACCESS_REVIEW: Message = Message {
    name: "LocalSubjectAccessReview",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "spec", Holds::One(&SUBJECT_ACCESS_REVIEW_SPEC)),
        Field::new(3, "status", Holds::One(&SUBJECT_ACCESS_REVIEW_STATUS)),
    ],
};

pub(crate) static SUBJECT_ACCESS_REVIEW_SPEC: Message = Message {
    name: "SubjectAccessReviewSpec",
    fields: &[
        Field::kept(1, "resourceAttributes", Holds::One(&RESOURCE_ATTRIBUTES)),
        Field::kept(2, "nonResourceAttributes", Holds::One(&NON_RESOURCE_ATTRIBUTES)),
        Field::new(3, "user", Holds::Text),
        Field::new(4, "groups", Holds::Texts),
        Field::new(5, "extra", Holds::TextsByText),
        Field::new(6, "uid", Holds::Text),
    ],
};

pub(crate) static SUBJECT_ACCESS_REVIEW_STATUS: Message = Message {
    name: "SubjectAccessReviewStatus",
    fields: &[
        Field::new(1, "allowed", Holds::Bool),
        Field::new(4, "denied", Holds::Bool),
        Field::new(2, "reason", Holds::Text),
        Field::new(3, "evaluationError", Holds::Text),
    ],
};

pub(crate) static RESOURCE_ATTRIBUTES: Message = Message {
    name: "ResourceAttributes",
    fields: &[
        Field::new(1, "namespace", Holds::Text),
        Field::new(2, "verb", Holds::Text),
        Field::new(3, "group", Holds::Text),
        Field::new(4, "version", Holds::Text),
        Field::new(5, "resource", Holds::Text),
        Field::new(6, "subresource", Holds::Text),
        Field::new(7, "name", Holds::Text),
        Field::kept(8, "fieldSelector", Holds::One(&FIELD_SELECTOR_ATTRIBUTES)),
        Field::kept(9, "labelSelector", Holds::One(&LABEL_SELECTOR_ATTRIBUTES)),
    ],
};

pub(crate) static NON_RESOURCE_ATTRIBUTES: Message = Message {
    name: "NonResourceAttributes",
    fields: &[Field::new(1, "path", Holds::Text), Field::new(2, "verb", Holds::Text)],
};

pub(crate) static FIELD_SELECTOR_ATTRIBUTES: Message = Message {
    name: "FieldSelectorAttributes",
    fields: &[
        Field::new(1, "rawSelector", Holds::Text),
        Field::new(2, "requirements", Holds::Many(&FIELD_SELECTOR_REQUIREMENT)),
    ],
};

pub(crate) static LABEL_SELECTOR_ATTRIBUTES: Message = Message {
    name: "LabelSelectorAttributes",
    fields: &[
        Field::new(1, "rawSelector", Holds::Text),
        Field::new(2, "requirements", Holds::Many(&LABEL_SELECTOR_REQUIREMENT)),
    ],
};

pub(crate) static SELF_SUBJECT_RULES_REVIEW: Message = Message {
    name: "SelfSubjectRulesReview",
    fields: &[
        Field::new(1, "metadata", Holds::One(&OBJECT_META)),
        Field::new(2, "spec", Holds::One(&SELF_SUBJECT_RULES_REVIEW_SPEC)),
        Field::new(3, "status", Holds::One(&SUBJECT_RULES_REVIEW_STATUS)),
    ],
};

pub(crate) static SELF_SUBJECT_RULES_REVIEW_SPEC: Message =
    Message { name: "SelfSubjectRulesReviewSpec", fields: &[Field::new(1, "namespace", Holds::Text)] };

pub(crate) static SUBJECT_RULES_REVIEW_STATUS: Message = Message {
    name: "SubjectRulesReviewStatus",
    fields: &[
        Field::new(1, "resourceRules", Holds::Many(&RESOURCE_RULE)),
        Field::new(2, "nonResourceRules", Holds::Many(&NON_RESOURCE_RULE)),
        Field::new(3, "incomplete", Holds::Bool),
        Field::new(4, "evaluationError", Holds::Text),
    ],
};

pub(crate) static RESOURCE_RULE: Message = Message {
    name: "ResourceRule",
    fields: &[
        Field::new(1, "verbs", Holds::Texts),
        Field::new(2, "apiGroups", Holds::Texts),
        Field::new(3, "resources", Holds::Texts),
        Field::new(4, "resourceNames", Holds::Texts),
    ],
};

pub(crate) static NON_RESOURCE_RULE: Message = Message {
    name: "NonResourceRule",
    fields: &[Field::new(1, "verbs", Holds::Texts), Field::new(2, "nonResourceURLs", Holds::Texts)],
};
