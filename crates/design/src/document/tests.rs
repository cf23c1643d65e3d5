use std::{error::Error, fs};

use super::*;

fn one(yaml: &str) -> Document {
    parse("a.yaml", yaml.as_bytes()).unwrap().documents.remove(0)
}

/// What is said of a document that is passed over or has no name.
fn refusal(yaml: &str) -> String {
    let loaded = parse("a.yaml", yaml.as_bytes()).unwrap();
    let nameless = loaded.documents.into_iter().filter_map(|document| document.nameless);
    loaded.passed_over.into_iter().chain(nameless).map(|error| error.to_string()).collect()
}

#[test]
fn both_envelopes_give_the_same_document() {
    let current = one("schema: drydock/Network/v1\nmetadata: {name: oob}\ndata: {mtu: 1500}\n");
    let older = one("apiVersion: drydock/v1\nkind: Network\nmetadata: {name: oob}\nspec: {mtu: 1500}\n");
    assert_eq!((current.envelope, older.envelope), (Envelope::Deckhand, Envelope::Legacy));
    assert_eq!(current.id, older.id);
    assert_eq!(current.data, older.data);
    assert_eq!(current.id.schema_parts(), Some(("drydock", "Network", "v1")));
}

#[test]
fn a_document_knows_where_it_begins_and_may_have_no_data() {
    let loaded = parse("a.yaml", b"---\n---\nschema: a/B/v1\nmetadata: {name: 5}\n").unwrap();
    let [document] = &loaded.documents[..] else { panic!("{loaded:?}") };
    assert_eq!(document.at.to_string(), "a.yaml:3:1");
    assert_eq!(document.name(), "5");
    assert!(document.data.value.is_null());
}

#[test]
fn an_unusable_envelope_is_told_with_its_line() {
    for (yaml, message) in [
        ("---\n- a\n", "a.yaml:2:1: a document must be a map, found a list"),
        ("a: 1", "a.yaml:1:1: a document requires `schema`, or `apiVersion` and `kind`"),
        ("schema: 5\nmetadata: {name: a}", "a.yaml:1:9: `schema` must be a string, found an integer"),
        ("schema: a/B/v1", "a.yaml:1:1: a document of a/B/v1 has no `metadata`"),
        ("schema: a/B/v1\nmetadata: x", "a.yaml:2:11: `metadata` must be a map, found a string"),
        ("schema: a/B/v1\nmetadata: {}", "a.yaml:2:11: a document of a/B/v1 has no `metadata.name`"),
        (
            "schema: a/B/v1\nmetadata: {name: [x]}",
            "a.yaml:2:18: `metadata.name` must be a string, found a list",
        ),
    ] {
        assert_eq!(refusal(yaml), message);
    }
}

#[test]
fn a_folder_is_read_at_any_depth_sorted_by_path() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("b/c")).unwrap();
    for (file, name) in
        [("z.yaml", "last"), ("b/c/a.yml", "second"), ("a.yaml", "first"), ("b/notes.txt", "none")]
    {
        let text = format!("schema: a/B/v1\nmetadata: {{name: {name}}}\n");
        fs::write(folder.path().join(file), text).unwrap();
    }
    let loaded = load([folder.path()]).unwrap();
    assert_eq!(loaded.documents.iter().map(Document::name).collect::<Vec<_>>(), ["first", "second", "last"]);
    assert!(loaded.documents[1].at.file.ends_with("b/c/a.yml"));
}

#[test]
fn what_can_not_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = load([folder.path()]).unwrap_err();
    assert_eq!(empty.to_string(), format!("no *.yaml or *.yml file under {}", folder.path().display()));

    let nowhere = folder.path().join("nowhere.yaml");
    let missing = load([&nowhere]).unwrap_err();
    assert_eq!(missing.to_string(), format!("cannot read {}", nowhere.display()));
    assert!(missing.source().is_some());
}
