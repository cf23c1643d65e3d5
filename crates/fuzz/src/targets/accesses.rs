//! Paths, queries, tokens to go on from, versions, what a client accepts, paths into objects: all that stands in a
//! request beside its body.

use apiserver::read::get::parse_version;
use apiserver::read::resume::Resume;
use apiserver::request::accept::Accept;
use apiserver::request::path::{self, Route};
use apiserver::request::query::{ListOptions, Query, WriteOptions};
use apiserver::route::grpc;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};
use krm::jsonpath::JsonPath;
use krm::time::Moment;
use serde_json::json;
use store::Revision;

use super::Target;
use crate::choices::Choices;
use crate::recorded;

pub const TARGET: Target = Target {
    name: "accesses",
    check,
    seeds,
    words: &[
        "limit=",
        "continue=",
        "resourceVersion=",
        "&",
        "%2f",
        "%00",
        "/namespaces/",
        "/apis/",
        "q=",
        ";as=Table;v=v1;g=meta.k8s.io",
        "[?(@.a==\"b\")]",
        "[*]",
        "..",
        "18446744073709551615",
        "9223372036854775807",
        "-1",
    ],
};

fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let which = choices.byte();
    let text = choices.rest_as_text();
    match which % 7 {
        0 => check_path(&text),
        1 => check_query(&text),
        2 => check_token(&text),
        3 => check_version(&text),
        4 => check_accept(&text),
        5 => check_jsonpath(&text),
        _ => check_time(&text),
    }
}

fn check_path(text: &str) {
    if let Some((service, _)) = grpc::named(text) {
        assert!(!service.contains('/'), "{text}");
    }
    if let Ok(value) = HeaderValue::from_str(text) {
        let headers = [(HeaderName::from_static("grpc-timeout"), value.clone()), (CONTENT_TYPE, value)];
        let headers = headers.into_iter().collect();
        let (_, _) = (grpc::timeout(&headers), grpc::is_call(&headers));
    }
    let Ok(Some((_, Route::Resource(target)))) = path::parse(text, None) else { return };
    let parts = [
        &target.group,
        &target.version,
        &target.namespace,
        &target.resource,
        &target.name,
        &target.subresource,
    ];
    for part in parts {
        assert!(!part.contains(['/', '\0']) && part != "..", "{target:?}");
    }
}

fn check_query(text: &str) {
    let Ok(query) = Query::parse(text) else { return };
    if let Ok(options) = ListOptions::read(&query) {
        assert!(query.get("continue").unwrap_or_default() == options.resume);
        check_token(&options.resume);
        check_version(&options.resource_version);
    }
    for (kind, is_apply) in [("CreateOptions", false), ("PatchOptions", true), ("PatchOptions", false)] {
        if let Ok(options) = WriteOptions::read(&query, kind, is_apply) {
            assert!(!is_apply || !options.manager.is_empty());
        }
    }
}

fn check_token(text: &str) {
    for token in [text.to_owned(), krm::base64::url(text.as_bytes())] {
        let Ok(resume) = Resume::read(&token, token.len().is_multiple_of(2)) else { continue };
        assert_eq!(Resume::read(&resume.token(), false).as_ref().ok(), Some(&resume));
        // Where a list goes on is compared with the version that the store has.
        assert!(resume.revision().is_none_or(|revision| revision.end().revision() == revision));
    }
}

fn check_version(text: &str) {
    if let Ok(version) = parse_version(text) {
        assert_eq!(
            version.to_string(),
            text.trim_start_matches('0').to_owned() + if version.get() == 0 { "0" } else { "" }
        );
        assert!(version.revision() <= Revision::new(u64::MAX));
    }
}

fn check_accept(text: &str) {
    let Ok(value) = HeaderValue::from_str(text) else { return };
    let mut headers = HeaderMap::new();
    headers.insert("accept", value);
    for forms in [false, true] {
        if let Ok(accept) = Accept::negotiate(&headers, forms) {
            assert!(accept.content_type().starts_with("application/"), "{}", accept.content_type());
        }
    }
}

fn check_jsonpath(text: &str) {
    let Ok(path) = JsonPath::parse(text) else { return };
    let object = json!({
        "metadata": {"name": "a", "labels": {"x.y/z": "1"}},
        "spec": {"items": [{"name": "a", "n": 1}, {"name": "b", "n": 2.5}, null, []], "": {"deep": [[[1]]]}, "on": true},
    });
    let all = path.find(&object);
    let first = path.first(&object);
    if let (Ok(all), Some(first)) = (all, first) {
        assert_eq!(all.first().map(AsRef::as_ref), Some(first.as_ref()));
    }
}

fn check_time(text: &str) {
    if let Ok(moment) = Moment::parse(text) {
        assert_eq!(Moment::parse(&moment.to_string()).map(|again| again.to_string()), Ok(moment.to_string()));
    }
    if let Ok(moment) = Moment::parse_micros(text) {
        assert_eq!(Moment::parse_micros(&moment.to_micros()).map(Moment::to_micros), Ok(moment.to_micros()));
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let mut add = |which: u8, text: &str| seeds.push([&[which], text.as_bytes()].concat());
    for request in recorded::requests() {
        add(0, &request.path);
        add(1, &request.query);
    }
    for revision in [0, 42, u64::MAX >> 17] {
        add(2, &Resume::after(Revision::new(revision), "ns/a").token());
    }
    add(2, r#"{"v":"groundplane.dev/v1","rv":9,"start":"a","left":3}"#);
    for version in ["0", "65535", "18446744073709551615"] {
        add(3, version);
    }
    add(4, "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;q=0.9,*/*");
    add(4, "application/vnd.kubernetes.protobuf, application/yaml");
    for path in [
        ".spec.items[?(@.name==\"a\")].n",
        "{.metadata.labels.x\\.y/z}",
        ".spec.items[*].name",
        "..n",
        ".spec.items[-1:0:2]",
    ] {
        add(5, path);
    }
    for time in ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456+02:00", "0001-01-01T00:00:00Z"] {
        add(6, time);
    }
    seeds
}
