//! Discovery: groups, versions and resources of a plane, in the legacy and the aggregated format.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH};
use http::{HeaderMap, Method, StatusCode};
use krm::kind::{Kind, Origin, Question, Scope, Version};
use krm::status::Status;
use serde_json::{Value, json};

use crate::answer::{self, Answer, object};
use crate::catalog::Catalog;
use crate::parts;
use crate::request::accept::{Accept, Media, asked_as};
use crate::request::path::Route;
use crate::route::Routes;

/// The verbs of built-in kinds, as their documents list them.
const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/// The verbs of kinds that users defined, in the order in which those are listed.
const CUSTOM_VERBS: [&str; 8] =
    ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// The media types of the aggregated document.
const AGGREGATED: [&str; 3] = [
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
];

/// Answers a request about what there is. Documents of kinds that users defined are given whatever the method, as
/// Kubernetes does; of others, only to who reads them. What is not there is not there for any method.
pub fn answer(
    catalog: &Catalog,
    routes: &Routes,
    route: &Route,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Answer, Status> {
    let (answer, group) = match route {
        Route::CoreVersions => (core_versions(catalog, routes, headers), ""),
        Route::Groups => (groups(catalog, routes, headers), ""),
        Route::Group(name) => (group(catalog, name, headers), name.as_str()),
        Route::GroupVersion { group, version } => {
            (resources(catalog, routes, (group, version), headers), group.as_str())
        }
        Route::Other(_) | Route::Resource(_) => return Ok(answer::page_not_found()),
    };
    let is_kubernetes = group.is_empty() || catalog.group(group).any(|kind| kind.strategic);
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    match answer {
        Ok(found) if found.status() == StatusCode::OK && is_kubernetes && !is_read => {
            Err(Status::method_not_allowed())
        }
        answer => answer,
    }
}

/// `/api`: the versions of the core group.
fn core_versions(catalog: &Catalog, routes: &Routes, headers: &HeaderMap) -> Result<Answer, Status> {
    if let Some(media) = wants_aggregated(headers)? {
        return Ok(aggregated(catalog, routes, |group| group.is_empty(), media, headers));
    }
    let document = json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{ "clientCIDR": "0.0.0.0/0", "serverAddress": "" }],
    });
    plain(headers, &document)
}

/// `/apis`: the groups.
fn groups(catalog: &Catalog, routes: &Routes, headers: &HeaderMap) -> Result<Answer, Status> {
    if let Some(media) = wants_aggregated(headers)? {
        return Ok(aggregated(catalog, routes, |group| !group.is_empty(), media, headers));
    }
    let groups: Vec<Value> = group_names(catalog)
        .into_iter()
        .filter(|name| !name.is_empty())
        .map(|name| group_of(catalog, name))
        .collect();
    plain(headers, &json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups }))
}

/// `/apis/<group>`: one group.
fn group(catalog: &Catalog, name: &str, headers: &HeaderMap) -> Result<Answer, Status> {
    if catalog.group(name).next().is_none() || name.is_empty() {
        return Ok(answer::page_not_found());
    }
    let mut document = group_of(catalog, name);
    document["kind"] = "APIGroup".into();
    document["apiVersion"] = "v1".into();
    plain(headers, &document)
}

/// `/apis/<group>/<version>`: the resources of one version.
fn resources(
    catalog: &Catalog,
    routes: &Routes,
    (group, version): (&str, &str),
    headers: &HeaderMap,
) -> Result<Answer, Status> {
    let mut resources = Vec::new();
    for kind in catalog.group(group) {
        if let Some(version) = kind.served(version) {
            resources.push(resource(kind, version));
            let parts = subresources(kind, version, routes);
            resources.extend(parts.into_iter().map(|part| part.in_list(kind)));
        }
    }
    if resources.is_empty() {
        return Ok(match group.is_empty() {
            true => answer::failure(&Status::no_such_resource()),
            false => answer::page_not_found(),
        });
    }
    let document = json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": krm::kind::api_version(group, version),
        "resources": resources,
    });
    plain(headers, &document)
}

fn plain(headers: &HeaderMap, document: &Value) -> Result<Answer, Status> {
    Ok(object::value(&Accept::negotiate(headers, false)?, 200, document))
}

/// The groups, the core one first, by their priorities and then in the order of the alphabet.
fn group_names(catalog: &Catalog) -> Vec<&str> {
    let mut names: Vec<&str> = catalog.all().map(|kind| kind.group.as_str()).collect();
    names.dedup();
    names.sort_by_key(|name| (!name.is_empty(), -catalog.priority(name), *name));
    names
}

/// The versions of a group, the preferred first.
fn versions<'a>(catalog: &'a Catalog, group: &'a str) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for version in catalog.group(group).flat_map(|kind| kind.versions.iter().filter(|version| version.served))
    {
        if !names.contains(&version.name.as_str()) {
            names.push(&version.name);
        }
    }
    names.sort_by(|a, b| krm::crd::compare_versions(b, a));
    names
}

fn group_of(catalog: &Catalog, name: &str) -> Value {
    let versions: Vec<Value> = versions(catalog, name)
        .iter()
        .map(|version| json!({ "groupVersion": format!("{name}/{version}"), "version": version }))
        .collect();
    json!({ "name": name, "preferredVersion": versions.first(), "versions": versions })
}

fn verbs(kind: &Kind) -> Vec<&'static str> {
    let all = if kind.origin == Origin::BuiltIn { &VERBS } else { &CUSTOM_VERBS };
    all.iter().copied().filter(|verb| kind.takes(verb)).collect()
}

fn resource(kind: &Kind, version: &Version) -> Value {
    let mut resource = json!({
        "name": kind.names.plural,
        "singularName": kind.names.singular,
        "namespaced": kind.is_namespaced(),
        "kind": kind.names.kind,
        "verbs": verbs(kind),
    });
    if !kind.names.short.is_empty() {
        resource["shortNames"] = kind.names.short.clone().into();
    }
    if !kind.names.categories.is_empty() {
        resource["categories"] = kind.names.categories.clone().into();
    }
    if kind.takes("get") {
        let stored = match kind.group.as_str() {
            // Kubernetes has never changed what it says here.
            crate::definitions::GROUP => "v1beta1",
            _ => &kind.stored().name,
        };
        let group = kind.mirror.map_or(kind.group.as_str(), |mirror| mirror.group);
        resource["storageVersionHash"] = storage_hash(group, stored, &kind.names.kind).into();
    }
    let _ = version;
    resource
}

/// Tells clients when objects have come to be stored in another way.
fn storage_hash(group: &str, version: &str, kind: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, format!("{group}/{version}/{kind}").as_bytes());
    krm::base64::encode(&digest.as_ref()[..8])
}

/// A part of a kind with a path of its own.
struct Listed<'a> {
    name: &'a str,
    verbs: &'static [&'static str],
    /// The kind that goes in and out there, where it is another.
    of: Option<(&'static str, &'static str, &'static str)>,
}

/// The subresources of a kind that is served in a version, each with the verbs it takes; those too that are not listed.
pub fn verbs_of_subresources(kind: &Kind, version: &Version) -> Vec<(&'static str, &'static [&'static str])> {
    let parts = parts::served(kind, version).into_iter().map(|part| (part.name, part.verbs));
    parts.chain(kind.questions.iter().map(verbs_of_question)).chain(kind.streams.iter().copied()).collect()
}

fn verbs_of_question(question: &Question) -> (&'static str, &'static [&'static str]) {
    (question.name, if question.takes_body { &["create", "get"] } else { &["get"] })
}

fn subresources<'a>(kind: &'a Kind, version: &Version, routes: &'a Routes) -> Vec<Listed<'a>> {
    let parts = parts::of(kind, version).into_iter().filter(|part| part.is_listed);
    let parts = parts.map(|part| Listed { name: part.name, verbs: part.verbs, of: part.listed_kind() });
    let questions = kind.questions.iter().map(|question| {
        let of = Some(("groundplane.dev", "v1alpha1", question.answer_kind));
        let (name, verbs) = verbs_of_question(question);
        Listed { name, verbs, of }
    });
    let claimed = routes.subresources_of(&kind.group, &kind.names.plural);
    let claimed = claimed.into_iter().map(|(name, verbs)| Listed { name, verbs, of: None });
    parts.chain(questions).chain(claimed).collect()
}

impl Listed<'_> {
    fn in_list(&self, kind: &Kind) -> Value {
        let mut part = json!({
            "name": format!("{}/{}", kind.names.plural, self.name),
            "singularName": "",
            "namespaced": kind.is_namespaced(),
            "kind": self.of.map_or(kind.names.kind.as_str(), |(_, _, kind)| kind),
            "verbs": self.verbs,
        });
        if let Some((group, version, _)) = self.of {
            part["group"] = group.into();
            part["version"] = version.into();
        }
        part
    }
}

/// The form in which the aggregated document is asked for; none if the legacy one is.
fn wants_aggregated(headers: &HeaderMap) -> Result<Option<Media>, Status> {
    match asked_as(headers, "apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList") {
        Some(media) => Ok(Some(media)),
        None => Accept::negotiate(headers, false).map(|_| None),
    }
}

fn aggregated(
    catalog: &Catalog,
    routes: &Routes,
    wanted: impl Fn(&str) -> bool,
    media: Media,
    headers: &HeaderMap,
) -> Answer {
    let groups: Vec<Value> = group_names(catalog)
        .into_iter()
        .filter(|name| wanted(name))
        .map(|name| {
            let versions: Vec<Value> = versions(catalog, name)
                .into_iter()
                .map(|version| {
                    let resources = catalog.group(name);
                    let resources: Vec<Value> = resources
                        .filter_map(|kind| Some(aggregated_resource(kind, kind.served(version)?, routes)))
                        .collect();
                    json!({ "version": version, "freshness": "Current", "resources": resources })
                })
                .collect();
            let mut metadata = json!({ "creationTimestamp": null });
            if !name.is_empty() {
                metadata = json!({ "name": name });
            }
            json!({ "metadata": metadata, "versions": versions })
        })
        .collect();
    let document = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": groups,
    });
    let (content_type, bytes) = match media {
        Media::Json => (AGGREGATED[0], document.to_string().into_bytes()),
        Media::Yaml => (AGGREGATED[1], krm::encode::to_yaml(&document).into_bytes()),
        Media::Protobuf => (AGGREGATED[2], krm::proto::encode(&document).unwrap_or_default()),
    };
    tagged(headers, content_type, bytes)
}

fn aggregated_resource(kind: &Kind, version: &Version, routes: &Routes) -> Value {
    let own = |kind: &Kind| match kind.strategic {
        // Built-in kinds leave group and version to where they are listed.
        true => json!({ "group": "", "version": "", "kind": kind.names.kind }),
        false => json!({ "group": kind.group, "version": version.name, "kind": kind.names.kind }),
    };
    let mut resource = json!({
        "resource": kind.names.plural,
        "responseKind": own(kind),
        "scope": if kind.scope == Scope::Cluster { "Cluster" } else { "Namespaced" },
        "singularResource": kind.names.singular,
        "verbs": verbs(kind),
    });
    if !kind.names.short.is_empty() {
        resource["shortNames"] = kind.names.short.clone().into();
    }
    if !kind.names.categories.is_empty() {
        resource["categories"] = kind.names.categories.clone().into();
    }
    let parts: Vec<Value> = subresources(kind, version, routes)
        .iter()
        .map(|part| {
            let of = part.of.map(|(group, version, kind)| json!({ "group": group, "version": version, "kind": kind }));
            json!({
                "subresource": part.name, "verbs": part.verbs, "responseKind": of.unwrap_or_else(|| own(kind)),
            })
        })
        .collect();
    if !parts.is_empty() {
        resource["subresources"] = parts.into();
    }
    resource
}

/// A document that is sent again only when it has changed.
fn tagged(headers: &HeaderMap, content_type: &'static str, document: impl Into<Bytes>) -> Answer {
    let document: Bytes = document.into();
    let digest = ring::digest::digest(&ring::digest::SHA256, &document);
    let hex: String = digest.as_ref().iter().map(|byte| format!("{byte:02X}")).collect();
    let tag = format!("\"{hex}\"");
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_known = known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag));
    let mut answer = match is_known {
        true => answer::bytes(304, content_type, ""),
        false => answer::bytes(200, content_type, document),
    };
    if is_known {
        answer.headers_mut().remove(CONTENT_TYPE);
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        answer.headers_mut().insert(ETAG, tag);
    }
    answer.headers_mut().insert(http::header::VARY, HeaderValue::from_static("Accept"));
    answer
}
