//! The kinds of `groundplane.dev`: transactions, plans, search, retention, verification, checkpoints and
//! backups. Only plans and retention policies are stored; the others are computed on request.

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
        "SearchResult is an object whose name, labels or searchable fields contain the searched words. List it with the query parameter `q`.",
        json!({}),
    );
    search.names.singular = "search".to_owned();
    let mut kinds = vec![
        asked(
            "Transaction",
            "transactions",
            &["create"],
            "Transaction creates, updates, patches, applies, deletes, undoes or restores many objects in one atomic commit. Create one to run it; it is not stored.",
            json!({ "spec": anything("What to do: either `items`, a list of operations on objects, or `undo`, the changes to revert."), "status": anything("Result of every item, and the revision of the commit. Set by the server.") }),
        ),
        asked(
            "AccessExplanation",
            "accessexplanations",
            &["create"],
            "AccessExplanation lists the role bindings that allow an action, or the roles that would allow it. Create one to get the result in its status; it is not stored.",
            json!({ "spec": anything("The action, as in a SubjectAccessReview. The user defaults to the caller."), "status": anything("Whether the action is allowed, the grants that allow it, and the roles that would. Set by the server.") }),
        ),
        asked(
            "FeatureGate",
            "featuregates",
            &["list"],
            "FeatureGate is a feature of the server that you ask, which `serve --feature-gates` turns on and off. It is computed, not stored.",
            json!({ "status": anything("Name of the gate, stage of the feature, whether it is on by default and in this server, and what it adds.") }),
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
            "Verification checks the hash chain and the signatures of the whole history. Create one to get the result in its status; it is not stored.",
            json!({ "spec": anything("What to verify against: `trustedKeys`, public keys of earlier signers, and `checkpoint`, a checkpoint that was exported before."), "status": anything("Number of records verified, and the problems found. Set by the server.") }),
        ),
        asked(
            "Checkpoint",
            "checkpoints",
            &["get"],
            "Checkpoint is a signed digest of the history up to a revision. Export it to prove later that the history was not rewritten.",
            json!({}),
        ),
        asked(
            "Backup",
            "backups",
            &["create"],
            "Backup streams all objects and their history as of one revision. Create one to download it; it is not stored.",
            json!({}),
        ),
        asked(
            "KeyRotation",
            "keyrotations",
            &["create"],
            "KeyRotation generates a new key for encrypting Secrets at rest, and re-encrypts all Secrets with it.",
            json!({}),
        ),
        asked(
            "Controller",
            "controllers",
            &["list"],
            "Controller is a control loop of the server that you ask, or one beside it. It is computed, not stored.",
            json!({ "status": anything("Whether the controller works in this server, its queue, its attempts and writes since the start, the objects that wait for something else, and the objects whose attempts fail, with the last error. For a controller that runs beside the server, `remote` names the holder of its lease.") }),
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

/// A kind without stored objects.
fn asked(kind: &str, plural: &str, verbs: &[&'static str], about: &str, fields: Value) -> Kind {
    let mut made =
        kind_of(kind, plural, json!({ "type": "object", "description": about, "properties": fields }));
    made.verbs = verbs.to_vec();
    made.history = History::None;
    // Requests and responses may contain Secrets, so the audit log records neither body.
    made.secret = true;
    made
}

fn kind_of(kind: &str, plural: &str, schema: Value) -> Kind {
    #[expect(clippy::expect_used, reason = "the schemas stand in this file")]
    let version = Version::new(VERSION, schema).expect("the schema is one");
    Kind::new(GROUP, kind, plural, Scope::Cluster, version)
}

/// The preview of a transaction, kept for a day. It may contain Secrets, so it is treated like one.
fn plan() -> Kind {
    let schema = json!({
        "type": "object",
        "description": "Plan is the preview of a transaction: what would change, and the versions of all objects that the preview depends on. It can be applied until one of those changes, and is deleted after a day.",
        "properties": { "spec": anything("What to do, as in a Transaction."), "status": anything("Changes that applying the plan would make, and the guards that must still hold. Set by the server.") },
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

/// How long history is kept.
fn retention_policy() -> Kind {
    let name = |about: &str| json!({ "type": "string", "description": about, "maxLength": 253 });
    let schema = json!({
        "type": "object",
        "description": "RetentionPolicy defines how much history of which resources is kept.",
        "required": ["spec"],
        "properties": { "spec": {
            "type": "object",
            "description": "The resources, and how much of their history is kept.",
            "required": ["resources"],
            "properties": {
                "resources": {
                    "type": "array",
                    "description": "Resources that the policy applies to. 1 to 100.",
                    "minItems": 1,
                    "maxItems": 100,
                    "items": {
                        "type": "object",
                        "required": ["resource"],
                        "properties": {
                            "group": { "type": "string", "description": "API group of the resource. Empty for the core group, `*` for all groups.", "maxLength": 253, "default": "" },
                            "resource": name("Plural name of the resource, such as `racks`. `*` for all resources."),
                        },
                    },
                },
                "keepFor": {
                    "type": "string",
                    "description": "Changes younger than this are kept: a number and one of the units d, h, m and s. Defaults to 90d.",
                    "pattern": "^[0-9]{1,9}(d|h|m|s)$",
                    "default": "90d",
                },
                "keepLast": {
                    "type": "integer",
                    "description": "Number of older changes that are kept for each object, 1 to 1000000. Defaults to 20.",
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
