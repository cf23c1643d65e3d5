//! The definitions of a document: kinds of a group version, their lists and shared types.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use krm::kind::{Kind, Version};
use serde_json::{Map, Value, json};

use super::form::Form;
use super::{names, schema};

/// The metadata of an object.
pub const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
/// The metadata of a list.
pub const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
/// How something is to be deleted.
pub const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
/// A patch of any form.
pub const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
/// The answer that is no object.
pub const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";

/// Where a schema or an operation says which kind it is about.
pub const GROUP_VERSION_KIND: &str = "x-kubernetes-group-version-kind";

/// What all kinds share, references in it being names alone.
static SHARED: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let mut shared: BTreeMap<String, Value> = serde_json::from_str(include_str!("definitions.json"))
        .expect("definitions.json, which is part of this program, is JSON");
    for definition in shared.values_mut().filter(|definition| definition.get(GROUP_VERSION_KIND).is_some()) {
        schema::add_fields(definition, &schema::type_fields());
    }
    shared
});

/// The definitions of a kind, of its list and of the types within it, by name.
pub fn of_kind(kind: &Kind, version: &Version, form: Form) -> Vec<(String, Value)> {
    let name = names::definition(kind, &version.name, &kind.names.kind);
    let of_list = names::definition(kind, &version.name, &kind.names.list_kind);
    let mut object = match &version.published {
        Some(published) => schema::of_go_type(&published.root, form),
        None => schema::of_objects(&version.openapi, form),
    };
    let mut list = list(kind, &name, form);
    for (schema, is_of) in [(&mut object, &kind.names.kind), (&mut list, &kind.names.list_kind)] {
        schema[GROUP_VERSION_KIND] = json!([{ "group": kind.group, "version": version.name, "kind": is_of }]);
        if !kind.strategic && !version.selectable.is_empty() {
            let fields = version.selectable.iter().map(|path| json!({ "fieldPath": path }));
            schema["x-kubernetes-selectable-fields"] = fields.collect();
        }
    }
    let mut definitions = vec![(name, object)];
    if kind.takes("list") {
        definitions.push((of_list, list));
    }
    let within = version.published.iter().flat_map(|published| &published.definitions);
    let own = within.filter(|(name, _)| !SHARED.contains_key(*name));
    definitions.extend(own.map(|(name, definition)| (name.clone(), form.translate(definition))));
    definitions
}

/// What the definitions of a kind refer to, besides each other.
pub fn needed_by(version: &Version) -> Vec<&str> {
    let mut names = Vec::new();
    if let Some(published) = &version.published {
        referred(&published.root, &mut names);
        published.definitions.values().for_each(|definition| referred(definition, &mut names));
    }
    names
}

fn list(kind: &Kind, items: &str, form: Form) -> Value {
    const MORE: &str =
        "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
    let about_items = format!("List of {}. {MORE}", kind.names.plural);
    let about_metadata = format!("Standard list metadata. {MORE}#types-kinds");
    let mut metadata = json!({ "$ref": LIST_META, "description": about_metadata });
    let mut item = json!({ "$ref": items });
    if kind.strategic {
        metadata["default"] = json!({});
        item["default"] = json!({});
    }
    let item = form.translate(&item);
    let mut list = json!({
        "description": format!("{} is a list of {}", kind.names.list_kind, kind.names.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": { "description": about_items, "type": "array", "items": item },
            "metadata": form.translate(&metadata),
        },
    });
    schema::add_fields(&mut list, &schema::type_fields());
    list
}

/// Adds what is shared of the definitions that are needed, and what those need themselves.
pub fn add_shared<'a>(
    definitions: &mut Map<String, Value>,
    needed: impl IntoIterator<Item = &'a str>,
    form: Form,
) {
    let mut waiting: Vec<&str> = needed.into_iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        if let Some(definition) = SHARED.get(name).filter(|_| seen.insert(name)) {
            definitions.insert(name.to_owned(), form.translate(definition));
            referred(definition, &mut waiting);
        }
    }
}

/// Every group of Kubernetes has the options of a deletion for its own.
pub fn name_options(definitions: &mut Map<String, Value>, group: &str, version: &str) {
    let kinds = definitions.get_mut(DELETE_OPTIONS).and_then(|options| options.get_mut(GROUP_VERSION_KIND));
    if let Some(kinds) = kinds.and_then(Value::as_array_mut) {
        kinds.push(json!({ "group": group, "kind": "DeleteOptions", "version": version }));
    }
}

/// The names of all that is shared.
pub fn shared() -> impl Iterator<Item = &'static str> {
    SHARED.keys().map(String::as_str)
}

fn referred<'a>(definition: &'a Value, names: &mut Vec<&'a str>) {
    match definition {
        Value::Array(items) => items.iter().for_each(|item| referred(item, names)),
        Value::Object(members) => {
            names.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|member| referred(member, names));
        }
        _ => {}
    }
}
