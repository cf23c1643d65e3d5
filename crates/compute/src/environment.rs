//! The environment of containers: variables from values, ConfigMaps, Secrets and fields of the instance.

use std::collections::BTreeMap;

use krm::Object;
use serde_json::Value;

use crate::template::list;

/// Fields of the instance that a variable can have.
pub const FIELDS: [&str; 5] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "metadata.labels['KEY']",
    "metadata.annotations['KEY']",
];

/// Contents of a ConfigMap or Secret, by key.
pub type Data = BTreeMap<String, Vec<u8>>;

/// Looks up a ConfigMap or Secret by kind and name; nothing if it does not exist.
pub type Lookup<'a> = &'a dyn Fn(&str, &str) -> Option<Data>;

/// Whether a variable can have this field of the instance.
pub fn is_field(path: &str) -> bool {
    keyed(path).is_some() || FIELDS[..3].contains(&path)
}

/// The variables of a container, in order. What is missing is an error that names it, and no value.
pub fn resolve(
    container: &Value,
    instance: &Object,
    lookup: Lookup<'_>,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut variables: Vec<(String, Vec<u8>)> = Vec::new();
    let mut set = |name: String, value: Vec<u8>| {
        variables.retain(|(other, _)| *other != name);
        variables.push((name, value));
    };
    for source in list(&container["envFrom"]) {
        let prefix = source["prefix"].as_str().unwrap_or_default();
        for (kind, field) in [("ConfigMap", "configMapRef"), ("Secret", "secretRef")] {
            let Some(name) = source[field]["name"].as_str() else { continue };
            match lookup(kind, name) {
                Some(data) => data.into_iter().for_each(|(key, value)| set(format!("{prefix}{key}"), value)),
                None if source[field]["optional"] == true => {}
                None => return Err(format!("{kind} {name:?} not found")),
            }
        }
    }
    for variable in list(&container["env"]) {
        let name = variable["name"].as_str().unwrap_or_default().to_owned();
        let from = &variable["valueFrom"];
        if let Some(path) = from["fieldRef"]["fieldPath"].as_str() {
            set(name, field(instance, path).into_bytes());
            continue;
        }
        let mut is_from_data = false;
        for (kind, field) in [("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")] {
            let reference = &from[field];
            let Some(object) = reference["name"].as_str() else { continue };
            is_from_data = true;
            let key = reference["key"].as_str().unwrap_or_default();
            match lookup(kind, object).map(|mut data| data.remove(key)) {
                Some(Some(value)) => set(name.clone(), value),
                _ if reference["optional"] == true => {}
                Some(None) => return Err(format!("{kind} {object:?} has no key {key:?}")),
                None => return Err(format!("{kind} {object:?} not found")),
            }
        }
        if !is_from_data {
            let text = variable["value"].as_str().unwrap_or_default();
            let value = expand(text, &variables_of(&container["env"], &name, instance));
            set(name, value.into_bytes());
        }
    }
    Ok(variables)
}

/// The plain values that come before a variable: `$(NAME)` stands for one of them.
fn variables_of<'a>(env: &'a Value, until: &str, instance: &Object) -> BTreeMap<&'a str, String> {
    let mut before = BTreeMap::new();
    for variable in list(env).take_while(|variable| variable["name"] != until) {
        let Some(name) = variable["name"].as_str() else { continue };
        if let Some(path) = variable["valueFrom"]["fieldRef"]["fieldPath"].as_str() {
            before.insert(name, field(instance, path));
        } else if let Some(value) = variable["value"].as_str() {
            let expanded = expand(value, &before);
            before.insert(name, expanded);
        }
    }
    before
}

/// Replaces `$(NAME)` by what is known of it; `$$` stands for a dollar sign, and what is not known stays.
fn expand(text: &str, known: &BTreeMap<&str, String>) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(tail) = after.strip_prefix('$') {
            out.push('$');
            rest = tail;
            continue;
        }
        let named = after.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        match named {
            Some((name, tail)) => {
                match known.get(name) {
                    Some(value) => out.push_str(value),
                    None => out.push_str(&format!("$({name})")),
                }
                rest = tail;
            }
            None => {
                out.push('$');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

fn field(instance: &Object, path: &str) -> String {
    if let Some((map, key)) = keyed(path) {
        let found = if map == "labels" { instance.label(key) } else { instance.annotation(key) };
        return found.unwrap_or_default().to_owned();
    }
    path.strip_prefix("metadata.").map(|name| instance.meta_text(name)).unwrap_or_default().to_owned()
}

fn keyed(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix("metadata.")?;
    let (map, key) = rest.split_once("['")?;
    let key = key.strip_suffix("']")?;
    (matches!(map, "labels" | "annotations") && !key.is_empty()).then_some((map, key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_come_from_everywhere_and_the_last_one_counts() {
        let instance =
            Object::from_value(json!({"metadata": {"name": "api-0", "labels": {"tier": "app"}}})).unwrap();
        let container = json!({
            "envFrom": [{"configMapRef": {"name": "all"}, "prefix": "X_"}, {"secretRef": {"name": "none", "optional": true}}],
            "env": [
                {"name": "HOST", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "URL", "value": "http://$(HOST):80/$(UNKNOWN)?$$"},
                {"name": "TIER", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['tier']"}}},
                {"name": "X_a", "value": "mine"},
                {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "db", "key": "url"}}},
            ],
        });
        let lookup = |kind: &str, name: &str| match (kind, name) {
            ("ConfigMap", "all") => Some(Data::from([("a".to_owned(), b"1".to_vec())])),
            ("Secret", "db") => Some(Data::from([("url".to_owned(), b"secret".to_vec())])),
            _ => None,
        };
        let found = resolve(&container, &instance, &lookup).unwrap();
        let text: Vec<String> =
            found.iter().map(|(name, value)| format!("{name}={}", String::from_utf8_lossy(value))).collect();
        assert_eq!(
            text,
            ["HOST=api-0", "URL=http://api-0:80/$(UNKNOWN)?$", "TIER=app", "X_a=mine", "KEY=secret"]
        );
        let missing =
            json!({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "key": "none"}}}]});
        assert_eq!(resolve(&missing, &instance, &lookup).unwrap_err(), "Secret \"db\" has no key \"none\"");
    }
}
