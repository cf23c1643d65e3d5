//! Objects out of documents.

use serde_json::{Map, Value as Json, json};

use super::{DIALECT, DRYDOCK, GROUP, ITEMS, KINDS, LEGACY, VERSION, forms, names::object_name, shape};
use crate::{
    document::{Document, Envelope},
    inherit::is_secret,
    yaml::{self, Value},
};

/// A document as an object, and the secrets that it must not hold.
#[derive(Clone, PartialEq)]
pub struct Written {
    /// The object.
    pub object: Json,
    /// What belongs into the Secret that it names.
    pub secrets: Vec<Credential>,
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

/// An object for a document; nothing if the document is of no kind of a design.
pub fn object_of(document: &Document) -> Option<Written> {
    let kind = document.id.kind()?;
    let (kind, _) = KINDS.iter().find(|(known, _)| *known == kind)?;
    let listed = forms::listed(&document.data, shape::of_kind(kind)?);
    let mut spec = listed.map_or_else(|| json!({}), |node| Json::from(&node.value));
    let secrets = take_secrets(&mut spec, &secret_name(kind, document.name()));
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), object_name(document.name()).into());
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
    Some(Written { object, secrets })
}

/// An object for a document of any other kind. One that is to be kept encrypted goes into a Secret.
pub fn item_of(document: &Document) -> Written {
    let own = format!("{}.{}", document.schema().replace('/', "."), document.name()).to_lowercase();
    let mut spec = json!({"schema": document.schema(), "name": document.name()});
    let policy = document.metadata.get("storagePolicy").and_then(|policy| policy.value.as_str());
    let mut secrets = Vec::new();
    if policy == Some("encrypted") {
        let secret = secret_name(ITEMS.0, &own);
        spec["data_secret"] = json!({"name": secret, "key": "data"});
        secrets.push(Credential { secret, key: "data".to_owned(), value: yaml::write(&document.data.value) });
    } else {
        spec["data"] = Json::from(&document.data.value);
    }
    let mut metadata = json!({"name": object_name(&own)});
    let labels = labels_of(document);
    if !labels.is_empty() {
        metadata["labels"] = labels.into();
    }
    let object = json!({"apiVersion": format!("{GROUP}/{VERSION}"), "kind": ITEMS.0, "metadata": metadata, "spec": spec});
    Written { object, secrets }
}

/// Takes what must not be seen out of the way to the BMC, and names where it is.
fn take_secrets(spec: &mut Json, secret: &str) -> Vec<Credential> {
    let Some(oob) = spec.get_mut("oob").and_then(Json::as_object_mut) else { return Vec::new() };
    let is_kept = |key: &String| !key.starts_with('!') && is_secret(&format!("oob.{key}"));
    let keys: Vec<String> = oob.keys().filter(|key| is_kept(key)).cloned().collect();
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
fn fingerprint(text: &str) -> u32 {
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
