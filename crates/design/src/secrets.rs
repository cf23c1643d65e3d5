//! What must not be shown: secret documents, fields with secret names, and values that are secrets wherever they are.
//!
//! A secret document marks all its values. Layering and substitution keep the mark, so a value is hidden wherever it was
//! copied to, including strings into which a part of it was inserted.

use crate::{
    model::Origin,
    yaml::{Node, Value},
};

/// What stands where a secret would.
pub const HIDDEN: &str = "(hidden)";

/// Kinds of any namespace that hold nothing but a secret.
const SECRET_KINDS: [&str; 4] = ["Passphrase", "PrivateKey", "CertificateKey", "CertificateAuthorityKey"];

/// Kinds of Deckhand that are kept with the keys that belong to them.
const SECRET_SCHEMAS: [&str; 2] = ["deckhand/Certificate/", "deckhand/CertificateAuthority/"];

/// How Pegleg wraps a document that it made or encrypted.
pub(crate) const MANAGED: &str = "pegleg/PeglegManagedDocument/";

/// How the name of a field ends when its value is a secret; an `s` may follow.
const WORDS: [&str; 8] =
    ["credential", "password", "passphrase", "secret", "token", "private_key", "privatekey", "secret_key"];

/// Whether everything in a document is secret, by its kind or because its author said so.
pub fn is_secret_document(schema: &str, metadata: &Node, data: &Node) -> bool {
    is_secret_schema(schema)
        || is_encrypted(metadata)
        || schema.starts_with(MANAGED) && data.get("managedDocument").is_some_and(holds_a_secret)
}

/// Whether documents of a schema hold nothing but a secret.
pub fn is_secret_schema(schema: &str) -> bool {
    let kind = schema.split('/').nth(1).unwrap_or_default();
    SECRET_KINDS.contains(&kind) || SECRET_SCHEMAS.iter().any(|secret| schema.starts_with(secret))
}

/// Whether the author of a document wants it to be stored encrypted.
pub fn is_encrypted(metadata: &Node) -> bool {
    metadata.get("storagePolicy").and_then(|policy| policy.value.as_str()) == Some("encrypted")
}

fn holds_a_secret(managed: &Node) -> bool {
    let schema = managed.get("schema").and_then(|schema| schema.value.as_str()).unwrap_or_default();
    is_secret_schema(schema) || managed.get("metadata").is_some_and(is_encrypted)
}

/// Whether a field of this name holds a secret.
pub fn is_secret_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let key = key.strip_suffix('s').filter(|_| !key.ends_with("ss")).unwrap_or(&key);
    WORDS.iter().any(|word| key.ends_with(word))
}

/// Whether the setting of a host at this path holds a secret. Only the way to a BMC does.
pub fn is_secret_path(path: &str) -> bool {
    path.strip_prefix("oob.").is_some_and(|key| !key.starts_with('!') && is_secret_key(key))
}

/// Whether a text is a secret wherever it stands: a private key, or a URL with a password.
pub fn is_secret_text(text: &str) -> bool {
    text.contains("PRIVATE KEY-----") || has_password(text)
}

/// `scheme://user:password@host`, anywhere in a text.
fn has_password(text: &str) -> bool {
    text.match_indices("://").any(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        let authority = rest.split(|c: char| matches!(c, '/' | '?' | '#') || c.is_whitespace()).next();
        let user = authority.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
        user.and_then(|user| user.split_once(':')).is_some_and(|(_, password)| !password.is_empty())
    })
}

/// Whether a value that somebody set at a path must not be shown.
pub fn is_hidden(path: &str, value: &str, by: Option<&Origin>) -> bool {
    by.is_some_and(|by| by.at.file.is_secret()) || is_secret_path(path) || is_secret_text(value)
}

/// The value at a path, for people to see.
pub fn shown<'v>(path: &str, value: &'v str, by: Option<&Origin>) -> &'v str {
    if is_hidden(path, value, by) { HIDDEN } else { value }
}

/// Whether a value of a document must not be shown.
pub fn hides(node: &Node) -> bool {
    node.at.file.is_secret() || node.value.as_str().is_some_and(is_secret_text)
}

/// A copy of a document's data in which every secret is hidden. `is_secret_field` tells by the path and name of a field.
pub fn without_secrets(data: &Node, is_secret_field: &dyn Fn(&str, &str) -> bool) -> Node {
    hide(data, "", is_secret_field)
}

fn hide(node: &Node, path: &str, is_secret_field: &dyn Fn(&str, &str) -> bool) -> Node {
    if hides(node) && !node.value.is_null() {
        return Node::new(HIDDEN, node.at.clone());
    }
    let value = match &node.value {
        Value::List(items) => {
            Value::List(items.iter().map(|item| hide(item, path, is_secret_field)).collect())
        }
        Value::Map(map) => {
            let mut shown = crate::yaml::Map::new();
            for (key, entry) in map.entries() {
                let name = key.to_string();
                let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let value = match is_simple(&entry.value) && is_secret_field(&below, &name) {
                    true => Node::new(HIDDEN, entry.value.at.clone()),
                    false => hide(&entry.value, &below, is_secret_field),
                };
                shown.insert(key.clone(), entry.key_at.clone(), value);
            }
            shown.into()
        }
        other => other.clone(),
    };
    Node { value, at: node.at.clone() }
}

/// Whether a value is a scalar, or a list of them.
fn is_simple(node: &Node) -> bool {
    match &node.value {
        Value::Map(_) | Value::Null => false,
        Value::List(items) => items.iter().all(is_simple),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_bmc_hides_its_secrets() {
        let shown = |path, value| shown(path, value, None);
        assert_eq!(shown("oob.credential", "x"), HIDDEN);
        assert_eq!(shown("oob.ipmi_Password", "x"), HIDDEN);
        assert_eq!(shown("oob.account", "x"), "x");
        assert_eq!(shown("platform.kernel_params.token", "x"), "x");
    }

    #[test]
    fn a_private_key_and_a_password_in_a_url_are_secrets_wherever_they_are() {
        assert!(is_secret_text("-----BEGIN RSA PRIVATE KEY-----\nMII…"));
        assert!(is_secret_text("deb https://me:pw@repo.example.com/x stable"));
        for text in ["https://repo.example.com/a:b@c", "https://me@repo.example.com", "ssh-rsa AAAA me@host"]
        {
            assert!(!is_secret_text(text), "{text}");
        }
    }

    #[test]
    fn keys_and_passphrases_are_secret_documents_and_public_keys_are_not() {
        for schema in ["deckhand/Passphrase/v1", "deckhand/Certificate/v1", "shop/PrivateKey/v1"] {
            assert!(is_secret_schema(schema), "{schema}");
        }
        for schema in ["deckhand/PublicKey/v1", "cert-manager.io/Certificate/v1", "deckhand/DataSchema/v1"] {
            assert!(!is_secret_schema(schema), "{schema}");
        }
    }
}
