//! Runs a search and formats its results.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use krm::Object;
use krm::kind::Kind;
use krm::status::Status;
use serde_json::{Value, json};
use store::{Key, Snapshot};

use super::query::{Term, parse};
use super::words::texts;
use crate::answer::{self, Answer};
use crate::authz::Attributes;
use crate::call::Call;
use crate::encode;
use crate::index;
use crate::keys::{self, Parts};
use crate::past::as_of::present;
use crate::request::accept::{Accept, Form};
use crate::request::query::Query;

/// How many are told unless somebody says so.
const USUAL: usize = 50;
/// How many are told at most.
const MOST: usize = 500;

/// Answers a search.
pub async fn answer(call: &Call, accept: &Accept, query: &Query) -> Result<Answer, Status> {
    // Whoever lists whatever there is asks for nothing, and finds nothing.
    let wanted = query.get("q").map(parse).transpose()?.unwrap_or_default();
    let limit = match query.number("limit")? {
        None | Some(0) => USUAL,
        Some(limit) if (1..=MOST as i64).contains(&limit) => limit as usize,
        Some(limit) => {
            return Err(Status::bad_request(format!("limit: {limit} must be between 1 and {MOST}")));
        }
    };
    let snapshot = present(call).await?;
    let mut finder = Finder::new(call, query);
    let mut found = finder.find(&snapshot, &wanted);
    let is_incomplete = !wanted.is_empty() && !finder.may_see_all();
    let truncated = found.len() > limit;
    found.truncate(limit);
    let items: Vec<Value> =
        found.iter().filter_map(|(key, kind)| told(call, &snapshot, key, kind, &wanted)).collect();
    let metadata = json!({ "resourceVersion": snapshot.version().to_string() });
    let mut whole = match accept.form {
        Form::Table => table(accept, &items, &metadata),
        _ => json!({
            "apiVersion": crate::transaction::API_VERSION, "kind": "SearchResultList",
            "metadata": metadata, "truncated": truncated, "items": items,
        }),
    };
    if is_incomplete {
        whole["incomplete"] = true.into();
    }
    Ok(answer::object::value(accept, 200, &whole))
}

struct Finder<'a> {
    call: &'a Call,
    resources: Vec<&'a str>,
    namespace: Option<&'a str>,
    /// Whether all objects of a resource in a namespace may be seen.
    listable: HashMap<(String, String, String), bool>,
}

impl<'a> Finder<'a> {
    fn new(call: &'a Call, query: &'a Query) -> Finder<'a> {
        let namespace = query.get("namespace").filter(|namespace| !namespace.is_empty());
        let resources = query.all("resource").into_iter().flat_map(|text| text.split(','));
        let resources = resources.filter(|text| !text.is_empty()).collect();
        Finder { call, resources, namespace, listable: HashMap::new() }
    }

    /// What whoever asks may see of what is found, the closest first.
    fn find(&mut self, snapshot: &Snapshot, wanted: &[Term]) -> Vec<(Key, Arc<Kind>)> {
        let plane = self.call.plane.as_str();
        let mut keys: Option<BTreeSet<Key>> = None;
        for one in wanted {
            let found = one.keys(snapshot, plane);
            keys = Some(match keys {
                None => found,
                Some(before) => before.intersection(&found).cloned().collect(),
            });
        }
        let mut seen: Vec<(u8, Key, Arc<Kind>)> = Vec::new();
        for key in keys.unwrap_or_default() {
            let Some(parts) = keys::parts(&key) else { continue };
            let Some(kind) = self.call.catalog.resource(parts.group, parts.plural).cloned() else { continue };
            if self.is_asked_for(&kind, &parts) && self.may_see(&parts) {
                seen.push((rank(parts.name, wanted), key.clone(), kind));
            }
        }
        seen.sort_by(|(rank, key, _), (other_rank, other, _)| (rank, key).cmp(&(other_rank, other)));
        seen.into_iter().map(|(_, key, kind)| (key, kind)).collect()
    }

    fn is_asked_for(&self, kind: &Kind, parts: &Parts<'_>) -> bool {
        let full = kind.resource().to_string();
        let named = self.resources.is_empty()
            || self.resources.iter().any(|asked| *asked == full || *asked == parts.plural);
        named && self.namespace.is_none_or(|namespace| namespace == parts.namespace)
    }

    /// Whether every object that is searched for may be seen, there or not. What was found does not matter: whoever heard that
    /// something is withheld for one word and not for another could guess what it says.
    fn may_see_all(&self) -> bool {
        let is_searched = |kind: &&Arc<Kind>| {
            let (group, plural) = (kind.group.as_str(), kind.names.plural.as_str());
            let namespace = self.namespace.unwrap_or_default();
            let parts = Parts { plane: self.call.plane.as_str(), group, plural, namespace, name: "" };
            index::is_searched(kind) && self.is_asked_for(kind, &parts)
        };
        let rights = &self.call.api.followers().rights;
        self.call.catalog.all().filter(is_searched).all(|kind| {
            let namespace = if kind.is_namespaced() { self.namespace.unwrap_or_default() } else { "" };
            let all = |verb: &str| {
                let what = Attributes::resource(verb, &kind.group, &kind.names.plural);
                rights.extent(&self.call.plane, &self.call.who, &what.in_namespace(namespace)).is_whole()
            };
            all("list") || all("get")
        })
    }

    fn may_see(&mut self, parts: &Parts<'_>) -> bool {
        let rights = &self.call.api.followers().rights;
        let ask = |verb: &str, name: &str| {
            let what = Attributes {
                verb,
                group: parts.group,
                version: "*",
                resource: parts.plural,
                namespace: parts.namespace,
                name,
                ..Attributes::default()
            };
            rights.decide(&self.call.plane, &self.call.who, &what).allowed
        };
        let of = (parts.group.to_owned(), parts.plural.to_owned(), parts.namespace.to_owned());
        *self.listable.entry(of).or_insert_with(|| ask("list", "")) || ask("get", parts.name)
    }
}

fn rank(name: &str, wanted: &[Term]) -> u8 {
    let name = name.to_lowercase();
    if wanted.iter().any(|one| one.text == name) {
        return 0;
    }
    if wanted.iter().any(|one| name.starts_with(&one.text)) { 1 } else { 2 }
}

fn told(call: &Call, snapshot: &Snapshot, key: &Key, kind: &Kind, wanted: &[Term]) -> Option<Value> {
    let entry = snapshot.get(key)?;
    let object = encode::read(&call.api.reveal(key, entry).ok()?).ok()?;
    let object = call.api.kinds().in_storage_version(key, object);
    let parts = keys::parts(key)?;
    let version = kind.versions.iter().find(|version| version.served)?;
    Some(json!({
        "apiVersion": kind.api_version(&version.name),
        "kind": kind.names.kind,
        "resource": kind.names.plural,
        "namespace": parts.namespace,
        "name": parts.name,
        "uid": object.uid(),
        "matches": matches(call, kind, &object, wanted),
    }))
}

fn matches(call: &Call, kind: &Kind, object: &Object, wanted: &[Term]) -> Vec<Value> {
    let mut found = Vec::new();
    let mut look = |field: String, value: &str, also: &str| {
        if wanted.iter().any(|one| one.matches(value) || (!also.is_empty() && also.starts_with(&one.text))) {
            found.push(json!({ "field": field, "value": value }));
        }
    };
    look("metadata.name".to_owned(), object.name(), "");
    for (label, value) in object.labels() {
        let pair = format!("{label}={value}").to_lowercase();
        look(format!("metadata.labels[{}]", krm::field::quote(label)), value, &pair);
    }
    for field in fields(call, kind) {
        for text in texts(object, &field) {
            look(field.clone(), &text, "");
        }
    }
    found
}

/// The fields by which objects of a kind are found.
fn fields(call: &Call, kind: &Kind) -> Vec<String> {
    crate::index::searched(call.api.kinds(), &call.plane, Some(kind), &kind.group, &kind.names.plural)
}

fn table(accept: &Accept, items: &[Value], metadata: &Value) -> Value {
    let column = |name: &str, description: &str| json!({ "name": name, "type": "string", "format": "", "description": description, "priority": 0 });
    let columns = json!([
        column("Resource", "Resource type of the object"),
        column("Namespace", "Namespace of the object"),
        column("Name", "Name of the object"),
        column("Match", "Fields that contain the searched words"),
    ]);
    let row = |item: &Value| {
        let found = item["matches"].as_array().into_iter().flatten();
        let found: Vec<String> = found
            .map(|one| {
                let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
                format!("{}={}", text("field"), text("value"))
            })
            .collect();
        json!({ "cells": [item["resource"], item["namespace"], item["name"], found.join(",")], "object": null })
    };
    let rows = items.iter().map(row).collect();
    krm::table::table(accept.version, metadata.as_object().cloned().unwrap_or_default(), columns, rows)
}
