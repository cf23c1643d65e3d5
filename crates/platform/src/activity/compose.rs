//! Builds an activity from a change or an event: the input of policies, and the resulting object.

use std::sync::Arc;

use apiserver::api::Api;
use apiserver::encode;
use apiserver::first_start::ADMIN_USER;
use apiserver::keys::{Parts, parts};
use apiserver::past::moment;
use krm::cel::Linked;
use krm::diff;
use krm::kind::Kind;
use krm::time::Moment;
use ring::digest;
use serde_json::{Map, Value, json};
use store::{Change, Entry, Key, Uid};

use super::policy::Origin;
use super::{GROUP, api_version};

/// As many changed fields are told.
const MOST_CHANGES: usize = 20;
/// Values longer than this are cut, in characters.
const LONGEST_VALUE: usize = 256;

/// Who did it, as activities tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// `user` or `system`.
    pub kind: &'static str,
    /// The name, without `system:`.
    pub name: String,
}

impl Actor {
    /// A user by its full name. The administrator that the first start makes is a person.
    pub fn of(user: &str) -> Actor {
        match user.strip_prefix("system:") {
            Some(name) if user == ADMIN_USER => Actor { kind: "user", name: name.to_owned() },
            Some(name) => Actor { kind: "system", name: name.to_owned() },
            None => Actor { kind: "user", name: user.to_owned() },
        }
    }

    /// `human` or `system`.
    pub fn change_source(&self) -> &'static str {
        if self.kind == "user" { "human" } else { "system" }
    }

    /// Whether a query for this name means it.
    pub fn is_called(&self, asked: &str) -> bool {
        asked == self.name || asked.strip_prefix("system:") == Some(&self.name)
    }
}

/// What is told of one record.
pub struct ActivityRecord<'a> {
    /// What it is of.
    pub origin: Origin,
    /// The id of the record.
    pub id: String,
    /// When it happened.
    pub time: Moment,
    /// Who did it.
    pub actor: Actor,
    /// What it happened to: group, version, kind, name, namespace, uid.
    pub resource: Value,
    /// The plane it happened in.
    pub plane: &'a str,
    /// The fields that changed.
    pub changes: Vec<Value>,
    /// Where it stands among all.
    pub version: String,
    /// What was done: create, update or delete; nothing for events.
    pub verb: &'static str,
}

impl ActivityRecord<'_> {
    /// The activity.
    pub fn activity(&self, said: &Linked) -> Value {
        let text = |field: &str| self.resource[field].as_str().unwrap_or_default();
        let mut actor = json!({ "type": self.actor.kind, "name": self.actor.name });
        if self.actor.kind == "user" && self.actor.name.contains('@') {
            actor["email"] = self.actor.name.as_str().into();
        }
        let links: Vec<Value> = said
            .links
            .iter()
            .map(|(marker, reference)| json!({ "marker": marker, "resource": self.linked(reference) }))
            .collect();
        let tenant = match self.plane {
            "" => json!({ "type": "platform", "name": "" }),
            project => json!({ "type": "project", "name": project }),
        };
        let mut spec = json!({
            "summary": said.text,
            "changeSource": self.actor.change_source(),
            "actor": actor,
            "resource": self.resource,
            "tenant": tenant,
            "origin": { "type": self.origin.as_str(), "id": self.id },
        });
        if !links.is_empty() {
            spec["links"] = links.into();
        }
        if !self.changes.is_empty() {
            spec["changes"] = self.changes.clone().into();
        }
        let label = |name: &str| format!("{GROUP}/{name}");
        let mut metadata = json!({
            "name": name(self.origin, &self.id, text("apiGroup"), text("kind")),
            "creationTimestamp": self.time.to_string(),
            "resourceVersion": self.version,
            "labels": {
                (label("origin-type")): self.origin.as_str(),
                (label("change-source")): self.actor.change_source(),
                (label("api-group")): text("apiGroup"),
                (label("resource-kind")): text("kind"),
            },
        });
        if !self.verb.is_empty() {
            metadata["labels"][label("verb")] = self.verb.into();
        }
        if !text("namespace").is_empty() {
            metadata["namespace"] = text("namespace").into();
        }
        json!({ "apiVersion": api_version(), "kind": "Activity", "metadata": metadata, "spec": spec })
    }

    /// What a link points at, with the names that activities have for its fields.
    fn linked(&self, reference: &Value) -> Value {
        let is_own = reference["name"] == self.resource["name"]
            && (reference["resource"].is_string() || reference["kind"] == self.resource["kind"]);
        if is_own {
            return self.resource.clone();
        }
        let kept = ["apiGroup", "apiVersion", "kind", "name", "namespace", "uid", "type"];
        let fields = reference.as_object().into_iter().flatten();
        let fields = fields.filter(|(field, _)| kept.contains(&field.as_str()));
        Value::Object(fields.map(|(field, value)| (field.clone(), value.clone())).collect())
    }
}

/// The name of an activity: the same for the same record on every server.
pub fn name(origin: Origin, id: &str, group: &str, kind: &str) -> String {
    let digest = digest::digest(&digest::SHA256, [origin.as_str(), id, group, kind].join("\0").as_bytes());
    let hex: String = digest.as_ref().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("act-{hex}")
}

/// A change as policies see it, and what an activity tells of it.
pub struct Composed<'a> {
    /// The values of a policy's expressions.
    pub values: Value,
    /// What is told.
    pub told: ActivityRecord<'a>,
}

/// Reads a change of an object of this kind. Nothing that is sealed gets in.
pub fn of_change<'a>(api: &Api, kind: &Kind, key: &'a Key, change: &Change) -> Option<Composed<'a>> {
    let at = parts(key)?;
    let before = change.before.as_ref().and_then(|entry| state(api, kind, key, entry));
    let after = change.after.as_ref().and_then(|entry| state(api, kind, key, entry));
    let differences = match (&before, &after) {
        (Some(before), Some(after)) => {
            let found = diff::between(Some(before), Some(after));
            if kind.secret { diff::redacted(found) } else { found }
        }
        _ => Vec::new(),
    };
    let is_first = change.before.is_none() && !change.pruned_before;
    // Where finalizers keep an object, whoever deletes it marks it, and a controller takes it away later.
    let is_marked = |state: &Option<Value>| {
        state.as_ref().is_some_and(|state| !state["metadata"]["deletionTimestamp"].is_null())
    };
    let verb = match (is_first, &after) {
        (_, None) => "delete",
        (false, _) if is_marked(&after) && !is_marked(&before) => "delete",
        (true, _) => "create",
        (false, _) if matches!(&*change.verb, "patch" | "apply") => "patch",
        (false, _) => "update",
    };
    let of_status = |difference: &diff::Difference| matches!(difference.path.first(), Some(diff::Step::Field(first)) if first == "status");
    let is_report = !differences.is_empty() && differences.iter().all(of_status);
    let actor = Actor::of(&change.user);
    let version = &kind.stored().name;
    let reference = reference(kind, &at, change.uid);
    let shown = after.or_else(|| before.clone()).unwrap_or_else(|| json!({}));
    let mut object_ref = json!({
        "apiGroup": at.group, "apiVersion": version, "resource": at.plural, "name": at.name,
        "uid": uid(change.uid), "kind": kind.names.kind,
    });
    if !at.namespace.is_empty() {
        object_ref["namespace"] = at.namespace.into();
    }
    if is_report {
        object_ref["subresource"] = "status".into();
    }
    let time = moment(change.time);
    let code = if verb == "create" { 201 } else { 200 };
    let mut audit = json!({
        "auditID": change.version.to_string(),
        "stage": "ResponseComplete",
        "verb": verb,
        "requestURI": uri(kind, &at),
        "user": { "username": &*change.user },
        "objectRef": object_ref,
        "responseStatus": { "code": code },
        "requestReceivedTimestamp": time.to_micros(),
        "stageTimestamp": time.to_micros(),
        "requestObject": shown,
        "responseObject": shown,
        "userAgent": &*change.manager,
    });
    if let Some(message) = &change.message {
        audit["annotations"] = json!({ "groundplane.dev/change-message": &**message });
    }
    let changes = differences.iter().filter(|difference| !of_status(difference)).take(MOST_CHANGES);
    let told = ActivityRecord {
        origin: Origin::Audit,
        id: change.version.to_string(),
        time,
        actor: actor.clone(),
        resource: reference,
        plane: at.plane,
        changes: changes.map(changed).collect(),
        version: change.version.to_string(),
        verb: if verb == "patch" { "update" } else { verb },
    };
    let values = json!({
        "audit": audit,
        "actor": actor.name,
        "actorRef": { "type": actor.kind, "name": actor.name },
        "kind": at.plural,
        "before": before.unwrap_or_else(|| json!({})),
    });
    Some(Composed { values, told })
}

/// A request of the audit log as policies see it.
pub fn of_audit(audit: &Value, kind: &str) -> Composed<'static> {
    let mut audit = audit.clone();
    for field in ["objectRef", "user", "responseStatus", "responseObject", "requestObject"] {
        if !audit[field].is_object() {
            audit[field] = json!({});
        }
    }
    let user = audit["user"]["username"].as_str().unwrap_or_default().to_owned();
    let actor = Actor::of(&user);
    let of = |field: &str| audit["objectRef"][field].clone();
    let mut resource = json!({ "kind": kind });
    for (name, field) in [
        ("apiGroup", "apiGroup"),
        ("apiVersion", "apiVersion"),
        ("name", "name"),
        ("namespace", "namespace"),
        ("uid", "uid"),
    ] {
        if of(field).is_string() {
            resource[name] = of(field);
        }
    }
    let received = audit["requestReceivedTimestamp"].as_str().and_then(|text| Moment::parse(text).ok());
    let told = ActivityRecord {
        origin: Origin::Audit,
        id: audit["auditID"].as_str().unwrap_or_default().to_owned(),
        time: received.unwrap_or(Moment { seconds: 0, nanoseconds: 0 }),
        actor: actor.clone(),
        resource,
        plane: "",
        changes: Vec::new(),
        version: String::new(),
        verb: "",
    };
    let values = json!({
        "actor": actor.name,
        "actorRef": { "type": actor.kind, "name": actor.name },
        "kind": of("resource"),
        "before": {},
        "audit": audit,
    });
    Composed { values, told }
}

/// An event, in the form of `events.k8s.io`, as policies see it.
pub fn of_event<'a>(event: &Value, plane: &'a str) -> Composed<'a> {
    let mut event = event.clone();
    for field in ["metadata", "regarding"] {
        if !event[field].is_object() {
            event[field] = json!({});
        }
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let controller = match text(&event["reportingController"]) {
        empty if empty.is_empty() => text(&event["deprecatedSource"]["component"]),
        named => named,
    };
    let regarding = &event["regarding"];
    let group = text(&regarding["apiVersion"]).split_once('/').map(|(group, _)| group.to_owned());
    let mut resource = json!({ "kind": regarding["kind"], "name": regarding["name"], "apiVersion": regarding["apiVersion"] });
    resource["apiGroup"] = group.unwrap_or_default().into();
    for field in ["namespace", "uid"] {
        if regarding[field].as_str().is_some_and(|text| !text.is_empty()) {
            resource[field] = regarding[field].clone();
        }
    }
    let told = ActivityRecord {
        origin: Origin::Event,
        id: text(&event["metadata"]["uid"]),
        time: happened(&event),
        actor: Actor { kind: "system", name: controller.clone() },
        resource,
        plane,
        changes: Vec::new(),
        version: text(&event["metadata"]["resourceVersion"]),
        verb: "",
    };
    let values = json!({
        "actor": controller,
        "actorRef": { "type": "system", "name": controller },
        "kind": regarding["kind"],
        "event": event,
    });
    Composed { values, told }
}

/// When an event happened last.
pub fn happened(event: &Value) -> Moment {
    let times = [
        &event["series"]["lastObservedTime"],
        &event["eventTime"],
        &event["deprecatedLastTimestamp"],
        &event["deprecatedFirstTimestamp"],
        &event["metadata"]["creationTimestamp"],
    ];
    let read = times.into_iter().filter_map(Value::as_str).find_map(|text| Moment::parse(text).ok());
    read.unwrap_or(Moment { seconds: 0, nanoseconds: 0 })
}

/// A state of an object, without what is secret and what the server notes down by itself.
fn state(api: &Api, kind: &Kind, key: &Key, entry: &Arc<Entry>) -> Option<Value> {
    let bytes = api.reveal(key, entry).ok()?;
    let mut value = encode::read(&bytes).ok()?.into_value();
    if kind.secret {
        diff::redact(&mut value);
    }
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    Some(value)
}

fn reference(kind: &Kind, at: &Parts<'_>, life: Uid) -> Value {
    let mut reference = Map::new();
    reference.insert("apiGroup".into(), at.group.into());
    reference.insert("apiVersion".into(), kind.api_version(&kind.stored().name).into());
    reference.insert("kind".into(), kind.names.kind.as_str().into());
    reference.insert("name".into(), at.name.into());
    if !at.namespace.is_empty() {
        reference.insert("namespace".into(), at.namespace.into());
    }
    reference.insert("uid".into(), uid(life).into());
    Value::Object(reference)
}

fn uri(kind: &Kind, at: &Parts<'_>) -> String {
    let version = &kind.stored().name;
    let root =
        if at.group.is_empty() { format!("/api/{version}") } else { format!("/apis/{}/{version}", at.group) };
    let namespace =
        if at.namespace.is_empty() { String::new() } else { format!("/namespaces/{}", at.namespace) };
    format!("{root}{namespace}/{}/{}", at.plural, at.name)
}

fn changed(difference: &diff::Difference) -> Value {
    let mut told = json!({ "field": difference.shown_path() });
    for (name, value) in [("old", &difference.before), ("new", &difference.after)] {
        if let Some(value) = value {
            told[name] = short(value).into();
        }
    }
    told
}

fn short(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A life's name as objects have it.
pub fn uid(life: Uid) -> String {
    let hex: String = life.0.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
