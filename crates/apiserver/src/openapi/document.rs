//! Complete documents, ready to be sent.

use std::sync::Arc;

use bytes::Bytes;
use krm::kind::Kind;
use serde_json::{Map, Value, json};

use super::content::{self, Content};
use super::definitions;
use super::form::Form;
use super::parameters;

/// A document and what it is known by.
pub struct Document {
    /// Its JSON, or its message.
    pub bytes: Bytes,
    /// Changes with its content.
    pub hash: String,
}

impl Document {
    /// A document that reads like this.
    pub fn of(text: impl Into<Bytes>) -> Document {
        let bytes: Bytes = text.into();
        let digest = ring::digest::digest(&ring::digest::SHA512, &bytes);
        let hash = digest.as_ref().iter().map(|byte| format!("{byte:02X}")).collect();
        Document { bytes, hash }
    }
}

/// The 3.0 document of one version of a group.
pub fn of_version(group: &str, version: &str, kinds: &[Arc<Kind>]) -> Document {
    let mut content = content::of_version(group, version, kinds, Form::V3);
    content.of_group =
        Some((group.to_owned(), version.to_owned())).filter(|_| !group.is_empty() && content::ship(kinds));
    let info = match content::ship(kinds) {
        true => info(),
        false => json!({ "title": "Kubernetes CRD Swagger", "version": "v0.1.0" }),
    };
    v3(info, content)
}

/// The 3.0 document of what is above the versions.
pub fn of_front(page: &str) -> Option<Document> {
    Some(v3(info(), content::of_front(page, Form::V3)?))
}

/// The 3.0 index: which documents there are, and where.
pub fn index(documents: impl IntoIterator<Item = (String, String)>) -> Document {
    let paths = documents.into_iter().map(|(name, url)| (name, json!({ "serverRelativeURL": url })));
    Document::of(json!({ "paths": paths.collect::<Map<String, Value>>() }).to_string())
}

fn v3(info: Value, mut content: Content) -> Document {
    let needed = content.needed.iter().map(String::as_str);
    definitions::add_shared(&mut content.definitions, needed, Form::V3);
    if let Some((group, version)) = &content.of_group {
        definitions::name_options(&mut content.definitions, group, version);
    }
    let document = json!({
        "openapi": "3.0.0",
        "info": info,
        "paths": content.paths,
        "components": { "schemas": content.definitions, "securitySchemes": bearer_token() },
    });
    Document::of(document.to_string())
}

/// What one version of a group, or a document above the versions, adds to the 2.0 document: members of its objects.
pub struct Share {
    /// Definitions, separated by commas.
    pub definitions: String,
    /// Paths, separated by commas.
    pub paths: String,
}

impl Share {
    /// Of one version of a group.
    pub fn of_version(group: &str, version: &str, kinds: &[Arc<Kind>]) -> Share {
        Share::of(content::of_version(group, version, kinds, Form::V2))
    }

    /// Of what is above the versions.
    pub fn of_front(page: &str) -> Option<Share> {
        content::of_front(page, Form::V2).map(Share::of)
    }

    fn of(content: Content) -> Share {
        Share { definitions: members(content.definitions), paths: members(content.paths) }
    }
}

/// The 2.0 document of everything.
pub fn whole(shares: &[Arc<Share>]) -> Document {
    let mut shared = Map::new();
    definitions::add_shared(&mut shared, definitions::shared(), Form::V2);
    let shared = members(shared);
    let mut definitions: Vec<&str> = shares.iter().map(|share| share.definitions.as_str()).collect();
    definitions.push(&shared);
    definitions.retain(|members| !members.is_empty());
    let paths: Vec<&str> = shares.iter().map(|share| share.paths.as_str()).collect();
    Document::of(format!(
        r#"{{"swagger":"2.0","info":{},"paths":{{{}}},"definitions":{{{}}},"parameters":{},"securityDefinitions":{},"security":[{{"BearerToken":[]}}]}}"#,
        info(),
        paths.join(","),
        definitions.join(","),
        parameters::all_shared(),
        bearer_token(),
    ))
}

/// The members of an object, without its braces.
fn members(object: Map<String, Value>) -> String {
    let mut text = Value::Object(object).to_string();
    text.pop();
    text.split_off(1)
}

fn info() -> Value {
    json!({ "title": "Groundplane", "version": env!("CARGO_PKG_VERSION") })
}

fn bearer_token() -> Value {
    json!({
        "BearerToken": {
            "type": "apiKey", "name": "authorization", "in": "header", "description": "Bearer Token authentication",
        },
    })
}
