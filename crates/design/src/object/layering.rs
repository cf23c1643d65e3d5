//! How a document is layered, as a field of its object.

use serde_json::{Map as JsonMap, Value as Json, json};

use super::write::Layers;
use crate::{
    document::{Document, Envelope},
    yaml::{Map, Node, Position, Value},
};

/// The field.
pub(super) const FIELD: &str = "layering";

/// Between the name of a replacement and its layer; no name of an object has it.
const IN_LAYER: &str = "~~";

/// The name of the object of a document. A replacement has the name of what it replaces, so its layer is added.
pub(super) fn object_name_of(document: &Document, name: String) -> String {
    let is_replacement =
        document.metadata.get("replacement").is_some_and(|one| one.value.as_bool() == Some(true));
    match layer_of(document).filter(|_| is_replacement) {
        Some(layer) => format!("{name}{IN_LAYER}{}", super::object_name(layer)),
        None => name,
    }
}

/// The name of the document in the object of a name.
pub(super) fn document_name_of(object: &str) -> String {
    super::document_name(object.split_once(IN_LAYER).map_or(object, |(name, _)| name))
}

/// Puts the layering and the substitutions of a document into its object.
pub(super) fn write(document: &Document, layers: Layers, spec: &mut Json) {
    let is_kept = layers == Layers::Kept || document.envelope == Envelope::Native;
    let asked = document.metadata.get("substitutions").filter(|all| is_kept && !all.value.is_null());
    if let Some(all) = asked {
        spec["substitutions"] = Json::from(&all.value);
    }
    let mut layering = JsonMap::new();
    if let Some(layer) = layer_of(document) {
        layering.insert("layer".to_owned(), layer.into());
    }
    if layers == Layers::Kept {
        let definition = document.metadata.get("layeringDefinition");
        let written = |key: &str| definition?.get(key).filter(|one| !one.value.is_null());
        for (key, name) in
            [("abstract", "abstract"), ("parentSelector", "parent_selector"), ("actions", "actions")]
        {
            layering.extend(written(key).map(|one| (name.to_owned(), Json::from(&one.value))));
        }
        for key in ["labels", "replacement"] {
            let one = document.metadata.get(key).filter(|one| !one.value.is_null());
            layering.extend(one.map(|one| (key.to_owned(), Json::from(&one.value))));
        }
        for key in ["labels", "parent_selector"] {
            if let Some(Json::Object(labels)) = layering.get_mut(key) {
                labels.values_mut().for_each(as_text);
            }
        }
    }
    if !layering.is_empty() {
        spec[FIELD] = layering.into();
    }
}

/// Labels of objects are texts.
fn as_text(value: &mut Json) {
    if !value.is_string() {
        *value = value.to_string().into();
    }
}

/// The metadata that a document of this layering has.
pub(super) fn metadata(layering: &Json, at: &Position) -> Vec<(&'static str, Node)> {
    let node = |json: &Json| plain(json, at);
    let mut definition = Map::new();
    let mut add = |name: &str, key: &str| {
        if let Some(one) = layering.get(key).filter(|one| !one.is_null()) {
            definition.insert(name, at.clone(), node(one));
        }
    };
    add("layer", "layer");
    add("abstract", "abstract");
    add("parentSelector", "parent_selector");
    add("actions", "actions");
    let mut metadata = Vec::new();
    if !definition.is_empty() {
        metadata.push(("layeringDefinition", Node::new(definition, at.clone())));
    }
    for key in ["labels", "replacement"] {
        metadata.extend(layering.get(key).filter(|one| !one.is_null()).map(|one| (key, node(one))));
    }
    metadata
}

/// Whether a document gets values from others, so that it need not be whole by itself.
pub fn is_partial(spec: &Json) -> bool {
    let layering = &spec[FIELD];
    let selects = layering["parent_selector"].as_object().is_some_and(|selector| !selector.is_empty());
    spec.get("substitutions").is_some() || layering["abstract"] == json!(true) || selects
}

fn layer_of(document: &Document) -> Option<&str> {
    document.metadata.get("layeringDefinition")?.get("layer")?.value.as_str()
}

/// A value without owners of its own.
fn plain(json: &Json, at: &Position) -> Node {
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(|item| plain(item, at)).collect()),
        Json::Object(fields) => {
            let mut map = Map::new();
            for (key, one) in fields {
                map.insert(key.as_str(), at.clone(), plain(one, at));
            }
            map.into()
        }
    };
    Node::new(value, at.clone())
}
