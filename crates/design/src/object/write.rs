//! Objects out of documents.

use serde_json::{Map, Value as Json, json};

use super::{
    DIALECT, DRYDOCK, GROUP, ITEMS, KINDS, LEGACY, Origin, VERSION, forms, layering, names::object_name,
    origin, secret_values, shape,
};
use crate::{
    document::{Document, Envelope},
    secrets::{is_secret_key, is_secret_path, is_secret_text},
    user_kinds::UserKinds,
    yaml::{self, Value},
};

/// A document as an object, and the secrets that it must not hold.
#[derive(Clone, PartialEq)]
pub struct Written {
    /// The object.
    pub object: Json,
    /// What belongs into the Secret that it names.
    pub secrets: Vec<Credential>,
    file: String,
    line: u32,
    lines: Json,
}

/// A secret, and where it is to be kept.
#[derive(Clone, PartialEq)]
pub struct Credential {
    /// The name of the Secret.
    pub secret: String,
    /// The key in it.
    pub key: String,
    /// The secret itself.
    pub value: String,
}

/// Whether the layers of documents are kept, or were rendered before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    /// The server renders them: how a document is layered and filled is part of its object.
    Kept,
    /// The documents are rendered; of the layer only the name is kept.
    Rendered,
}

/// An object for a document; nothing if the document is of no kind of a design.
pub fn object_of(document: &Document, layers: Layers) -> Option<Written> {
    let kind = document.id.kind()?;
    let (kind, _) = KINDS.iter().find(|(known, _)| *known == kind)?;
    let listed = forms::listed(&document.data, shape::of_kind(kind)?);
    let lines = listed.as_ref().map_or(Json::Null, origin::lines_of);
    let mut spec = listed.map_or_else(|| json!({}), |node| Json::from(&node.value));
    let name = layering::object_name_of(document, object_name(document.name()));
    let secret = secret_name(kind, &name);
    let mut secrets = take_secrets(&mut spec, &secret);
    let (references, more) = secret_values::take(&mut spec, &secret, &|_, _| false);
    if !references.is_empty() {
        spec[secret_values::FIELD] = references.into();
    }
    secrets.extend(more);
    layering::write(document, layers, &mut spec);
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), name.into());
    let mut labels = labels_of(document);
    let dialect = match document.envelope {
        Envelope::Deckhand => Some(DRYDOCK),
        Envelope::Legacy => Some(LEGACY),
        Envelope::Native => None,
    };
    labels.extend(dialect.map(|dialect| (DIALECT.to_owned(), dialect.into())));
    if !labels.is_empty() {
        metadata.insert("labels".to_owned(), labels.into());
    }
    let object =
        json!({"apiVersion": format!("{GROUP}/{VERSION}"), "kind": kind, "metadata": metadata, "spec": spec});
    Some(Written { object, secrets, file: document.at.file.to_string(), line: document.at.line, lines })
}

/// An object for a document of any other kind. A secret document goes into a Secret as a whole, and so do secret fields of
/// others: those with the name of a secret, and those that the schema of the kind marks.
pub fn item_of(document: &Document, layers: Layers, kinds: &UserKinds<'_>) -> Written {
    let own = format!("{}.{}", document.schema().replace('/', "."), document.name()).to_lowercase();
    let name = layering::object_name_of(document, object_name(&own));
    let mut spec = json!({"schema": document.schema(), "name": document.name()});
    let secret = secret_name(ITEMS.0, &name);
    let mut secrets = Vec::new();
    let mut lines = Json::Null;
    if document.is_secret() {
        spec["data_secret"] = json!({"name": secret, "key": "data"});
        secrets.push(Credential { secret, key: "data".to_owned(), value: yaml::write(&document.data.value) });
    } else {
        lines = origin::lines_of(&document.data);
        let mut data = Json::from(&document.data.value);
        let schema = document.schema();
        let is_secret_field = |names: &[String], text: &str| {
            let is_named = names.last().is_some_and(|name| is_secret_key(name)) && !text.is_empty();
            is_named || kinds.is_secret_field(schema, names)
        };
        let (references, taken) = secret_values::take(&mut data, &secret, &is_secret_field);
        if !references.is_empty() {
            spec[secret_values::FIELD] = references.into();
        }
        secrets.extend(taken);
        spec["data"] = data;
    }
    layering::write(document, layers, &mut spec);
    let mut metadata = json!({"name": name});
    let labels = labels_of(document);
    if !labels.is_empty() {
        metadata["labels"] = labels.into();
    }
    let object = json!({"apiVersion": format!("{GROUP}/{VERSION}"), "kind": ITEMS.0, "metadata": metadata, "spec": spec});
    Written { object, secrets, file: document.at.file.to_string(), line: document.at.line, lines }
}

impl Written {
    /// The object with the annotation that says where a source had it from.
    pub fn from_source(&self, source: &str) -> Json {
        let origin = Origin {
            source: source.to_owned(),
            file: self.file.clone(),
            line: self.line,
            lines: self.lines.clone(),
        };
        let mut object = self.object.clone();
        // A value that can be made into JSON was read from text.
        if let Ok(text) = serde_json::to_string(&origin) {
            object["metadata"]["annotations"][Origin::key(source)] = text.into();
        }
        object
    }
}

/// Takes what must not be seen out of the way to the BMC, and names where it is.
fn take_secrets(spec: &mut Json, secret: &str) -> Vec<Credential> {
    let Some(oob) = spec.get_mut("oob").and_then(Json::as_object_mut) else { return Vec::new() };
    let is_kept = |key: &str, value: &Json| {
        is_secret_path(&format!("oob.{key}")) || value.as_str().is_some_and(is_secret_text)
    };
    let kept = oob.iter().filter(|(key, value)| is_kept(key, value));
    let keys: Vec<String> = kept.map(|(key, _)| key.clone()).collect();
    let mut taken = Vec::new();
    let mut named = Map::new();
    for key in keys {
        let Some(Json::String(value)) = oob.remove(&key) else { continue };
        // `!` unsets a map's key nowhere: it is a value like any other, and nothing to hide.
        let in_secret = secret_key(&key);
        named.insert(key, json!({"name": secret, "key": in_secret}));
        taken.push(Credential { secret: secret.to_owned(), key: in_secret, value });
    }
    if !named.is_empty() {
        spec["oob_secrets"] = named.into();
    }
    taken
}

/// Keys of Secrets are letters, digits, dots, dashes and underscores.
fn secret_key(key: &str) -> String {
    key.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

/// The Secret of a document; names of Secrets are in lower case, and no two documents share one.
fn secret_name(kind: &str, name: &str) -> String {
    let wanted = format!("{kind}-{name}");
    let is_kept = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let plain: String =
        wanted.to_lowercase().chars().take(200).map(|c| if is_kept(c) { c } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    if plain == format!("{}-{name}", kind.to_lowercase()) {
        format!("design-{plain}")
    } else {
        format!("design-{plain}-{:08x}", fingerprint(&wanted))
    }
}

/// FNV-1a: short, and the same everywhere and always.
pub(super) fn fingerprint(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The labels of a document that an object can have.
fn labels_of(document: &Document) -> Map<String, Json> {
    let written = document.metadata.get("labels").and_then(|labels| labels.value.as_map());
    let pairs = written.into_iter().flat_map(|map| map.iter());
    pairs
        .filter_map(|(key, node)| match &node.value {
            Value::String(value) => Some((key.as_str()?.to_owned(), value.clone())),
            _ => None,
        })
        .filter(|(key, value)| {
            is_word(key.rsplit('/').next().unwrap_or_default())
                && is_prefix(key)
                && (value.is_empty() || is_word(value))
        })
        .map(|(key, value)| (key, value.into()))
        .collect()
}

fn is_word(text: &str) -> bool {
    let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() <= 63
        && is_end(text.chars().next())
        && is_end(text.chars().last())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// What stands before the slash of a label's key is a domain.
fn is_prefix(key: &str) -> bool {
    let Some((prefix, _)) = key.rsplit_once('/') else { return true };
    let is_label = |label: &str| {
        is_word(label) && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    prefix.len() <= 253 && prefix.split('.').all(is_label)
}
