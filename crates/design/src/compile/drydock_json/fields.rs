//! Fields as JSON: what is not set is not printed.

use serde_json::{Map, Value, json};

use crate::model::{Field, Set, Texts};

/// An object whose unset fields are left out.
#[derive(Default)]
pub(super) struct Object(Map<String, Value>);

impl Object {
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.0.insert(key.to_owned(), value);
        }
        self
    }

    pub(super) fn with_field<T: Clone + Into<Value>>(self, key: &str, field: &Field<T>) -> Self {
        match field {
            Some(set) => self.with(key, set.value.clone()),
            None => self,
        }
    }

    pub(super) fn with_list(self, key: &str, list: &Option<Vec<Set<String>>>) -> Self {
        match list {
            Some(list) => self.with(key, strings(list)),
            None => self,
        }
    }

    pub(super) fn done(self) -> Value {
        Value::Object(self.0)
    }
}

pub(super) fn strings(list: &[Set<String>]) -> Value {
    list.iter().map(|set| json!(set.value)).collect()
}

pub(super) fn texts(texts: &Texts) -> Value {
    texts.iter().map(|(key, set)| (key.clone(), json!(set.value))).collect()
}
