//! Definitions of real projects, which have to be taken as they are.

use std::path::{Path, PathBuf};

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

use super::*;
use crate::Object;

#[test]
fn definitions_of_real_projects_are_taken() {
    let cases = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases"));
    if !cases.exists() {
        eprintln!("skipped: there are no cases beside the workspace");
        return;
    }
    let mut taken = 0;
    for folder in ["crds", "fulfillment/crds"] {
        for file in files(&cases.join(folder)) {
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
    let events: Vec<Event<'_>> = Parser::new_from_str(text).map(|event| event.unwrap().0).collect();
    let mut events = events.into_iter().peekable();
    let mut documents = Vec::new();
    while let Some(event) = events.next() {
        if matches!(event, Event::DocumentStart(_)) {
            let value = node(&mut events);
            if !value.is_null() {
                documents.push(value);
            }
        }
    }
    documents
}

fn node<'a>(events: &mut std::iter::Peekable<impl Iterator<Item = Event<'a>>>) -> Value {
    match events.next().unwrap() {
        Event::Scalar(text, ScalarStyle::Plain, ..) => plain(&text),
        Event::Scalar(text, ..) => Value::String(text.into_owned()),
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            while !matches!(events.peek(), Some(Event::SequenceEnd)) {
                list.push(node(events));
            }
            events.next();
            Value::Array(list)
        }
        Event::MappingStart(..) => {
            let mut map = Map::new();
            while !matches!(events.peek(), Some(Event::MappingEnd)) {
                let key = match node(events) {
                    Value::String(key) => key,
                    other => other.to_string(),
                };
                map.insert(key, node(events));
            }
            events.next();
            Value::Object(map)
        }
        other => panic!("{other:?} is not used in definitions"),
    }
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => serde_json::from_str::<serde_json::Number>(text).map_or_else(|_| text.into(), Value::Number),
    }
}
