//! The kinds of `activity.miloapis.com`. Policies and jobs are stored; the others are asked.

use std::sync::Arc;
use std::time::Duration;

use krm::field::Path;
use krm::kind::{History, Kind, Planes, Scope, Subresource, Version};
use krm::object::Object;
use krm::table::Columns;
use serde_json::{Map, Value, json};

use super::policy::Policy;
use super::{GROUP, VERSION};

/// All of them.
pub fn all() -> Vec<Kind> {
    vec![
        activity(),
        asked("ActivityQuery", "activityqueries", "ActivityQuery asks who did what.", activity_query()),
        asked(
            "ActivityFacetQuery",
            "activityfacetqueries",
            "ActivityFacetQuery asks which values activities have.",
            facet_query(true),
        ),
        asked(
            "AuditLogQuery",
            "auditlogqueries",
            "AuditLogQuery asks what was requested.",
            audit_log_query(),
        ),
        asked(
            "AuditLogFacetsQuery",
            "auditlogfacetsqueries",
            "AuditLogFacetsQuery asks which values requests have.",
            facet_query(true),
        ),
        asked("EventQuery", "eventqueries", "EventQuery asks what happened by itself.", event_query()),
        asked(
            "EventFacetQuery",
            "eventfacetqueries",
            "EventFacetQuery asks which values events have.",
            facet_query(false),
        ),
        asked(
            "PolicyPreview",
            "policypreviews",
            "PolicyPreview tries a policy on samples.",
            policy_preview(),
        ),
        policy(),
        reindex_job(),
    ]
}

fn kind(
    name: &str,
    plural: &str,
    about: &str,
    mut properties: Map<String, Value>,
    required: &[&str],
) -> Kind {
    properties.entry("status").or_insert_with(|| anything("What came of it."));
    let schema =
        json!({ "type": "object", "description": about, "properties": properties, "required": required });
    #[expect(clippy::expect_used, reason = "the schemas stand in this file")]
    let version = Version::new(VERSION, schema).expect("the schema is one");
    Kind::new(GROUP, name, plural, Scope::Cluster, version)
}

fn fields(fields: Value) -> Map<String, Value> {
    fields.as_object().cloned().unwrap_or_default()
}

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

fn anything(about: &str) -> Value {
    json!({ "type": "object", "description": about, "x-kubernetes-preserve-unknown-fields": true })
}

fn column(name: &str, kind: &str, path: &str, priority: i64) -> Value {
    json!({ "name": name, "type": kind, "jsonPath": path, "priority": priority })
}

/// A kind without objects, whose answer stands in the status of what is posted.
fn asked(name: &str, plural: &str, about: &str, spec: Value) -> Kind {
    let mut kind = kind(name, plural, about, fields(json!({ "spec": spec })), &["spec"]);
    kind.verbs = vec!["create"];
    kind.history = History::None;
    // What is answered is of others' objects: the audit log is told the question's maker, not the answer.
    kind.secret = true;
    kind
}

fn activity() -> Kind {
    let spec = json!({ "type": "object", "description": "What happened.", "properties": {
        "summary": text("A sentence for people."),
        "changeSource": text("human or system."),
        "actor": anything("Who did it: type, name, uid, email."),
        "resource": anything("What it was done to: apiGroup, apiVersion, kind, name, namespace, uid."),
        "links": { "type": "array", "description": "Parts of the sentence, and what they name.", "items": anything("A marker and its resource.") },
        "tenant": anything("Whose it is: platform, or a project."),
        "changes": { "type": "array", "description": "The fields that changed, with their values before and after.", "items": anything("A field.") },
        "origin": anything("The record it was made of: audit or event, and its id."),
    } });
    let mut made = kind(
        "Activity",
        "activities",
        "Activity is something that somebody did, in a sentence.",
        fields(json!({ "spec": spec })),
        &[],
    );
    made.verbs = vec!["list", "watch"];
    made.history = History::None;
    made.versions[0].columns = Columns::of_custom_resource(&[
        column("Summary", "string", ".spec.summary", 0),
        column("Source", "string", ".spec.changeSource", 0),
        column("Actor", "string", ".spec.actor.name", 1),
        column("Kind", "string", ".spec.resource.kind", 1),
        column("Resource", "string", ".spec.resource.name", 1),
        column("Age", "date", ".metadata.creationTimestamp", 0),
    ]);
    made.versions[0].selectable = [
        "spec.changeSource",
        "spec.resource.apiGroup",
        "spec.resource.kind",
        "spec.resource.uid",
        "spec.actor.name",
    ]
    .map(str::to_owned)
    .to_vec();
    made
}

fn window() -> Map<String, Value> {
    fields(json!({
        "startTime": text("Where the search begins: now-7d, or 2026-11-01T08:00:00Z."),
        "endTime": text("Where it ends, without that moment: now, or a time."),
        "limit": { "type": "integer", "description": "How many results a page has: 100 unless said, 1000 at most." },
        "continue": text("Where an earlier page ended: its status.continue."),
    }))
}

fn spec(mut more: Map<String, Value>, required: &[&str]) -> Value {
    let mut all = window();
    all.append(&mut more);
    json!({ "type": "object", "description": "What is asked.", "properties": all, "required": required })
}

fn activity_query() -> Value {
    let more = json!({
        "filter": text("An expression over spec.changeSource, spec.summary, spec.actor, spec.resource, spec.origin.type and metadata."),
        "search": text("Words of the sentence."),
        "namespace": text("The namespace of what was changed."),
        "changeSource": text("human or system."),
        "resourceKind": text("The kind of what was changed."),
        "resourceUID": text("The uid of what was changed."),
        "apiGroup": text("The group of what was changed."),
        "actorName": text("Who did it."),
        "verb": text("What was done: create, update or delete."),
    });
    spec(fields(more), &["startTime", "endTime"])
}

fn audit_log_query() -> Value {
    let more = json!({ "filter": text("An expression over verb, auditID, requestReceivedTimestamp, user, responseStatus.code, objectRef and secretValues.") });
    spec(fields(more), &["startTime", "endTime"])
}

fn event_query() -> Value {
    let more = json!({
        "namespace": text("The namespace of the events."),
        "fieldSelector": text("Fields of events, as kubectl get events --field-selector has them."),
    });
    spec(fields(more), &["startTime", "endTime"])
}

fn facet_query(with_filter: bool) -> Value {
    let mut properties = fields(json!({
        "timeRange": { "type": "object", "description": "When: the last seven days unless said.", "properties": {
            "start": text("Where it begins: now-7d, or a time."),
            "end": text("Where it ends: now, or a time."),
        } },
        "facets": { "type": "array", "description": "The fields whose values are counted.", "items": {
            "type": "object", "required": ["field"], "properties": {
                "field": text("The field."),
                "limit": { "type": "integer", "description": "How many values: 20 unless said, 100 at most." },
            } } },
    }));
    if with_filter {
        properties.insert("filter".into(), text("An expression that what is counted must fit."));
    }
    json!({ "type": "object", "description": "What is asked.", "properties": properties, "required": ["facets"] })
}

fn policy_spec() -> Value {
    let rules = |about: &str| {
        json!({ "type": "array", "description": about, "maxItems": 100,
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": { "type": "object", "required": ["name", "match", "summary"], "properties": {
                "name": { "type": "string", "description": "What the rule is called.", "minLength": 1, "maxLength": 253 },
                "description": { "type": "string", "description": "What it is for.", "maxLength": 4096 },
                "match": { "type": "string", "description": "An expression that holds where the rule applies.", "maxLength": 10_000 },
                "summary": { "type": "string", "description": "The sentence, with expressions between {{ and }}.", "maxLength": 10_000 },
            } } })
    };
    json!({ "type": "object", "description": "How changes of a kind are told.", "required": ["resource"], "properties": {
        "resource": { "type": "object", "description": "The kind.", "required": ["kind"], "properties": {
            "apiGroup": { "type": "string", "description": "Its group; empty for the core one.", "maxLength": 253 },
            "kind": { "type": "string", "description": "Its kind.", "minLength": 1, "maxLength": 63 },
        } },
        "auditRules": rules("How changes are told; the first that matches."),
        "eventRules": rules("How events are told; the first that matches."),
    } })
}

fn policy() -> Kind {
    let mut made = kind(
        "ActivityPolicy",
        "activitypolicies",
        "ActivityPolicy says how changes of a kind are told.",
        fields(json!({ "spec": policy_spec() })),
        &["spec"],
    );
    made.planes = Planes::Root;
    made.versions[0].subresources.push(Subresource::Status);
    made.versions[0].columns = Columns::of_custom_resource(&[
        column("API Group", "string", ".spec.resource.apiGroup", 0),
        column("Kind", "string", ".spec.resource.kind", 0),
        column("Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status", 0),
        column("Age", "date", ".metadata.creationTimestamp", 0),
    ]);
    made.prepare.push(Arc::new(|policy: &mut Object, old: Option<&Object>, subresource: &str| {
        if subresource.is_empty() {
            say_whether_ready(policy, old);
        }
    }));
    made
}

/// Reason and message of a policy that can be used.
const VALID: (&str, &str) = ("Valid", "all rules can be used");

/// Puts into the status whether the policy can be used: nothing else decides it.
fn say_whether_ready(policy: &mut Object, old: Option<&Object>) {
    let spec = policy.get("spec").cloned().unwrap_or_default();
    let (status, reason, message) = match Policy::read(&spec, &Path::of("spec")) {
        Ok(_) => ("True", VALID.0, VALID.1.to_owned()),
        Err(errors) => {
            let told: Vec<String> =
                errors.iter().map(|error| format!("{}: {}", error.field, error.message())).collect();
            ("False", "ValidationFailed", told.join("; "))
        }
    };
    let known = old.and_then(|old| old.at("status.conditions")).and_then(Value::as_array);
    let known = known.and_then(|known| known.first()).filter(|known| known["status"] == status);
    let now = apiserver::past::moment(now_micros()).to_string();
    let since = known.and_then(|known| known["lastTransitionTime"].as_str()).map_or(now, str::to_owned);
    let generation = policy.generation();
    policy.set(
        "status",
        Some(json!({ "observedGeneration": generation, "conditions": [{
            "type": "Ready", "status": status, "reason": reason, "message": message, "lastTransitionTime": since,
        }] })),
    );
}

/// The status of a policy that can be used.
pub fn valid(generation: i64, since: &str) -> Value {
    json!({ "observedGeneration": generation, "conditions": [{
        "type": "Ready", "status": "True", "reason": VALID.0, "message": VALID.1, "lastTransitionTime": since,
    }] })
}

fn now_micros() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn policy_preview() -> Value {
    json!({ "type": "object", "description": "The policy and the samples.", "required": ["policy", "inputs"], "properties": {
        "policy": policy_spec(),
        "inputs": { "type": "array", "description": "The samples.", "items": { "type": "object", "required": ["type"], "properties": {
            "type": text("audit or event."),
            "audit": anything("An entry of the audit log."),
            "event": anything("An event, as events.k8s.io has it."),
        } } },
        "kindLabel": text("What people call the kind."),
        "kindLabelPlural": text("What people call several of it."),
    } })
}

fn reindex_job() -> Kind {
    let spec = json!({ "type": "object", "description": "What is to be told anew.", "required": ["timeRange"], "properties": {
        "timeRange": { "type": "object", "description": "When it happened.", "required": ["startTime"], "properties": {
            "startTime": { "type": "string", "format": "date-time", "description": "Where it begins." },
            "endTime": { "type": "string", "format": "date-time", "description": "Where it ends: now unless said." },
        } },
        "policySelector": { "type": "object", "description": "Which policies: all unless said.", "properties": {
            "names": { "type": "array", "description": "By name.", "items": text("A name.") },
            "matchLabels": { "type": "object", "description": "By labels.", "additionalProperties": { "type": "string" } },
        } },
        "config": { "type": "object", "description": "How it is done.", "properties": {
            "batchSize": { "type": "integer", "description": "How many at once.", "minimum": 100, "maximum": 10_000, "default": 1000 },
            "rateLimit": { "type": "integer", "description": "How many in a second.", "minimum": 10, "maximum": 1000, "default": 100 },
            "dryRun": { "type": "boolean", "description": "Only to see what would be done." },
        } },
        "ttlSecondsAfterFinished": { "type": "integer", "description": "How long the job is kept.", "minimum": 0, "maximum": 2_147_483_647 },
    } });
    let mut made = kind(
        "ReindexJob",
        "reindexjobs",
        "ReindexJob tells the past anew by the policies of today.",
        fields(json!({ "spec": spec })),
        &["spec"],
    );
    made.planes = Planes::Root;
    made.versions[0].subresources.push(Subresource::Status);
    made.versions[0].columns = Columns::of_custom_resource(&[
        column("Phase", "string", ".status.phase", 0),
        column("Message", "string", ".status.message", 1),
        column("Age", "date", ".metadata.creationTimestamp", 0),
    ]);
    made.lifetime = Some(Arc::new(|job: &Object| {
        let seconds = job.at("spec.ttlSecondsAfterFinished").and_then(Value::as_u64)?;
        Some(Duration::from_secs(seconds.max(1)))
    }));
    made.prepare.push(Arc::new(|job: &mut Object, old: Option<&Object>, subresource: &str| {
        if subresource.is_empty() && old.is_none() {
            say_that_it_is_done(job);
        }
    }));
    made
}

/// Activities are worked out when they are asked for, so a job is done when it is made.
fn say_that_it_is_done(job: &mut Object) {
    let now = apiserver::past::moment(now_micros()).to_string();
    let message = "activities are worked out by the policies of the moment they are asked for; nothing has to be rebuilt";
    job.set(
        "status",
        Some(json!({
            "phase": "Succeeded", "message": message, "startedAt": now, "completedAt": now,
            "conditions": [{ "type": "Ready", "status": "True", "reason": "Succeeded", "message": message, "lastTransitionTime": now }],
        })),
    );
}
