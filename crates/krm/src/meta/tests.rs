use serde_json::json;

use super::*;
use crate::field::{FieldError, Path};
use crate::names::{name_is_dns_subdomain, name_is_path_segment};
use crate::object::Object;
use crate::time::Moment;

const SUBDOMAIN: &str = r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

fn texts(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

fn create(metadata: Value) -> Vec<String> {
    texts(&validate_create(metadata.as_object(), true, name_is_dns_subdomain, &Path::of("metadata")))
}

fn update(metadata: Value, old: Value) -> Vec<String> {
    texts(&validate_update(metadata.as_object(), old.as_object(), &Path::of("metadata")))
}

fn coerced(mut metadata: Value) -> Result<(Value, Vec<String>), String> {
    let mut unknown = Vec::new();
    coerce(&mut metadata, &Path::of("metadata"), &mut unknown)?;
    Ok((metadata, unknown))
}

#[test]
fn metadata_of_a_wrong_type_is_refused() {
    for (metadata, says) in [
        (json!([]), "json: cannot unmarshal array into Go value of type v1.ObjectMeta"),
        (
            json!({"name": 5}),
            "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string",
        ),
        (
            json!({"name": true}),
            "json: cannot unmarshal bool into Go struct field ObjectMeta.name of type string",
        ),
        (
            json!({"uid": 1}),
            "json: cannot unmarshal number into Go struct field ObjectMeta.uid of type types.UID",
        ),
        (
            json!({"ownerReferences": [{"uid": 1}]}),
            "json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.uid of type types.UID",
        ),
        (
            json!({"creationTimestamp": "now"}),
            r#"parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006""#,
        ),
    ] {
        assert_eq!(coerced(metadata).unwrap_err(), says);
    }
}

#[test]
fn metadata_keeps_only_what_it_knows() {
    let (metadata, unknown) = coerced(json!({
        "name": "a", "foo": "bar", "labels": {}, "creationTimestamp": null, "deletionGracePeriodSeconds": 0,
        "ownerReferences": [{"name": "o", "what": 1}], "managedFields": [{"manager": "m", "fieldsV1": {"f:a": {}}}],
    }))
    .unwrap();
    assert_eq!(
        metadata,
        json!({
            "name": "a", "deletionGracePeriodSeconds": 0,
            "ownerReferences": [{"apiVersion": "", "kind": "", "name": "o", "uid": ""}],
            "managedFields": [{"manager": "m", "fieldsV1": {"f:a": {}}}],
        })
    );
    assert_eq!(unknown, ["metadata.foo", "metadata.ownerReferences[0].what"]);
    assert_eq!(coerced(Value::Null).unwrap().0, json!({}));
}

#[test]
fn a_new_object_needs_a_good_name_and_namespace() {
    assert_eq!(create(json!({"name": "a", "namespace": "n"})), [""; 0]);
    assert_eq!(
        create(json!({"namespace": "n"})),
        ["metadata.name: Required value: name or generateName is required"]
    );
    assert_eq!(
        create(json!({"name": "Bad_x", "generateName": "Bad_", "namespace": "n"})),
        [
            format!("metadata.generateName: Invalid value: \"Bad_\": {SUBDOMAIN}"),
            format!("metadata.name: Invalid value: \"Bad_x\": {SUBDOMAIN}")
        ]
    );
    assert_eq!(create(json!({"name": "a"})), ["metadata.namespace: Required value"]);
    let cluster_scoped = validate_create(
        json!({"name": "a:b", "namespace": "n"}).as_object(),
        false,
        name_is_path_segment,
        &Path::of("metadata"),
    );
    assert_eq!(texts(&cluster_scoped), ["metadata.namespace: Forbidden: not allowed on this type"]);
    assert_eq!(
        create(json!({"name": "a", "namespace": "n.n", "generation": -1})),
        [
            "metadata.namespace: Invalid value: \"n.n\": must not contain dots",
            "metadata.generation: Invalid value: -1: must be greater than or equal to 0"
        ]
    );
}

#[test]
fn labels_and_annotations_are_checked_without_naming_the_key_in_the_path() {
    let key_fault = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let errors = create(json!({
        "name": "a", "namespace": "n",
        "labels": {"bad key!": "v", "k": "-"},
        "annotations": {"Example.Com/K": "fine", "no!": "v", "big": "x".repeat(262_144)},
    }));
    assert_eq!(errors[0], format!("metadata.labels: Invalid value: \"bad key!\": {key_fault}"));
    assert!(
        errors[1].starts_with("metadata.labels: Invalid value: \"-\": a valid label must be an empty string")
    );
    assert_eq!(errors[2], format!("metadata.annotations: Invalid value: \"no!\": {key_fault}"));
    assert_eq!(errors[3], "metadata.annotations: Too long: may not be more than 262144 bytes");
    assert_eq!(errors.len(), 4);
    let just_fits = json!({"name": "a", "namespace": "n", "annotations": {"k": "x".repeat(262_143)}});
    assert_eq!(create(just_fits), [""; 0]);
}

#[test]
fn an_owner_has_to_be_named_in_full() {
    let errors = create(json!({"name": "a", "namespace": "n", "ownerReferences": [
        {"apiVersion": "", "kind": "", "name": "", "uid": ""},
        {"apiVersion": "a/b/c", "kind": "K", "name": "n", "uid": "u"},
        {"apiVersion": "v1", "kind": "Event", "name": "n", "uid": "u", "controller": true},
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "m", "uid": "w", "blockOwnerDeletion": false, "controller": true},
    ]}));
    assert_eq!(
        errors,
        [
            "metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty",
            "metadata.ownerReferences.kind: Invalid value: \"\": must not be empty",
            "metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
            "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
            "metadata.ownerReferences.apiVersion: Invalid value: \"a/b/c\": version must not be empty",
            "metadata.ownerReferences: Invalid value: {\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"n\",\"uid\":\"u\",\"controller\":true}: /v1, Kind=Event is disallowed from being an owner",
            "metadata.ownerReferences: Invalid value: [{\"apiVersion\":\"\",\"kind\":\"\",\"name\":\"\",\"uid\":\"\"},{\"apiVersion\":\"a/b/c\",\"kind\":\"K\",\"name\":\"n\",\"uid\":\"u\"},{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"n\",\"uid\":\"u\",\"controller\":true},{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"m\",\"uid\":\"w\",\"controller\":true,\"blockOwnerDeletion\":false}]: Only one reference can have Controller set to true. Found \"true\" in references for Event/n and ConfigMap/m",
        ]
    );
}

#[test]
fn finalizers_have_qualified_names_and_do_not_contradict() {
    let errors = create(
        json!({"name": "a", "namespace": "n", "finalizers": ["orphan", "foregroundDeletion", "a//b"]}),
    );
    assert!(
        errors[0].starts_with("metadata.finalizers: Invalid value: \"a//b\": a valid label key must consist")
    );
    assert_eq!(
        errors[1],
        "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\",\"a//b\"]: finalizer orphan and foregroundDeletion cannot be both set"
    );
    let warnings = finalizer_warnings(
        json!({"finalizers": ["plain", "a.b", "x.io/y", "orphan", "old"]}).as_object(),
        json!({"finalizers": ["old"]}).as_object(),
    );
    assert_eq!(
        warnings,
        [
            "metadata.finalizers: \"a.b\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers",
            "metadata.finalizers: \"plain\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers",
        ]
    );
}

#[test]
fn managed_fields_name_their_operation_and_manager() {
    let errors = create(json!({"name": "a", "namespace": "n", "managedFields": [
        {"manager": "m\n", "operation": "Nope", "fieldsType": "V2", "subresource": "s".repeat(257)},
        {"manager": "m".repeat(129), "operation": "Apply", "fieldsType": "FieldsV1"},
    ]}));
    assert_eq!(
        errors,
        [
            "metadata.managedFields[0].operation: Invalid value: \"Nope\": must be `Apply` or `Update`",
            "metadata.managedFields[0].fieldsType: Invalid value: \"V2\": must be `FieldsV1`",
            "metadata.managedFields[0].manager: Invalid value: \"m\\n\": invalid character U+000A (at position 1)",
            "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes",
            "metadata.managedFields[1].manager: Too long: may not be more than 128 bytes",
        ]
    );
}

#[test]
fn an_update_cannot_change_what_is_fixed() {
    let old = json!({"name": "a", "namespace": "n", "uid": "u", "generation": 2, "resourceVersion": "5", "creationTimestamp": "2020-01-01T00:00:00Z"});
    assert_eq!(update(old.clone(), old.clone()), [""; 0]);
    let new = json!({
        "name": "b", "namespace": "m", "uid": "w", "generation": 1, "deletionTimestamp": "2001-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 3,
    });
    assert_eq!(
        update(new, old),
        [
            "metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
            "metadata.generation: Invalid value: 1: must not be decremented",
            "metadata.name: Invalid value: \"b\": field is immutable",
            "metadata.namespace: Invalid value: \"m\": field is immutable",
            "metadata.uid: Invalid value: \"w\": field is immutable",
            "metadata.creationTimestamp: Invalid value: null: field is immutable",
            "metadata.deletionTimestamp: Invalid value: \"2001-01-01T00:00:00Z\": field is immutable",
            "metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable",
        ]
    );
    assert_eq!(
        resource_version_required().to_string(),
        "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    );
}

#[test]
fn an_object_on_its_way_out_gets_no_new_finalizers() {
    let dying = |finalizers: &[&str]| json!({"name": "a", "resourceVersion": "1", "deletionTimestamp": "2020-01-01T00:00:00Z", "finalizers": finalizers});
    assert_eq!(update(dying(&["a/a"]), dying(&["a/a", "b/b"])), [""; 0]);
    assert_eq!(
        update(dying(&["z/z", "a/a", "b/b"]), dying(&["a/a"])),
        [
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"b/b\", \"z/z\"}"
        ]
    );
    let mut living = dying(&["a/a"]);
    living["deletionTimestamp"].take();
    let mut named = living.clone();
    named["finalizers"] = json!(["a/a", "b/b"]);
    assert_eq!(update(named, living), [""; 0]);
}

#[test]
fn metadata_within_an_object_needs_no_name() {
    let at = Path::of("spec");
    let embedded = at.field("metadata");
    assert_eq!(validate_embedded(&Map::new(), &embedded), []);
    let bad = json!({"name": "a/b", "namespace": "N"});
    let errors = texts(&validate_embedded(bad.as_object().unwrap(), &embedded));
    assert_eq!(errors[0], "spec.metadata.name: Invalid value: \"a/b\": may not contain '/'");
    assert!(
        errors[1].starts_with("spec.metadata.namespace: Invalid value: \"N\": a lowercase RFC 1123 label")
    );
}

#[test]
fn the_server_decides_on_identity_and_times() {
    let object = |metadata: Value| Object::from_value(json!({"metadata": metadata})).unwrap();
    let mut new = object(json!({
        "name": "a", "uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "selfLink": "/x",
        "deletionTimestamp": "2001-01-01T00:00:00Z", "deletionGracePeriodSeconds": 5,
    }));
    fill_on_create(&mut new, "u", Moment::of_seconds(0));
    assert_eq!(new, object(json!({"name": "a", "uid": "u", "creationTimestamp": "1970-01-01T00:00:00Z"})));

    let old = object(
        json!({"uid": "u", "creationTimestamp": "c", "deletionTimestamp": "d", "deletionGracePeriodSeconds": 0, "generation": 3}),
    );
    let mut update = object(json!({"creationTimestamp": "x", "generation": 9}));
    keep_on_update(&mut update, &old);
    assert_eq!(update, old);
    let mut other = object(json!({"uid": "w", "deletionGracePeriodSeconds": 7, "generation": 1}));
    keep_on_update(&mut other, &object(json!({"uid": "u"})));
    assert_eq!(other, object(json!({"uid": "w", "deletionGracePeriodSeconds": 7})));
}

#[test]
fn a_flood_of_faults_is_cut_short() {
    let labels: Map<String, Value> = (0..5000).map(|number| (format!("{number}!"), json!("-"))).collect();
    let owners: Vec<Value> = (0..500)
        .map(|_| json!({"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": true}))
        .collect();
    assert!(create(json!({"name": "a", "namespace": "n", "labels": labels})).len() <= MOST_ERRORS + 2);
    assert_eq!(create(json!({"name": "a", "namespace": "n", "ownerReferences": owners})).len(), 8);
}
