//! Bodies in protobuf: what was read can be kept as JSON, and what nobody knows is passed over.

use krm::body;
use krm::decode::Refusal;
use krm::encode::to_json;
use krm::proto::{decode, encode};
use serde_json::{Value, json};

use super::Target;

pub const TARGET: Target = Target {
    name: "protobuf",
    check,
    seeds,
    words: &[
        "k8s\0",
        "v1",
        "ConfigMap",
        "Secret",
        "Namespace",
        "Event",
        "rbac.authorization.k8s.io/v1",
        "Role",
        "Lease",
        "coordination.k8s.io/v1",
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "discovery.k8s.io/v1",
        "EndpointSlice",
    ],
};

fn check(bytes: &[u8]) {
    // A body without its four letters gets nowhere.
    let with_magic = [b"k8s\0", bytes].concat();
    let bytes = if bytes.starts_with(b"k8s\0") { bytes } else { &with_magic };
    match decode(bytes) {
        Ok(object) => {
            assert!(!object.kind().is_empty() && !object.api_version().is_empty());
            let written = to_json(&Value::Object(object.0.clone()));
            let again = body::read(&written).map(|body| body.value);
            assert_eq!(again, Ok(Value::Object(object.0.clone())));
            // What is written from it is read as the same.
            let whole = Value::Object(object.0.clone());
            let message = encode(&whole).expect("what was read has a message");
            assert_eq!(decode(&message).map(|again| Value::Object(again.0)), Ok(whole));
            // Field 2047 of the envelope, a number: of a later version, perhaps.
            let later = [bytes, &[0xf8, 0x7f, 0x05]].concat();
            assert_eq!(decode(&later), Ok(object));
        }
        Err(error) => {
            let refusal = Refusal::from(error);
            assert!(matches!(refusal.status("Thing", bytes).code, 400 | 413 | 422), "{refusal:?}");
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let bytes = |hex: &str| -> Vec<u8> {
        (0..hex.len() / 2).filter_map(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).ok()).collect()
    };
    // What kubectl sends for `create namespace`, `configmap`, `secret`, `serviceaccount`, `token` and `role`.
    [
        "6b3873000a0f0a02763112094e616d65737061636512190a110a017812001a0022002a0032003800420012001a020a001a002200",
        "6b3873000a0f0a0276311209436f6e6669674d6170121b0a110a016312001a0022002a0032003800420012060a01611201311a002200",
        "6b3873000a0c0a0276311206536563726574121d0a110a017312001a0022002a0032003800420012060a01611201311a001a002200",
        "6b3873000a140a027631120e536572766963654163636f756e7412140a120a02736112001a0022002a003200380042001a002200",
        "6b3873000a280a1861757468656e7469636174696f6e2e6b38732e696f2f7631120c546f6b656e5265717565737412330a100a0012001a0022002a0032003800420012190a01611a110a06536563726574120276311a0173220020901c1a040a0012001a002200",
        "6b3873000a240a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f76311204526f6c6512310a110a017212001a0022002a00320038004200121c0a036765740a046c69737412001a0a636f6e6669676d61707322016e1a002200",
    ]
    .iter()
    .map(|hex| bytes(hex))
    .chain(encode(&definition()))
    .collect()
}

/// A definition with one of everything that is not plain in its message.
fn definition() -> Value {
    let schema = json!({
        "type": "object", "maximum": 1.5, "default": {"a": 1}, "enum": [1, "x", null], "items": [{"type": "string"}],
        "not": {"items": {"x-kubernetes-int-or-string": true}}, "additionalProperties": false,
        "properties": {"a": {"additionalProperties": {"type": "integer"}}},
        "dependencies": {"a": ["b"], "c": {"type": "string"}}, "x-kubernetes-preserve-unknown-fields": false,
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "as.b.c"},
        "spec": {
            "group": "b.c", "versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}],
            "conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"caBundle": "eA==", "url": "https://x"}}},
        },
    })
}
