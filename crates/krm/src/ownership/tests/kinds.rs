//! The kinds that recordings are about.

use serde_json::{Value, json};

use crate::object::Object;
use crate::ownership::*;
use crate::schema::Schema;

/// A kind, as much of it as is needed here.
pub(super) struct Kind {
    pub plural: &'static str,
    pub versions: Versions,
    pub custom: bool,
    pub has_status: bool,
    pub main_resets: Vec<Vec<(String, FieldSet)>>,
    pub status_resets: Vec<(String, FieldSet)>,
    pub api_versions: Vec<String>,
    pub schemas: Vec<Schema>,
}

impl Kind {
    pub(super) fn all() -> Vec<Kind> {
        let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let reference = json!({"type": "object", "properties": {"name": {"type": "string"}}, "x-kubernetes-map-type": "atomic"});
        vec![
            custom("widgets"),
            custom("gadgets"),
            built_in(
                "configmaps",
                "ConfigMap",
                "v1",
                json!({"data": texts, "binaryData": texts, "immutable": {"type": "boolean"}}),
                json!({}),
            ),
            built_in(
                "serviceaccounts",
                "ServiceAccount",
                "v1",
                json!({
                    "secrets": {"type": "array", "items": reference, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
                    "imagePullSecrets": {"type": "array", "items": reference, "x-kubernetes-list-type": "atomic"},
                }),
                json!({}),
            ),
            built_in(
                "leases",
                "Lease",
                "coordination.k8s.io/v1",
                json!({"spec": {"type": "object", "properties": {
                    "holderIdentity": {"type": "string"}, "leaseDurationSeconds": {"type": "integer"},
                }}}),
                json!({"spec": {}}),
            ),
            built_in(
                "namespaces",
                "Namespace",
                "v1",
                json!({
                    "spec": {"type": "object", "properties": {"finalizers": {"type": "array", "items": {"type": "string"}}}},
                    "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
                }),
                json!({"spec": {}, "status": {}}),
            ),
        ]
    }
}

fn fixture(name: &str) -> Value {
    let path = format!("{}/../../tests/cases/kube/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn custom(plural: &'static str) -> Kind {
    let crd = fixture(plural);
    let (group, kind) =
        (crd["spec"]["group"].as_str().unwrap(), crd["spec"]["names"]["kind"].as_str().unwrap());
    let mut versions = Versions::new(kind, Origin::Custom);
    let (mut api_versions, mut schemas) = (vec![], vec![]);
    let (mut main_resets, mut status_resets) = (vec![], vec![]);
    let mut has_status = false;
    for version in crd["spec"]["versions"].as_array().unwrap() {
        let api_version = format!("{group}/{}", version["name"].as_str().unwrap());
        let schema = &version["schema"]["openAPIV3Schema"];
        versions = versions.with(&api_version, Type::from_schema(schema));
        schemas.push(Schema::parse(schema).unwrap());
        let mut resets = vec![];
        if version["subresources"]["status"].is_object() {
            has_status = true;
            resets.push((api_version.clone(), FieldSet::of(&[&["status"]])));
            status_resets.push((api_version.clone(), FieldSet::of(&[&["metadata"], &["spec"]])));
        }
        main_resets.push(resets);
        api_versions.push(api_version);
    }
    Kind { plural, versions, custom: true, has_status, main_resets, status_resets, api_versions, schemas }
}

fn built_in(plural: &'static str, kind: &str, api_version: &str, properties: Value, blank: Value) -> Kind {
    let schema = json!({"type": "object", "properties": properties});
    Kind {
        plural,
        versions: Versions::new(kind, Origin::BuiltIn)
            .with(api_version, Type::from_schema(&schema))
            .blank(Object::from_value(blank).unwrap()),
        custom: false,
        has_status: false,
        main_resets: vec![vec![]],
        status_resets: vec![],
        api_versions: vec![api_version.to_owned()],
        schemas: vec![],
    }
}
