//! An object as the API sees it: JSON with a type and metadata.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A JSON object with `apiVersion`, `kind` and `metadata`, whatever else its kind puts in it.
///
/// Keys are sorted, so that the same object always has the same bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Object(pub Map<String, Value>);

/// Who owns an object, and whether that keeps the owner from going.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner<'a> {
    /// The owner's group and version.
    pub api_version: &'a str,
    /// The owner's kind.
    pub kind: &'a str,
    /// The owner's name.
    pub name: &'a str,
    /// The owner's identity.
    pub uid: &'a str,
    /// Whether it is the one that manages the object.
    pub controller: bool,
    /// Whether the owner's foreground deletion waits for this object.
    pub blocks_deletion: bool,
}

impl Object {
    /// An object of this type with empty metadata.
    pub fn new(api_version: &str, kind: &str) -> Object {
        let mut map = Map::new();
        map.insert("apiVersion".into(), api_version.into());
        map.insert("kind".into(), kind.into());
        map.insert("metadata".into(), Value::Object(Map::new()));
        Object(map)
    }

    /// The object in `value`, if it is one.
    pub fn from_value(value: Value) -> Option<Object> {
        match value {
            Value::Object(map) => Some(Object(map)),
            _ => None,
        }
    }

    /// As a plain value.
    pub fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    /// A field at the top.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field)
    }

    /// The value at a dotted path of fields, such as `spec.siteRef.name`.
    pub fn at(&self, path: &str) -> Option<&Value> {
        let mut steps = path.split('.');
        let mut value = self.0.get(steps.next()?)?;
        for step in steps {
            value = value.as_object()?.get(step)?;
        }
        Some(value)
    }

    /// Sets a field at the top; `None` takes it away.
    pub fn set(&mut self, field: &str, value: Option<Value>) {
        put(&mut self.0, field, value);
    }

    /// Sets a field by its path of names, such as `status.taken`. What is missing on the way, or no object, is made one.
    pub fn set_at(&mut self, path: &str, value: Value) {
        let mut steps: Vec<&str> = path.split('.').collect();
        let Some(last) = steps.pop() else { return };
        let mut map = &mut self.0;
        for step in steps {
            let slot = map.entry(step).or_insert_with(|| Value::Object(Map::new()));
            if !slot.is_object() {
                *slot = Value::Object(Map::new());
            }
            let Value::Object(inner) = slot else { return };
            map = inner;
        }
        map.insert(last.to_owned(), value);
    }

    /// Its group and version.
    pub fn api_version(&self) -> &str {
        self.text("apiVersion")
    }

    /// Its kind.
    pub fn kind(&self) -> &str {
        self.text("kind")
    }

    /// Sets group, version and kind.
    pub fn set_type(&mut self, api_version: &str, kind: &str) {
        self.0.insert("apiVersion".into(), api_version.into());
        self.0.insert("kind".into(), kind.into());
    }

    /// Its metadata, if it has any.
    pub fn metadata(&self) -> Option<&Map<String, Value>> {
        self.0.get("metadata")?.as_object()
    }

    /// The object with the metadata of another but for labels and annotations, which stay: only those are a conversion's.
    pub fn with_metadata_of(mut self, original: &Object) -> Object {
        let made = self.metadata().cloned().unwrap_or_default();
        let mut metadata = original.metadata().cloned().unwrap_or_default();
        for field in ["labels", "annotations"] {
            match made.get(field).filter(|value| !value.is_null()) {
                Some(value) => metadata.insert(field.to_owned(), value.clone()),
                None => metadata.remove(field),
            };
        }
        self.set("metadata", Some(Value::Object(metadata)));
        self
    }

    /// Its metadata, made if it has none.
    pub fn metadata_mut(&mut self) -> &mut Map<String, Value> {
        let slot = self.0.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        slot.as_object_mut().expect("it was just made an object")
    }

    /// A field of its metadata.
    pub fn meta(&self, field: &str) -> Option<&Value> {
        self.metadata()?.get(field)
    }

    /// Sets a field of its metadata; `None` takes it away.
    pub fn set_meta(&mut self, field: &str, value: Option<Value>) {
        put(self.metadata_mut(), field, value);
    }

    /// A string in its metadata; empty if it is absent.
    pub fn meta_text(&self, field: &str) -> &str {
        self.meta(field).and_then(Value::as_str).unwrap_or("")
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.meta_text("name")
    }

    /// Its namespace; empty when it has none.
    pub fn namespace(&self) -> &str {
        self.meta_text("namespace")
    }

    /// Its identity.
    pub fn uid(&self) -> &str {
        self.meta_text("uid")
    }

    /// The version it was read at.
    pub fn resource_version(&self) -> &str {
        self.meta_text("resourceVersion")
    }

    /// How often what is wanted of it has changed.
    pub fn generation(&self) -> i64 {
        self.meta("generation").and_then(Value::as_i64).unwrap_or(0)
    }

    /// Whether it is being deleted.
    pub fn is_deleting(&self) -> bool {
        self.meta("deletionTimestamp").is_some_and(|time| !time.is_null())
    }

    /// Its labels.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        texts(self.meta("labels"))
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.meta("labels")?.get(key)?.as_str()
    }

    /// Sets a label; `None` takes it away.
    pub fn set_label(&mut self, key: &str, value: Option<&str>) {
        let mut labels = self.meta("labels").and_then(Value::as_object).cloned().unwrap_or_default();
        put(&mut labels, key, value.map(Value::from));
        self.set_meta("labels", (!labels.is_empty()).then_some(Value::Object(labels)));
    }

    /// Its annotations.
    pub fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        texts(self.meta("annotations"))
    }

    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.meta("annotations")?.get(key)?.as_str()
    }

    /// What still has to happen before it may go.
    pub fn finalizers(&self) -> Vec<&str> {
        let list = self.meta("finalizers").and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Sets what still has to happen before it may go.
    pub fn set_finalizers(&mut self, finalizers: Vec<String>) {
        let list = (!finalizers.is_empty()).then(|| Value::from(finalizers));
        self.set_meta("finalizers", list);
    }

    /// Who owns it.
    pub fn owners(&self) -> impl Iterator<Item = Owner<'_>> {
        let list = self.meta("ownerReferences").and_then(Value::as_array);
        list.into_iter().flatten().map(|owner| {
            let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or("");
            let flag = |field: &str| owner.get(field).and_then(Value::as_bool).unwrap_or(false);
            Owner {
                api_version: text("apiVersion"),
                kind: text("kind"),
                name: text("name"),
                uid: text("uid"),
                controller: flag("controller"),
                blocks_deletion: flag("blockOwnerDeletion"),
            }
        })
    }

    fn text(&self, field: &str) -> &str {
        self.0.get(field).and_then(Value::as_str).unwrap_or("")
    }
}

fn put(map: &mut Map<String, Value>, field: &str, value: Option<Value>) {
    match value {
        Some(value) => {
            map.insert(field.to_owned(), value);
        }
        None => {
            map.remove(field);
        }
    }
}

fn texts(map: Option<&Value>) -> impl Iterator<Item = (&str, &str)> {
    let map = map.and_then(Value::as_object);
    map.into_iter().flatten().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}
