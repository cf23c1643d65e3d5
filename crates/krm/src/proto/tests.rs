//! Bodies that kubectl sent, bodies made from the tables, and bodies that nobody should send.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::encode::{message as encode, wrapped};
use super::message::{Either, Holds, Message, Other};
use super::*;
use crate::base64;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

/// What kubectl 1.32 sent, and what it meant.
fn recorded() -> Vec<(&'static str, Value)> {
    vec![
        (
            // kubectl create namespace x
            "6b3873000a0f0a02763112094e616d65737061636512190a110a017812001a0022002a0032003800420012001a020a001a002200",
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}),
        ),
        (
            // kubectl create configmap c --from-literal=a=1
            "6b3873000a0f0a0276311209436f6e6669674d6170121b0a110a016312001a0022002a0032003800420012060a01611201311a002200",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}),
        ),
        (
            // kubectl create secret generic s --from-literal=a=1
            "6b3873000a0c0a0276311206536563726574121d0a110a017312001a0022002a0032003800420012060a01611201311a001a002200",
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "MQ=="}}),
        ),
        (
            // kubectl create serviceaccount sa
            "6b3873000a140a027631120e536572766963654163636f756e7412140a120a02736112001a0022002a003200380042001a002200",
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa"}}),
        ),
        (
            // kubectl create token sa --duration 1h --audience a --bound-object-kind Secret --bound-object-name s
            "6b3873000a280a1861757468656e7469636174696f6e2e6b38732e696f2f7631120c546f6b656e5265717565737412330a100a0012001a\
             0022002a0032003800420012190a01611a110a06536563726574120276311a0173220020901c1a040a0012001a002200",
            json!({
                "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                "spec": {
                    "audiences": ["a"], "expirationSeconds": 3600,
                    "boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "s"}
                }
            }),
        ),
        (
            // kubectl create role r --verb=get,list --resource=configmaps --resource-name=n
            "6b3873000a240a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f76311204526f6c6512310a110a017212001a002200\
             2a00320038004200121c0a036765740a046c69737412001a0a636f6e6669676d61707322016e1a002200",
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"},
                "rules": [{
                    "verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["n"]
                }]
            }),
        ),
        (
            // kubectl create rolebinding b --role=r --user=u --serviceaccount=ns:sa
            "6b3873000a2b0a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f7631120b526f6c6542696e64696e67127d0a110a01\
             6212001a0022002a0032003800420012260a04557365721219726261632e617574686f72697a6174696f6e2e6b38732e696f1a01752200\
             121a0a0e536572766963654163636f756e7412001a02736122026e731a240a19726261632e617574686f72697a6174696f6e2e6b38732e\
             696f1204526f6c651a01721a002200",
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "b"},
                "subjects": [
                    {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "u"},
                    {"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}
                ],
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
            }),
        ),
        (
            // kubectl create clusterrole cr --aggregation-rule=a=b
            "6b3873000a2b0a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f7631120b436c7573746572526f6c6512200a120a02\
             637212001a0022002a003200380042001a0a0a080a060a01611201621a002200",
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "cr"},
                "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
            }),
        ),
        (
            // kubectl auth can-i list pods
            "6b3873000a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631121753656c665375626a65637441636365737352657669\
             6577123d0a100a0012001a0022002a00320038004200121f0a1d0a0764656661756c7412046c6973741a0022002a04706f647332003a\
             001a08080012001a0020001a002200",
            json!({
                "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {"namespace": "default", "verb": "list", "resource": "pods"}}
            }),
        ),
        (
            // kubectl auth can-i --list
            "6b3873000a310a17617574686f72697a6174696f6e2e6b38732e696f2f7631121653656c665375626a65637452756c65735265766965\
             7712230a100a0012001a0022002a0032003800420012090a0764656661756c741a04180022001a002200",
            json!({
                "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview",
                "spec": {"namespace": "default"}
            }),
        ),
        (
            // kubectl auth whoami
            "6b3873000a2d0a1861757468656e7469636174696f6e2e6b38732e696f2f7631121153656c665375626a656374526576696577121a0a\
             100a0012001a0022002a0032003800420012060a040a0012001a002200",
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}),
        ),
    ]
}

#[test]
fn what_kubectl_sends_is_understood() {
    for (hex, meant) in recorded() {
        assert_eq!(Value::Object(decode(&bytes(hex)).unwrap().0), meant);
    }
}

#[test]
fn what_kubectl_sends_is_answered_however_it_is_cut_short() {
    for (hex, _) in recorded() {
        let body = bytes(hex);
        for end in 0..body.len() {
            // Fields may end where others would begin; all that counts is an answer.
            let _ = decode(&body[..end]);
        }
    }
}

#[test]
fn bodies_that_are_none_are_answered_as_kubernetes_does() {
    let answer = |body: &[u8]| Refusal::from(decode(body).unwrap_err()).message("ConfigMap", body);
    let unrecognized = "the object provided is unrecognized (must be of type ConfigMap)";
    assert_eq!(
        answer(b"x"),
        format!(
            "{unrecognized}: provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (78)"
        )
    );
    assert_eq!(answer(b""), format!("{unrecognized}: empty data (<empty>)"));
    assert_eq!(answer(b"k8s\0"), format!("{unrecognized}: empty body (6b387300)"));
    assert_eq!(answer(b"k8s\0\x0a\xff"), format!("{unrecognized}: unexpected EOF (6b3873000aff)"));
    let json = br#"{"apiVersion":"v1","kind":"ConfigMap"}"#;
    let shown = r#"{"apiVersion":"v1","kind":"Con ..."#;
    assert!(answer(json).ends_with(&format!("[107 56 115 0] ({shown})")));
    assert_eq!(
        answer(b"k8s\0\x12\0"),
        format!(
            "{unrecognized}: Object 'Kind' is missing in 'runtime.TypeMeta{{APIVersion:\"\", Kind:\"\"}}' (6b3873001200)"
        )
    );
}

#[test]
fn bodies_of_a_kind_are_answered_with_it() {
    let answer = |raw: &[u8], kind: &str| {
        let body = wrapped("v1", kind, raw);
        Refusal::from(decode(&body).unwrap_err()).message("ConfigMap", &body)
    };
    assert_eq!(
        answer(&[0x0a, 0x05], "ConfigMap"),
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: unexpected EOF"
    );
    assert_eq!(
        answer(&[0x0c], "ConfigMap"),
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: proto: ConfigMap: wiretype end group for non-group"
    );
    assert!(answer(&[], "Zip").starts_with(
        "Zip in version \"v1\" cannot be handled as a ConfigMap: no kind \"Zip\" is registered for version \"v1\""
    ));
}

#[test]
fn an_envelope_may_leave_the_type_to_the_request() {
    let body = wrapped("", "", &[0x12, 0x06, 0x0a, 0x01, b'a', 0x12, 0x01, b'1']);
    let meant = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}});
    assert_eq!(Value::Object(decode_as(&body, "v1", "ConfigMap").unwrap().0), meant);
    assert!(decode(&body).is_err());
}

#[test]
fn what_says_something_by_being_there_is_kept() {
    // gracePeriodSeconds 0, preconditions with an empty uid, orphanDependents false.
    let body = wrapped("apps/v1", "DeleteOptions", &[0x08, 0x00, 0x12, 0x02, 0x0a, 0x00, 0x18, 0x00]);
    assert_eq!(
        Value::Object(decode(&body).unwrap().0),
        json!({
            "apiVersion": "apps/v1", "kind": "DeleteOptions",
            "gracePeriodSeconds": 0, "preconditions": {"uid": ""}, "orphanDependents": false
        })
    );
}

#[test]
fn a_message_in_two_parts_is_put_together_and_the_last_value_wins() {
    let metadata = |fields: &[u8]| [&[0x0a, fields.len() as u8][..], fields].concat();
    let raw = [metadata(&[0x0a, 1, b'a', 0x1a, 1, b'n']), metadata(&[0x0a, 1, b'b'])].concat();
    let object = decode(&wrapped("v1", "ConfigMap", &raw)).unwrap();
    assert_eq!(object.metadata().cloned().map(Value::Object), Some(json!({"name": "b", "namespace": "n"})));
}

#[test]
fn negative_numbers_and_times_are_read() {
    let entry = json!({
        "manager": "m", "operation": "Apply", "time": "2023-11-14T22:13:20Z", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {".": {}, "f:a": {}}}
    });
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "managedFields": [entry], "generation": -3},
        "count": -2, "eventTime": "1969-12-31T23:59:59.000001Z", "firstTimestamp": "1970-01-01T00:00:00Z"
    });
    let message = messages::find("v1", "Event").unwrap();
    let raw = encode(message, event.as_object().unwrap());
    assert_eq!(Value::Object(decode(&wrapped("v1", "Event", &raw)).unwrap().0), event);
}

#[test]
fn numbers_of_fields_are_unique_and_every_kind_is_found() {
    let mut seen = Vec::new();
    for (api_version, kind) in KINDS {
        check(messages::find(api_version, kind).unwrap(), &mut seen);
    }
    assert!(messages::find("v1", "Pod").is_none());
}

const KINDS: [(&str, &str); 30] = [
    ("v1", "DeleteOptions"),
    ("v1", "Namespace"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "ServiceAccount"),
    ("v1", "Event"),
    ("events.k8s.io/v1", "Event"),
    ("coordination.k8s.io/v1", "Lease"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview"),
    ("authorization.k8s.io/v1", "SubjectAccessReview"),
    ("authorization.k8s.io/v1", "LocalSubjectAccessReview"),
    ("authorization.k8s.io/v1", "SelfSubjectRulesReview"),
    ("authentication.k8s.io/v1", "SelfSubjectReview"),
    ("authentication.k8s.io/v1", "TokenReview"),
    ("authentication.k8s.io/v1", "TokenRequest"),
    ("autoscaling/v1", "Scale"),
    ("v1", "Service"),
    ("v1", "Endpoints"),
    ("discovery.k8s.io/v1", "EndpointSlice"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("meta.k8s.io/v1", "PartialObjectMetadata"),
    ("v1", "APIVersions"),
    ("v1", "APIGroupList"),
    ("v1", "APIGroup"),
    ("v1", "APIResourceList"),
    ("apidiscovery.k8s.io/v2", "APIGroupDiscoveryList"),
];

fn check(message: &'static Message, seen: &mut Vec<&'static Message>) {
    if seen.iter().any(|other| std::ptr::eq(*other, message)) {
        return;
    }
    seen.push(message);
    for (at, field) in message.fields.iter().enumerate() {
        let before = &message.fields[..at];
        assert!(
            before.iter().all(|other| other.number != field.number && other.name != field.name),
            "{field:?}"
        );
        match field.holds {
            Holds::One(inner) | Holds::Many(inner) | Holds::OneByText(inner) => check(inner, seen),
            Holds::Either(either) | Holds::EitherByText(either) => {
                assert_ne!(either.object.0, either.other.0, "{either:?}");
                check(either.object.1, seen);
            }
            _ => {}
        }
    }
}

/// An object with some of the fields of a message, none of them empty. Schemas stand in one another no deeper than `depth`.
fn object(message: &'static Message, depth: usize) -> BoxedStrategy<Value> {
    let depth = if message.name == "JSONSchemaProps" { depth.checked_sub(1) } else { Some(depth) };
    let Some(depth) = depth else { return Just(json!({"type": "string"})).boxed() };
    let fields = message.fields.iter().map(|field| {
        let value = match field.holds {
            Holds::One(inner) => {
                let kept = field.kept;
                object(inner, depth).prop_filter("not nothing", move |v| kept || *v != json!({})).boxed()
            }
            Holds::Many(inner) => list_of(object(inner, depth)),
            Holds::OneByText(inner) => by_text(object(inner, depth)),
            Holds::Either(union) => either(union, depth),
            Holds::EitherByText(union) => by_text(either(union, depth)),
            holds => simple(holds),
        };
        proptest::option::of(value).prop_map(|value| Some((field.name.to_owned(), value?)))
    });
    let fields: Vec<_> = fields.collect();
    fields.prop_map(|fields| Value::Object(fields.into_iter().flatten().collect())).boxed()
}

/// A value of a field without a message of its own.
fn simple(holds: Holds) -> BoxedStrategy<Value> {
    let text = || "[a-zé]{1,4}".prop_map(Value::from).boxed();
    let texts = || proptest::collection::vec("[a-z]{0,3}", 1..3).prop_map(Value::from).boxed();
    let base64 = |least: usize| {
        proptest::collection::vec(any::<u8>(), least..7)
            .prop_map(|bytes| Value::from(base64::encode(&bytes)))
            .boxed()
    };
    let json = || {
        prop::sample::select(vec![
            json!({"f:a": {".": {}}}),
            json!([1, 2.5, null]),
            json!("x"),
            json!(-7),
            json!(false),
        ])
        .boxed()
    };
    match holds {
        Holds::Text => text(),
        Holds::Bool => Just(json!(true)).boxed(),
        Holds::Int32 => any::<i32>().prop_filter("not nothing", |n| *n != 0).prop_map(Value::from).boxed(),
        Holds::Int64 => any::<i64>().prop_filter("not nothing", |n| *n != 0).prop_map(Value::from).boxed(),
        Holds::Double => prop::sample::select(vec![json!(0.1), json!(-3), json!(1e300), json!(0)]).boxed(),
        Holds::Bytes => base64(1),
        Holds::IntOrString => prop_oneof![text(), any::<i32>().prop_map(Value::from)].boxed(),
        Holds::Time => prop::sample::select(&TIMES[..2]).prop_map(|time| json!(time.0)).boxed(),
        Holds::MicroTime => prop::sample::select(&TIMES[2..]).prop_map(|time| json!(time.0)).boxed(),
        Holds::Json => json(),
        Holds::Jsons => list_of(json()),
        Holds::Texts | Holds::WrappedTexts => texts(),
        Holds::TextByText => by_text(text()),
        Holds::BytesByText => by_text(base64(0)),
        Holds::TextsByText => by_text(texts()),
        other => unreachable!("{other:?} is made of messages"),
    }
}

fn either(union: &'static Either, depth: usize) -> BoxedStrategy<Value> {
    let object = object(union.object.1, depth);
    let other = match union.other.1 {
        Other::Flag => any::<bool>().prop_map(Value::from).boxed(),
        Other::Texts => simple(Holds::Texts),
        Other::Many => list_of(object.clone()),
    };
    prop_oneof![object, other].boxed()
}

fn list_of(items: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    proptest::collection::vec(items, 1..3).prop_map(Value::from).boxed()
}

fn by_text(values: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    proptest::collection::btree_map("[a-z]{1,3}", values, 1..3)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn every_kind_survives_the_way_through_protobuf(
        objects in KINDS.map(|(api_version, kind)| object(messages::find(api_version, kind).unwrap(), 2)).to_vec()
    ) {
        for ((api_version, kind), mut object) in KINDS.into_iter().zip(objects) {
            let message = messages::find(api_version, kind).unwrap();
            let body = wrapped(api_version, kind, &encode(message, object.as_object().unwrap()));
            object["apiVersion"] = api_version.into();
            object["kind"] = kind.into();
            prop_assert_eq!(Value::Object(decode(&body).unwrap().0), object);
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_are_too_odd_to_be_answered(
        raw in proptest::collection::vec(any::<u8>(), 0..64),
        kind in prop::sample::select(&KINDS[..]),
    ) {
        let _ = decode(&wrapped(kind.0, kind.1, &raw));
        let _ = decode(&[MAGIC, &raw].concat());
        let _ = decode(&raw);
    }

    #[test]
    fn no_change_to_a_good_body_is_too_odd_to_be_answered(
        pick in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let mut body = bytes(pick.get(&recorded()).0);
        let at = at.index(body.len());
        body[at] = byte;
        let _ = decode(&body);
    }
}

#[test]
fn a_schema_without_an_end_is_refused_before_it_is_read() {
    // `not` of `not` of …: two bytes and a length for each level.
    let mut schema = Vec::new();
    for _ in 0..3_000 {
        let mut outer = vec![0xe2, 0x01];
        let mut length = schema.len();
        while length >= 0x80 {
            outer.push(length as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.append(&mut schema);
        schema = outer;
    }
    let deep = |schema: &[u8]| {
        let mut raw = schema.to_vec();
        for field in [0x0a, 0x22, 0x3a, 0x12] {
            let mut outer = vec![field];
            let mut length = raw.len();
            while length >= 0x80 {
                outer.push(length as u8 | 0x80);
                length >>= 7;
            }
            outer.push(length as u8);
            outer.append(&mut raw);
            raw = outer;
        }
        decode(&wrapped("apiextensions.k8s.io/v1", "CustomResourceDefinition", &raw))
    };
    assert!(deep(&schema).unwrap_err().to_string().ends_with("exceeded max depth"));
    let some = deep(&[0xe2, 0x01, 0x00]).unwrap();
    let schema = some.at("spec.versions").unwrap()[0]["schema"]["openAPIV3Schema"].clone();
    assert_eq!(schema, json!({"not": {}}));
}

#[test]
fn numbers_that_json_has_not_are_refused() {
    let maximum = |number: f64| {
        let schema = [&[0x49][..], &number.to_le_bytes()].concat();
        let mut raw = schema;
        for field in [0x0a, 0x22, 0x3a, 0x12] {
            raw = [&[field, raw.len() as u8][..], &raw].concat();
        }
        decode(&wrapped("apiextensions.k8s.io/v1", "CustomResourceDefinition", &raw))
    };
    assert!(maximum(1.5).is_ok());
    assert!(maximum(f64::NAN).unwrap_err().to_string().ends_with("json: unsupported value: NaN"));
    assert!(maximum(f64::NEG_INFINITY).unwrap_err().to_string().ends_with("json: unsupported value: -Inf"));
}

/// The times that these tests use.
const TIMES: [(&str, i64, i64); 4] = [
    ("1970-01-01T00:00:00Z", 0, 0),
    ("2023-11-14T22:13:20Z", 1_700_000_000, 0),
    ("2023-11-14T22:13:20.000000Z", 1_700_000_000, 0),
    ("1969-12-31T23:59:59.000001Z", -1, 1_000),
];
