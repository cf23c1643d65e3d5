//! Templates as people write them for kubectl, and what Go makes of them.

use serde_json::{Value, json};

use super::GoTemplate;

fn object() -> Value {
    json!({
        "kind": "Kettle",
        "metadata": {"name": "whistler", "labels": {"tier": "a", "app.kubernetes.io/name": "tea"}},
        "spec": {"litres": 3, "share": 0.5, "big": 12_345_678, "boils": true, "empty": "", "none": null,
            "ports": [{"port": 80, "name": "web"}, {"port": 443}], "words": ["a", "b"]},
        "data": {"password": "czNjcmV0", "wrong": "c!"}
    })
}

fn rendered(template: &str) -> String {
    let template =
        GoTemplate::parse(template).unwrap_or_else(|wrong| panic!("{template}: {}", wrong.message));
    match template.render(&object()) {
        Ok(bytes) => String::from_utf8(bytes).unwrap(),
        Err(why) => why,
    }
}

fn each(pairs: &[(&str, &str)]) {
    for (template, expected) in pairs {
        assert_eq!(rendered(template), *expected, "{template}");
    }
}

#[test]
fn fields_and_pipelines() {
    each(&[
        ("{{.metadata.name}}", "whistler"),
        ("{{ .metadata.name }}\n", "whistler\n"),
        ("{{.spec.litres}} {{.spec.share}} {{.spec.boils}} {{.spec.big}}", "3 0.5 true 12345678"),
        ("{{.spec.none}}|{{.spec.missing}}|{{.spec.missing.too}}", "<no value>|<no value>|<no value>"),
        ("{{.spec.words}} {{.metadata.labels}}", "[a b] map[app.kubernetes.io/name:tea tier:a]"),
        ("{{index .metadata.labels \"app.kubernetes.io/name\"}}", "tea"),
        ("{{(index .spec.ports 1).port}} {{(index .spec.ports 0).name}}", "443 web"),
        ("{{.data.password | base64decode}}", "s3cret"),
        ("{{.data.password | base64decode | printf \"%q\"}}", "\"s3cret\""),
        ("{{index .data \"password\" | base64decode | len}}", "6"),
        ("{{print 1 2 \"x\" 3 nil}} {{println .kind 4}}", "1 2x3 <nil> Kettle 4\n"),
        (
            "{{\"a\\tb\\u00e9\\x41\"}}{{`raw\\n`}}{{'a'}} {{0x1F}} {{1e3}} {{-2}} {{1_000}}",
            "a\tbéAraw\\n97 31 1000 -2 1000",
        ),
        ("{{slice .metadata.name 0 3}} {{slice .spec.words 1}}", "whi [b]"),
        ("{{html \"<a&b>\"}} {{urlquery \"a b&c\"}}", "&lt;a&amp;b&gt; a+b%26c"),
        ("{{if exists .spec \"words\" 1}}y{{end}}{{if exists .spec \"words\" 2}}n{{end}}", "y"),
        ("{{/* nothing */}}a  {{- /* trimmed */ -}}  b", "ab"),
        ("a \n {{- .kind -}} \n b", "aKettleb"),
    ]);
}

#[test]
fn conditions_and_comparisons() {
    each(&[
        ("{{if .spec.boils}}hot{{else}}cold{{end}}", "hot"),
        (
            "{{if .spec.empty}}a{{else if eq .kind \"Pot\"}}b{{else if eq .kind \"Pan\" \"Kettle\"}}c{{end}}",
            "c",
        ),
        ("{{with .spec.missing}}a{{else}}b{{end}}{{with .metadata}}{{.name}}{{end}}", "bwhistler"),
        ("{{with .spec.empty}}a{{else with .kind}}{{.}}{{end}}", "Kettle"),
        (
            "{{and .spec.boils .kind}} {{or .spec.empty .spec.missing \"x\"}} {{not .spec.boils}}",
            "Kettle x false",
        ),
        ("{{and .spec.missing .spec.none.deeper}}", "<no value>"),
        (
            "{{lt 1 2}} {{ge .spec.litres 3}} {{gt \"b\" \"a\"}} {{le .spec.share 0.5}} {{ne 1 2}}",
            "true true true true true",
        ),
        ("{{eq .spec.missing nil}} {{eq .spec.none nil}} {{eq .kind nil}}", "true true false"),
        ("{{if and (eq .spec.litres 3) (not .spec.empty)}}yes{{end}}", "yes"),
    ]);
}

#[test]
fn ranges_and_variables() {
    each(&[
        ("{{range .spec.ports}}{{.port}},{{end}}", "80,443,"),
        ("{{range $i, $p := .spec.ports}}{{$i}}={{$p.port}} {{end}}", "0=80 1=443 "),
        ("{{range $k, $v := .metadata.labels}}{{$k}}:{{$v}};{{end}}", "app.kubernetes.io/name:tea;tier:a;"),
        ("{{range .spec.missing}}a{{else}}none{{end}}", "none"),
        ("{{range $p := .spec.ports}}{{$.kind}}{{$p.port}}{{end}}", "Kettle80Kettle443"),
        ("{{$n := 0}}{{range .spec.ports}}{{$n = .port}}{{end}}{{$n}}", "443"),
        ("{{range 3}}{{.}}{{end}}", "012"),
        ("{{range .spec.words}}{{if eq . \"b\"}}{{break}}{{end}}{{.}}{{end}}", "a"),
        ("{{range .spec.words}}{{if eq . \"a\"}}{{continue}}{{end}}{{.}}{{end}}", "b"),
        ("{{define \"p\"}}<{{.}}>{{end}}{{range .spec.words}}{{template \"p\" .}}{{end}}", "<a><b>"),
        ("{{block \"b\" .kind}}[{{.}}]{{end}}", "[Kettle]"),
        ("{{range .spec.ports}}{{if .name}}{{.name}}{{\"\\n\"}}{{end}}{{end}}", "web\n"),
    ]);
}

#[test]
fn formats() {
    each(&[
        ("{{printf \"%-10s|%5d|%05d|%x\" .kind 42 42 255}}", "Kettle    |   42|00042|ff"),
        ("{{printf \"%v %s %d\" .spec.words .spec.words .spec.litres}}", "[a b] [a b] 3"),
        (
            "{{printf \"%.2f %6.1f %e %g\" .spec.share .spec.share .spec.share .spec.share}}",
            "0.50    0.5 5.000000e-01 0.5",
        ),
        ("{{printf \"%s\" .spec.litres}} {{printf \"%d\" .kind}}", "%!s(int64=3) %!d(string=Kettle)"),
        (
            "{{printf \"%d %d\" 1}} {{printf \"%d\" 1 2 \"x\"}} {{printf \"100%%\"}}",
            "1 %!d(MISSING) 1%!(EXTRA int=2, string=x) 100%",
        ),
        (
            "{{printf \"%t %v %T %T\" .spec.boils nil .spec.ports .spec}}",
            "true <nil> []interface {} map[string]interface {}",
        ),
        ("{{printf \"%q %+d %c %U %[1]s\" .kind 3 65 65}}", "\"Kettle\" +3 A U+0041 Kettle"),
        ("{{printf \"%.3s|%*d|%%|%z\" .kind 4 7 1}}", "Ket|   7|%|%!z(int=1)"),
        (
            "{{printf \"%#v\" .spec.ports}}",
            "[]interface {}{map[string]interface {}{\"name\":\"web\", \"port\":80}, map[string]interface {}{\"port\":443}}",
        ),
        ("{{printf \"%\"}}", "%!(NOVERB)"),
    ]);
}

#[test]
fn what_fails_says_where() {
    let at = |place: &str, what: &str, why: &str| {
        format!("template: output:{place}: executing \"output\" at <{what}>: {why}")
    };
    for (template, expected) in [
        ("{{.kind.x}}", at("1:7", ".kind.x", "can't evaluate field x in type interface {}")),
        ("a\n  {{.spec.none.x}}", at("2:9", ".spec.none.x", "nil pointer evaluating interface {}.x")),
        ("{{len .spec.litres}}", at("1:2", "len .spec.litres", "error calling len: len of type int64")),
        (
            "{{len .spec.missing}}",
            at(
                "1:2",
                "len .spec.missing",
                "error calling len: reflect: call of reflect.Value.Type on zero Value",
            ),
        ),
        (
            "{{index .spec.ports 9}}",
            at("1:2", "index .spec.ports 9", "error calling index: index out of range: 9"),
        ),
        (
            "{{index .spec.ports 2}}",
            at("1:2", "index .spec.ports 2", "error calling index: reflect: slice index out of range"),
        ),
        (
            "{{index .missing \"a\"}}",
            at("1:2", "index .missing \"a\"", "error calling index: index of untyped nil"),
        ),
        (
            "{{eq .kind 1}}",
            at("1:2", "eq .kind 1", "error calling eq: incompatible types for comparison: string and int"),
        ),
        (
            "{{eq .spec.share 1}}",
            at(
                "1:2",
                "eq .spec.share 1",
                "error calling eq: incompatible types for comparison: float64 and int",
            ),
        ),
        ("{{range .kind}}{{end}}", at("1:8", ".kind", "range can't iterate over Kettle")),
        ("{{len}}", at("1:2", "len", "wrong number of args for len: want 1 got 0")),
        (
            "{{.spec.litres | base64decode}}",
            at("1:17", "base64decode", "wrong type for value; expected string; got int64"),
        ),
        (
            "{{.data.wrong | base64decode}}",
            at(
                "1:16",
                "base64decode",
                "error calling base64decode: base64 decode failed: illegal base64 data at input byte 1",
            ),
        ),
        ("{{.missing | base64decode}}", at("1:13", "base64decode", "invalid value; expected string")),
        ("{{.kind 1}}", at("1:2", ".kind", "kind is not a method but has arguments")),
        ("{{template \"x\"}}", at("1:11", "\"x\"", "template \"x\" not defined")),
        (
            "{{define \"r\"}}{{template \"r\"}}{{end}}{{template \"r\"}}",
            at("1:25", "\"r\"", "exceeded maximum template depth (50)"),
        ),
    ] {
        assert_eq!(rendered(template), expected, "{template}");
    }
    let strict = GoTemplate::parse("{{.a.b}}").unwrap().missing_keys_fail();
    assert!(strict.render(&object()).unwrap_err().ends_with("map has no entry for key \"a\""));
}

#[test]
fn what_is_no_template_says_where() {
    for (template, expected) in [
        ("{{.a", "1: unclosed action"),
        ("x\n{{foo .a}}", "2: function \"foo\" not defined"),
        ("{{if .a}}", "1: unexpected EOF"),
        ("{{end}}", "1: unexpected {{end}}"),
        ("{{if .a}}{{else}}{{else}}{{end}}", "1: expected end; found {{else}}"),
        ("{{$x}}", "1: undefined variable \"$x\""),
        ("{{.a b}}", "1: function \"b\" not defined"),
        ("{{range}}{{end}}", "1: missing value for range"),
        ("{{.a | 3}}", "1: non executable command in pipeline stage 2"),
        ("{{break}}", "1: {{break}} outside {{range}}"),
        ("{{\"a}}", "1: unterminated quoted string"),
        ("{{(.a}}", "1: unclosed left paren"),
        ("{{.a)}}", "1: unexpected right paren"),
        ("{{$a, $b := .x}}", "1: too many declarations in command"),
        ("{{.a-b}}", "1: bad character U+002D '-'"),
        ("{{1i}}", "1: complex numbers such as 1i are not supported"),
        ("{{js .a}}", "1: function \"js\" is not supported"),
        ("{{}}", "1: missing value for command"),
        ("{{, }}", "1: unexpected \",\" in command"),
        ("{{.a}\n}", "1: bad character U+007D '}'"),
        ("{{/* a", "1: unclosed comment"),
    ] {
        let wrong = GoTemplate::parse(template).map(|_| ()).expect_err(template);
        assert_eq!(wrong.message, format!("template: output:{expected}"), "{template}");
    }
    let wrong = GoTemplate::parse("a\n{{ foo }}").map(|_| ()).expect_err("foo");
    assert_eq!(wrong.excerpt, "  {{ foo }}\n     ^ column 4");
    assert!(GoTemplate::parse(&"{{if .a}}".repeat(5000)).is_err());
    assert!(GoTemplate::parse(&format!("{{{{{}1{}}}}}", "(".repeat(5000), ")".repeat(5000))).is_err());
}

#[test]
fn bytes_that_are_no_text_come_out_as_they_are() {
    let template = GoTemplate::parse("{{.a | base64decode}}").unwrap();
    assert_eq!(template.render(&json!({"a": "/wD+"})).unwrap(), [0xff, 0, 0xfe]);
}

#[test]
fn no_template_whatever_breaks_anything() {
    let pieces = [
        "{{", "}}", " ", "if", "range", "end", ".a", "$", "$x", ":=", "|", "(", ")", "\"", "1", "-", "/*",
        "é", "\n", "printf", "\"%*d\"", ".",
    ];
    let mut state = 7u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text += pieces[usize::try_from(state >> 33).unwrap() % pieces.len()];
        }
        if let Ok(template) = GoTemplate::parse(&text) {
            let _ = template.render(&object());
        }
    }
}
