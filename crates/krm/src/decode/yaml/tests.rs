use proptest::prelude::*;
use serde_json::json;

use super::*;

fn value(text: &str) -> Value {
    read_yaml(text.as_bytes()).unwrap().value
}

fn error(text: &str) -> String {
    read_yaml(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn scalars_mean_what_yaml_1_1_says() {
    for (text, expected) in [
        ("", json!(null)),
        ("~", json!(null)),
        ("y", json!(true)),
        ("Off", json!(false)),
        ("text", json!("text")),
        ("'5'", json!("5")),
        ("5", json!(5)),
        ("+5", json!(5)),
        ("-5", json!(-5)),
        ("1_000", json!(1000)),
        ("0x1F", json!(31)),
        ("0b101", json!(5)),
        ("0o14", json!(12)),
        ("014", json!(12)),
        ("08", json!(8)),
        ("1.5", json!(1.5)),
        ("1.0", json!(1)),
        (".5", json!(0.5)),
        ("1e3", json!(1000)),
        ("1e400", json!("1e400")),
        ("9223372036854775808", json!(9_223_372_036_854_775_808.0)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("-9223372036854775809", json!(-9_223_372_036_854_775_808.0)),
        ("1e18", json!(1_000_000_000_000_000_000_i64)),
        ("9007199254740993.0", json!(9_007_199_254_740_992_i64)),
        ("2020-01-01", json!("2020-01-01")),
        ("12:30", json!("12:30")),
        ("1.2.3", json!("1.2.3")),
        ("-", json!([null])),
        ("<<", json!("<<")),
        ("!!str 5", json!("5")),
        ("!!int '5'", json!(5)),
        ("!!float 5", json!(5)),
        ("!custom 5", json!("5")),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
    assert_eq!(error("!!int x"), "yaml: cannot decode !!str `x` as a !!int");
    assert_eq!(error(".nan"), "json: unsupported value: NaN");
    assert_eq!(error("a: -.inf"), "json: unsupported value: -Inf");
}

#[test]
fn keys_become_text() {
    assert_eq!(value("5: a\ntrue: b\n1.5: c\n"), json!({"5": "a", "true": "b", "1.5": "c"}));
    assert_eq!(error("[a]: b"), "yaml: invalid map key: [\"a\"]");
    assert!(error("~: b").starts_with("unsupported map key of type: %!s(<nil>), key: <nil>"));
}

#[test]
fn only_the_first_document_counts() {
    assert_eq!(value("a: 1\n---\nb: 2\n"), json!({"a": 1}));
    assert_eq!(value("---\na: 1\n...\n{"), json!({"a": 1}));
}

#[test]
fn blocks_of_text_end_as_they_were_written() {
    assert_eq!(value("a: |\n  x\n  y\n"), json!({"a": "x\ny\n"}));
    assert_eq!(value("a: |\n  x\n  y"), json!({"a": "x\ny"}));
    assert_eq!(value("a: >\n  x\n  y\n"), json!({"a": "x y\n"}));
}

#[test]
fn aliases_copy_and_merges_give_way() {
    assert_eq!(value("a: &x {b: 1}\nc: *x\n"), json!({"a": {"b": 1}, "c": {"b": 1}}));
    assert_eq!(
        value("x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz:\n  <<: [*x, *y]\n  a: 3\n")["z"],
        json!({"a": 3, "b": 1, "c": 2})
    );
    assert_eq!(error("a: *no"), "yaml: unknown anchor 'no' referenced");
    assert_eq!(error("a: &x [*x]"), "yaml: anchor value contains itself");
    assert_eq!(error("a: {<<: 5}"), "yaml: map merge requires map or sequence of maps as the value");
}

#[test]
fn a_document_that_unfolds_without_end_is_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = format!("*a{},", level - 1).repeat(10);
        bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    assert_eq!(error(&bomb), "yaml: document contains excessive aliasing");
    let wide = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a,".repeat(1000));
    assert_eq!(error(&wide), "yaml: document contains excessive aliasing");
}

#[test]
fn depth_is_bounded() {
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read_yaml(deep(body::MOST_DEPTH).as_bytes()).is_ok());
    assert_eq!(
        error(&deep(body::MOST_DEPTH + 1)),
        format!("yaml: exceeded max depth of {}", body::MOST_DEPTH)
    );
    assert!(error(&"[".repeat(100_000)).contains("max depth"));
    assert!(error(&"- ".repeat(100_000)).contains("max depth"));
    let mut chain = String::from("a0: &a0 [x]\n");
    for level in 1..200 {
        chain.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    assert!(error(&chain).contains("max depth"));
}

#[test]
fn repeated_keys_are_told_by_their_line() {
    let yaml = read_yaml(b"a: 1\nb:\n  c: 1\n  c: 2\na: 3\n").unwrap();
    assert_eq!(yaml.value, json!({"a": 3, "b": {"c": 2}}));
    assert_eq!(
        yaml.duplicates,
        [r#"line 4: key "c" already set in map"#, r#"line 5: key "a" already set in map"#]
    );
    let json = read_yaml(br#"{"a": 1, "a": 2}"#).unwrap();
    assert_eq!(
        (json.value, json.duplicates),
        (json!({"a": 2}), vec![r#"line 1: key "a" already set in map"#.to_owned()])
    );
}

#[test]
fn faults_are_told_in_the_words_of_go_yaml() {
    for (text, says) in [
        ("{", "yaml: line 1: did not find expected node content"),
        ("a: [", "yaml: line 1: did not find expected node content"),
        ("a: b: c", "yaml: mapping values are not allowed in this context"),
        ("x: 1\na: b: c\n", "yaml: line 2: mapping values are not allowed in this context"),
        ("x: 1\n\ta: 1\n", "yaml: line 2: found a tab character that violates indentation"),
        ("x:\n\ta: 1\n", "yaml: line 2: found character that cannot start any token"),
        ("a: 'b\n", "yaml: line 2: found unexpected end of stream"),
        ("a: @b\n", "yaml: found character that cannot start any token"),
        ("a: \"\\q\"", "yaml: found unknown escape character"),
        ("x: 1\na: [1, 2\nb: 3\n", "yaml: line 2: did not find expected ',' or ']'"),
    ] {
        assert_eq!(error(text), says, "{text}");
    }
    assert_eq!(read_yaml(b"a: \xff").unwrap_err().to_string(), "yaml: invalid leading UTF-8 octet");
    assert_eq!(error("a: \u{1}"), "yaml: control characters are not allowed");
    assert_eq!(error("a\0: {"), "yaml: control characters are not allowed");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "[a-c:\\-\\[\\]{}&*!|>'\"#%,? \n\t<~0-9.e]{0,40}") {
        let _ = read_yaml(text.as_bytes());
    }

    #[test]
    fn json_reads_the_same_as_yaml(number in any::<i32>(), text in "[a-zA-Z0-9 .:,{}]{0,12}", flag in any::<bool>()) {
        let value = json!([{"n": number, "t": text, "f": flag, "l": [null, 1.5]}]);
        prop_assert_eq!(read_yaml(value.to_string().as_bytes()).unwrap().value, value);
    }
}
