//! The kinds of `groundplane.dev`: transactions, plans, search, retention, verification, checkpoints and backups. All but plans
//! and retention policies are asked, not stored.

use std::sync::Arc;
use std::time::Duration;

use krm::kind::{History, Kind, Planes, Scope, Version};
use krm::table::Columns;
use serde_json::{Value, json};

use crate::retention;
use crate::transaction::{GROUP, plan};

const VERSION: &str = "v1alpha1";

/// All of them.
pub fn kinds() -> Vec<Kind> {
    let mut search = asked(
        "SearchResult",
        "search",
        &["list"],
        "SearchResult is an object that a search found.",
        json!({}),
    );
    search.names.singular = "search".to_owned();
    let mut kinds = vec![
        asked(
            "Transaction",
            "transactions",
            &["create"],
            "Transaction changes many objects in one commit.",
            json!({ "spec": anything("What is to be done: items, or undo."), "status": anything("What came of it.") }),
        ),
        asked(
            "AccessExplanation",
            "accessexplanations",
            &["create"],
            "AccessExplanation tells which grants allow something, or what would.",
            json!({ "spec": anything("What is asked, as in a SubjectAccessReview; about oneself unless a user is named."), "status": anything("Whether it is allowed, by what, and what would allow it.") }),
        ),
        plan(),
        search,
        retention_policy(),
    ];
    let root_only = [
        asked(
            "Verification",
            "verifications",
            &["create"],
            "Verification checks all of history.",
            json!({ "spec": anything("What is to be trusted."), "status": anything("What was found.") }),
        ),
        asked(
            "Checkpoint",
            "checkpoints",
            &["get"],
            "Checkpoint is a signed statement about history.",
            json!({}),
        ),
        asked(
            "Backup",
            "backups",
            &["create"],
            "Backup is everything there is, as of one revision.",
            json!({}),
        ),
        asked(
            "KeyRotation",
            "keyrotations",
            &["create"],
            "KeyRotation replaces the key that secrets are sealed with.",
            json!({}),
        ),
        asked(
            "Controller",
            "controllers",
            &["list"],
            "Controller is a control loop of the server that you ask. It is computed, not stored.",
            json!({ "status": anything("Whether the controller works in this server, its queue, its attempts since the start, and the objects whose attempts fail, with the last error.") }),
        ),
    ];
    kinds.extend(root_only.map(|mut kind| {
        kind.planes = Planes::Root;
        kind
    }));
    kinds
}

fn anything(about: &str) -> Value {
    json!({ "type": "object", "description": about, "x-kubernetes-preserve-unknown-fields": true })
}

/// A kind that has no objects.
fn asked(kind: &str, plural: &str, verbs: &[&'static str], about: &str, fields: Value) -> Kind {
    let mut made =
        kind_of(kind, plural, json!({ "type": "object", "description": about, "properties": fields }));
    made.verbs = verbs.to_vec();
    made.history = History::None;
    // Whatever goes in and out may hold secrets; the audit log is told of none of it.
    made.secret = true;
    made
}

fn kind_of(kind: &str, plural: &str, schema: Value) -> Kind {
    #[expect(clippy::expect_used, reason = "the schemas stand in this file")]
    let version = Version::new(VERSION, schema).expect("the schema is one");
    Kind::new(GROUP, kind, plural, Scope::Cluster, version)
}

/// What a transaction would do, kept for a day. It may hold secrets, so it is kept like one.
fn plan() -> Kind {
    let schema = json!({
        "type": "object",
        "description": "Plan is what a transaction would do, with all that it was decided on.",
        "properties": { "spec": anything("What is to be done."), "status": anything("What would come of it.") },
    });
    let mut kind = kind_of("Plan", "plans", schema);
    kind.verbs = vec!["create", "delete", "deletecollection", "get", "list", "watch"];
    kind.history = History::None;
    kind.secret = true;
    kind.lifetime =
        Some(Arc::new(|_| Some(Duration::from_secs(u64::try_from(plan::KEPT_SECONDS).unwrap_or(0)))));
    kind.versions[0].columns = Columns::of_custom_resource(&[
        column("Created", "integer", ".status.summary.created"),
        column("Configured", "integer", ".status.summary.configured"),
        column("Deleted", "integer", ".status.summary.deleted"),
        column("Failed", "integer", ".status.summary.failed"),
        column("Applied", "date", ".status.applied.time"),
        column("Age", "date", ".metadata.creationTimestamp"),
    ]);
    kind
}

/// How long the past of kinds is kept.
fn retention_policy() -> Kind {
    let name = |about: &str| json!({ "type": "string", "description": about, "maxLength": 253 });
    let schema = json!({
        "type": "object",
        "description": "RetentionPolicy says how long the past of objects is kept.",
        "required": ["spec"],
        "properties": { "spec": {
            "type": "object",
            "description": "What is kept of which kinds.",
            "required": ["resources"],
            "properties": {
                "resources": {
                    "type": "array",
                    "description": "The kinds it is about.",
                    "minItems": 1,
                    "maxItems": 100,
                    "items": {
                        "type": "object",
                        "required": ["resource"],
                        "properties": {
                            "group": { "type": "string", "description": "Their group; empty for the core one, * for every one.", "maxLength": 253, "default": "" },
                            "resource": name("Their plural; * for every one."),
                        },
                    },
                },
                "keepFor": {
                    "type": "string",
                    "description": "Everything younger is kept: a number with d, h, m or s.",
                    "pattern": "^[0-9]{1,9}(d|h|m|s)$",
                    "default": "90d",
                },
                "keepLast": {
                    "type": "integer",
                    "description": "Of what is older, the last so many changes of each object are kept.",
                    "format": "int32",
                    "minimum": 1,
                    "maximum": 1_000_000,
                    "default": 20,
                },
            },
        } },
    });
    let mut kind = kind_of("RetentionPolicy", retention::PLURAL, schema);
    kind.planes = Planes::Root;
    kind.versions[0].columns = Columns::of_custom_resource(&[
        column("KeepFor", "string", ".spec.keepFor"),
        column("KeepLast", "integer", ".spec.keepLast"),
        column("Age", "date", ".metadata.creationTimestamp"),
    ]);
    kind
}

fn column(name: &str, kind: &str, path: &str) -> Value {
    json!({ "name": name, "type": kind, "jsonPath": path, "priority": 0 })
}
