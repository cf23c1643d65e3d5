//! The kinds of `activity.miloapis.com`. Policies and jobs are stored; the others are computed on request.

use std::sync::Arc;

use krm::condition::Finding;
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
        asked(
            "ActivityQuery",
            "activityqueries",
            "ActivityQuery searches activities: who changed what, and when. Create one to get the result in its status; it is not stored.",
            activity_query(),
        ),
        asked(
            "ActivityFacetQuery",
            "activityfacetqueries",
            "ActivityFacetQuery counts the distinct values of fields of activities, for filter menus. Create one to get the result in its status; it is not stored.",
            facet_query(true),
        ),
        asked(
            "AuditLogQuery",
            "auditlogqueries",
            "AuditLogQuery searches the audit log of this server. Create one to get the result in its status; it is not stored.",
            audit_log_query(),
        ),
        asked(
            "AuditLogFacetsQuery",
            "auditlogfacetsqueries",
            "AuditLogFacetsQuery counts the distinct values of fields of audit events. Create one to get the result in its status; it is not stored.",
            facet_query(true),
        ),
        asked(
            "EventQuery",
            "eventqueries",
            "EventQuery searches Kubernetes events. Create one to get the result in its status; it is not stored.",
            event_query(),
        ),
        asked(
            "EventFacetQuery",
            "eventfacetqueries",
            "EventFacetQuery counts the distinct values of fields of events. Create one to get the result in its status; it is not stored.",
            facet_query(false),
        ),
        asked(
            "PolicyPreview",
            "policypreviews",
            "PolicyPreview evaluates an ActivityPolicy on sample records. Create one to get the summaries in its status; nothing is stored.",
            policy_preview(),
        ),
        policy(),
    ]
}

fn kind(
    name: &str,
    plural: &str,
    about: &str,
    mut properties: Map<String, Value>,
    required: &[&str],
) -> Kind {
    properties.entry("status").or_insert_with(|| {
        anything("Result of the request, or observed state of the object. Set by the server.")
    });
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

/// A kind without stored objects: the answer is the status of the posted object.
fn asked(name: &str, plural: &str, about: &str, spec: Value) -> Kind {
    let mut kind = kind(name, plural, about, fields(json!({ "spec": spec })), &["spec"]);
    kind.verbs = vec!["create"];
    kind.history = History::None;
    // The answer contains other users' objects, so the audit log records who asked, but not the answer.
    kind.secret = true;
    kind
}

fn activity() -> Kind {
    let spec = json!({ "type": "object", "description": "The change or event, who caused it and a summary.", "properties": {
        "summary": text("One-sentence summary of the change, made by the ActivityPolicy of the kind."),
        "changeSource": text("Who caused the change: `human` for users and accounts, `system` for components of the server."),
        "actor": anything("Who caused the change: type (`user` or `system`), name, uid and email."),
        "resource": anything("The changed object: apiGroup, apiVersion, kind, name, namespace and uid."),
        "links": { "type": "array", "description": "Parts of the summary that name an object, for user interfaces that link to it.", "items": anything("A part of the summary (`marker`) and the object that it names (`resource`).") },
        "tenant": anything("Tenant that the object belongs to: the platform, or a project by name."),
        "changes": { "type": "array", "description": "Fields that changed, with their values before and after. Values of Secrets are not shown.", "items": anything("Path of a field (`field`), and its values before (`old`) and after (`new`) the change.") },
        "origin": anything("Record that the activity was computed from: type (`audit` or `event`) and id."),
    } });
    let mut made = kind(
        "Activity",
        "activities",
        "Activity is a summary of one change: who did what to which object. Activities are computed from history and cannot be written.",
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
        "startTime": text("Start of the time range, inclusive: relative such as `now-7d` (units s, m, h, d, w), or absolute such as `2026-11-01T08:00:00Z`."),
        "endTime": text("End of the time range, exclusive: relative such as `now`, or absolute in RFC 3339 format. Must be after startTime."),
        "limit": { "type": "integer", "description": "Maximum number of results on a page, 1 to 1000. Defaults to 100." },
        "continue": text("Continuation token: the `status.continue` of the previous page."),
    }))
}

fn spec(mut more: Map<String, Value>, required: &[&str]) -> Value {
    let mut all = window();
    all.append(&mut more);
    json!({ "type": "object", "description": "The time range and the filters of the query. All filters must match.", "properties": all, "required": required })
}

fn activity_query() -> Value {
    let more = json!({
        "filter": text("CEL expression that must be true of an activity. It can use spec.changeSource, spec.summary, spec.actor, spec.resource, spec.origin.type and metadata."),
        "search": text("Words that the summary must contain, ignoring case."),
        "namespace": text("Namespace of the changed object. All namespaces if unset."),
        "changeSource": text("Who caused the change: `human` or `system`."),
        "resourceKind": text("Kind of the changed object, such as `Rack`."),
        "resourceUID": text("Unique identifier of the changed object."),
        "apiGroup": text("API group of the changed object."),
        "actorName": text("Name of the user or account that caused the change."),
        "verb": text("Type of the change: `create`, `update` or `delete`."),
    });
    spec(fields(more), &["startTime", "endTime"])
}

fn audit_log_query() -> Value {
    let more = json!({ "filter": text("CEL expression that must be true of an audit event. It can use verb, auditID, requestReceivedTimestamp, user, responseStatus.code, objectRef and secretValues.") });
    spec(fields(more), &["startTime", "endTime"])
}

fn event_query() -> Value {
    let more = json!({
        "namespace": text("Namespace that the events are in. All namespaces if unset."),
        "fieldSelector": text("Field selector over events, as for `kubectl get events --field-selector`."),
    });
    spec(fields(more), &["startTime", "endTime"])
}

fn facet_query(with_filter: bool) -> Value {
    let mut properties = fields(json!({
        "timeRange": { "type": "object", "description": "Time range to count in. Defaults to the last seven days.", "properties": {
            "start": text("Start of the time range, inclusive: relative such as `now-7d`, or absolute in RFC 3339 format."),
            "end": text("End of the time range, exclusive: relative such as `now`, or absolute in RFC 3339 format."),
        } },
        "facets": { "type": "array", "description": "Fields whose values are counted. At least one.", "items": {
            "type": "object", "required": ["field"], "properties": {
                "field": text("Path of the field, such as `spec.resource.kind`."),
                "limit": { "type": "integer", "description": "Maximum number of values, the most frequent first, 1 to 100. Defaults to 20." },
            } } },
    }));
    if with_filter {
        properties.insert("filter".into(), text("CEL expression that must be true of what is counted."));
    }
    json!({ "type": "object", "description": "The fields to count values of, and the records to count in.", "properties": properties, "required": ["facets"] })
}

fn policy_spec() -> Value {
    let rules = |about: &str| {
        json!({ "type": "array", "description": about, "maxItems": 100,
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": { "type": "object", "required": ["name", "match", "summary"], "properties": {
                "name": { "type": "string", "description": "Name of the rule, unique in the list.", "minLength": 1, "maxLength": 253 },
                "description": { "type": "string", "description": "Purpose of the rule, for people who maintain it.", "maxLength": 4096 },
                "match": { "type": "string", "description": "CEL expression that is true if the rule applies. Rules for changes see audit, actor, actorRef, kind and before; rules for events see event, actor, actorRef and kind.", "maxLength": 10_000 },
                "summary": { "type": "string", "description": "Template of the summary, with CEL expressions between `{{` and `}}`.", "maxLength": 10_000 },
            } } })
    };
    json!({ "type": "object", "description": "The kind and the rules that summarize its changes and events.", "required": ["resource"], "properties": {
        "resource": { "type": "object", "description": "Kind that the policy applies to.", "required": ["kind"], "properties": {
            "apiGroup": { "type": "string", "description": "API group of the kind. Empty for the core group.", "maxLength": 253 },
            "kind": { "type": "string", "description": "Name of the kind, such as `Rack`.", "minLength": 1, "maxLength": 63 },
        } },
        "auditRules": rules("Rules that summarize changes. The first rule that matches is used."),
        "eventRules": rules("Rules that summarize events. The first rule that matches is used."),
    } })
}

fn policy() -> Kind {
    let mut made = kind(
        "ActivityPolicy",
        "activitypolicies",
        "ActivityPolicy defines how changes and events of a kind are summarized as activities. It replaces the built-in policy of the kind.",
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
const VALID: (&str, &str) = ("Valid", "All rules are valid");

/// Sets the Ready condition: whether all rules of the policy are valid.
fn say_whether_ready(policy: &mut Object, old: Option<&Object>) {
    let spec = policy.get("spec").cloned().unwrap_or_default();
    let ready = match Policy::read(&spec, &Path::of("spec")) {
        Ok(_) => Finding::holds("Ready", VALID.0, VALID.1),
        Err(errors) => {
            let told: Vec<String> =
                errors.iter().map(|error| format!("{}: {}", error.field, error.message())).collect();
            Finding::fails("Ready", "ValidationFailed", told.join("; "))
        }
    };
    let before = old.and_then(|old| old.at("status.conditions")).and_then(Value::as_array);
    let now = apiserver::past::moment(now_micros()).to_string();
    let ready = ready.after(before.map_or(&[], Vec::as_slice), None, &now);
    policy.set("status", Some(json!({ "observedGeneration": policy.generation(), "conditions": [ready] })));
}

/// The status of a valid policy.
pub fn valid(generation: i64, since: &str) -> Value {
    let ready = Finding::holds("Ready", VALID.0, VALID.1).after(&[], None, since);
    json!({ "observedGeneration": generation, "conditions": [ready] })
}

fn now_micros() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn policy_preview() -> Value {
    json!({ "type": "object", "description": "The policy to evaluate and the samples to evaluate it on.", "required": ["policy", "inputs"], "properties": {
        "policy": policy_spec(),
        "inputs": { "type": "array", "description": "Sample records to evaluate the policy on. At least one.", "items": { "type": "object", "required": ["type"], "properties": {
            "type": text("Type of the sample: `audit` or `event`. The field of that name must be set."),
            "audit": anything("Audit event in the format of audit.k8s.io/v1."),
            "event": anything("Event in the format of events.k8s.io/v1."),
        } } },
        "kindLabel": text("Singular display name of the kind."),
        "kindLabelPlural": text("Plural display name of the kind."),
    } })
}
