//! The original's manifests, read where they lie: they are not ours to keep.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::Kubectl;

/// The folder of the original's manifests; `None`, said plainly, where it is not.
pub fn folder() -> Option<PathBuf> {
    require::cases("inventory")
}

/// One suite of the original's end-to-end tests.
pub struct Suite<'a> {
    folder: PathBuf,
    /// Who types.
    pub kubectl: &'a Kubectl,
}

impl<'a> Suite<'a> {
    /// A suite by its name.
    pub fn new(folder: &std::path::Path, name: &str, kubectl: &'a Kubectl) -> Suite<'a> {
        Suite { folder: folder.join("e2e").join(name), kubectl }
    }

    /// Applies a manifest.
    pub fn apply(&self, file: &str) {
        self.kubectl.run(&format!("apply -f {}", self.folder.join(file).display()));
    }

    /// Applies a manifest that is refused with these words.
    pub fn refused(&self, file: &str, words: &str) {
        let file = self.folder.join("test-data").join(file);
        let said = self.kubectl.refused(&format!("apply -f {}", file.display()));
        assert!(said.contains(words), "{}: {said}", file.display());
    }

    /// Deletes something, which is refused with these words, and it is still there.
    pub fn kept(&self, what: &str, words: &str) {
        let said = self.kubectl.refused(&format!("delete {what}"));
        assert!(said.contains(words), "delete {what}: {said}");
        self.kubectl.run(&format!("get {what}"));
    }

    /// Deletes something.
    pub fn delete(&self, what: &str) {
        self.kubectl.run(&format!("delete {what}"));
    }

    /// Waits until everything is as a file of expected states says.
    pub fn holds(&self, file: &str) {
        for expected in documents(&self.folder.join("assertions").join(file)) {
            let kind = expected["kind"].as_str().unwrap();
            let name = expected["metadata"]["name"].as_str().unwrap();
            let line = format!("get {kind}.v1alpha1.inventory.miloapis.com {name}");
            let begun = Instant::now();
            loop {
                let found = self.kubectl.json(&line);
                if holds(&expected, &found) {
                    break;
                }
                assert!(begun.elapsed() < Duration::from_secs(30), "{file}: {expected:#} and not {found:#}");
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

/// The documents of a YAML file.
pub fn documents(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let documents = text.split("\n---").map(|text| text.trim_start_matches("---"));
    let documents =
        documents.filter(|text| text.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#')));
    documents.map(|text| krm::decode::read_yaml(text.as_bytes()).unwrap().value).collect()
}

/// Whether all that is expected is there; lists have to be as long.
fn holds(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            expected.iter().all(|(key, value)| found.get(key).is_some_and(|found| holds(value, found)))
        }
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len()
                && expected.iter().zip(found).all(|(value, found)| holds(value, found))
        }
        (expected, found) => expected == found,
    }
}
