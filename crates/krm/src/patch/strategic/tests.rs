//! What strategic merge patches do to objects of the core kinds, and which of them are refused.

mod properties;

use serde_json::{Value, json};

use super::*;

/// A schema as OpenAPI has it, with what these tests need.
fn service_account() -> Layout {
    let definitions = json!({
        "io.k8s.api.core.v1.ObjectReference": {"type": "object", "properties": {
            "name": {"type": "string"}, "namespace": {"type": "string"}, "kind": {"type": "string"},
        }},
    });
    let reference = json!({
        "allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.ObjectReference"}], "default": {}
    });
    let schema = json!({"type": "object", "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "automountServiceAccountToken": {"type": "boolean"},
        "certificate": {"type": "string", "format": "byte"},
        "secrets": {
            "type": "array", "items": reference,
            "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge",
        },
        "imagePullSecrets": {"type": "array", "items": reference},
        "ports": {"type": "array", "x-kubernetes-patch-merge-key": "port", "x-kubernetes-patch-strategy": "merge",
            "items": {"type": "object", "properties": {
                "port": {"type": "integer", "format": "int32"},
                "names": {"type": "array", "items": {"type": "string"}, "x-kubernetes-patch-strategy": "merge"},
            }}},
        "strategy": {"type": "object", "x-kubernetes-patch-strategy": "retainKeys", "properties": {
            "type": {"type": "string"}, "rolling": {"type": "object", "additionalProperties": {"type": "string"}},
        }},
        "whole": {"type": "object", "x-kubernetes-patch-strategy": "replace", "properties": {"a": {"type": "string"}}},
        "data": {"type": "object", "additionalProperties": {"type": "string"}},
    }});
    Layout::new("ServiceAccount", &schema, definitions.as_object().unwrap())
}

fn patched(object: Value, patch: Value) -> Result<Value, PatchError> {
    let mut object = object;
    apply(&patch, &mut object, &service_account())?;
    Ok(object)
}

fn secrets(before: &[&str], patch: Value) -> Vec<String> {
    let items: Vec<Value> = before.iter().map(|name| json!({"name": name})).collect();
    let object = patched(json!({"secrets": items}), patch).unwrap();
    let names = object["secrets"].as_array().into_iter().flatten();
    names.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn keyed_lists_are_merged_by_their_key() {
    assert_eq!(secrets(&["one", "two"], json!({"secrets": [{"name": "three"}]})), ["three", "one", "two"]);
    let object = json!({"secrets": [{"name": "one"}, {"name": "two", "kind": "k"}]});
    assert_eq!(
        patched(object, json!({"secrets": [{"name": "two", "namespace": "x"}]})).unwrap(),
        json!({"secrets": [{"name": "one"}, {"name": "two", "kind": "k", "namespace": "x"}]})
    );
}

#[test]
fn items_of_keyed_lists_are_deleted_by_their_key() {
    let gone = json!({"secrets": [{"$patch": "delete", "name": "one"}]});
    assert_eq!(secrets(&["three", "one", "two", "one"], gone), ["three", "two"]);
}

#[test]
fn keyed_lists_can_be_replaced() {
    let only = json!({"secrets": [{"$patch": "replace"}, {"name": "only"}]});
    assert_eq!(secrets(&["one", "two"], only), ["only"]);
}

#[test]
fn the_order_of_items_can_be_set() {
    let order = json!({
        "$setElementOrder/secrets": [{"name": "n2"}, {"name": "only"}],
        "secrets": [{"name": "n2"}]
    });
    assert_eq!(secrets(&["only"], order), ["n2", "only"]);
    let sorted = json!({"$setElementOrder/secrets": [{"name": "b"}, {"name": "c"}]});
    assert_eq!(secrets(&["a", "c", "b", "d"], sorted), ["a", "b", "c", "d"]);
    let nothing = json!({"$setElementOrder/imagePullSecrets": [{"name": "x"}]});
    assert_eq!(patched(json!({}), nothing).unwrap(), json!({}));
}

#[test]
fn lists_without_a_strategy_and_maps_that_say_so_are_replaced() {
    let object = json!({"imagePullSecrets": [{"name": "a"}], "whole": {"a": "1"}});
    let patch = json!({"imagePullSecrets": [{"name": "b"}], "whole": {}});
    assert_eq!(patched(object, patch).unwrap(), json!({"imagePullSecrets": [{"name": "b"}], "whole": {}}));
}

#[test]
fn maps_are_merged_replaced_or_emptied() {
    let labels = |patch| patched(json!({"metadata": {"labels": {"a": "b", "c": "d"}}}), patch).unwrap();
    let wanted = |labels: Value| json!({"metadata": {"labels": labels}});
    assert_eq!(
        labels(json!({"metadata": {"labels": {"a": null, "e": "f"}}})),
        wanted(json!({"c": "d", "e": "f"}))
    );
    assert_eq!(
        labels(json!({"metadata": {"labels": {"$patch": "replace", "z": "1"}}})),
        wanted(json!({"z": "1"}))
    );
    assert_eq!(labels(json!({"metadata": {"labels": {"$patch": "delete"}}})), wanted(json!({})));
    assert_eq!(labels(json!({"metadata": {"labels": null}})), json!({"metadata": {}}));
}

#[test]
fn finalizers_are_a_set_and_owners_are_known_by_uid() {
    let metadata = |before: Value, patch: Value| {
        patched(json!({"metadata": before}), json!({"metadata": patch})).unwrap()["metadata"].clone()
    };
    assert_eq!(metadata(json!({}), json!({"finalizers": ["a"]})), json!({"finalizers": ["a"]}));
    assert_eq!(
        metadata(json!({"finalizers": ["a", "c"]}), json!({"finalizers": ["b", "c", "b"]})),
        json!({"finalizers": ["b", "a", "c"]})
    );
    assert_eq!(
        metadata(json!({"finalizers": ["b", "a"]}), json!({"$deleteFromPrimitiveList/finalizers": ["a"]})),
        json!({"finalizers": ["b"]})
    );
    assert_eq!(
        metadata(
            json!({"ownerReferences": [{"uid": "1", "name": "o1"}]}),
            json!({"ownerReferences": [{"uid": "2", "name": "o2"}]})
        ),
        json!({"ownerReferences": [{"uid": "2", "name": "o2"}, {"uid": "1", "name": "o1"}]})
    );
    assert_eq!(
        metadata(
            json!({"ownerReferences": [{"uid": "2"}, {"uid": "1"}]}),
            json!({"ownerReferences": [{"$patch": "delete", "uid": "1"}]})
        ),
        json!({"ownerReferences": [{"uid": "2"}]})
    );
}

#[test]
fn keys_that_are_not_retained_go_but_never_the_type() {
    let object =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "s"}, "secrets": []});
    let kept = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "s"}});
    assert_eq!(patched(object.clone(), json!({"$retainKeys": ["metadata"]})).unwrap(), kept);
    assert_eq!(patched(object.clone(), json!({"kind": "Other"})).unwrap(), object);
    let strategy = json!({"strategy": {"type": "Rolling", "rolling": {"max": "1"}}});
    let recreate = json!({"strategy": {"$retainKeys": ["type"], "type": "Recreate"}});
    assert_eq!(patched(strategy, recreate).unwrap(), json!({"strategy": {"type": "Recreate"}}));
}

#[test]
fn what_was_not_there_is_taken_without_nulls_and_directives() {
    let patch = json!({
        "strategy": {"type": null, "rolling": {"a": "b", "c": null}},
        "secrets": [{"$patch": "delete", "name": "x"}, {"name": "y", "kind": null}],
        "whole": {"$patch": "delete"},
        "gone": null
    });
    let taken = json!({"strategy": {"rolling": {"a": "b"}}, "secrets": [{"name": "y"}]});
    assert_eq!(patched(json!({}), patch).unwrap(), taken);
}

#[test]
fn merging_goes_on_inside_the_items_of_a_list() {
    let object = json!({"ports": [{"port": 80, "names": ["a"]}, {"port": 90}]});
    let patch = json!({"ports": [{"port": 80, "names": ["b"]}, {"port": 90, "names": ["c"]}]});
    let merged = json!({"ports": [{"port": 80, "names": ["b", "a"]}, {"port": 90, "names": ["c"]}]});
    assert_eq!(patched(object, patch).unwrap(), merged);
}

#[test]
fn patches_that_cannot_be_are_refused() {
    let object = json!({
        "metadata": {"labels": {"z": "1"}, "finalizers": ["a"]},
        "secrets": [{"name": "one"}], "imagePullSecrets": [{"name": "p"}]
    });
    let malformed = |words: &str| PatchError::Malformed(words.to_owned());
    let failed = |words: &str| PatchError::Failed(words.to_owned());
    for (patch, error) in [
        (
            json!({"metadata": {"labels": {"$patch": "zap"}}}),
            failed("unknown patch type: zap in map: map[$patch:zap]"),
        ),
        (
            json!({"secrets": [{"$patch": 5, "name": "x"}]}),
            failed("unknown patch type: %!s(int64=5) in map: map[$patch:5 name:x]"),
        ),
        (
            json!({"secrets": [{"$patch": "merge"}]}),
            failed("merging lists cannot yet be specified in the patch"),
        ),
        (
            json!({"secrets": [{"namespace": "x"}]}),
            failed("map: map[namespace:x] does not contain declared merge key: name"),
        ),
        (
            json!({"secrets": [{"$patch": "delete"}]}),
            failed("map: map[$patch:delete] does not contain declared merge key: name"),
        ),
        (json!({"secrets": ["x"]}), failed("list element types are not identical: [[map[name:one]] [x]]")),
        (
            json!({"metadata": {"finalizers": [["x"]]}}),
            failed("list element types are not identical: [[a] [[x]]]"),
        ),
        (json!({"$retainKeys": "x"}), malformed("invalid patch format of retainKeys")),
        (json!({"$retainKeys": ["a"], "secrets": []}), malformed("invalid patch format of retainKeys")),
        (json!({"$deleteFromPrimitiveList": []}), malformed("invalid patch format of primitive list")),
        (json!({"$setElementOrderly": []}), malformed("invalid patch format of setElementOrder list")),
        (
            json!({"$setElementOrder/secrets": "x"}),
            failed("expected a []interface {}, but received a string"),
        ),
        (
            json!({"$setElementOrder/zip": []}),
            failed("unable to find api field in struct ServiceAccount for the json field \"zip\""),
        ),
        (
            json!({"metadata": {"labels": {"$setElementOrder/zip": []}}}),
            failed("merging an object in json but data type is not struct, instead is: map"),
        ),
        (
            json!({"$setElementOrder/secrets": [{"name": "a"}], "secrets": [{"name": "b"}]}),
            failed(
                "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
            ),
        ),
        (
            json!({"$deleteFromPrimitiveList/imagePullSecrets": [{"name": "p"}]}),
            failed("cannot merge lists without merge key for struct"),
        ),
    ] {
        assert_eq!(patched(object.clone(), patch.clone()), Err(error), "{patch}");
    }
    let lists =
        patched(json!({"metadata": {"finalizers": [["x"]]}}), json!({"metadata": {"finalizers": ["y"]}}));
    assert!(matches!(lists, Err(PatchError::Inapplicable(_))), "{lists:?}");
}

#[test]
fn bodies_that_are_no_map_are_refused() {
    let refusal = |text: &str| Patch::read(text.as_bytes()).unwrap_err();
    assert_eq!(refusal("{"), PatchError::Malformed("unexpected end of JSON input".into()));
    let words = "json: cannot unmarshal array into Go value of type map[string]interface {}";
    assert_eq!(refusal("[]"), PatchError::Malformed(words.into()));
    assert_eq!(Patch::read(b"null").unwrap().changes(), &json!({}));
}

#[test]
fn a_result_that_is_no_object_of_the_kind_is_refused() {
    let object =
        json!({"kind": "ServiceAccount", "metadata": {"name": "s"}, "data": {"a": "b"}, "secrets": []});
    let refusal = |patch: Value, validation| {
        let patch = Patch::read(patch.to_string().as_bytes()).unwrap();
        match patch.apply(&object, &service_account(), validation) {
            Err(PatchError::BadResult { shown, why }) => (shown, why),
            other => panic!("{other:?}"),
        }
    };
    for (patch, shown, why) in [
        (json!({"secrets": "x"}), "map[secrets:x]", "cannot restore slice from string"),
        (json!({"metadata": []}), "map[metadata:[]]", "cannot restore struct from: slice"),
        (json!({"data": {"n": 5}}), "map[data:map[n:5]]", "cannot convert int64 to string"),
        (json!({"data": {"n": true}}), "map[data:map[n:true]]", "unrecognized type: string"),
        (json!({"data": "x"}), "map[data:x]", "cannot restore map from string"),
        (
            json!({"metadata": {"generation": 1.5}}),
            "map[metadata:map[generation:1.5]]",
            "cannot convert float64 to int64",
        ),
        (
            json!({"certificate": "A=A="}),
            "map[certificate:A=A=]",
            "error decoding from json: illegal base64 data at input byte 1",
        ),
        (
            json!({"metadata": {"creationTimestamp": "x"}}),
            "map[metadata:map[creationTimestamp:x]]",
            "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"",
        ),
        (
            json!({"metadata": {"creationTimestamp": 5}}),
            "map[metadata:map[creationTimestamp:5]]",
            "json: cannot unmarshal number into Go value of type string",
        ),
        (
            json!({"automountServiceAccountToken": "x"}),
            "map[automountServiceAccountToken:x]",
            "unrecognized type: bool",
        ),
        (
            json!({"data": {"$patch": "replace", "n": 5}, "$retainKeys": ["data", "metadata"]}),
            "map[data:map[n:5]]",
            "cannot convert int64 to string",
        ),
    ] {
        assert_eq!(refusal(patch, FieldValidation::Ignore), (shown.to_owned(), why.to_owned()));
    }
    assert_eq!(
        refusal(json!({"bogus": 1, "secrets": [{"name": "x", "zip": 1}]}), FieldValidation::Strict).1,
        r#"strict decoding error: unknown field "bogus", unknown field "secrets[0].zip""#
    );
}

#[test]
fn unknown_fields_are_told_of() {
    let warned = |validation| {
        let patch = Patch::read(br#"{"nope":1,"metadata":{"zip":1,"zip":2}}"#).unwrap();
        patch.apply(&json!({"metadata": {}}), &service_account(), validation).unwrap().1
    };
    assert_eq!(
        warned(FieldValidation::Warn),
        [r#"duplicate field "metadata.zip""#, r#"unknown field "metadata.zip""#, r#"unknown field "nope""#]
    );
    assert!(warned(FieldValidation::Ignore).is_empty());
}

#[test]
fn schemas_may_refer_to_themselves() {
    let definitions = json!({"x.Tree": {"type": "object", "properties": {
        "name": {"type": "string"},
        "below": {
            "type": "array", "items": {"$ref": "#/definitions/x.Tree"},
            "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge",
        },
    }}});
    let schema = json!({"$ref": "#/definitions/x.Tree"});
    let layout = Layout::new("Tree", &schema, definitions.as_object().unwrap());
    let mut tree = json!({"below": [{"name": "a", "below": [{"name": "b"}]}]});
    apply(&json!({"below": [{"name": "a", "below": [{"name": "c"}]}]}), &mut tree, &layout).unwrap();
    assert_eq!(tree, json!({"below": [{"name": "a", "below": [{"name": "c"}, {"name": "b"}]}]}));
}
