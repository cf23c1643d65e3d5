//! Kubernetes' protobuf, as Go programs speak it, written and read here by a library that is not ours.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod messages;

use std::collections::BTreeMap;

use bytes::Bytes;
use http::Method;
use messages::*;
use serde_json::{Value, json};
use testbed::server::{Answer, Client, Server};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const KETTLES: &str = "/apis/proto.example.com/v1/namespaces/default/kettles";

fn server() -> Server {
    Server::fresh(env!("CARGO_BIN_EXE_groundplane"), &[]).unwrap()
}

/// A client that takes answers in this form.
fn accepting(server: &Server, accept: &str) -> Client {
    server.client().with("accept", accept)
}

async fn send(client: &Client, method: Method, path: &str, body: Vec<u8>) -> Answer {
    client.send(method, path, PROTOBUF, Bytes::from(body)).await.unwrap()
}

fn content_type(answer: &Answer) -> &str {
    answer.headers["content-type"].to_str().unwrap()
}

/// A definition with one of everything that is not plain in its message.
fn kettles() -> Definition {
    let typed = |name: &str| Schema { r#type: name.to_owned(), ..Schema::default() };
    let json = |value: Value| Json { raw: value.to_string().into_bytes() };
    let spec = Schema {
        required: vec!["litres".to_owned()],
        properties: BTreeMap::from([
            ("litres".to_owned(), Schema { maximum: Some(2.5), ..typed("number") }),
            (
                "colour".to_owned(),
                Schema { default: Some(json(json!("red"))), min_length: Some(1), ..typed("string") },
            ),
            (
                "size".to_owned(),
                Schema { r#enum: vec![json(json!("S")), json(json!("L"))], ..typed("string") },
            ),
            (
                "parts".to_owned(),
                Schema {
                    items: Some(Box::new(SchemaOrArray { schema: Some(Box::new(typed("string"))) })),
                    ..typed("array")
                },
            ),
            (
                "counts".to_owned(),
                Schema {
                    additional_properties: Some(Box::new(SchemaOrBool {
                        allows: true,
                        schema: Some(Box::new(typed("integer"))),
                    })),
                    ..typed("object")
                },
            ),
            ("port".to_owned(), Schema { int_or_string: true, ..Schema::default() }),
            ("free".to_owned(), Schema { preserve_unknown: Some(true), ..typed("object") }),
        ]),
        validations: vec![Rule {
            rule: "self.litres > 0.0".to_owned(),
            message: "a kettle holds something".to_owned(),
        }],
        ..typed("object")
    };
    let root = Schema { properties: BTreeMap::from([("spec".to_owned(), spec)]), ..typed("object") };
    let names = Names { plural: "kettles".to_owned(), kind: "Kettle".to_owned(), ..Names::default() };
    Definition {
        metadata: Some(ObjectMeta { name: "kettles.proto.example.com".to_owned(), ..ObjectMeta::default() }),
        spec: Some(DefinitionSpec {
            group: "proto.example.com".to_owned(),
            names: Some(names),
            scope: "Namespaced".to_owned(),
            versions: vec![Version {
                name: "v1".to_owned(),
                served: true,
                storage: true,
                schema: Some(Validation { open_api_v3_schema: Some(root) }),
                subresources: Some(Subresources { status: Some(Nothing {}) }),
            }],
            conversion: None,
        }),
        status: None,
    }
}

/// The definition, once it is served.
async fn install(server: &Server) -> Definition {
    let client = accepting(server, PROTOBUF);
    let body = body("apiextensions.k8s.io/v1", "CustomResourceDefinition", &kettles());
    let made = send(&client, Method::POST, DEFINITIONS, body).await;
    assert_eq!((made.code, content_type(&made)), (201, PROTOBUF), "{}", made.text());
    loop {
        let found = client.get(&format!("{DEFINITIONS}/kettles.proto.example.com")).await.unwrap();
        let (_, definition) = open::<Definition>(&found.body);
        let conditions = &definition.status.as_ref().unwrap().conditions;
        if conditions.iter().any(|condition| condition.r#type == "Established" && condition.status == "True")
        {
            return definition;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_go_program_installs_a_definition_and_changes_it() {
    let server = server();
    let mut definition = install(&server).await;
    let kept = definition.spec.as_ref().unwrap();
    let sent = kettles();
    let sent = sent.spec.as_ref().unwrap();
    assert_eq!(kept.versions, sent.versions);
    assert_eq!(kept.names.as_ref().unwrap().list_kind, "KettleList");
    assert_eq!(kept.conversion.as_ref().unwrap().strategy, "None");
    assert_eq!(definition.status.as_ref().unwrap().stored_versions, ["v1"]);

    // What is told in JSON is the same.
    let plain =
        server.client().get(&format!("{DEFINITIONS}/kettles.proto.example.com")).await.unwrap().json();
    assert_eq!(
        plain["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"],
        json!({
            "type": "object", "required": ["litres"],
            "properties": {
                "litres": {"type": "number", "maximum": 2.5},
                "colour": {"type": "string", "minLength": 1, "default": "red"},
                "size": {"type": "string", "enum": ["S", "L"]},
                "parts": {"type": "array", "items": {"type": "string"}},
                "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
                "port": {"x-kubernetes-int-or-string": true},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            },
            "x-kubernetes-validations": [{"rule": "self.litres > 0.0", "message": "a kettle holds something"}],
        })
    );

    // It is in force: a default, and a rule.
    let kettle = |litres: Value| json!({"apiVersion": "proto.example.com/v1", "kind": "Kettle", "metadata": {"name": "k"}, "spec": {"litres": litres}});
    let refused = server.client().post(KETTLES, &kettle(json!(0))).await.unwrap();
    assert_eq!(refused.code, 422, "{}", refused.text());
    let made = server.client().post(KETTLES, &kettle(json!(1.5))).await.unwrap();
    assert_eq!((made.code, &made.json()["spec"]["colour"]), (201, &json!("red")), "{}", made.text());

    // An update in protobuf, from what was read.
    definition.metadata.as_mut().unwrap().labels.insert("a".to_owned(), "b".to_owned());
    let path = format!("{DEFINITIONS}/kettles.proto.example.com");
    let body = body("apiextensions.k8s.io/v1", "CustomResourceDefinition", &definition);
    let client = accepting(&server, PROTOBUF);
    let changed = send(&client, Method::PUT, &path, body.clone()).await;
    assert_eq!(changed.code, 200, "{}", changed.text());
    let (typed, updated) = open::<Definition>(&changed.body);
    assert_eq!(typed.kind, "CustomResourceDefinition");
    assert_eq!(updated.metadata.as_ref().unwrap().labels["a"], "b");
    assert_eq!(updated.spec, definition.spec);

    // The same again is out of date, and says so in protobuf.
    let stale = send(&client, Method::PUT, &path, body).await;
    let (typed, status) = open::<Status>(&stale.body);
    assert_eq!((typed.kind.as_str(), status.code, status.reason.as_str()), ("Status", 409, "Conflict"));

    // A patch is JSON; its answer need not be.
    let patch = Bytes::from(r#"{"metadata":{"labels":{"c":"d"}}}"#);
    let patched = client.send(Method::PATCH, &path, "application/merge-patch+json", patch).await.unwrap();
    assert_eq!(open::<Definition>(&patched.body).1.metadata.unwrap().labels["c"], "d");

    let options = DeleteOptions { dry_run: vec!["All".to_owned()], ..DeleteOptions::default() };
    let gone = send(&client, Method::DELETE, &path, messages::body("v1", "DeleteOptions", &options)).await;
    assert_eq!((gone.code, content_type(&gone)), (200, PROTOBUF), "{}", gone.text());
    assert_eq!(client.get(&path).await.unwrap().code, 200, "it was a dry run");
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_of_every_kind_is_read_and_watched_in_protobuf() {
    let server = server();
    install(&server).await;
    let kettle = json!({"apiVersion": "proto.example.com/v1", "kind": "Kettle",
        "metadata": {"name": "k", "labels": {"a": "b"}}, "spec": {"litres": 1}});
    assert_eq!(server.client().post(KETTLES, &kettle).await.unwrap().code, 201);
    let listing = accepting(&server, &format!("{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"));
    let single = accepting(&server, &format!("{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"));
    let mut kinds = 0;
    for group in groups(&server).await {
        for resource in resources(&server, &group).await {
            let path = format!("{}/{}", root(&group), resource.name);
            let listed = listing.get(&path).await.unwrap();
            assert_eq!((listed.code, content_type(&listed)), (200, PROTOBUF), "{path}: {}", listed.text());
            let (typed, list) = open::<List>(&listed.body);
            assert_eq!(
                (typed.api_version.as_str(), typed.kind.as_str()),
                ("meta.k8s.io/v1", "PartialObjectMetadataList"),
                "{path}"
            );
            let plain = server.client().get(&path).await.unwrap().json();
            assert_eq!(list.items.len(), plain["items"].as_array().unwrap().len(), "{path}");
            kinds += 1;
        }
    }
    assert!(kinds > 20, "only {kinds} kinds were found");

    let (typed, found) = open::<Partial>(&single.get(&format!("{KETTLES}/k")).await.unwrap().body);
    let metadata = found.metadata.unwrap();
    assert_eq!((typed.kind.as_str(), metadata.name.as_str()), ("PartialObjectMetadata", "k"));
    assert_eq!(metadata.labels["a"], "b");
    assert!(metadata.creation_timestamp.unwrap().seconds > 1_700_000_000);

    let streamed = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let path = format!("{KETTLES}?watch=1&timeoutSeconds=1&{streamed}");
    let watched = single.get(&path).await.unwrap();
    assert_eq!(content_type(&watched), "application/vnd.kubernetes.protobuf;stream=watch");
    let events = events(&watched.body);
    assert_eq!(events[0].r#type, "ADDED");
    let (typed, added) = open::<Partial>(&events[0].object.as_ref().unwrap().raw);
    assert_eq!((typed.kind.as_str(), added.metadata.unwrap().name.as_str()), ("PartialObjectMetadata", "k"));
    let (_, mark) = open::<Partial>(&events[1].object.as_ref().unwrap().raw);
    assert_eq!(events[1].r#type, "BOOKMARK");
    assert_eq!(mark.metadata.unwrap().annotations["k8s.io/initial-events-end"], "true");
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_objects_of_kubernetes_kinds_are_listed_and_watched_in_protobuf() {
    let server = server();
    install(&server).await;
    let client = accepting(&server, PROTOBUF);
    let mut watches = tokio::task::JoinSet::new();
    for group in groups(&server).await.into_iter().filter(|group| is_kubernetes(group)) {
        for resource in resources(&server, &group).await {
            let path = format!("{}/{}", root(&group), resource.name);
            let listed = client.get(&path).await.unwrap();
            assert_eq!((listed.code, content_type(&listed)), (200, PROTOBUF), "{path}: {}", listed.text());
            let (typed, list) = open::<List>(&listed.body);
            assert_eq!(typed.kind, format!("{}List", resource.kind), "{path}");
            let (client, expected) = (client.clone(), list.items.len());
            watches.spawn(async move {
                let path = format!("{path}?watch=1&resourceVersion=0&timeoutSeconds=1");
                let events = events(&client.get(&path).await.unwrap().body);
                assert!(events.len() >= expected, "{path}: {} events", events.len());
                for event in &events {
                    let (typed, _) = open::<Partial>(&event.object.as_ref().unwrap().raw);
                    assert_eq!(typed.kind, resource.kind, "{path}");
                }
            });
        }
    }
    assert!(watches.len() > 10);
    watches.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_resources_have_no_protobuf_and_are_answered_as_kubernetes_does() {
    let server = server();
    install(&server).await;
    let only = accepting(&server, PROTOBUF);
    let refused = only.get(KETTLES).await.unwrap();
    assert_eq!((refused.code, content_type(&refused)), (406, PROTOBUF));
    let (_, status) = open::<Status>(&refused.body);
    assert_eq!(
        status.message,
        "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"
    );
    let either = accepting(&server, &format!("{PROTOBUF},application/json"));
    assert_eq!(content_type(&either.get(KETTLES).await.unwrap()), "application/json");
    let table = accepting(&server, &format!("{PROTOBUF};as=Table;g=meta.k8s.io;v=v1"));
    assert_eq!(table.get("/api/v1/namespaces").await.unwrap().code, 406);
    // A body of a custom resource is in a form that is known, and can't be what it says.
    let metadata = ObjectMeta { name: "k".to_owned(), ..ObjectMeta::default() };
    let kettle = body("proto.example.com/v1", "Kettle", &Partial { metadata: Some(metadata) });
    let refused = send(&server.client(), Method::POST, KETTLES, kettle).await;
    assert_eq!(
        (refused.code, refused.json()["message"].as_str().unwrap()),
        (
            400,
            "Kettle in version \"v1\" cannot be handled as a Kettle: object *unstructured.Unstructured does not implement \
             the protobuf marshalling interface and cannot be encoded to a protobuf message"
        )
    );
}

/// The versions of groups: `v1`, `rbac.authorization.k8s.io/v1`.
async fn groups(server: &Server) -> Vec<String> {
    let groups = server.client().get("/apis").await.unwrap().json();
    let named = groups["groups"].as_array().unwrap().iter();
    let named = named.flat_map(|group| group["versions"].as_array().unwrap());
    let mut all: Vec<String> =
        named.map(|version| version["groupVersion"].as_str().unwrap().to_owned()).collect();
    all.push("v1".to_owned());
    all
}

fn is_kubernetes(group: &str) -> bool {
    group == "v1" || group.contains(".k8s.io/")
}

fn root(group: &str) -> String {
    if group == "v1" { "/api/v1".to_owned() } else { format!("/apis/{group}") }
}

/// The resources of a group that can be listed and watched, as discovery tells them in protobuf.
async fn resources(server: &Server, group: &str) -> Vec<ApiResource> {
    let answer = accepting(server, PROTOBUF).get(&root(group)).await.unwrap();
    assert_eq!((answer.code, content_type(&answer)), (200, PROTOBUF), "{group}");
    let (typed, list) = open::<ApiResourceList>(&answer.body);
    assert_eq!((typed.kind.as_str(), list.group_version.as_str()), ("APIResourceList", group));
    let takes = |resource: &ApiResource, verb: &str| {
        resource.verbs.as_ref().unwrap().items.iter().any(|known| known == verb)
    };
    let found = list.resources.into_iter();
    found.filter(|resource| takes(resource, "list") && takes(resource, "watch")).collect()
}
