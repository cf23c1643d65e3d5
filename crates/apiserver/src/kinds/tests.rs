//! What a real server answered, asked of the kinds alone: every recorded write goes through decoding, what the server adds,
//! the owners of fields, and the checks.

mod recorded;

use krm::kind::{Kind, RawChange};
use krm::object::Object;
use krm::selector::field_text;
use krm::shape::Shape;
use serde_json::{Value, json};

use super::all;
use recorded::replay;

fn kind(group: &str, name: &str) -> Kind {
    let found = all().into_iter().find(|kind| kind.group == group && kind.names.kind == name);
    found.unwrap_or_else(|| panic!("there is no {name}"))
}

fn object(value: Value) -> Object {
    Object::from_value(value).expect("an object")
}

/// What a kind makes of a new object, or everything that is wrong with it.
fn made(kind: &Kind, mut value: Value) -> Result<Object, Vec<String>> {
    let shape = kind.shape.expect("a type");
    krm::shape::conform(&mut value, shape, &krm::Path::ROOT, &mut Vec::new()).map_err(|why| vec![why])?;
    let mut new = object(value);
    kind.complete.iter().for_each(|complete| complete(&mut new));
    kind.prepare.iter().for_each(|prepare| prepare(&mut new, None, ""));
    judged(kind, &RawChange { old: None, new: Some(&new), subresource: "" })?;
    Ok(new)
}

fn judged(kind: &Kind, change: &RawChange<'_>) -> Result<(), Vec<String>> {
    let errors: Vec<String> = kind
        .validations
        .iter()
        .flat_map(|validate| validate(change))
        .map(|error| error.to_string())
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

#[test]
fn config_maps_are_as_recorded() {
    replay("core-kinds/configmaps");
    replay("patch/core-json-merge");
    replay("patch/strategic-owners");
    replay("create/big-bodies");
}

#[test]
fn secrets_are_as_recorded() {
    replay("core-kinds/secrets");
    replay("update/core-immutable");
}

#[test]
fn leases_are_as_recorded() {
    replay("core-kinds/leases");
}

#[test]
fn events_are_as_recorded() {
    replay("core-kinds/events");
}

#[test]
fn namespaces_are_as_recorded() {
    replay("namespaces/create");
    replay("namespaces/update");
    replay("namespaces/delete-finalize");
}

#[test]
fn names_are_refused_as_recorded() {
    replay("create/bad-names");
}

#[test]
fn lists_are_merged_and_owned_as_recorded() {
    replay("patch/strategic-core");
    replay("apply/core-list-keys");
}

#[test]
fn unknown_fields_are_told_as_recorded() {
    replay("field-validation/create-default");
    replay("field-validation/create-strict");
    replay("field-validation/create-warn");
}

#[test]
fn tables_are_as_recorded() {
    replay("get-list/table-core");
}

#[test]
fn each_kind_has_its_place_and_its_words() {
    for kind in all() {
        let version = &kind.versions[0];
        let about = format!("{} of {:?}", kind.names.kind, kind.group);
        let is_ours = kind.group == crate::transaction::GROUP;
        let is_theirs = kind.strategic && version.layout.is_some() && !kind.blank.0.is_empty();
        assert!(is_ours != is_theirs, "{about}");
        let properties = version.openapi["properties"].as_object().expect("properties");
        assert!(version.openapi["description"].is_string(), "{about} says nothing");
        for (field, schema) in properties {
            let common = ["apiVersion", "kind", "metadata"].contains(&field.as_str());
            assert!(common || schema["description"].is_string(), "{field} of {about} says nothing");
        }
        assert!(!version.openapi.to_string().contains("x-go-name"), "{about}");
    }
    let mut paths: Vec<String> = all().iter().map(|kind| kind.resource().to_string()).collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), all().len());
}

#[test]
fn an_event_shows_the_same_in_both_groups() {
    let core = kind("", "Event");
    let shown = kind("events.k8s.io", "Event");
    let mirror = shown.mirror.expect("a mirror");
    let event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e", "namespace": "n"},
        "eventTime": "2020-01-01T00:00:00.000000Z", "reportingController": "example.com/c", "reportingInstance": "c-1",
        "action": "Move", "reason": "Full", "regarding": {"kind": "Rack", "name": "r", "namespace": "n"},
        "note": "no room", "type": "Normal", "series": {"count": 3, "lastObservedTime": "2020-01-01T00:01:00.000000Z"},
    });
    let new = made(&shown, event).expect("a good event");
    let kept = (mirror.keep)(new.clone());
    assert_eq!(kept.at("involvedObject.name"), Some(&json!("r")));
    assert_eq!(kept.get("message"), Some(&json!("no room")));
    assert_eq!(kept.get("reportingComponent"), Some(&json!("example.com/c")));
    assert_eq!((mirror.show)(kept.clone()), new);
    assert!(made(&core, kept.clone().into_value()).is_ok());
    assert_eq!(mirror.kept_field("regarding.kind"), "involvedObject.kind");
    let now = krm::time::Moment::parse("2020-01-01T00:02:00Z").expect("a time");
    let cells =
        |kind: &Kind, event: &Object| kind.versions[0].columns.cells(&Value::Object(event.0.clone()), now);
    let expected =
        json!(["60s", "Normal", "Full", "rack/r", "", "example.com/c, c-1", "no room", "2m", 3, "e"]);
    assert_eq!(Value::from(cells(&core, &kept)), expected);
    assert_eq!(Value::from(cells(&shown, &new)), expected);
}

#[test]
fn a_new_event_is_asked_for_more_and_only_its_series_goes_on() {
    let shown = kind("events.k8s.io", "Event");
    let mut errors = made(
        &shown,
        json!({
            "metadata": {"name": "e", "namespace": "n"}, "regarding": {"namespace": "n"}, "type": "Odd",
            "deprecatedCount": 1, "series": {"count": 1},
        }),
    )
    .unwrap_err();
    errors.sort();
    assert_eq!(
        errors,
        [
            r#"count: Invalid value: "": needs to be unset"#,
            "eventTime: Required value",
            r#"series.count: Invalid value: "": should be at least 2"#,
            "series.lastObservedTime: Required value",
            r#"type: Invalid value: "": has invalid value: Odd"#,
        ]
    );
    let event = |note: &str, about: &str| {
        let good = json!({
            "metadata": {"name": "e", "namespace": "n"}, "eventTime": "2020-01-01T00:00:00.000000Z", "type": "Normal",
            "reportingController": "c", "reportingInstance": "i", "action": "a", "reason": "r",
            "regarding": {"kind": "Rack", "name": about, "namespace": "n"}, "note": note,
        });
        made(&shown, good).expect("a good event")
    };
    let (old, new) = (event("m", "a"), event("other", "b"));
    let errors =
        judged(&shown, &RawChange { old: Some(&old), new: Some(&new), subresource: "" }).unwrap_err();
    assert_eq!(
        errors,
        [
            r#"involvedObject: Invalid value: {"Kind":"Rack","Namespace":"n","Name":"b","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable"#,
            r#"message: Invalid value: "other": field is immutable"#,
        ]
    );
}

#[test]
fn the_source_of_an_event_is_who_reports_it_unless_it_says_so() {
    let core = kind("", "Event");
    let selected = core.selected.as_ref().expect("computed fields");
    let event = |source: Value| {
        object(json!({"source": source, "reportingComponent": "controller", "type": "Normal"}))
    };
    assert_eq!(selected(&event(json!({"component": "kubelet"})), "source").as_deref(), Some("kubelet"));
    assert_eq!(selected(&event(json!({})), "source").as_deref(), Some("controller"));
    assert_eq!(selected(&event(json!({})), "type"), None);
    assert_eq!(field_text(event(json!({})).at("type")), "Normal");
}

#[test]
fn rules_of_roles_are_checked() {
    let role = kind("rbac.authorization.k8s.io", "Role");
    let rules =
        |rules: Value| made(&role, json!({"metadata": {"name": "r", "namespace": "n"}, "rules": rules}));
    assert!(rules(json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}])).is_ok());
    assert_eq!(rules(json!([])).expect("no rules").get("rules"), Some(&Value::Null));
    assert_eq!(
        rules(json!([{}, {"verbs": ["get"], "nonResourceURLs": ["/x"], "resources": ["y"]}])).unwrap_err(),
        [
            "rules[0].verbs: Required value: verbs must contain at least one value",
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
            "rules[0].resources: Required value: resource rules must supply at least one resource",
            r#"rules[1].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs"#,
            r#"rules[1].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs"#,
        ]
    );
}

#[test]
fn a_cluster_role_gathers_others_by_selectors_that_are_some() {
    let role = kind("rbac.authorization.k8s.io", "ClusterRole");
    let gathers = |rule: Value| made(&role, json!({"metadata": {"name": "r"}, "aggregationRule": rule}));
    assert_eq!(
        gathers(json!({})).unwrap_err(),
        [
            "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"
        ]
    );
    let errors =
        gathers(json!({"clusterRoleSelectors": [{"matchExpressions": [{"key": "a", "operator": "Like"}]}]}));
    assert_eq!(
        errors.unwrap_err(),
        [
            r#"aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator"#,
            "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.",
        ]
    );
    assert!(gathers(json!({"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]})).is_ok());
}

#[test]
fn a_binding_names_a_role_for_good_and_subjects_of_known_kinds() {
    let binding = kind("rbac.authorization.k8s.io", "ClusterRoleBinding");
    let bind = |role: &str, subjects: Value| {
        made(
            &binding,
            json!({
                "metadata": {"name": "b:c"}, "roleRef": {"kind": "ClusterRole", "name": role}, "subjects": subjects,
            }),
        )
    };
    let subjects = json!([
        {"kind": "User", "name": "ann"}, {"kind": "Group", "name": "g"}, {"kind": "Group", "name": "h"},
        {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
    ]);
    let old = bind("admin", subjects).expect("a good binding");
    assert_eq!(old.at("roleRef.apiGroup"), Some(&json!("rbac.authorization.k8s.io")));
    assert_eq!(
        old.get("subjects").map(|list| &list[0]["apiGroup"]),
        Some(&json!("rbac.authorization.k8s.io"))
    );
    let now = krm::time::Moment::of_seconds(0);
    let cells = binding.versions[0].columns.cells(&Value::Object(old.0.clone()), now);
    assert_eq!(Value::from(cells), json!(["b:c", "ClusterRole/admin", "<unknown>", "ann", "g, h", "n/s"]));
    let new = bind("view", json!([])).expect("a good binding");
    assert_eq!(
        judged(&binding, &RawChange { old: Some(&old), new: Some(&new), subresource: "" }).unwrap_err(),
        [
            r#"roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"ClusterRole","Name":"view"}: cannot change roleRef"#
        ]
    );
    assert_eq!(
        bind("", json!([{"kind": "ServiceAccount", "name": "S", "apiGroup": "x"}, {"kind": "Robot"}]))
            .unwrap_err()[..1],
        ["roleRef.name: Required value"]
    );
    let faults =
        bind("a/b", json!([{"kind": "ServiceAccount", "apiGroup": "x"}, {"kind": "Robot"}])).unwrap_err();
    assert_eq!(
        faults,
        [
            r#"roleRef.name: Invalid value: "a/b": may not contain '/'"#,
            "subjects[0].name: Required value",
            r#"subjects[0].apiGroup: Unsupported value: "x": supported values: """#,
            "subjects[0].namespace: Required value",
            "subjects[1].name: Required value",
            r#"subjects[1].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group""#,
        ]
    );
}

#[test]
fn a_token_is_asked_for_with_a_time_that_is_neither_short_nor_endless() {
    use super::token_request::{TOKEN_REQUEST, complete, validate};
    let request = |spec: Value| {
        let mut value = json!({"spec": spec});
        krm::shape::conform(&mut value, &TOKEN_REQUEST, &krm::Path::ROOT, &mut Vec::new()).expect("its type");
        let mut request = object(value);
        complete(&mut request);
        request
    };
    let usual = request(json!({}));
    assert_eq!(
        usual.get("spec"),
        Some(&json!({"audiences": null, "expirationSeconds": 3600, "boundObjectRef": null}))
    );
    assert!(validate(&usual).is_empty());
    let faults = |seconds: i64| validate(&request(json!({"expirationSeconds": seconds})))[0].to_string();
    assert_eq!(
        faults(60),
        "spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes"
    );
    assert_eq!(
        faults(1 << 33),
        "spec.expirationSeconds: Invalid value: 8589934592: may not specify a duration larger than 2^32 seconds"
    );
}

#[test]
fn options_of_a_delete_have_their_types() {
    use super::delete_options::DELETE_OPTIONS;
    let mut value = json!({"preconditions": {"uid": 5}});
    let error =
        krm::shape::conform(&mut value, &DELETE_OPTIONS, &krm::Path::ROOT, &mut Vec::new()).unwrap_err();
    assert_eq!(
        error,
        "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID"
    );
}

#[test]
fn a_config_map_full_of_bad_keys_is_told_of_some() {
    let data: serde_json::Map<String, Value> =
        (0..5000).map(|number| (format!("bad key {number}"), json!("x"))).collect();
    let errors = made(&kind("", "ConfigMap"), json!({"metadata": {"name": "c"}, "data": data})).unwrap_err();
    assert_eq!(errors.len(), 1000);
}

/// A value of a type with everything in it that the type has; nothing for a type within itself.
fn full(shape: &Shape, within: &[&str]) -> Option<Value> {
    Some(match shape {
        Shape::Text(_) => json!("x"),
        Shape::Integer(..) => json!(7),
        Shape::Number => json!(1.5),
        Shape::Flag => json!(true),
        Shape::Bytes => json!("eA=="),
        Shape::Time => json!("2026-01-01T00:00:00Z"),
        Shape::MicroTime => json!("2026-01-01T00:00:00.000001Z"),
        Shape::Map(_, of) => json!({ "k": full(of, within)? }),
        Shape::List(_, of) => json!([full(of, within)?]),
        Shape::Anything => json!({"a": 1}),
        Shape::Own(decode) => {
            let tried = [json!("eA=="), json!({}), json!(true)].into_iter();
            tried.into_iter().find(|value| {
                let mut read = value.clone();
                decode(&mut read).is_ok() && read == *value
            })?
        }
        Shape::Struct(of) if within.contains(&of.type_name) => return None,
        Shape::Struct(of) => {
            let within = [within, &[of.type_name]].concat();
            let fields = of.fields.iter();
            let fields =
                fields.filter_map(|field| Some((field.name.to_owned(), full(&field.shape, &within)?)));
            Value::Object(fields.collect())
        }
    })
}

#[test]
fn every_field_of_every_kind_survives_the_way_through_protobuf() {
    for kind in all() {
        let Some(shape) = kind.shape else { continue };
        let mut whole = full(shape, &[]).unwrap();
        whole["apiVersion"] = kind.api_version("v1").into();
        whole["kind"] = kind.names.kind.as_str().into();
        // Metadata is that of all.
        if let Some(fields) = whole["metadata"].as_object_mut() {
            fields.retain(|field, _| field != "managedFields");
        }
        let conform =
            |value: &mut Value| krm::shape::conform(value, shape, &krm::Path::ROOT, &mut Vec::new());
        conform(&mut whole).unwrap();
        let bytes =
            krm::proto::encode(&whole).unwrap_or_else(|| panic!("{} has no message", kind.names.kind));
        let mut read = Value::Object(krm::proto::decode(&bytes).unwrap().0);
        conform(&mut read).unwrap();
        assert_eq!(read, whole, "{}", kind.names.kind);
    }
}
