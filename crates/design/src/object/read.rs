//! Documents out of objects.

use serde_json::Value as Json;

use super::{
    DIALECT, DRYDOCK, GROUP, ITEMS, KINDS, LEGACY, VERSION, forms, names::document_name, owners::Owners,
    shape,
};
use crate::{
    deckhand::{Problem, render},
    document::{Document, DocumentId, Envelope},
    yaml::{Map, Node, Position, Value},
};

/// Looks a secret up by the name of the Secret and the key within.
pub type Secrets<'s> = &'s dyn Fn(&str, &str) -> Option<String>;

/// What stands where a secret would that nobody could look up.
const UNKNOWN: &str = "(unavailable)";

/// The documents in objects, in an order that does not depend on theirs. What is of no kind of a design is passed over.
pub fn documents_of<'o>(objects: impl IntoIterator<Item = &'o Json>, secrets: Secrets<'_>) -> Vec<Document> {
    let mut documents: Vec<Document> =
        objects.into_iter().filter_map(|object| document_of(object, secrets)).collect();
    documents.sort_by(|a, b| (rank(a), a.schema(), a.name()).cmp(&(rank(b), b.schema(), b.name())));
    documents
}

fn rank(document: &Document) -> usize {
    let kind = document.id.kind().unwrap_or_default();
    KINDS.iter().position(|(known, _)| *known == kind).unwrap_or(KINDS.len())
}

/// Copies values between documents where they ask for it. Documents that ask for none are given back as they are.
pub fn compose(documents: Vec<Document>) -> Result<Vec<Document>, Vec<Problem>> {
    let asks = |document: &Document| document.metadata.get("substitutions").is_some();
    if !documents.iter().any(asks) {
        return Ok(documents);
    }
    // What stands in the labels of objects was never meant for Deckhand's selectors.
    render(documents)
}

/// A document of our own that was written as an object is: what a server prints can be read from a file.
pub(crate) fn in_file(mut document: Document) -> Document {
    let Some(shape) = document.id.kind().and_then(shape::of_kind) else { return document };
    let at = document.at.clone();
    let substitutions = taken(&mut document.data, "substitutions");
    if let (Some(substitutions), Value::Map(metadata)) = (substitutions, &mut document.metadata.value) {
        metadata.insert("substitutions", at, substitutions);
    }
    if let Some(named) = taken(&mut document.data, "oob_secrets") {
        let named = Json::from(&named.value);
        put_secrets(&mut document.data, &named, &document.at, &|_, _| None);
    }
    document.data = forms::unlisted(document.data, shape);
    document
}

/// The document in an object; nothing if it is of no kind of a design.
pub fn document_of(object: &Json, secrets: Secrets<'_>) -> Option<Document> {
    let kind = object["kind"].as_str()?;
    if !object["apiVersion"].as_str()?.starts_with(GROUP) {
        return None;
    }
    let owners = Owners::of(object);
    if kind == ITEMS.0 {
        return item(object, &owners, secrets);
    }
    let (kind, _) = KINDS.iter().find(|(known, _)| *known == kind)?;
    let of_spec = owners.field("spec");
    let mut data = match node_of(object.get("spec").unwrap_or(&Json::Null), &of_spec) {
        Node { value: Value::Null, at } => Node::new(Map::new(), at),
        data => data,
    };
    let substitutions = taken(&mut data, "substitutions");
    add_secrets(&mut data, object, &of_spec, secrets);
    let data = match shape::of_kind(kind) {
        Some(shape) => forms::unlisted(data, shape),
        None => data,
    };
    let (envelope, schema) = match object["metadata"]["labels"][DIALECT].as_str() {
        Some(DRYDOCK) => (Envelope::Deckhand, format!("drydock/{kind}/v1")),
        Some(LEGACY) => (Envelope::Legacy, format!("drydock/{kind}/v1")),
        _ => (Envelope::Native, format!("{GROUP}/{kind}/{VERSION}")),
    };
    let name = document_name(object["metadata"]["name"].as_str().unwrap_or_default());
    Some(document(envelope, DocumentId { schema, name }, data, substitutions, object, &owners))
}

/// A document of a kind that is not of a design.
fn item(object: &Json, owners: &Owners<'_>, secrets: Secrets<'_>) -> Option<Document> {
    let spec = &object["spec"];
    let own = object["metadata"]["name"].as_str().unwrap_or_default();
    let name = spec["name"].as_str().map_or_else(|| document_name(own), str::to_owned);
    let schema = spec["schema"].as_str()?.to_owned();
    let of_spec = owners.field("spec");
    let kept = (spec["data_secret"]["name"].as_str(), spec["data_secret"]["key"].as_str());
    let data = match kept {
        (Some(secret), Some(key)) => {
            let text = secrets(secret, key).unwrap_or_else(|| UNKNOWN.to_owned());
            secret_data(&text, &of_spec)
        }
        _ => node_of(spec.get("data").unwrap_or(&Json::Null), &of_spec.field("data")),
    };
    let substitutions = spec.get("substitutions").map(|all| node_of(all, &of_spec.field("substitutions")));
    Some(document(Envelope::Deckhand, DocumentId { schema, name }, data, substitutions, object, owners))
}

/// A secret document is kept as YAML, so that it may be more than one text.
fn secret_data(text: &str, owners: &Owners<'_>) -> Node {
    let read = crate::yaml::read("a Secret", text.as_bytes()).ok();
    let node = read.and_then(|stream| stream.documents.into_iter().next());
    node.unwrap_or_else(|| Node::new(text, owners.place()))
}

fn document(
    envelope: Envelope,
    id: DocumentId,
    data: Node,
    substitutions: Option<Node>,
    object: &Json,
    owners: &Owners<'_>,
) -> Document {
    let at = owners.place();
    let mut metadata = Map::new();
    metadata.insert("name", at.clone(), Node::new(id.name.as_str(), at.clone()));
    if let Some(labels) = object["metadata"].get("labels") {
        metadata.insert("labels", at.clone(), node_of(labels, owners));
    }
    if let Some(substitutions) = substitutions {
        metadata.insert("substitutions", at.clone(), substitutions);
    }
    Document { envelope, id, metadata: Node::new(metadata, at.clone()), data, at, nameless: None }
}

/// What `oob_secrets` names is put where it belongs.
fn add_secrets(data: &mut Node, object: &Json, owners: &Owners<'_>, secrets: Secrets<'_>) {
    taken(data, "oob_secrets");
    put_secrets(data, &object["spec"]["oob_secrets"], &owners.field("oob_secrets").place(), secrets);
}

fn put_secrets(data: &mut Node, named: &Json, at: &Position, secrets: Secrets<'_>) {
    let Some(named) = named.as_object() else { return };
    let Value::Map(map) = &mut data.value else { return };
    if !map.contains_key("oob") {
        map.insert("oob", at.clone(), Node::new(Map::new(), at.clone()));
    }
    let Some(Node { value: Value::Map(oob), .. }) = map.get_mut("oob") else { return };
    for (key, reference) in named {
        let secret = reference["name"].as_str().unwrap_or_default();
        let value = secrets(secret, reference["key"].as_str().unwrap_or(key));
        oob.insert(
            key.as_str(),
            at.clone(),
            Node::new(value.unwrap_or_else(|| UNKNOWN.to_owned()), at.clone()),
        );
    }
}

fn taken(data: &mut Node, key: &str) -> Option<Node> {
    match &mut data.value {
        Value::Map(map) => map.remove(key).map(|entry| entry.value),
        _ => None,
    }
}

/// A value of an object, each part with its field manager.
fn node_of(json: &Json, owners: &Owners<'_>) -> Node {
    let at = owners.place();
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => {
            let item = |one: &Json| match one.get("name") {
                Some(name) => node_of(one, &owners.member(name)),
                None => node_of(one, owners),
            };
            Value::List(items.iter().map(item).collect())
        }
        Json::Object(fields) => {
            let mut map = Map::new();
            for (key, one) in fields {
                let owners = owners.field(key);
                map.insert(key.as_str(), owners.place(), node_of(one, &owners));
            }
            map.into()
        }
    };
    Node { value, at }
}
