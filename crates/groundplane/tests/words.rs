//! What users read is in plain words: every field of our kinds is described, and no phrase of
//! `tests/words/banned.txt` is in the documentation, the help of commands, descriptions or messages.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "words/fields.rs"]
mod fields;
#[path = "words/literals.rs"]
mod literals;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use krm::kind::Kind;
use regex::{Regex, RegexBuilder};

/// A piece of text that users read, and where it is.
struct Text {
    place: String,
    line: usize,
    text: String,
}

/// A phrase that must not be used.
struct Banned {
    pattern: Regex,
    instead: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn kinds() -> Vec<Kind> {
    let mut kinds = apiserver::kinds::all();
    kinds.extend(inventory::all());
    kinds.extend(design_resources::all());
    kinds.extend(platform::all());
    kinds
}

fn banned() -> Vec<Banned> {
    let list = std::fs::read_to_string(root().join("tests/words/banned.txt")).unwrap();
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (pattern, instead) = line.split_once(" => ").unwrap_or_else(|| panic!("{line:?} has no =>"));
            let pattern = RegexBuilder::new(pattern).case_insensitive(true).build();
            Banned { pattern: pattern.unwrap(), instead: instead.to_owned() }
        })
        .collect()
}

/// One line for each banned phrase in a text.
fn hits(banned: &[Banned], texts: &[Text]) -> String {
    let mut told = String::new();
    for Text { place, line, text } in texts {
        for Banned { pattern, instead } in banned {
            for found in pattern.find_iter(text) {
                let line = line + text[..found.start()].matches('\n').count();
                writeln!(told, "{place}:{line}: {:?}; write {instead}", found.as_str()).unwrap();
            }
        }
    }
    told
}

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

fn lines(place: &str, text: &str) -> Vec<Text> {
    let line =
        |(at, text): (usize, &str)| Text { place: place.to_owned(), line: at + 1, text: text.to_owned() };
    text.lines().enumerate().map(line).collect()
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn every_field_of_our_kinds_is_described() {
    let (mut faults, mut checked) = (Vec::new(), 0);
    for kind in kinds().iter().filter(|kind| !fields::is_of_kubernetes(&kind.group)) {
        for version in &kind.versions {
            let at = format!("{}/{} {}", kind.group, version.name, kind.names.kind);
            checked += fields::check(&at, &version.openapi, &mut faults);
        }
    }
    let shared =
        std::fs::read_to_string(root().join("crates/apiserver/src/openapi/definitions.json")).unwrap();
    let shared: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&shared).unwrap();
    for (name, schema) in shared.iter().filter(|(name, _)| name.starts_with("dev.groundplane.")) {
        checked += fields::check(name, schema, &mut faults);
    }
    assert!(checked > 500, "only {checked} fields were found");
    assert!(faults.is_empty(), "{} of {checked} fields:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn documentation_has_no_banned_phrase() {
    let mut paths = vec![root().join("README.md")];
    files(&root().join("docs"), "md", &mut paths);
    assert!(paths.len() > 20, "only {} pages were found", paths.len());
    let page = |path: &PathBuf| lines(&relative(path), &std::fs::read_to_string(path).unwrap());
    let told = hits(&banned(), &paths.iter().flat_map(page).collect::<Vec<Text>>());
    assert!(told.is_empty(), "{} hits:\n{told}", told.lines().count());
}

#[test]
fn the_help_of_commands_has_no_banned_phrase() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("cli.md");
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundplane"));
    let made = command.arg("__docs").arg("--markdown").arg(&page).arg("--man").arg(folder.path()).status();
    assert!(made.unwrap().success());
    let mut texts = Vec::new();
    let mut place = "groundplane --help".to_owned();
    for line in lines("", &std::fs::read_to_string(&page).unwrap()) {
        if let Some(name) = line.text.strip_prefix("## ").filter(|name| name.starts_with("groundplane")) {
            place = format!("{name} --help");
        }
        texts.push(Text { place: place.clone(), ..line });
    }
    assert!(texts.len() > 1000, "only {} lines of help were found", texts.len());
    let told = hits(&banned(), &texts);
    assert!(told.is_empty(), "{} hits:\n{told}", told.lines().count());
}

#[test]
fn descriptions_and_messages_have_no_banned_phrase() {
    let mut texts = Vec::new();
    for folder in std::fs::read_dir(root().join("crates")).unwrap() {
        let source = folder.unwrap().path().join("src");
        let mut paths = Vec::new();
        if source.is_dir() {
            files(&source, "rs", &mut paths);
        }
        for path in paths.iter().filter(|path| literals::is_read_by_users(&relative(path))) {
            let found = literals::texts(&std::fs::read_to_string(path).unwrap());
            let place = relative(path);
            texts.extend(found.into_iter().map(|(line, text)| Text { place: place.clone(), line, text }));
        }
    }
    let shared = root().join("crates/apiserver/src/openapi/definitions.json");
    texts.extend(lines(&relative(&shared), &std::fs::read_to_string(&shared).unwrap()));
    assert!(texts.len() > 10_000, "only {} texts were found", texts.len());
    let told = hits(&banned(), &texts);
    assert!(told.is_empty(), "{} hits:\n{told}", told.lines().count());
}

#[test]
fn a_banned_phrase_is_found_with_its_line() {
    let texts =
        [Text { place: "a.md".to_owned(), line: 7, text: "Fine.\nThe limit, 80 unless said.".to_owned() }];
    let told = hits(&banned(), &texts);
    assert_eq!(told, "a.md:8: \"unless said\"; write \"Defaults to …\"\n");
}
