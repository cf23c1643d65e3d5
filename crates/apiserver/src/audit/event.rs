//! An audit event.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use krm::status::{Details, Status};
use krm::time::Moment;
use serde::Serialize;
use serde_json::Value;

use super::{Level, Stage};
use crate::identity::Identity;

/// Characters that are written of a text which others chose.
const LONGEST_TEXT: usize = 1024;
/// Entries that are written of a list which others chose.
const LONGEST_LIST: usize = 64;

/// What is known about a request at one of its stages.
#[derive(Debug, Clone)]
pub struct Event {
    /// How much of it is written down.
    pub level: Level,
    /// Which request.
    pub audit_id: String,
    /// Where it stands.
    pub stage: Stage,
    /// Its URI.
    pub request_uri: String,
    /// Its verb.
    pub verb: String,
    /// Who made it.
    pub user: Identity,
    /// As whom.
    pub impersonated: Option<Identity>,
    /// The verb of constrained impersonation that allowed that; empty otherwise.
    pub impersonation_constraint: &'static str,
    /// Where it came from.
    pub source_ips: Vec<String>,
    /// What made it.
    pub user_agent: String,
    /// What it is about.
    pub object: Option<ObjectRef>,
    /// How it ended, if it has: the code, and the status when it failed.
    pub outcome: Option<(u16, Option<Status>)>,
    /// What was sent, in JSON.
    pub request_object: Option<Bytes>,
    /// What was answered, in JSON.
    pub response_object: Option<Bytes>,
    /// Whether managed fields are left out of the objects.
    pub omit_managed_fields: bool,
    /// When it came in.
    pub received: SystemTime,
    /// When it came to this stage.
    pub at: SystemTime,
    /// What else is to be told.
    pub annotations: BTreeMap<String, String>,
}

/// The object that a request is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectRef {
    /// The resource.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource: String,
    /// The namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The uid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_group: String,
    /// The version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The version of the object.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// The subresource.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
}

impl ObjectRef {
    fn cut(&self) -> ObjectRef {
        let cut = |text: &String| cut(text).into_owned();
        ObjectRef {
            resource: cut(&self.resource),
            namespace: cut(&self.namespace),
            name: cut(&self.name),
            uid: cut(&self.uid),
            api_group: cut(&self.api_group),
            api_version: cut(&self.api_version),
            resource_version: cut(&self.resource_version),
            subresource: cut(&self.subresource),
        }
    }
}

impl Event {
    /// The line, with its end.
    pub(super) fn to_line(&self) -> Vec<u8> {
        let request = self.request_object.as_ref().and_then(|bytes| json(bytes, self.omit_managed_fields));
        let response = self.response_object.as_ref().and_then(|bytes| json(bytes, self.omit_managed_fields));
        let uri = cut(&self.request_uri);
        let object = self.object.as_ref().map(ObjectRef::cut);
        let written = Written {
            kind: "Event",
            api_version: "audit.k8s.io/v1",
            level: self.level.as_str(),
            audit_id: &self.audit_id,
            stage: self.stage.as_str(),
            request_uri: &uri,
            verb: &self.verb,
            user: user_info(&self.user),
            impersonated_user: self.impersonated.as_ref().map(user_info),
            authentication_metadata: (!self.impersonation_constraint.is_empty()).then_some(
                AuthenticationMetadata { impersonation_constraint: self.impersonation_constraint },
            ),
            source_ips: &self.source_ips,
            user_agent: &self.user_agent,
            object_ref: object.as_ref(),
            response_status: self
                .outcome
                .as_ref()
                .map(|(code, status)| shortened(json_of(&response_status(*code, status.as_ref())))),
            request_object: request,
            response_object: response,
            request_received_timestamp: moment(self.received).to_micros(),
            stage_timestamp: moment(self.at).to_micros(),
            annotations: &self.annotations,
        };
        let mut line = serde_json::to_vec(&written).unwrap_or_default();
        line.push(b'\n');
        line
    }

    /// About how much memory it takes.
    pub(super) fn weight(&self) -> usize {
        let objects = [&self.request_object, &self.response_object];
        let objects: usize = objects.into_iter().flatten().map(Bytes::len).sum();
        1024 + objects + self.request_uri.len()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    kind: &'static str,
    api_version: &'static str,
    level: &'static str,
    #[serde(rename = "auditID")]
    audit_id: &'a str,
    stage: &'static str,
    #[serde(rename = "requestURI")]
    request_uri: &'a str,
    verb: &'a str,
    user: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    impersonated_user: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication_metadata: Option<AuthenticationMetadata>,
    #[serde(rename = "sourceIPs", skip_serializing_if = "<[String]>::is_empty")]
    source_ips: &'a [String],
    #[serde(skip_serializing_if = "str::is_empty")]
    user_agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_ref: Option<&'a ObjectRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_status: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_object: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_object: Option<Value>,
    request_received_timestamp: String,
    stage_timestamp: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuthenticationMetadata {
    impersonation_constraint: &'static str,
}

#[derive(Serialize)]
struct ResponseStatus<'a> {
    metadata: Empty,
    #[serde(skip_serializing_if = "str::is_empty")]
    status: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Details>,
    code: u16,
}

#[derive(Serialize)]
struct Empty {}

fn response_status(code: u16, status: Option<&Status>) -> ResponseStatus<'_> {
    ResponseStatus {
        metadata: Empty {},
        status: status.map_or("", |status| status.status),
        message: status.map_or("", |status| &status.message),
        reason: status.map_or("", |status| status.reason),
        details: status.and_then(|status| status.details.as_deref()),
        code,
    }
}

fn user_info(who: &Identity) -> Value {
    shortened(crate::review::user_info(who))
}

fn json_of(status: &ResponseStatus<'_>) -> Value {
    serde_json::to_value(status).unwrap_or_default()
}

/// A text that others chose, cut where it becomes absurd: whoever sends much writes little into the log.
pub(super) fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}...TRUNCATED", &text[..end]).into(),
        None => text.into(),
    }
}

/// The same for all texts in a value, and for lists.
fn shortened(mut value: Value) -> Value {
    match &mut value {
        Value::String(text) => {
            if let Cow::Owned(shorter) = cut(text) {
                *text = shorter;
            }
        }
        Value::Array(items) => {
            let left_out = items.len().saturating_sub(LONGEST_LIST);
            items.truncate(LONGEST_LIST);
            items.iter_mut().for_each(|item| *item = shortened(item.take()));
            if left_out > 0 {
                items.push(format!("{left_out} more...TRUNCATED").into());
            }
        }
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().skip(LONGEST_LIST).cloned().collect();
            names.iter().for_each(|name| drop(fields.remove(name)));
            fields.values_mut().for_each(|field| *field = shortened(field.take()));
        }
        _ => {}
    }
    value
}

/// The JSON in `bytes`, read so that it is written as one line whatever it was before. What is no JSON is left out.
fn json(bytes: &Bytes, omit_managed_fields: bool) -> Option<Value> {
    let mut value: Value = serde_json::from_slice(bytes).ok()?;
    if omit_managed_fields {
        drop_managed_fields(&mut value);
        for item in value.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
            drop_managed_fields(item);
        }
    }
    Some(value)
}

fn drop_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

fn moment(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    Moment { seconds, nanoseconds: since.subsec_nanos() }
}
