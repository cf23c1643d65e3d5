//! SelfSubjectReview.

use krm::Object;
use krm::time::Moment;
use serde_json::{Map, Value, json};

use crate::identity::Identity;

/// A `SelfSubjectReview`: who makes this request?
pub fn self_subject(api_version: &str, who: &Identity, now: Moment) -> Object {
    let mut review = Object::new(api_version, "SelfSubjectReview");
    review.set_meta("creationTimestamp", Some(now.to_string().into()));
    review.set("status", Some(json!({"userInfo": user_info(who)})));
    review
}

/// A user as reviews and the audit log show it; what is empty is left out.
pub(crate) fn user_info(who: &Identity) -> Value {
    let mut info = Map::new();
    if !who.user.is_empty() {
        info.insert("username".into(), (&*who.user).into());
    }
    if !who.uid.is_empty() {
        info.insert("uid".into(), (&*who.uid).into());
    }
    if !who.groups.is_empty() {
        info.insert("groups".into(), who.groups.iter().map(|group| Value::from(&**group)).collect());
    }
    if !who.extra.is_empty() {
        info.insert("extra".into(), json!(who.extra));
    }
    Value::Object(info)
}
