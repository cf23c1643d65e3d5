use super::*;

const OPERAND: &str = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, \
                       BYTES, IDENTIFIER}";

/// What is wrong with an expression, without the lines that point at it.
fn told(source: &str) -> Vec<String> {
    let text = parse(source).expect_err(source);
    let issues = text.lines().filter(|line| line.starts_with("ERROR: "));
    issues.map(|line| line.trim_start_matches("ERROR: <input>:").to_owned()).collect()
}

#[test]
fn expressions_of_every_kind_are_read() {
    let sources = [
        "1 + 2 * 3 - -4 / 5 % 6 == 7 && !true || false ? 'a' : \"b\"",
        "[1, 2u, 3.0, .5, 1e3, 0x1F, -0x1Fu, null, true]",
        "{'a': 1, ?'b': optional.none()}.a in [?optional.of(1)]",
        r##"r'\raw' + "\n\t\x41\u00e9\U0001F600\101" + '''multi
line''' + """'"'""" "##,
        "b'\\xff\\000' == b\"a\" && br'\\d' != B'x'",
        ".self.a.b[0].?c[?'d'].e(1, 2)",
        "self.all(x, x > 0) && self.exists(i, v, v[i]) // and a remark",
        "a.b.c{d: 1, ?e: 2}",
        "self.in == 1 || self.in.in",
    ];
    for source in sources {
        // Selecting a field named like an operator is the one thing here that cannot be read.
        assert_eq!(parse(source).is_ok(), !source.contains(".in"), "{source}");
    }
}

#[test]
fn what_cannot_be_read_is_told_in_the_words_of_cel_go() {
    let cases = [
        (
            "1 + $",
            vec![
                "1:5: Syntax error: token recognition error at: '$'".to_owned(),
                mismatch("1:6", "<EOF>", OPERAND),
            ],
        ),
        ("1 + +", vec![mismatch("1:5", "+", OPERAND), mismatch("1:6", "<EOF>", OPERAND)]),
        ("in", vec![mismatch("1:1", "in", OPERAND), mismatch("1:3", "<EOF>", OPERAND)]),
        ("a b", vec!["1:3: Syntax error: extraneous input 'b' expecting <EOF>".to_owned()]),
        ("f(){}", vec![mismatch("1:4", "{", "<EOF>")]),
        ("1 + 2\n3 +", vec![mismatch("2:1", "3", "<EOF>")]),
        ("{a}", vec![mismatch("1:3", "}", "':'")]),
        ("{'a': 1}.'a'", vec!["1:10: Syntax error: no viable alternative at input '.'a''".to_owned()]),
        ("self.true == 1", vec![mismatch("1:6", "true", "IDENTIFIER")]),
        ("(1", vec!["1:3: Syntax error: missing ')' at '<EOF>'".to_owned()]),
        ("*a", vec![format!("1:1: Syntax error: extraneous input '*' expecting {OPERAND}")]),
        (
            "'a",
            vec![
                "1:1: Syntax error: token recognition error at: ''a'".to_owned(),
                mismatch("1:3", "<EOF>", OPERAND),
            ],
        ),
    ];
    for (source, issues) in cases {
        assert_eq!(told(source), issues, "{source}");
    }
}

fn mismatch(place: &str, found: &str, expected: &str) -> String {
    format!("{place}: Syntax error: mismatched input '{found}' expecting {expected}")
}

#[test]
fn an_issue_points_at_its_place_in_the_source() {
    let text = parse("self.name ==\n  self.title +").unwrap_err();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines, [" |   self.title +", " | ..............^"]);
}

#[test]
fn literals_and_names_have_their_limits() {
    let cases = [
        ("0xFFFFFFFFFFFFFFFFF", "1:1: invalid int literal"),
        ("9223372036854775808", "1:1: invalid int literal"),
        ("18446744073709551616u", "1:1: invalid uint literal"),
        ("1.99e90000009", "1:1: invalid double literal"),
        ("'\\udead'", "1:1: invalid unicode code point"),
        ("b'\\u0041'", "1:1: unable to unescape string"),
        ("package", "1:1: reserved identifier: package"),
        ("self.`a-b`", "1:6: unsupported syntax: '`'"),
    ];
    for (source, issue) in cases {
        assert_eq!(told(source), [issue], "{source}");
    }
    assert!(parse("-9223372036854775808").is_ok());
}

#[test]
fn macros_want_names_for_their_variables() {
    assert_eq!(told("has(m)"), ["1:5: invalid argument to has() macro"]);
    assert_eq!(told("m.filter(a.b, false)"), ["1:11: argument is not an identifier"]);
    assert_eq!(
        told("m.map(__result__, __result__)"),
        ["1:7: iteration variable overwrites accumulator variable"]
    );
    assert_eq!(
        told("[1].map(var, 1)"),
        ["1:9: reserved identifier: var", "1:9: argument is not an identifier"]
    );
}

#[test]
fn what_nests_too_deep_or_is_too_long_is_refused_and_does_no_harm() {
    let too_deep = ["-1:0: max recursion depth exceeded"];
    assert_eq!(told(&format!("{}1", "1 == ".repeat(251))), too_deep);
    assert!(parse(&format!("{}1", "1 == ".repeat(250))).is_ok());
    let nested = [("(", "1", ")"), ("[", "1", "]"), ("{1: ", "1", "}"), ("f(", "1", ")"), ("a[", "1", "]")];
    for (open, inside, close) in nested {
        let source = format!("{}{inside}{}", open.repeat(10_000), close.repeat(10_000));
        assert_eq!(told(&source).len(), 1, "{open}");
        // What is never closed is no better.
        assert!(parse(&open.repeat(10_000)).is_err());
    }
    for prefix in ["-", "!", "- ", "true ? 1 : ", "a.all(x, "] {
        assert!(parse(&prefix.repeat(9_000)).is_err(), "{prefix}");
    }
    assert!(parse(&"!".repeat(50_000)).is_err());
    let long = format!("'{}'", "a".repeat(100_000));
    assert_eq!(told(&long), ["-1:0: expression code point size exceeds limit: size: 100002, limit 100000"]);
}

proptest::proptest! {
    #[test]
    fn no_source_makes_the_reader_fail(source in "[-a-z0-9.,:?!&|(){}\\[\\]'\"\\\\ +*]{0,60}") {
        let _ = parse(&source);
    }
}
