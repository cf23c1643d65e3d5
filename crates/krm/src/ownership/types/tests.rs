//! What schemas mean for ownership.

use serde_json::json;

use super::*;

fn entry<'t>(shape: Shape<'t>, name: &str) -> Option<Shape<'t>> {
    shape.entry(shape.atom().map.as_ref()?, name)
}

fn at<'t>(ty: &'t Type, path: &str) -> Option<Shape<'t>> {
    path.split('.').try_fold(ty.root(), entry)
}

fn items(shape: Shape<'_>) -> &Items {
    &shape.atom().list.as_ref().unwrap().items
}

#[test]
fn metadata_has_one_type_whatever_the_schema_says_of_it() {
    let ty = Type::from_schema(&json!({"type": "object", "properties": {"metadata": {"type": "string"}}}));
    assert!(at(&ty, "metadata.labels.any").is_some());
    assert!(at(&ty, "metadata.bogus").is_none());
    assert!(matches!(items(at(&ty, "metadata.finalizers").unwrap()), Items::Set));
    let owners = at(&ty, "metadata.ownerReferences").unwrap();
    assert!(matches!(items(owners), Items::Keyed(keys) if keys[0].name == "uid"));
    let owner = owners.item(owners.atom().list.as_ref().unwrap());
    assert!(owner.atom().map.as_ref().unwrap().atomic);
    assert!(at(&ty, "spec").is_none());
}

#[test]
fn lists_are_atomic_unless_they_say_otherwise() {
    let list =
        |kind: &str| json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": kind});
    let ty = Type::from_schema(&json!({"type": "object", "properties": {
        "plain": {"type": "array", "items": {"type": "string"}},
        "atomic": list("atomic"),
        "set": list("set"),
        "map": {
            "type": "array",
            "items": {"type": "object", "properties": {
                "port": {"type": "integer"},
                "protocol": {"type": "string", "default": "TCP"},
            }},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
        },
        "merged": {
            "type": "array",
            "items": {"type": "object"},
            "x-kubernetes-patch-strategy": "merge",
            "x-kubernetes-patch-merge-key": "name",
        },
    }}));
    assert!(matches!(items(at(&ty, "plain").unwrap()), Items::Atomic));
    assert!(matches!(items(at(&ty, "atomic").unwrap()), Items::Atomic));
    assert!(matches!(items(at(&ty, "set").unwrap()), Items::Set));
    let Items::Keyed(keys) = items(at(&ty, "map").unwrap()) else { panic!("not keyed") };
    let keys: Vec<_> = keys.iter().map(|key| (key.name.as_str(), key.default.clone())).collect();
    assert_eq!(keys, [("port", None), ("protocol", Some(json!("TCP")))]);
    assert!(matches!(items(at(&ty, "merged").unwrap()), Items::Keyed(keys) if keys[0].name == "name"));
}

#[test]
fn unknown_fields_are_allowed_below_a_place_that_keeps_them_and_where_nothing_is_declared() {
    let ty = Type::from_schema(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "closed": {"type": "object", "properties": {"a": {"type": "string"}}},
            "empty": {"type": "object"},
            "never": {"type": "object", "additionalProperties": false},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                "inner": {"type": "object", "properties": {"a": {"type": "string"}}},
            }},
            "texts": {"type": "object", "additionalProperties": {"type": "string"}},
        }},
    }}));
    assert!(at(&ty, "spec.closed.b").is_none());
    assert!(at(&ty, "spec.empty.b.c").is_some());
    assert!(at(&ty, "spec.never.b").is_none());
    assert!(at(&ty, "spec.free.b.c").is_some());
    assert!(at(&ty, "spec.free.inner.b").is_some());
    assert_eq!(at(&ty, "spec.texts.b").unwrap().atom().scalar, Some(Scalar::Text));
    assert!(at(&ty, "other").is_none());
}

#[test]
fn an_embedded_resource_has_metadata_of_its_own() {
    let ty = Type::from_schema(&json!({"type": "object", "properties": {"template": {
        "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
    }}}));
    assert!(at(&ty, "template.metadata.labels.a").is_some());
    assert!(at(&ty, "template.metadata.bogus").is_none());
    assert!(at(&ty, "template.spec.anything").is_some());
}

#[test]
fn references_are_followed_and_may_be_recursive() {
    let definitions = json!({
        "io.example.v1.Tree": {"type": "object", "properties": {
            "metadata": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
            "root": {"allOf": [{"$ref": "#/components/schemas/io.example.v1.Node"}], "default": {}},
            "whole": {"$ref": "#/components/schemas/io.example.v1.Node", "x-kubernetes-map-type": "atomic"},
        }},
        "io.example.v1.Node": {"type": "object", "properties": {
            "size": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"},
            "raw": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.runtime.RawExtension"},
            "children": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/io.example.v1.Node"},
                "x-kubernetes-list-type": "atomic",
            },
        }},
    });
    let ty = Type::from_definitions(definitions.as_object().unwrap(), "io.example.v1.Tree");
    let mut node = at(&ty, "root").unwrap();
    assert!(!node.atom().map.as_ref().unwrap().atomic);
    for _ in 0..1000 {
        assert_eq!(entry(node, "size").unwrap().atom().scalar, Some(Scalar::Any));
        let children = entry(node, "children").unwrap();
        node = children.item(children.atom().list.as_ref().unwrap());
    }
    assert!(at(&ty, "root.raw").unwrap().atom().map.as_ref().unwrap().atomic);
    assert!(at(&ty, "whole").unwrap().atom().map.as_ref().unwrap().atomic);
    assert!(at(&ty, "metadata.labels.x").is_some());
}

#[test]
fn a_schema_that_never_ends_is_cut_off() {
    let mut schema = json!({"type": "object"});
    for _ in 0..1000 {
        let mut outer = json!({"type": "object", "properties": {}});
        outer["properties"]["a"] = schema;
        schema = outer;
    }
    let ty = Type::from_schema(&schema);
    assert!(at(&ty, "a.a.a").is_some());
    while let Value::Object(map) = &mut schema {
        let Some(below) = map.get_mut("properties").and_then(|properties| properties.get_mut("a")) else {
            break;
        };
        schema = below.take();
    }
}
