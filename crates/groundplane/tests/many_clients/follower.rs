//! A watcher that keeps a copy of a collection, as every informer does.

use std::collections::BTreeMap;

use serde_json::Value;
use testbed::server::Client;

/// One change as it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub what: String,
    pub name: String,
    pub version: u64,
    pub object: Value,
}

impl Told {
    /// Reads a line of a watch; `None` for a bookmark.
    pub fn read(line: &Value) -> Option<Told> {
        let what = line["type"].as_str().unwrap().to_owned();
        assert_ne!(what, "ERROR", "{line}");
        let object = line["object"].clone();
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let version = version(&object);
        (what != "BOOKMARK").then_some(Told { what, name, version, object })
    }
}

/// The version of an object or of a list.
pub fn version(object: &Value) -> u64 {
    let text = object["metadata"]["resourceVersion"].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no version in {object}"))
}

/// A copy, brought up to date change by change.
#[derive(Default)]
pub struct Copy {
    pub objects: BTreeMap<String, Value>,
    /// The version of the last change.
    pub last: u64,
}

impl Copy {
    /// Takes a change in; it must be the next one, and fit.
    pub fn take(&mut self, told: Told) {
        assert!(
            told.version > self.last,
            "{} {} at {} after {}",
            told.what,
            told.name,
            told.version,
            self.last
        );
        self.last = told.version;
        let before = match told.what.as_str() {
            "DELETED" => self.objects.remove(&told.name),
            _ => self.objects.insert(told.name.clone(), told.object),
        };
        let fits = match told.what.as_str() {
            "ADDED" => before.is_none(),
            "MODIFIED" | "DELETED" => before.is_some(),
            _ => false,
        };
        assert!(fits, "{} {} at {} does not fit", told.what, told.name, told.version);
    }
}

/// The objects of a collection by name, read page by page, and the version of the whole.
pub async fn listed(client: &Client, path: &str, limit: usize) -> (BTreeMap<String, Value>, u64) {
    let mut objects = BTreeMap::new();
    let mut whole = None;
    let mut rest = String::new();
    let joint = if path.contains('?') { '&' } else { '?' };
    loop {
        let answer = client.get(&format!("{path}{joint}limit={limit}&continue={rest}")).await.unwrap();
        assert_eq!(answer.code, 200, "{}", answer.text());
        let page = answer.json();
        let at = version(&page);
        assert_eq!(*whole.get_or_insert(at), at, "every page is of the same moment");
        for item in page["items"].as_array().unwrap() {
            let name = item["metadata"]["name"].as_str().unwrap().to_owned();
            assert!(objects.insert(name, item.clone()).is_none(), "{item} is on two pages");
        }
        match page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
            Some(token) => rest = token.to_owned(),
            None => return (objects, at),
        }
    }
}

/// What an item of a list lacks beside an object that is told alone.
pub fn without_type(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    object
}
