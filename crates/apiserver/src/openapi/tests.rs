use std::sync::Arc;

use http::HeaderMap;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, IF_NONE_MATCH, LOCATION};
use krm::Object;
use krm::crd::{self, Definition};
use krm::kind::{Kind, Origin, Scale, Scope, Subresource, Version};
use serde_json::{Value, json};

use super::*;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube");

fn case(path: &str) -> String {
    let path = format!("{CASES}/{path}");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The kind that a definition makes.
fn defined(definition: Value) -> Arc<Kind> {
    let mut object = Object::from_value(definition).unwrap();
    crd::default(&mut object);
    let names = object.at("spec.names").cloned();
    object.set("status", Some(json!({ "acceptedNames": names })));
    let definition = Definition::parse(&object).unwrap();
    let versions = definition.versions.iter().map(|from| {
        let mut version = Version::new(&from.name, from.schema.clone().unwrap()).unwrap();
        version.selectable =
            from.selectable_fields.iter().map(|path| path.trim_start_matches('.').to_owned()).collect();
        if from.has_status {
            version.subresources.push(Subresource::Status);
        }
        if let Some(scale) = &from.scale {
            version.subresources.push(Subresource::Scale(Scale {
                spec_replicas: scale.spec_replicas_path.clone(),
                status_replicas: scale.status_replicas_path.clone(),
                selector: scale.label_selector_path.clone(),
            }));
        }
        version
    });
    let names = &definition.accepted_names;
    let mut versions = versions.collect::<Vec<_>>().into_iter();
    let scope = if definition.scope == crd::Scope::Cluster { Scope::Cluster } else { Scope::Namespaced };
    let mut kind = Kind::new(&definition.group, &names.kind, &names.plural, scope, versions.next().unwrap());
    kind.versions.extend(versions);
    kind.origin = Origin::Custom { definition: object.name().to_owned(), version: 1, terminating: false };
    Arc::new(kind)
}

fn fixture(name: &str) -> Arc<Kind> {
    defined(serde_json::from_str(&case(&format!("fixtures/{name}.json"))).unwrap())
}

fn v3(kinds: &[Arc<Kind>], name: &str) -> Value {
    let catalog = Catalog::new(kinds.iter().cloned(), 1);
    let document = Documents::default().0.v3(&catalog, name).unwrap();
    serde_json::from_slice(&document.bytes).unwrap()
}

fn v2(kinds: &[Arc<Kind>]) -> Value {
    let catalog = Catalog::new(kinds.iter().cloned(), 1);
    serde_json::from_slice(&Documents::default().0.v2(&catalog).bytes).unwrap()
}

/// Compares what a scenario picks of a document with what was recorded.
fn compare_picked(scenario: &str, document: &Value) {
    let named = |path: &str| -> Value {
        serde_json::from_str(&case(path).replace("${x}", "ab9").replace("${X}", "Ab9")).unwrap()
    };
    let golden = named(&format!("scenarios/openapi/{scenario}.golden.json"));
    let scenario = named(&format!("scenarios/openapi/{scenario}.json"));
    let recorded = golden["steps"].as_array().unwrap().iter();
    let recorded =
        recorded.map(|step| &step["response"]["picked"]).find(|picked| picked.is_object()).unwrap();
    let picks =
        scenario["steps"].as_array().unwrap().iter().find_map(|step| step["pick"].as_object()).unwrap();
    assert!(!picks.is_empty());
    for (label, path) in picks {
        let steps = path.as_array().cloned().unwrap_or_else(|| vec![path.clone()]);
        let found = steps.iter().fold(document, |found, step| &found[step.as_str().unwrap()]);
        assert_eq!(without_links(found), recorded[label], "{label}");
    }
}

fn without_links(value: &Value) -> Value {
    let text = value.to_string();
    let mut parts = text.split("https://");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let end = part.find([' ', '"', '\\', ')']).unwrap();
        plain.push_str("<url>");
        plain.push_str(&part[end..]);
    }
    serde_json::from_str(&plain).unwrap()
}

fn things(scenario: &str) -> Arc<Kind> {
    let scenario: Value =
        serde_json::from_str(&case(&format!("scenarios/openapi/{scenario}.json")).replace("${x}", "ab9"))
            .unwrap();
    defined(scenario["steps"][0]["body"].clone())
}

#[test]
fn a_kind_that_users_defined_is_described_as_kubernetes_does() {
    let document = v3(&[things("v3-group")], "apis/oa-ab9.example.com/v1");
    compare_picked("v3-group", &document);
    let shared = document["components"]["schemas"].as_object().unwrap();
    for name in ["ObjectMeta", "OwnerReference", "ManagedFieldsEntry", "FieldsV1", "Time", "Status", "Patch"]
    {
        assert!(shared.contains_key(&format!("io.k8s.apimachinery.pkg.apis.meta.v1.{name}")), "{name}");
    }
    assert!(!shared.contains_key("io.k8s.apimachinery.pkg.apis.meta.v1.APIGroup"));
}

#[test]
fn a_rich_schema_is_published_as_kubernetes_does() {
    compare_picked("v3-widgets", &v3(&[fixture("widgets")], "apis/golden.example.com/v1"));
}

#[test]
fn the_old_document_is_as_kubernetes_has_it() {
    compare_picked("v2", &v2(&[things("v2")]));
}

/// Every reference of a document leads somewhere.
fn dangling(document: &Value) -> Vec<String> {
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|member| references(member, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    references(document, &mut found);
    assert!(!found.is_empty());
    let leads_nowhere = |reference: &&str| document.pointer(reference.trim_start_matches('#')).is_none();
    found.into_iter().filter(leads_nowhere).map(str::to_owned).collect()
}

fn all_kinds() -> Vec<Arc<Kind>> {
    let custom = ["widgets", "gadgets", "probes", "bags", "rulers"].map(fixture);
    crate::kinds::all().into_iter().map(Arc::new).chain(custom).collect()
}

#[test]
fn every_reference_leads_somewhere_and_every_operation_has_a_name_of_its_own() {
    let kinds = all_kinds();
    let catalog = Catalog::new(kinds.iter().cloned(), 1);
    let made = Documents::default().0;
    for name in pages(&catalog).keys() {
        let document: Value = serde_json::from_slice(&made.v3(&catalog, name).unwrap().bytes).unwrap();
        assert_eq!(dangling(&document), Vec::<String>::new(), "{name}");
    }
    let whole = v2(&kinds);
    assert_eq!(dangling(&whole), Vec::<String>::new());
    let mut ids = std::collections::BTreeSet::new();
    for operation in whole["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap()) {
        if let Some(id) = operation.1["operationId"].as_str() {
            assert!(ids.insert(id), "{id}");
        }
    }
    assert!(ids.contains("patchGoldenExampleComV1NamespacedWidgetStatus"));
}

#[test]
fn the_old_document_leaves_out_what_it_has_no_words_for() {
    let whole = v2(&[fixture("probes"), fixture("bags")]);
    let probe = &whole["definitions"]["com.example.golden.v1.Probe"]["properties"]["spec"]["properties"];
    assert_eq!(probe["nullObj"], json!({}));
    assert_eq!(probe["ios"], json!({"x-kubernetes-int-or-string": true}));
    assert_eq!(probe["oneOf"]["oneOf"], Value::Null);
    assert_eq!(probe["oneOf"]["properties"]["p"], json!({"type": "string"}));
    assert_eq!(probe["mapList"]["x-kubernetes-list-map-keys"], json!(["k"]));
}

#[test]
fn parameters_are_shared_under_the_names_that_generated_clients_know() {
    let whole = v2(&[fixture("widgets")]);
    let shared = whole["parameters"].as_object().unwrap();
    for name in [
        "allowWatchBookmarks-HC2hJt-J",
        "body-2Y1dVQaQ",
        "body-78PwaGsr",
        "fieldManager-7c6nTn1T",
        "fieldManager-Qy4HdaTW",
        "namespace-vgWSWtn3",
        "pretty-tJGM1-ng",
        "resourceVersion-5WAnf1kx",
    ] {
        assert!(shared.contains_key(name), "{name}");
    }
}

#[test]
fn strategic_merge_patches_are_offered_only_where_they_are_taken() {
    let patches = |document: &Value, path: &str| {
        let media = document["paths"][path]["patch"]["requestBody"]["content"].as_object().unwrap();
        media.contains_key("application/strategic-merge-patch+json")
    };
    let widgets = v3(&[fixture("widgets")], "apis/golden.example.com/v1");
    assert!(!patches(&widgets, "/apis/golden.example.com/v1/namespaces/{namespace}/widgets/{name}"));
    let mut own = Kind::new("", "ConfigMap", "configmaps", Scope::Namespaced, bare());
    own.strategic = true;
    let core = v3(&[Arc::new(own)], "api/v1");
    assert!(patches(&core, "/api/v1/namespaces/{namespace}/configmaps/{name}"));
    assert!(core["components"]["schemas"]["io.k8s.api.core.v1.ConfigMapList"].is_object());
}

fn bare() -> Version {
    Version::new("v1", json!({"type": "object"})).unwrap()
}

#[test]
fn a_question_is_only_asked() {
    let mut review = Kind::new(
        "authorization.k8s.io",
        "LocalSubjectAccessReview",
        "localsubjectaccessreviews",
        Scope::Namespaced,
        bare(),
    );
    review.strategic = true;
    review.verbs = vec!["create"];
    let document = v3(&[Arc::new(review)], "apis/authorization.k8s.io/v1");
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    let path = "/apis/authorization.k8s.io/v1/namespaces/{namespace}/localsubjectaccessreviews";
    assert_eq!(paths, ["/apis/authorization.k8s.io/v1/", path]);
    assert_eq!(
        document["paths"][path]["post"]["operationId"],
        "createAuthorizationV1NamespacedLocalSubjectAccessReview"
    );
}

#[test]
fn a_change_of_one_kind_leaves_the_documents_of_the_others_alone() {
    let (widgets, things) = (fixture("widgets"), things("v2"));
    let made = Documents::default().0;
    let before = Catalog::new([widgets.clone(), things.clone()], 1);
    let first = made.v3(&before, "apis/golden.example.com/v1").unwrap();
    made.v3(&before, "apis/ov-ab9.example.com/v1").unwrap();
    let after = Catalog::new([widgets, self::things("v2")], 2);
    assert!(Arc::ptr_eq(&first, &made.v3(&after, "apis/golden.example.com/v1").unwrap()));
    assert!(made.v3(&after, "apis/ov-ab9.example.com/v2").is_none());
}

#[test]
fn the_index_of_a_project_leads_into_its_plane() {
    let catalog = Catalog::new([fixture("widgets")], 1);
    let made = Documents::default().0;
    let index = made.v3_index(&catalog, "/tenants/p1");
    let index: Value = serde_json::from_slice(&index.bytes).unwrap();
    let hash = &made.v3(&catalog, "apis/golden.example.com/v1").unwrap().hash;
    assert_eq!(
        index["paths"]["apis/golden.example.com/v1"]["serverRelativeURL"],
        format!("/tenants/p1/openapi/v3/apis/golden.example.com/v1?hash={hash}")
    );
    assert!(index["paths"]["version"].is_object());
}

#[test]
fn a_client_that_has_the_document_is_told_so() {
    let document = Document { bytes: "{}".into(), hash: "AB".into() };
    let mut headers = HeaderMap::new();
    let fresh = send(&document, &headers);
    assert_eq!((fresh.status(), &fresh.headers()[ETAG]), (http::StatusCode::OK, &"\"AB\"".parse().unwrap()));
    headers.insert(IF_NONE_MATCH, "\"nope\", W/\"AB\"".parse().unwrap());
    let known = send(&document, &headers);
    assert_eq!(known.status(), 304);
    assert!(!known.headers().contains_key(CONTENT_TYPE));
}

#[test]
fn a_document_asked_for_by_its_hash_may_be_kept_forever() {
    let document = Document { bytes: "{}".into(), hash: "AB".into() };
    let kept = forever(send(&document, &HeaderMap::new()));
    assert_eq!(kept.headers()[CACHE_CONTROL], "public, immutable");
    assert!(kept.headers().contains_key(EXPIRES));
    let moved = moved(&document, "/openapi/v3/api/v1?hash=AB");
    assert_eq!(
        (moved.status().as_u16(), &moved.headers()[LOCATION]),
        (301, &"/openapi/v3/api/v1?hash=AB".parse().unwrap())
    );
}

#[test]
fn documents_are_given_in_json_and_the_old_one_in_protobuf() {
    let headers = |accept: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        headers
    };
    let takes = |accept: &str| takes_json(&headers(accept));
    assert!(takes("application/com.github.proto-openapi.spec.v2.v1.0+protobuf, application/json;q=0.5"));
    assert!(takes("*/*") && takes_json(&HeaderMap::new()));
    assert!(!takes("text/plain") && !takes("application/json;q=0"));
    assert!(!takes("application/com.github.proto-openapi.spec.v2@v1.0+protobuf"));
    for media in gnostic::MEDIA {
        assert_eq!(preferred(&headers(media)), Some(Written::Protobuf));
        assert_eq!(preferred(&headers(&format!("application/json, {media}"))), Some(Written::Json));
    }
    assert_eq!(preferred(&headers("text/plain")), None);
}
