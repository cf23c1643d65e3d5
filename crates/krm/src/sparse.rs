//! A few fields of an object, read out of its bytes without reading the rest.
//!
//! Whoever looks for objects by labels or by a field looks at thousands of them. Of each only what is asked for is made
//! into values; the rest is passed over, and not even that once everything was found.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::Object;

/// The fields that are wanted.
#[derive(Debug, Clone, Default)]
pub struct Sparse {
    root: Fields,
}

/// Fields of one object, and what is wanted below each.
#[derive(Debug, Clone, Default)]
struct Fields {
    /// Everything is wanted.
    whole: bool,
    named: Vec<(String, Fields)>,
}

impl Sparse {
    /// Reads the fields at these dotted paths, such as `metadata.labels`.
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Sparse {
        let mut root = Fields::default();
        for path in paths {
            let mut at = &mut root;
            for step in path.split('.') {
                at = at.below(step);
            }
            at.whole = true;
        }
        Sparse { root }
    }

    /// An object that has the wanted fields, if `bytes` have them, and no others; `None` if they are no object.
    ///
    /// [`Object::at`] says the same of it as of the whole object, for every path that is wanted, and so does what goes
    /// through lists.
    pub fn read(&self, bytes: &[u8]) -> Option<Object> {
        let mut found = Map::new();
        let wanted = self.root.leaves();
        let mut looking = Looking { missing: wanted };
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let read =
            (Reading { fields: &self.root, found: &mut found, looking: &mut looking }).deserialize(&mut json);
        let is_object = match read {
            Ok(read) => matches!(read, Read::Object),
            // When all is found the reading is broken off, which shows as an error.
            Err(_) => wanted > 0 && looking.missing == 0,
        };
        is_object.then_some(Object(found))
    }
}

impl Fields {
    fn below(&mut self, step: &str) -> &mut Fields {
        let at = match self.named.iter().position(|(name, _)| name == step) {
            Some(at) => at,
            None => {
                self.named.push((step.to_owned(), Fields::default()));
                self.named.len() - 1
            }
        };
        &mut self.named[at].1
    }

    /// How many subtrees are wanted.
    fn leaves(&self) -> usize {
        match self.whole {
            true => 1,
            false => self.named.iter().map(|(_, fields)| fields.leaves()).sum(),
        }
    }
}

/// How much has not been seen yet.
struct Looking {
    missing: usize,
}

impl Looking {
    /// Only so much can still come; breaks the reading off when that is nothing.
    fn reach<E: Error>(&mut self, missing: usize) -> Result<(), E> {
        self.missing = missing;
        match missing {
            0 => Err(E::custom("there is nothing more to find")),
            _ => Ok(()),
        }
    }
}

/// What stands where an object's fields are wanted.
enum Read {
    Object,
    /// Fields are wanted of each of its items, which are all of it.
    List(Vec<Value>),
    Other,
}

/// Reads an object's wanted fields into a map.
struct Reading<'a> {
    fields: &'a Fields,
    found: &'a mut Map<String, Value>,
    looking: &'a mut Looking,
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = Read;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Read, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_> {
    type Value = Read;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read, A::Error> {
        let Reading { fields, found, looking } = self;
        while let Some(wanted) = map.next_key_seed(FieldName(fields))? {
            let Some((name, fields)) = wanted else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let missing_after = looking.missing.saturating_sub(fields.leaves());
            if fields.whole {
                found.insert(name.clone(), map.next_value()?);
                looking.reach::<A::Error>(missing_after)?;
                continue;
            }
            // Before it is read: what was found in it stays when the reading is broken off.
            let slot = found.entry(name.as_str()).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(below) = slot else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            match map.next_value_seed(Reading { fields, found: below, looking: &mut *looking })? {
                Read::Object => {}
                Read::List(items) => {
                    found.insert(name.clone(), Value::Array(items));
                }
                // As in the whole object there is nothing below it.
                Read::Other => {
                    found.insert(name.clone(), Value::Null);
                }
            }
            // What was not in it does not come any more.
            looking.reach::<A::Error>(missing_after)?;
        }
        Ok(Read::Object)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Read, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Read::List(items))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Read, E> {
        Ok(Read::Other)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Read, E> {
        Ok(Read::Other)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Read, E> {
        Ok(Read::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Read, E> {
        Ok(Read::Other)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Read, E> {
        Ok(Read::Other)
    }

    fn visit_unit<E: Error>(self) -> Result<Read, E> {
        Ok(Read::Other)
    }
}

/// Reads a field's name and finds it among those that are wanted.
struct FieldName<'a>(&'a Fields);

impl<'a, 'de> DeserializeSeed<'de> for FieldName<'a> {
    type Value = Option<&'a (String, Fields)>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for FieldName<'a> {
    type Value = Option<&'a (String, Fields)>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.named.iter().find(|(wanted, _)| wanted == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::field_texts;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn only_what_is_asked_for_is_there() {
        let bytes = br#"{"kind":"Rack","metadata":{"labels":{"a":"1","b":"2"},"name":"r"},"spec":{"x":{"y":[1]},"z":2}}"#;
        let sparse = Sparse::new(["metadata.labels", "spec.x.y", "status.phase"]);
        let expected = json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"x": {"y": [1]}}});
        assert_eq!(sparse.read(bytes).unwrap().into_value(), expected);
    }

    #[test]
    fn what_comes_after_is_not_even_looked_at() {
        let sparse = Sparse::new(["metadata.labels"]);
        let found = sparse.read(br#"{"metadata":{"labels":{"a":"1"},"name": this is no JSON"#).unwrap();
        assert_eq!(found.label("a"), Some("1"));
        let found = sparse.read(br#"{"metadata":{"name":"a"},"spec": nor is this"#).unwrap();
        assert_eq!(found.label("a"), None);
        assert!(Sparse::new(["metadata.name"]).read(b"{\"metadata\":").is_none());
        assert!(Sparse::new([]).read(b"[1]").is_none());
        assert!(Sparse::new([]).read(b"{\"a\":1}").is_some_and(|nothing| nothing.0.is_empty()));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c\"\\\\é]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a-c]|a\"", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_wanted_path_reads_the_same_as_in_the_whole_object(
            object in prop::collection::btree_map("[a-c]", value(), 0..4),
            paths in prop::collection::vec("[a-c](\\.[a-c]){0,3}", 1..4),
        ) {
            let whole = Object(object.into_iter().collect());
            let bytes = serde_json::to_vec(&whole.0).unwrap();
            let found = Sparse::new(paths.iter().map(String::as_str)).read(&bytes).unwrap();
            for path in &paths {
                prop_assert_eq!(found.at(path), whole.at(path), "{}", path);
                prop_assert_eq!(field_texts(&found, path), field_texts(&whole, path), "{}", path);
            }
        }
    }
}
