//! Rules in CEL, read from text and grown from a grammar: they compile or are refused, run within their budget, and
//! what they say obeys logic.

use std::sync::LazyLock;

use krm::cel::{Old, Rules};
use krm::schema::Schema;
use serde_json::{Value, json};

use super::{Target, noise};
use crate::choices::Choices;
use crate::recorded;

mod grammar;

pub const TARGET: Target = Target {
    name: "cel",
    check,
    seeds,
    words: &[
        "self.",
        "oldSelf",
        "has(",
        ".all(x, ",
        ".exists(x, ",
        ".exists_one(",
        ".map(",
        ".filter(",
        "size(",
        ".matches('",
        "&&",
        "||",
        "?",
        ":",
        " in ",
        "duration('1h')",
        "timestamp('2026-01-02T03:04:05Z')",
        "quantity('1Mi')",
        "ip('10.0.0.1')",
        "cidr('10.0.0.0/8')",
        "url('https://a')",
        "semver('1.2.3')",
        ".format([",
        "optional.of(",
        ".orValue(",
        "[?",
        ".?",
        "sets.contains(",
        "r'",
        "b'",
        "0x",
        "u",
        "1e",
        "string(",
        "int(",
        "double(",
        "dyn(",
        "type(",
        ".startsWith(",
        ".split(",
        ".replace(",
        ".lowerAscii()",
        ".charAt(",
        ".join(",
        ".sum()",
        ".min()",
        ".isSorted()",
        ".indexOf(",
        "cel.bind(x, ",
        ".transformMap(",
        ".flatten()",
        ".reverse()",
        ".sort()",
    ],
};

fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let is_text = choices.flag();
    let rule = if is_text { choices.rest_as_text() } else { grammar::condition(&mut choices, 4) };
    if rule.len() > 4 << 10 {
        return;
    }
    if is_text {
        told(&rule);
    }
    let Some(plain) = outcome(&rule) else { return };
    assert_eq!(outcome(&rule).as_ref(), Some(&plain), "{rule} is judged the same every time");
    // What ends at a budget may end elsewhere in a larger expression.
    if is_text || plain == Outcome::TooDear {
        return;
    }
    let negated = match &plain {
        Outcome::Holds => Outcome::Broken,
        Outcome::Broken => Outcome::Holds,
        other => other.clone(),
    };
    follows(&format!("!({rule})"), &negated);
    follows(&format!("({rule}) ? true : false"), &plain);
    follows(&format!("({rule}) || true"), &Outcome::Holds);
    follows(&format!("({rule}) && false"), &Outcome::Broken);
    follows(&format!("true && ({rule})"), &plain);
    follows(&format!("[true].exists(only, {rule})"), &plain);
}

/// An expression for the message of a rule that is broken; without one, or when it fails, the rule is told.
fn told(expression: &str) {
    let mut spec = SHAPE.clone();
    spec["x-kubernetes-validations"] = json!([{"rule": "false", "messageExpression": expression}]);
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let (Ok(rules), Ok(schema)) = (Rules::compile(&schema), Schema::parse(&schema)) else { return };
    assert!(!rules.check(&schema, &OBJECT, None).errors.is_empty(), "{expression} let it pass");
}

/// A larger expression gives what follows from its part, unless it costs too much.
fn follows(rule: &str, expected: &Outcome) {
    match outcome(rule) {
        None | Some(Outcome::TooDear) => {}
        Some(Outcome::Failed) => assert_eq!(expected, &Outcome::Failed, "{rule}"),
        Some(found) => assert_eq!(&found, expected, "{rule}"),
    }
}

/// What a rule says about the object below.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Holds,
    Broken,
    /// It could not be run to its end.
    Failed,
    TooDear,
}

static SHAPE: LazyLock<Value> = LazyLock::new(|| {
    json!({"type": "object", "properties": {
        "b": {"type": "boolean"},
        "i": {"type": "integer"},
        "j": {"type": "integer"},
        "d": {"type": "number"},
        "s": {"type": "string", "maxLength": 100},
        "t": {"type": "string", "maxLength": 100},
        "missing": {"type": "string", "maxLength": 10},
        "l": {"type": "array", "maxItems": 10, "items": {"type": "integer"}},
        "texts": {"type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 10}},
        "m": {"type": "object", "maxProperties": 10, "additionalProperties": {"type": "integer"}},
        "when": {"type": "string", "format": "date-time"},
        "free": {"x-kubernetes-preserve-unknown-fields": true, "type": "object"},
        "either": {"x-kubernetes-int-or-string": true},
        "o": {"type": "object", "properties": {"b": {"type": "boolean"}, "i": {"type": "integer"}}},
    }})
});

static OBJECT: LazyLock<Value> = LazyLock::new(|| {
    json!({"spec": {
        "b": true, "i": 3, "j": -7, "d": 2.5, "s": "abc", "t": "10Mi ä", "l": [3, 1, 2], "texts": ["a", "b", ""], "m": {"a": 1, "b": 2},
        "when": "2026-01-02T03:04:05Z", "free": {"x": [1, "a", null]}, "either": "50%", "o": {"b": false, "i": 9},
    }})
});

/// What a rule says; `None` when it does not compile.
fn outcome(rule: &str) -> Option<Outcome> {
    let mut spec = SHAPE.clone();
    spec["x-kubernetes-validations"] = json!([{"rule": rule}]);
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let rules = Rules::compile(&schema).ok()?;
    let schema = Schema::parse(&schema).ok()?;
    let old = rule.contains("oldSelf").then(|| Old { object: &OBJECT, passed: false });
    let verdict = rules.check(&schema, &OBJECT, old);
    let said: Vec<String> = verdict.errors.iter().map(ToString::to_string).chain(verdict.warnings).collect();
    Some(match said.join("\n") {
        said if said.is_empty() => Outcome::Holds,
        said if said.contains("no further validation rules will be run") => Outcome::TooDear,
        said if said.contains("failed rule: ") => Outcome::Broken,
        _ => Outcome::Failed,
    })
}

fn seeds() -> Vec<Vec<u8>> {
    let read = recorded::rules().into_iter().map(|rule| [&[1], rule.as_bytes()].concat());
    let long = noise().into_iter().map(|bytes| [&[0], bytes.as_slice()].concat());
    read.chain(long).collect()
}
