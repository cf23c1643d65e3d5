//! Definitions of real projects, which have to be taken as they are.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::*;
use crate::Object;

#[test]
fn definitions_of_real_projects_are_taken() {
    let mut taken = 0;
    for folder in ["crds", "fulfillment/crds"] {
        let Some(folder) = require::cases(folder) else { return };
        for file in files(&folder) {
            let text = std::fs::read_to_string(&file).unwrap();
            for document in documents(&text) {
                check(document, &file);
                taken += 1;
            }
        }
    }
    assert!(taken >= 12, "only {taken} definitions were found");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|it| it == "yaml")).collect()
}

fn check(document: Value, file: &Path) {
    let mut object = Object::from_value(document).unwrap();
    let unknown = decode(&mut object).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert_eq!(unknown, Vec::<String>::new(), "{}", file.display());
    default(&mut object);
    prepare_for_create(&mut object);
    let errors: Vec<String> = validate_create(&object).iter().map(ToString::to_string).collect();
    assert_eq!(errors, Vec::<String>::new(), "{}", file.display());
    assert_eq!(non_structural_schema(&object), None);
    let definition = Definition::parse(&object).unwrap();
    assert!(definition.storage_version().is_some_and(|version| version.schema.is_some()));
}

/// The documents of a YAML text.
fn documents(text: &str) -> Vec<Value> {
    let texts = text.split("\n---").filter(|text| text.lines().any(|line| line.starts_with("kind:")));
    texts
        .map(|text| crate::decode::read_yaml(text.trim_start_matches("---").as_bytes()).unwrap().value)
        .collect()
}
