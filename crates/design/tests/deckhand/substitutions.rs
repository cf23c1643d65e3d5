//! Values that go from one document into another.

use design::{
    deckhand::{MissingSource, ProblemKind, render_with},
    yaml::Warning,
};

use crate::{documents, problem, rendered};

const SOURCES: &str = r"---
schema: a/Secret/v1
metadata: {name: secret}
data: s$1
---
schema: a/Source/v1
metadata: {name: source}
data: {image: 'quay.io/ceph:v15', port: 80, list: [1, 2], a.b: {c: 5}, nothing: null}
";

/// A document on lines 9 to 14; the substitutions stand on line 13.
fn reader(substitutions: &str, data: &str) -> String {
    format!(
        "{SOURCES}---
schema: a/Reader/v1
metadata:
  name: reader
  substitutions: [{substitutions}]
data: {data}
"
    )
}

fn from_source(path: &str, dest: &str) -> String {
    format!("{{src: {{schema: a/Source/v1, name: source, path: {path}}}, dest: {dest}}}")
}

fn read(substitutions: &str, data: &str) -> String {
    rendered(&reader(substitutions, data), "reader")
}

fn told(substitutions: &str, data: &str) -> (ProblemKind, String) {
    problem(&reader(substitutions, data))
}

#[test]
fn a_value_is_written_at_a_path_that_is_made() {
    assert_eq!(read(&from_source(".list", "{path: '.a[1].b'}"), "{}"), r#"{"a":[{},{"b":[1,2]}]}"#);
}

#[test]
fn a_source_that_is_no_map_is_taken_whole() {
    let whole = "{src: {schema: a/Secret/v1, name: secret, path: .any}, dest: {path: .password}}";
    assert_eq!(read(whole, "{}"), r#"{"password":"s$1"}"#);
}

#[test]
fn a_key_with_points_can_be_named() {
    assert_eq!(read(&from_source("\".'a.b'.c\"", "{path: '.[''x.y'']'}"), "{}"), r#"{"x.y":5}"#);
}

#[test]
fn one_value_goes_to_several_places() {
    assert_eq!(read(&from_source(".port", "[{path: .a}, {path: .b.c}]"), "{}"), r#"{"a":80,"b":{"c":80}}"#);
}

#[test]
fn a_part_of_the_source_is_picked_by_a_pattern() {
    let part = from_source(".image, pattern: '^(.*):(.*)$', match_group: 2", "{path: .tag}");
    assert_eq!(read(&part, "{}"), r#"{"tag":"v15"}"#);
}

#[test]
fn a_pattern_that_picks_nothing_takes_all_and_warns() {
    let part = from_source(".image, pattern: xyz", "{path: .tag}");
    let rendering = render_with(documents(&reader(&part, "{}")), MissingSource::Refuse).unwrap();
    let [Warning { at, message }] = &rendering.warnings[..] else { panic!("{:?}", rendering.warnings) };
    assert_eq!(at.to_string(), "site.yaml:13:19");
    assert_eq!(
        message,
        "the pattern \"xyz\" finds nothing at .image of a/Source/v1 source; all of it is taken"
    );
    assert_eq!(read(&part, "{}"), r#"{"tag":"quay.io/ceph:v15"}"#);
}

#[test]
fn every_match_in_the_destination_is_replaced() {
    let url = from_source(".port", "{path: .url, pattern: '[A-Z]+'}");
    assert_eq!(read(&url, "{url: 'a:PORT/b:PORT'}"), r#"{"url":"a:80/b:80"}"#);
}

#[test]
fn a_value_is_put_in_as_it_is_written() {
    let secret = "{src: {schema: a/Secret/v1, name: secret, path: .}, dest: {path: .url, pattern: (PASS)}}";
    assert_eq!(read(secret, "{url: 'u:PASS@h'}"), r#"{"url":"u:s$1@h"}"#);
}

#[test]
fn a_pattern_can_reach_texts_below() {
    let data = "{a: PORT, b: {c: [PORT, 5, {d: PORT}]}}";
    let below = |depth: i64| {
        from_source(".port", &format!("{{path: ., pattern: PORT, recurse: {{depth: {depth}}}}}"))
    };
    assert_eq!(read(&below(-1), data), r#"{"a":"80","b":{"c":["80",5,{"d":"80"}]}}"#);
    assert_eq!(read(&below(1), data), r#"{"a":"80","b":{"c":["PORT",5,{"d":"PORT"}]}}"#);
    assert_eq!(read(&below(3), data), r#"{"a":"80","b":{"c":["80",5,{"d":"PORT"}]}}"#);
}

#[test]
fn substitutions_are_done_in_order_and_see_each_other() {
    let first = from_source(".image", "{path: .url}");
    let second = from_source(".port", "{path: .url, pattern: v15}");
    assert_eq!(read(&format!("{first}, {second}"), "{}"), r#"{"url":"quay.io/ceph:80"}"#);
}

#[test]
fn children_inherit_what_was_put_into_an_abstract_parent() {
    let family = format!(
        "{SOURCES}---
schema: a/Thing/v1
metadata:
  name: parent
  labels: {{role: base}}
  layeringDefinition: {{abstract: true, layer: global}}
  substitutions: [{}]
data: {{}}
---
schema: a/Thing/v1
metadata:
  name: child
  layeringDefinition: {{layer: site, parentSelector: {{role: base}}, actions: [{{method: merge, path: .}}]}}
data: {{b: 2}}
",
        from_source(".port", "{path: .a}")
    );
    assert_eq!(rendered(&family, "child"), r#"{"a":80,"b":2}"#);
}

#[test]
fn a_missing_source_is_a_mistake_or_a_warning() {
    let text = reader("{src: {schema: a/Source/v1, name: nobody, path: .}, dest: {path: .a}}", "{a: 1}");
    let message = "a/Reader/v1 reader takes a value from a/Source/v1 nobody, which does not exist";
    assert_eq!(problem(&text), (ProblemKind::MissingSource, format!("site.yaml:13:19: {message}")));

    let rendering = render_with(documents(&text), MissingSource::Warn).unwrap();
    assert_eq!(
        rendering.missing.iter().map(|one| one.warning.message.as_str()).collect::<Vec<_>>(),
        [message]
    );
}

#[test]
fn an_abstract_source_is_a_mistake() {
    let hidden = "metadata: {name: source, layeringDefinition: {abstract: true, layer: global}}";
    let text = reader(&from_source(".port", "{path: .a}"), "{}").replace("metadata: {name: source}", hidden);
    assert_eq!(
        problem(&text).1,
        "site.yaml:13:19: a/Reader/v1 reader takes a value from a/Source/v1 source, which is abstract"
    );
}

#[test]
fn a_source_without_the_value_is_a_mistake() {
    for path in [".nobody", ".nothing"] {
        assert_eq!(
            told(&from_source(path, "{path: .a}"), "{}"),
            (
                ProblemKind::MissingInSource,
                format!(
                    "site.yaml:13:19: a/Reader/v1 reader takes {path} of a/Source/v1 source (site.yaml:6), \
                     which has nothing there"
                )
            )
        );
    }
}

#[test]
fn a_destination_that_does_not_fit_is_a_mistake() {
    let cases = [
        (
            "{path: .a.b}",
            "cannot take the value: .a.b needs a map to hold \"b\", but there is an integer (site.yaml:14:11)",
        ),
        ("{path: .a, pattern: X}", "has an integer at .a, but a pattern requires a string"),
        ("{path: .b, pattern: X}", "has no value at .b for the pattern to match"),
    ];
    for (dest, reason) in cases {
        let (kind, message) = told(&from_source(".port", dest), "{a: 5}");
        assert_eq!(kind, ProblemKind::BadDestination);
        assert_eq!(message, format!("site.yaml:13:81: a/Reader/v1 reader {reason}"));
    }
    let list = told(&from_source(".list", "{path: .a, pattern: X}"), "{a: X}").1;
    assert!(list.ends_with("cannot insert a list into a string at .a"), "{list}");
}

#[test]
fn a_pattern_that_is_none_is_told_with_its_line() {
    let (kind, message) = told(&from_source(".port", "{path: .a, pattern: '('}"), "{}");
    assert_eq!(kind, ProblemKind::Malformed);
    assert!(message.starts_with("site.yaml:13:101: a/Reader/v1 reader: invalid pattern \"(\":"), "{message}");
}

#[test]
fn a_cycle_is_told_as_a_chain() {
    let link = |name: &str, source: &str| {
        format!(
            "---
schema: a/Link/v1
metadata:
  name: {name}
  substitutions: [{{src: {{schema: a/Link/v1, name: {source}, path: .x}}, dest: {{path: .x}}}}]
data: {{x: 1}}
"
        )
    };
    let text = link("one", "two") + &link("two", "three") + &link("three", "one");
    assert_eq!(
        problem(&text),
        (
            ProblemKind::Cycle,
            "site.yaml:2:1: cyclic dependency between documents: a/Link/v1 one (site.yaml:2) needs a/Link/v1 two (site.yaml:8) \
             needs a/Link/v1 three (site.yaml:14) needs a/Link/v1 one (site.yaml:2)"
                .to_owned()
        )
    );
}

/// A chain in which every document takes all of the one before it, at the places given.
fn growing(length: usize, places: &str) -> String {
    let link = |number: usize| {
        let before = number.saturating_sub(1);
        let source = format!("{{schema: a/Link/v1, name: l{before}, path: .}}");
        let taken = if number == 0 { String::new() } else { format!("{{src: {source}, dest: {places}}}") };
        format!(
            "---\nschema: a/Link/v1\nmetadata:\n  name: l{number}\n  substitutions: [{taken}]\ndata: {{x: 1}}\n"
        )
    };
    (0..length).map(link).collect()
}

#[test]
fn documents_that_grow_from_each_other_without_end_are_refused() {
    let (kind, message) = problem(&growing(40, "[{path: .a}, {path: .b}]"));
    assert_eq!(kind, ProblemKind::TooLarge);
    assert!(message.ends_with("becomes larger than 16 MiB"), "{message}");

    let (kind, message) = problem(&growing(5_000, "{path: .a}"));
    assert_eq!(kind, ProblemKind::TooLarge);
    assert!(message.ends_with("becomes nested deeper than 128 levels"), "{message}");
}
