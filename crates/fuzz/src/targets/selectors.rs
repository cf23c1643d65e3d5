//! Label and field selectors: what is printed is read as the same, and matches what it says.

use krm::field::Path;
use krm::selector::{FieldSelector, LabelSelector, Operator, Requirement, validate_label_selector};

use super::Target;
use crate::recorded;

pub const TARGET: Target = Target {
    name: "selectors",
    check,
    seeds,
    words: &[
        "in",
        "notin",
        "(",
        ")",
        ",",
        "=",
        "==",
        "!=",
        "!",
        ">",
        "<",
        "\\",
        "matchLabels",
        "matchExpressions",
        "In",
        "NotIn",
        "Exists",
    ],
};

fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(selector) = LabelSelector::parse(text) {
        read_again(&selector);
        selector.requirements().iter().for_each(means_what_it_says);
    }
    if let Ok(selector) = FieldSelector::parse(text) {
        let printed = selector.to_string();
        let again = FieldSelector::parse(&printed);
        // The order is that of what was written, escapes and all.
        assert_eq!(again.map(|again| sorted(&again)), Ok(sorted(&selector)), "{printed:?}");
        for requirement in selector.requirements() {
            let alone = FieldSelector::of(vec![requirement.clone()]);
            let value = requirement.value.as_str();
            assert_eq!(alone.matches(|_| value.into()), requirement.is_equal);
        }
    }
    let Ok(body) = krm::body::read(bytes) else { return };
    let valid = validate_label_selector(&body.value, &Path::ROOT).is_empty();
    match LabelSelector::from_json(Some(&body.value)) {
        Ok(selector) if !selector.selects_nothing() => read_again(&selector),
        Ok(_) => {}
        Err(why) => assert!(!valid, "a valid selector can't be used: {why}"),
    }
}

fn sorted(selector: &FieldSelector) -> Vec<(String, bool, String)> {
    let all = selector.requirements().iter();
    let mut all: Vec<_> = all.map(|each| (each.field.clone(), each.is_equal, each.value.clone())).collect();
    all.sort_unstable();
    all
}

fn read_again(selector: &LabelSelector) {
    let printed = selector.to_string();
    let again = LabelSelector::parse(&printed);
    let again = again.unwrap_or_else(|why| panic!("{printed:?} is not read again: {why}"));
    assert_eq!(again.to_string(), printed);
    assert_eq!(&again, selector, "{printed:?}");
}

fn means_what_it_says(requirement: &Requirement) {
    let inside = requirement.values.first().map(String::as_str);
    let (absent, with_value) = match requirement.operator {
        Operator::In | Operator::Equals | Operator::DoubleEquals => (false, true),
        Operator::NotIn | Operator::NotEquals => (true, false),
        Operator::Exists => (false, true),
        Operator::DoesNotExist => (true, false),
        Operator::GreaterThan | Operator::LessThan => (false, false),
    };
    assert_eq!(requirement.matches(None), absent, "{requirement}");
    assert_eq!(requirement.matches(Some(inside.unwrap_or("x"))), with_value, "{requirement}");
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = [
        "a=b",
        "app=web,tier in (front,back),!old",
        "x.example.com/y notin (a),z!=1,n>5,m<7",
        "metadata.name=a,spec.color!=red\\,blue",
        "a==b , c",
        r#"{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"In","values":["d"]}]}"#,
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    for request in recorded::requests() {
        for pair in request.query.split('&') {
            if let Some((_, selector)) = pair.split_once("Selector=") {
                seeds.push(selector.as_bytes().to_vec());
            }
        }
    }
    seeds
}
