//! Documents out of objects.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{
    DIALECT, DRYDOCK, GROUP, ITEMS, KINDS, LEGACY, VERSION, forms, layering,
    names::document_name,
    owners::{Origins, Owners},
    secret_values, shape,
};
use crate::{
    deckhand::{LAYERING_POLICY, MissingSource, MissingValue, Problem, Rendering, render_with},
    document::{Document, DocumentId, Envelope},
    model::DocumentRef,
    secrets::is_secret_schema,
    yaml::{File, Map, Node, Position, Value},
};

/// Looks a secret up by the name of the Secret and the key within.
pub type Secrets<'s> = &'s dyn Fn(&str, &str) -> Option<String>;

/// What stands where a secret would that nobody could look up.
pub(crate) const UNKNOWN: &str = "(unavailable)";

/// The documents in objects, in an order that does not depend on theirs. What is of no kind of a design is passed over.
pub fn documents_of<'o>(objects: impl IntoIterator<Item = &'o Json>, secrets: Secrets<'_>) -> Vec<Document> {
    let mut documents: Vec<Document> =
        objects.into_iter().filter_map(|object| document_of(object, secrets)).collect();
    documents.sort_by(|a, b| order(a).cmp(&order(b)));
    documents
}

/// Where a document stands among those of a server: by kind, schema, name and layer.
pub fn order(document: &Document) -> impl Ord + '_ {
    let layer = document.metadata.get("layeringDefinition").and_then(|one| one.get("layer"));
    (rank(document), document.schema(), document.name(), layer.and_then(|layer| layer.value.as_str()))
}

fn rank(document: &Document) -> usize {
    let kind = document.id.kind().unwrap_or_default();
    KINDS.iter().position(|(known, _)| *known == kind).unwrap_or(KINDS.len())
}

/// Documents as a design has them: layers rendered, and values copied between documents.
#[derive(Clone, Debug, Default)]
pub struct Composed {
    /// The documents.
    pub documents: Vec<Document>,
    /// Values that documents ask for and that are not there.
    pub missing: Vec<MissingValue>,
}

/// Renders layers in their order, and copies values between documents where they ask for it. Documents without either are
/// given back as they are.
pub fn compose(documents: Vec<Document>, layers: &[String]) -> Result<Composed, Vec<Problem>> {
    let asks = |document: &Document| {
        document.metadata.get("substitutions").is_some()
            || document
                .metadata
                .get("layeringDefinition")
                .is_some_and(|one| one.get("parentSelector").is_some())
    };
    if layers.is_empty() && !documents.iter().any(asks) {
        return Ok(Composed { documents, missing: Vec::new() });
    }
    let mut all = documents;
    if !layers.is_empty() {
        all.push(policy(layers));
    }
    let Rendering { mut documents, missing, .. } = render_with(all, MissingSource::Warn)?;
    documents.retain(|document| document.schema() != LAYERING_POLICY);
    Ok(Composed { documents, missing })
}

/// The order of layers as Deckhand wants it.
fn policy(layers: &[String]) -> Document {
    let at = Position { file: File::named(""), line: 0, column: 0 };
    let layers = layers.iter().map(|layer| Node::new(layer.as_str(), at.clone())).collect::<Vec<_>>();
    let mut data = Map::new();
    data.insert("layerOrder", at.clone(), Node::new(layers, at.clone()));
    Document {
        envelope: Envelope::Deckhand,
        id: DocumentId { schema: LAYERING_POLICY.to_owned(), name: "layers of the design".to_owned() },
        metadata: Node::new(Map::new(), at.clone()),
        data: Node::new(data, at.clone()),
        at,
        nameless: None,
    }
}

/// A document of our own that was written as an object is: what a server prints can be read from a file.
pub(crate) fn in_file(mut document: Document) -> Document {
    let Some(shape) = document.id.kind().and_then(shape::of_kind) else { return document };
    let at = document.at.clone();
    let substitutions = taken(&mut document.data, "substitutions");
    if let (Some(substitutions), Value::Map(metadata)) = (substitutions, &mut document.metadata.value) {
        metadata.insert("substitutions", at.clone(), substitutions);
    }
    if let (Some(layered), Value::Map(metadata)) =
        (taken(&mut document.data, layering::FIELD), &mut document.metadata.value)
    {
        for (key, one) in layering::metadata(&Json::from(&layered.value), &at) {
            metadata.insert(key, at.clone(), one);
        }
    }
    taken(&mut document.data, secret_values::FIELD);
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
    if kind == ITEMS.0 {
        return item(object, secrets);
    }
    let (kind, _) = KINDS.iter().find(|(known, _)| *known == kind)?;
    let (envelope, schema) = match object["metadata"]["labels"][DIALECT].as_str() {
        Some(DRYDOCK) => (Envelope::Deckhand, format!("drydock/{kind}/v1")),
        Some(LEGACY) => (Envelope::Legacy, format!("drydock/{kind}/v1")),
        _ => (Envelope::Native, format!("{GROUP}/{kind}/{VERSION}")),
    };
    let name = layering::document_name_of(object["metadata"]["name"].as_str().unwrap_or_default());
    let id = DocumentId { schema, name };
    let origins = Origins::of(object);
    let owners = Owners::of(object, &origins, &reference(&id, envelope, object), false);
    let of_spec = owners.spec();
    let mut data = match object.get("spec") {
        None | Some(Json::Null) => Node::new(Map::new(), of_spec.place()),
        Some(spec) => filled(spec, spec, &of_spec, secrets),
    };
    for field in ["substitutions", layering::FIELD, secret_values::FIELD] {
        taken(&mut data, field);
    }
    add_secrets(&mut data, object, &of_spec, secrets);
    let data = match shape::of_kind(kind) {
        Some(shape) => forms::unlisted(data, shape),
        None => data,
    };
    Some(document(envelope, id, data, object, &owners))
}

/// A document of a kind that is not of a design.
fn item(object: &Json, secrets: Secrets<'_>) -> Option<Document> {
    let spec = &object["spec"];
    let own = object["metadata"]["name"].as_str().unwrap_or_default();
    let name = spec["name"].as_str().map_or_else(|| document_name(own), str::to_owned);
    let id = DocumentId { schema: spec["schema"].as_str()?.to_owned(), name };
    let kept = (spec["data_secret"]["name"].as_str(), spec["data_secret"]["key"].as_str());
    let is_secret = kept.0.is_some() || is_secret_schema(&id.schema);
    let origins = Origins::of(object);
    let owners = Owners::of(object, &origins, &reference(&id, Envelope::Deckhand, object), is_secret);
    // The lines of an item are those of its data.
    let of_data = owners.spec();
    let data = match kept {
        (Some(secret), Some(key)) => {
            let text = secrets(secret, key).unwrap_or_else(|| UNKNOWN.to_owned());
            secret_data(&text, &of_data)
        }
        _ => filled(spec, spec.get("data").unwrap_or(&Json::Null), &of_data, secrets),
    };
    Some(document(Envelope::Deckhand, id, data, object, &owners))
}

/// The fields of an object, with its secret values.
fn filled(spec: &Json, fields: &Json, owners: &Owners<'_>, secrets: Secrets<'_>) -> Node {
    let Some(references) = spec[secret_values::FIELD].as_array() else { return node_of(fields, owners) };
    let mut fields = fields.clone();
    let mut hidden = Vec::new();
    for reference in references {
        let (Some(path), Some(name)) = (reference["path"].as_str(), reference["name"].as_str()) else {
            continue;
        };
        let value = secrets(name, reference["key"].as_str().unwrap_or_default());
        // Marked here, so that the value is found again below whatever it is.
        let mark = format!("{MARK}{}", hidden.len());
        secret_values::put(&mut fields, path, mark.into());
        hidden.push(value.unwrap_or_else(|| UNKNOWN.to_owned()));
    }
    let mut node = node_of(&fields, owners);
    reveal(&mut node, &hidden);
    node
}

/// No document can hold it: it begins with a character that YAML does not allow.
const MARK: &str = "\u{0}secret ";

fn reveal(node: &mut Node, hidden: &[String]) {
    match &mut node.value {
        Value::String(text) => {
            let index = text.strip_prefix(MARK).and_then(|index| index.parse::<usize>().ok());
            if let Some(value) = index.and_then(|index| hidden.get(index)) {
                text.clone_from(value);
                node.at.file = node.at.file.secret();
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| reveal(item, hidden)),
        Value::Map(map) => map.values_mut().for_each(|value| reveal(value, hidden)),
        _ => {}
    }
}

/// A secret document is kept as YAML, so that it may be more than one text.
fn secret_data(text: &str, owners: &Owners<'_>) -> Node {
    let place = owners.place();
    let read = crate::yaml::read("a Secret", text.as_bytes()).ok();
    let node = read.and_then(|stream| stream.documents.into_iter().next());
    let mut node = node.unwrap_or_else(|| Node::new(text, place.clone()));
    node.move_to(&place.file);
    node
}

/// The document as messages name it.
fn reference(id: &DocumentId, envelope: Envelope, object: &Json) -> Arc<DocumentRef> {
    Arc::new(DocumentRef {
        kind: id.kind().unwrap_or(&id.schema).to_owned(),
        name: id.name.clone(),
        schema: (envelope != Envelope::Legacy).then(|| id.schema.clone()),
        layer: object["spec"][layering::FIELD]["layer"].as_str().map(str::to_owned),
    })
}

fn document(envelope: Envelope, id: DocumentId, data: Node, object: &Json, owners: &Owners<'_>) -> Document {
    let at = owners.place();
    let spec = &object["spec"];
    let mut metadata = Map::new();
    metadata.insert("name", at.clone(), Node::new(id.name.as_str(), at.clone()));
    if let Some(labels) = object["metadata"].get("labels") {
        metadata.insert("labels", at.clone(), node_of(labels, owners));
    }
    if let Some(substitutions) = spec.get("substitutions") {
        metadata.insert("substitutions", at.clone(), node_of(substitutions, owners));
    }
    for (key, one) in layering::metadata(&spec[layering::FIELD], &at) {
        metadata.insert(key, at.clone(), one);
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
    let hidden = Position { file: at.file.secret(), ..at.clone() };
    for (key, reference) in named {
        let secret = reference["name"].as_str().unwrap_or_default();
        let value = secrets(secret, reference["key"].as_str().unwrap_or(key));
        let value = Node::new(value.unwrap_or_else(|| UNKNOWN.to_owned()), hidden.clone());
        oob.insert(key.as_str(), at.clone(), value);
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
            let item = |(index, one): (usize, &Json)| match one.get("name") {
                Some(name) => node_of(one, &owners.member(name, index)),
                None => node_of(one, &owners.entry(index)),
            };
            Value::List(items.iter().enumerate().map(item).collect())
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
