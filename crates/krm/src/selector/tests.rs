use std::borrow::Cow;
use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::field::Path;

fn matches(selector: &str, labels: &[(&str, &str)]) -> bool {
    let labels: BTreeMap<&str, &str> = labels.iter().copied().collect();
    LabelSelector::parse(selector).unwrap().matches(|key| labels.get(key).copied())
}

#[test]
fn what_does_not_parse_is_told_in_kubernetes_words() {
    for (selector, says) in [
        ("app in x", "unable to parse requirement: found 'x' expected: '('"),
        ("a in", "unable to parse requirement: found '' expected: '('"),
        ("app=x=y", "found '=', expected: ',' or 'end of string'"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        (",", "found ',', expected: !, identifier, or 'end of string'"),
        ("app in (x", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("app in (x,", "unable to parse requirement: found '', expected: ',', or identifier"),
        ("app in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("bad key!=x", "unable to parse requirement: found 'key', expected: in, notin, =, ==, !=, gt, lt"),
        ("app=bad value", "found 'value', expected: ',' or 'end of string'"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("app===x", "unable to parse requirement: found '=', expected: identifier"),
        ("app=x,", "found '', expected: identifier after ','"),
        (
            "n>abc",
            "unable to parse requirement: values[0]: Invalid value: \"abc\": for 'Gt', 'Lt' operators, the value must be an integer",
        ),
        (
            "n>-",
            "unable to parse requirement: [values[0]: Invalid value: \"-\": for 'Gt', 'Lt' operators, the value must be an integer, values[0][n]: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')]",
        ),
        (
            "a.=x",
            "unable to parse requirement: <nil>: Invalid value: \"a.\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ),
    ] {
        assert_eq!(LabelSelector::parse(selector).unwrap_err(), says, "{selector}");
    }
    let long = "v".repeat(64);
    assert_eq!(
        LabelSelector::parse(&format!("app={long}")).unwrap_err(),
        format!(
            "unable to parse requirement: values[0][app]: Invalid value: \"{long}\": must be no more than 63 bytes"
        )
    );
}

#[test]
fn each_operator_selects_what_it_says() {
    let labels = [("app", "x"), ("n", "5")];
    for (selector, expected) in [
        ("", true),
        ("app", true),
        ("none", false),
        ("!app", false),
        ("!none", true),
        ("app=x", true),
        ("app==x", true),
        ("app=", false),
        ("none=", false),
        ("app!=x", false),
        ("none!=x", true),
        ("app in (x,y)", true),
        ("app in (y)", false),
        ("app notin (y,z)", true),
        ("none notin (x)", true),
        ("app notin (x)", false),
        ("n>4", true),
        ("n>5", false),
        ("n<6", true),
        ("app>1", false),
        ("none<9", false),
        ("app=x,n=5", true),
        ("app=x,n=6", false),
        (" app\t= x ,\n! none ", true),
    ] {
        assert_eq!(matches(selector, &labels), expected, "{selector}");
    }
    assert!(matches("in in (in,notin)", &[("in", "notin")]));
    assert!(matches("e in (,a)", &[("e", "")]));
    assert!(matches("e in ()", &[("e", "")]));
    assert!(matches("e in (a,)", &[("e", "")]));
    assert!(matches("e in (a,,b)", &[("e", "")]));
    assert!(!matches("e in (a,b)", &[("e", "")]));
}

#[test]
fn a_selector_has_one_canonical_form() {
    for (text, canonical) in [
        ("z,a=b", "a=b,z"),
        ("x in (b,a,b)", "x in (a,b)"),
        (" x notin ( ) ", "x notin ()"),
        ("!x,y!=1,w>3,v<4,u==2", "u==2,v<4,w>3,!x,y!=1"),
    ] {
        assert_eq!(LabelSelector::parse(text).unwrap().to_string(), canonical);
    }
}

#[test]
fn an_index_is_told_which_values_would_do() {
    let selector = LabelSelector::parse("app in (b,a),tier=front,env!=prod").unwrap();
    let sets: Vec<_> =
        selector.requirements().iter().map(|each| (each.key.as_str(), each.one_of())).collect();
    let (a_and_b, front) = (["a".to_owned(), "b".to_owned()], ["front".to_owned()]);
    assert_eq!(sets, [("app", Some(&a_and_b[..])), ("env", None), ("tier", Some(&front[..]))]);
    assert_eq!(selector.exact("tier"), Some("front"));
    assert_eq!(selector.exact("app"), None);
    assert!(!selector.selects_everything());
}

#[test]
fn a_selector_in_an_object_reads_like_one_in_a_query() {
    let selector = LabelSelector::from_json(Some(&json!({
        "matchLabels": {"b": "1"},
        "matchExpressions": [
            {"key": "a", "operator": "In", "values": ["y", "x"]},
            {"key": "c", "operator": "DoesNotExist"},
        ],
    })));
    assert_eq!(selector.unwrap().to_string(), "a in (x,y),b=1,!c");
    assert!(LabelSelector::from_json(Some(&json!({}))).unwrap().selects_everything());
    let absent = LabelSelector::from_json(None).unwrap();
    assert!(absent.selects_nothing() && !absent.matches(|_| Some("x")) && !absent.selects_everything());
    let unknown = json!({"matchExpressions": [{"key": "a", "operator": "Near"}]});
    assert_eq!(
        LabelSelector::from_json(Some(&unknown)).unwrap_err(),
        "\"Near\" is not a valid label selector operator"
    );
    let empty = json!({"matchExpressions": [{"key": "a", "operator": "In"}]});
    assert_eq!(
        LabelSelector::from_json(Some(&empty)).unwrap_err(),
        "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"
    );
}

#[test]
fn every_fault_of_a_selector_in_an_object_is_named() {
    let selector = json!({
        "matchLabels": {"a": "-"},
        "matchExpressions": [
            {"key": "a", "operator": "In"},
            {"key": "a", "operator": "Exists", "values": ["x"]},
            {"key": "", "operator": "Near"},
        ],
    });
    let spec = Path::of("spec");
    let errors = validate_label_selector(&selector, &spec.field("selector"));
    let fields: Vec<&str> = errors.iter().map(|error| error.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "spec.selector.matchLabels",
            "spec.selector.matchExpressions[0].values",
            "spec.selector.matchExpressions[1].values",
            "spec.selector.matchExpressions[2].operator",
            "spec.selector.matchExpressions[2].key",
            "spec.selector.matchExpressions[2].key",
        ]
    );
    assert_eq!(errors[1].message(), "Required value: must be specified when `operator` is 'In' or 'NotIn'");
    assert_eq!(errors[3].message(), "Invalid value: \"Near\": not a valid selector operator");
}

#[test]
fn field_selectors_compare_texts() {
    let object = json!({"color": "red", "size": 4, "on": true, "none": null});
    let meets = |selector: &str| {
        let selector = FieldSelector::parse(selector).unwrap();
        selector.matches(|field| match field {
            "metadata.name" => Cow::Borrowed("a"),
            other => field_text(object.get(other)),
        })
    };
    for (selector, expected) in [
        ("", true),
        (",", true),
        ("=", true),
        ("metadata.name=a", true),
        ("metadata.name==a", true),
        ("metadata.name!=a", false),
        ("color=red,size=4", true),
        ("size=04", false),
        ("on=true", true),
        ("none=", true),
        ("absent=", true),
        ("absent!=", false),
        ("color=red,metadata.name!=a", false),
    ] {
        assert_eq!(meets(selector), expected, "{selector}");
    }
}

#[test]
fn a_backslash_takes_the_meaning_from_a_comma() {
    let selector = FieldSelector::parse(r"b=x\,y\=z\\,a!=1").unwrap();
    let terms: Vec<_> =
        selector.requirements().iter().map(|each| (&*each.field, each.is_equal, &*each.value)).collect();
    assert_eq!(terms, [("a", false, "1"), ("b", true, r"x,y=z\")]);
    assert_eq!(selector.to_string(), r"a!=1,b=x\,y\=z\\");
    assert_eq!(selector.exact("b"), Some(r"x,y=z\"));
    assert_eq!(selector.exact("a"), None);
    for (text, says) in [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("x=1,b", "invalid selector: 'x=1,b'; can't understand 'b'"),
        (r"a=\x", r"invalid field selector: invalid escape sequence: \x"),
        ("a=\\", "invalid field selector: invalid escape sequence: \\"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ("a===c", "invalid field selector: unescaped character in value: 61"),
    ] {
        assert_eq!(FieldSelector::parse(text).unwrap_err(), says, "{text}");
    }
}

fn label_selector() -> impl Strategy<Value = String> {
    let key = "[ab](/[xy])?";
    let value = "[xy1]{0,2}";
    let requirement = prop_oneof![
        key.prop_map(String::from),
        key.prop_map(|key| format!("!{key}")),
        (key, prop_oneof![Just("="), Just("=="), Just("!=")], value)
            .prop_map(|(k, o, v)| format!("{k}{o}{v}")),
        (key, prop_oneof![Just(">"), Just("<")], 0..9).prop_map(|(k, o, v)| format!("{k}{o}{v}")),
        (key, prop_oneof![Just("in"), Just("notin")], prop::collection::vec(value, 0..4))
            .prop_map(|(k, o, v)| format!("{k} {o} ({})", v.join(","))),
    ];
    prop::collection::vec(requirement, 0..5).prop_map(|all| all.join(","))
}

proptest! {
    #[test]
    fn no_text_makes_a_parser_panic(text in "[a-b=!<>(),\\\\ inot\\x00ü/]{0,24}") {
        let _ = LabelSelector::parse(&text);
        let _ = FieldSelector::parse(&text);
    }

    #[test]
    fn the_canonical_form_of_labels_parses_back(text in label_selector()) {
        let selector = LabelSelector::parse(&text).unwrap();
        prop_assert_eq!(&LabelSelector::parse(&selector.to_string()).unwrap(), &selector);
    }

    #[test]
    fn the_canonical_form_of_fields_parses_back(fields in prop::collection::btree_map("[a-c]{1,2}", "[a,=\\\\]{0,4}", 0..4)) {
        let of = |(field, value): (&String, &String)| FieldRequirement {
            field: field.clone(), is_equal: value.len() % 2 == 0, value: value.clone(),
        };
        let selector = FieldSelector::of(fields.iter().map(of).collect());
        let mut again = FieldSelector::parse(&selector.to_string()).unwrap().requirements().to_vec();
        again.sort_by(|one, other| one.field.cmp(&other.field));
        prop_assert_eq!(FieldSelector::of(again), selector);
    }
}
