//! Rules that the recorded scenarios do not reach.

use serde_json::{Value, json};

use super::*;
use crate::Object;

/// A definition of things with this schema, ready to be judged.
fn things(schema: Value) -> Object {
    with_spec(json!({
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
    }))
}

fn with_spec(spec: Value) -> Object {
    let object = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": spec,
    });
    let mut object = Object::from_value(object).unwrap();
    decode(&mut object).unwrap();
    default(&mut object);
    prepare_for_create(&mut object);
    object
}

fn faults(object: &Object) -> Vec<String> {
    validate_create(object).iter().map(ToString::to_string).collect()
}

/// What is wrong with a schema, without the way to it.
fn schema_faults(schema: Value) -> Vec<String> {
    let root = "spec.validation.openAPIV3Schema";
    faults(&things(schema)).iter().map(|fault| fault.trim_start_matches(root).to_owned()).collect()
}

fn in_spec(schema: Value) -> Value {
    json!({"type": "object", "properties": {"spec": schema}})
}

#[test]
fn every_field_of_a_structural_schema_has_a_type() {
    assert_eq!(schema_faults(json!({})), [".type: Required value: must not be empty at the root"]);
    assert_eq!(
        schema_faults(json!({"type": "string"})),
        [r#".type: Invalid value: "string": must be object at the root"#]
    );
    assert_eq!(
        schema_faults(in_spec(json!({"properties": {"a": {"type": "array"}}}))),
        [
            ".properties[spec].properties[a].items: Required value: must be specified",
            ".properties[spec].type: Required value: must not be empty for specified object fields",
        ]
    );
    assert_eq!(
        schema_faults(in_spec(json!({"type": "array", "items": {}}))),
        [".properties[spec].items.type: Required value: must not be empty for specified array items"]
    );
}

#[test]
fn logic_may_not_say_what_a_field_is() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "anyOf": [{
            "type": "object", "description": "d", "title": "t", "nullable": true, "default": {},
            "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-list-type": "set",
            "properties": {"a": {"minLength": 1}, "b": {"minLength": 1}, "metadata": {}},
        }],
        "not": {"additionalProperties": true},
    });
    assert_eq!(schema_faults(schema)[..12], [
        ".anyOf[0].default: Forbidden: must be undefined to be structural",
        ".anyOf[0].description: Forbidden: must be empty to be structural",
        ".anyOf[0].nullable: Forbidden: must be false to be structural",
        ".anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context",
        ".anyOf[0].title: Forbidden: must be empty to be structural",
        ".anyOf[0].type: Forbidden: must be empty to be structural",
        ".anyOf[0].x-kubernetes-list-type: Forbidden: must be undefined to be structural",
        ".anyOf[0].x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be structural",
        ".not.additionalProperties: Forbidden: must be undefined to be structural",
        ".properties[b]: Required value: because it is defined in \
         spec.validation.openAPIV3Schema.anyOf[0].properties[b]",
        ".properties[metadata]: Required value: because it is defined in \
         spec.validation.openAPIV3Schema.anyOf[0].properties[metadata]",
        ".anyOf[0].x-kubernetes-list-type: Invalid value: \"object\": must be array if x-kubernetes-list-type \
         is specified",
    ]
    .map(|text| text.replace(".anyOf[0].x-kubernetes-list-type: Invalid", ".anyOf[0].type: Invalid")));
}

#[test]
fn int_or_string_may_be_spelled_out_in_two_ways_only() {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let taken = [
        json!({"x-kubernetes-int-or-string": true}),
        json!({"x-kubernetes-int-or-string": true, "anyOf": either}),
        json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": either}, {"pattern": "x"}]}),
    ];
    for schema in taken {
        assert_eq!(schema_faults(in_spec(schema.clone())), Vec::<String>::new(), "{schema}");
    }
    let turned =
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "string"}, {"type": "integer"}]});
    assert_eq!(schema_faults(in_spec(turned)).len(), 2);
    let both = json!({"x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true});
    assert_eq!(
        schema_faults(in_spec(both)),
        [".properties[spec].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if \
         x-kubernetes-int-or-string is true"]
    );
}

#[test]
fn all_patterns_of_a_schema_together_have_a_budget() {
    let letters = |length: u32| json!({"type": "string", "pattern": format!("^\\pL{{{length}}}$")});
    let within =
        json!({"type": "object", "properties": {"a": letters(200), "b": letters(150), "c": letters(50)}});
    assert_eq!(schema_faults(in_spec(within)), Vec::<String>::new());
    let over =
        json!({"type": "object", "properties": {"a": letters(200), "b": letters(201), "c": letters(202)}});
    let said = schema_faults(in_spec(over));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("{202}") && said[0].contains("at most 32 MiB are allowed"), "{said:?}");
    let alone = json!({"type": "object", "properties": {"a": letters(1_000)}});
    let said = schema_faults(in_spec(alone));
    assert!(said.len() == 1 && said[0].contains("expression too large: `^\\pL{1000}$`"), "{said:?}");
}

#[test]
fn metadata_restricts_names_only() {
    let with = |metadata: Value| json!({"type": "object", "properties": {"metadata": metadata}});
    let names = json!({"name": {"type": "string", "maxLength": 5}});
    assert_eq!(schema_faults(with(json!({"type": "object", "properties": names}))), Vec::<String>::new());
    let labels = json!({"type": "object", "properties": {"labels": {"type": "object"}}});
    assert_eq!(
        schema_faults(with(labels)),
        [
            ".properties[metadata]: Forbidden: must not specify anything other than name and generateName, but \
         metadata is implicitly specified"
        ]
    );
    let kind = json!({"type": "object", "properties": {"kind": {"type": "integer"}}});
    assert_eq!(schema_faults(kind), [r#".properties[kind].type: Invalid value: "integer": must be string"#]);
}

#[test]
fn embedded_resources_are_objects_with_something_in_them() {
    assert_eq!(
        schema_faults(in_spec(json!({"x-kubernetes-embedded-resource": true}))),
        [
            ".properties[spec].properties: Required value: must not be empty if x-kubernetes-embedded-resource is \
         true without x-kubernetes-preserve-unknown-fields",
            ".properties[spec].type: Required value: must be object if x-kubernetes-embedded-resource is true",
        ]
    );
}

#[test]
fn keywords_without_meaning_are_told_once() {
    let schema = in_spec(json!({
        "type": "object",
        "properties": {"a": {"type": "string", "$ref": "#/x"}, "b": {"type": "array", "uniqueItems": true,
            "items": {"type": "string"}}, "c": {"type": "file"}},
        "patternProperties": {"x": {}},
    }));
    assert_eq!(
        schema_faults(schema),
        [
            ".properties[spec].patternProperties: Forbidden: patternProperties is not supported",
            ".properties[spec].properties[a].$ref: Forbidden: $ref is not supported",
            ".properties[spec].properties[b].uniqueItems: Forbidden: uniqueItems cannot be set to true since the \
         runtime complexity becomes quadratic",
            ".properties[spec].properties[c].type: Unsupported value: \"file\": supported values: \"array\", \
         \"boolean\", \"integer\", \"number\", \"object\", \"string\"",
        ]
    );
    let dialect = json!({"type": "object", "$schema": "x"});
    assert_eq!(schema_faults(dialect), [r#": Invalid value: "": OpenAPIV3Schema 'schema' is not supported"#]);
}

#[test]
fn properties_and_additional_properties_exclude_each_other() {
    let schema = in_spec(json!({
        "type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}
    }));
    assert_eq!(
        schema_faults(schema),
        [
            ".properties[spec].additionalProperties: Forbidden: additionalProperties and properties are mutual \
         exclusive"
        ]
    );
    assert_eq!(
        schema_faults(json!({"type": "object", "additionalProperties": {"type": "string"}})),
        [".additionalProperties: Forbidden: must not be used at the root"]
    );
}

#[test]
fn the_root_beside_a_status_may_not_reach_into_it() {
    let spec = json!({
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "maxProperties": 3}}}],
    });
    let faults = faults(&with_spec(spec));
    assert_eq!(faults.len(), 1);
    assert!(faults[0].starts_with(
        r#"spec.validation.openAPIV3Schema: Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","#
    ));
    assert!(faults[0].ends_with(
        "XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status \
         subresource is enabled"
    ));
    assert!(faults[0].contains(r#""MaxProperties":3,"MinProperties":null,"Required":null,"Items":null,"#));
}

#[test]
fn schemas_of_versions_are_named_where_they_differ() {
    let version = |name: &str, storage: bool, schema: Value| json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema}});
    let spec = json!({
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [version("v1", true, json!({"type": "object"})), version("v2", false, json!({}))],
    });
    assert_eq!(
        faults(&with_spec(spec)),
        ["spec.versions[1].schema.openAPIV3Schema.type: Required value: must not be empty at the root"]
    );
}

#[test]
fn a_version_needs_a_schema() {
    let spec = json!({
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [{"name": "v1", "served": true, "storage": true}],
        "preserveUnknownFields": true,
    });
    assert_eq!(
        faults(&with_spec(spec)),
        [
            "spec.versions[0].schema.openAPIV3Schema: Required value",
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set \
         x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        ]
    );
}

#[test]
fn what_was_let_through_once_stays_so() {
    let mut old = things(in_spec(json!({"properties": {"a": {"type": "string"}}})));
    old.0.get_mut("spec").unwrap()["preserveUnknownFields"] = json!(true);
    let mut new = old.clone();
    new.set_meta("labels", Some(json!({"a": "b"})));
    assert_eq!(validate_update(&new, &old), []);
    let structural = things(in_spec(json!({"type": "object"})));
    assert!(!validate_update(&new, &structural).is_empty());
}

#[test]
fn groups_of_the_community_need_its_approval() {
    let mut object = things(json!({"type": "object"}));
    let group = |object: &mut Object, group: &str| object.0.get_mut("spec").unwrap()["group"] = json!(group);
    group(&mut object, "x.k8s.io");
    object.set_meta("name", Some(json!("things.x.k8s.io")));
    let mut with = |annotation: &str| {
        object.set_meta("annotations", Some(json!({"api-approved.kubernetes.io": annotation})));
        (faults(&object).len(), approval_condition(&object).unwrap().reason)
    };
    assert_eq!(with("https://github.com/kubernetes/kubernetes/pull/1"), (0, "ApprovedAnnotation"));
    assert_eq!(with("unapproved, experimental"), (0, "UnapprovedAnnotation"));
    assert_eq!(with("because"), (1, "InvalidAnnotation"));
    assert_eq!(with(""), (1, "MissingAnnotation"));
    group(&mut object, "xk8s.io");
    assert_eq!(approval_condition(&object), None);
}

#[test]
fn webhooks_are_reached_by_url_or_by_service() {
    let with = |client: Value| {
        let mut object = things(json!({"type": "object"}));
        let webhook = json!({"clientConfig": client, "conversionReviewVersions": ["v1"]});
        object.0.get_mut("spec").unwrap()["conversion"] = json!({"strategy": "Webhook", "webhook": webhook});
        default(&mut object);
        faults(&object)
    };
    let none: Vec<String> = Vec::new();
    assert_eq!(with(json!({"url": "https://example.com/convert"})), none);
    assert_eq!(with(json!({"service": {"namespace": "n", "name": "s", "path": "/a/b"}})), none);
    assert_eq!(
        with(json!({})),
        ["spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required"]
    );
    assert_eq!(
        with(json!({"url": "http://u@/x?q#f"})),
        [
            r#"spec.conversion.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]"#,
            r#"spec.conversion.webhookClientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]"#,
            r#"spec.conversion.webhookClientConfig.url: Invalid value: "u": user information is not permitted in the URL"#,
            r#"spec.conversion.webhookClientConfig.url: Invalid value: "f": fragments are not permitted in the URL"#,
            r#"spec.conversion.webhookClientConfig.url: Invalid value: "q": query parameters are not permitted in the URL"#,
        ]
    );
}

#[test]
fn unknown_fields_go_and_empty_ones_are_written_as_ever() {
    let object = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "extra": 1,
        "metadata": {"name": "x"},
        "spec": {"names": {"plural": "things", "shortNames": []}, "preserveUnknownFields": false, "odd": {},
            "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
                "type": "object", "nullable": false, "const": 1, "maximum": 5.0, "default": null,
                "items": {"unknown": 1, "description": ""},
            }}}]},
    });
    let mut object = Object::from_value(object).unwrap();
    assert_eq!(
        decode(&mut object).unwrap(),
        ["extra", "spec.odd", "spec.versions[0].schema.openAPIV3Schema.const",]
    );
    assert_eq!(
        object.get("spec"),
        Some(&json!({
            "group": "", "scope": "",
            "names": {"plural": "things", "kind": ""},
            "versions": [{"name": "v1", "served": false, "storage": false, "schema": {"openAPIV3Schema": {
                "type": "object", "maximum": 5, "items": {},
            }}}],
        }))
    );
    let status =
        json!({"acceptedNames": {"kind": "", "plural": ""}, "conditions": null, "storedVersions": null});
    assert_eq!(object.get("status"), Some(&status));
    let before = object.clone();
    assert_eq!(decode(&mut object).unwrap(), Vec::<String>::new());
    assert_eq!(object, before);
}

#[test]
fn fields_of_the_wrong_type_are_a_bad_request() {
    let with = |spec: Value| {
        let mut object = Object::from_value(json!({"metadata": {"name": "x"}, "spec": spec})).unwrap();
        decode(&mut object).unwrap_err().to_string()
    };
    let prefix =
        r#"CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: "#;
    let cases = [
        (
            json!({"group": 5}),
            "json: cannot unmarshal number into Go struct field \
            CustomResourceDefinitionSpec.spec.group of type string",
        ),
        (
            json!({"versions": [{"served": "yes"}]}),
            "json: cannot unmarshal string into Go struct field \
            CustomResourceDefinitionVersion.spec.versions.served of type bool",
        ),
        (
            json!([]),
            "json: cannot unmarshal array into Go struct field CustomResourceDefinition.spec of type \
            v1.CustomResourceDefinitionSpec",
        ),
        (
            json!({"versions": [{"schema": {"openAPIV3Schema": {"additionalProperties": 3}}}]}),
            "boolean or JSON schema expected",
        ),
    ];
    for (spec, message) in cases {
        assert_eq!(with(spec), format!("{prefix}{message}"));
    }
}

#[test]
fn versions_are_preferred_by_how_stable_and_how_late_they_are() {
    let mut versions = ["v1", "foo1", "v11alpha2", "v2", "v1beta1", "v10", "foo10", "v3beta1", "v12alpha1"];
    versions.sort_by(|a, b| compare_versions(b, a));
    assert_eq!(
        versions,
        ["v10", "v2", "v1", "v3beta1", "v1beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]
    );
}

#[test]
fn a_definition_tells_what_it_declares() {
    let spec = json!({
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "things", "kind": "Thing", "shortNames": ["th"]},
        "versions": [
            {"name": "v1beta1", "served": true, "storage": false, "deprecated": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}},
            {"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}},
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n",
                    "statusReplicasPath": ".status.n"}},
                "additionalPrinterColumns": [{"name": "N", "type": "integer", "jsonPath": ".spec.n"}],
                "selectableFields": [{"jsonPath": ".spec.a"}]},
        ],
    });
    let definition = Definition::parse(&with_spec(spec)).unwrap();
    assert_eq!((definition.scope, &*definition.names.list_kind), (Scope::Cluster, "ThingList"));
    let served: Vec<&str> = definition.served_versions().iter().map(|it| &*it.name).collect();
    assert_eq!(served, ["v1", "v1beta1"]);
    let beta = definition.version("v1beta1").unwrap();
    assert_eq!(
        beta.deprecation_warning.as_deref(),
        Some("example.com/v1beta1 Thing is deprecated; use example.com/v1 Thing")
    );
    let storage = definition.storage_version().unwrap();
    assert!(storage.has_status);
    assert_eq!(storage.scale.as_ref().unwrap().spec_replicas_path, ".spec.n");
    assert_eq!(storage.columns[0].kind, "integer");
    assert_eq!(storage.selectable_fields, [".spec.a"]);
}

#[test]
fn several_short_names_in_use_are_told_together() {
    let mut first = things(json!({"type": "object"}));
    first.0.get_mut("spec").unwrap()["names"]["shortNames"] = json!(["a", "b"]);
    accept_names(&mut first, &TakenNames::default(), "now");
    let mut second = things(json!({"type": "object"}));
    second.0.get_mut("spec").unwrap()["names"] = json!({
        "plural": "others", "singular": "other", "kind": "Other", "listKind": "OtherList",
        "shortNames": ["a", "b", "c"],
    });
    let taken = TakenNames::of([&first, &second]);
    assert!(accept_names(&mut second, &taken, "now"));
    let condition = &second.get("status").unwrap()["conditions"][0];
    assert_eq!(condition["reason"], "ShortNamesConflict");
    assert_eq!(condition["message"], r#"["a" is already in use, "b" is already in use]"#);
    assert!(!accept_names(&mut second, &taken, "later"), "nothing changed");
    assert!(!establish(&mut second, "later"));
}
