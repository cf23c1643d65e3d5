use proptest::prelude::*;

use super::*;
use crate::yaml::Value;

fn json(yaml: &str) -> String {
    let stream = read("a.yaml", yaml.as_bytes()).unwrap();
    stream.documents.iter().map(|node| serde_json::to_string(node).unwrap()).collect::<Vec<_>>().join(" ")
}

fn refusal(yaml: &[u8]) -> String {
    read("a.yaml", yaml).unwrap_err().to_string()
}

#[test]
fn a_stream_gives_its_documents_in_order() {
    assert_eq!(
        json("---\nb: 1\na: [x, {c: }]\n...\n---\n---\nlast\n"),
        r#"{"b":1,"a":["x",{"c":null}]} null "last""#
    );
    assert_eq!(json("\u{feff}a: 1"), r#"{"a":1}"#);
    assert_eq!(json(""), "");
}

#[test]
fn quotes_and_blocks_are_text() {
    assert_eq!(json("['5', \"yes\", !!str 5, ! 5]"), r#"["5","yes","5","5"]"#);
    assert_eq!(json("a: |\n  5\nb: >\n  x\n  y\n"), r#"{"a":"5\n","b":"x y\n"}"#);
}

#[test]
fn a_block_at_the_end_of_the_file_ends_as_pyyaml_ends_it() {
    for (yaml, text) in [
        ("a: |\n  x\n  y", r#"{"a":"x\ny"}"#),
        ("a: |\n  x\n", r#"{"a":"x\n"}"#),
        ("a: |-\n  x", r#"{"a":"x"}"#),
        ("a: >\n  x", r#"{"a":"x"}"#),
        ("a: |+\n  x", r#"{"a":"x"}"#),
        ("a: |+\n  x\n\n  ", r#"{"a":"x\n\n"}"#),
        ("a: |\n  x\n  ", r#"{"a":"x\n"}"#),
        ("a: |\n  x\nb: y", r#"{"a":"x\n","b":"y"}"#),
    ] {
        assert_eq!(json(yaml), text, "{yaml:?}");
    }
}

#[test]
fn every_value_knows_its_place() {
    let stream = read("a.yaml", b"---\na:\n  - x\n  - {b: y}\n").unwrap();
    let list = stream.documents[0].get("a").unwrap();
    let items = list.value.as_list().unwrap();
    assert_eq!(items[0].at.to_string(), "a.yaml:3:5");
    assert_eq!(items[1].get("b").unwrap().at.to_string(), "a.yaml:4:9");
    let Value::Map(map) = &items[1].value else { panic!("not a map") };
    assert_eq!(map.entry("b").unwrap().key_at.to_string(), "a.yaml:4:6");
}

#[test]
fn the_last_of_two_equal_keys_counts_in_the_place_of_the_first() {
    let stream = read("a.yaml", b"a: 1\nb: 2\na: 3\n").unwrap();
    assert_eq!(serde_json::to_string(&stream.documents[0]).unwrap(), r#"{"a":3,"b":2}"#);
    assert_eq!(stream.warnings.len(), 1);
    assert_eq!(stream.warnings[0].at.to_string(), "a.yaml:3:1");
    assert_eq!(stream.warnings[0].message, "duplicate key a, first on line 1; the last value is used");
}

#[test]
fn aliases_and_merged_maps_are_followed() {
    assert_eq!(json("a: &x {b: 1}\nc: *x\n"), r#"{"a":{"b":1},"c":{"b":1}}"#);
    assert_eq!(json("a: &x {b: 1, c: 1}\nd: {c: 2, <<: *x}\n"), r#"{"a":{"b":1,"c":1},"d":{"b":1,"c":2}}"#);
    assert_eq!(
        json("- &x {a: 1}\n- &y {a: 2, b: 2}\n- <<: [*x, *y]\n"),
        r#"[{"a":1},{"a":2,"b":2},{"a":1,"b":2}]"#
    );
    assert_eq!(json("{'<<': 1}"), r#"{"<<":1}"#);
}

#[test]
fn keys_that_are_no_text_are_kept_as_they_are() {
    assert_eq!(
        json("{1: a, yes: b, ~: c, 1.5: d, '1': e}"),
        r#"{"1":"a","True":"b","None":"c","1.5":"d","1":"e"}"#
    );
}

#[test]
fn what_is_not_yaml_is_told_with_line_and_column() {
    for (yaml, message) in [
        (
            &b"a: 1\nb: [\n"[..],
            "a.yaml:3:1: not valid YAML: while parsing a node, did not find expected node content",
        ),
        (b"a: 1\n: b\n", "a.yaml:2:1: a key is missing before the colon"),
        (b"a: \xff", "a.yaml:1:4: not UTF-8 text"),
        (b"a: 1\nb: \0c", "a.yaml:2:4: the character U+0000 is not allowed in YAML"),
        (b"[a, b]: c", "a.yaml:1:1: a key must be a scalar, found a list or a map"),
        (
            b"a: !!python/object:os.system x",
            "a.yaml:1:4: unknown tag tag:yaml.org,2002:!python/object:os.system",
        ),
        (b"a: !!int x", "a.yaml:1:4: the value \"x\" is not a valid int"),
        (b"a: {<<: 5}", "a.yaml:1:9: what is merged with << must be a map or a list of maps"),
        (b"a: &x [*x]", "a.yaml:1:8: an alias to a value that holds the alias itself"),
    ] {
        assert_eq!(refusal(yaml), message);
    }
}

#[test]
fn documents_that_unfold_without_end_are_refused() {
    let mut laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..10 {
        let below = format!("*a{}", level - 1);
        laughs += &format!("a{level}: &a{level} [{}]\n", vec![below; 9].join(", "));
    }
    assert!(refusal(laughs.as_bytes()).ends_with("anchors and aliases copy more than 64 MiB"));
}

#[test]
fn deep_nesting_is_refused_written_out_or_by_aliases() {
    assert!(refusal("[".repeat(200).as_bytes()).ends_with("nested deeper than 128 levels"));
    assert!(read("a.yaml", "[".repeat(100_000).as_bytes()).is_err());
    assert!(refusal("- ".repeat(100_000).as_bytes()).ends_with("nested deeper than 128 levels"));
    let chain: String = (1..200)
        .map(|level| format!("- &a{level} [*a{}]\n", level - 1))
        .fold("- &a0 x\n".to_owned(), |all, line| all + &line);
    assert!(refusal(chain.as_bytes()).ends_with("nested deeper than 128 levels"));
}

const SIGNS: [&str; 37] = [
    "a",
    "b: ",
    ": ",
    "- ",
    "? ",
    "\n",
    "\n  ",
    "\n    ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "&a ",
    "*a",
    "|",
    ">-",
    "|2+",
    "'",
    "\"",
    "\\x4",
    "\\u00e9",
    "!!str ",
    "!t ",
    "!<x> ",
    "# c",
    "---",
    "...",
    "%YAML 1.1",
    "%TAG ! x\n",
    "\t",
    "\r\n",
    "<<: ",
    "~",
    "é",
    "@",
    "`",
];

fn signs() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&SIGNS[..]), 0..40).prop_map(|signs| signs.concat())
}

fn many() -> ProptestConfig {
    ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn no_bytes_crash_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read("a.yaml", &bytes);
    }

    #[test]
    fn no_text_crashes_the_reader(text in "\\PC{0,100}") {
        let _ = read("a.yaml", text.as_bytes());
    }

    /// Most of what is drawn from the signs of YAML gets past the first characters.
    #[test]
    fn no_sequence_of_signs_crashes_the_reader(text in signs()) {
        let _ = read("a.yaml", text.as_bytes());
    }
}
