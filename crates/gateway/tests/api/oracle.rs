//! Filters of any shape, against an evaluation of the same expression by hand.

use std::collections::BTreeMap;

use gateway::filter::{Filter, Term};
use gateway::schema;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::host;

/// The parts of a host that the expressions are about.
#[derive(Debug, Clone)]
struct Sample {
    id: String,
    class: Option<String>,
    rack: Option<String>,
    insecure: Option<bool>,
    version: i32,
    labels: BTreeMap<String, String>,
}

/// An expression that is true or false, or can't be computed.
#[derive(Debug, Clone)]
enum Bool {
    Const(bool),
    Not(Box<Bool>),
    And(Box<Bool>, Box<Bool>),
    Or(Box<Bool>, Box<Bool>),
    Text(Text, &'static str, Text),
    In(Text, Vec<String>),
    KeyIn(String),
    Number(Number, &'static str, Number),
    HasClass,
    HasBmc,
    ClassIsNull(bool),
    Insecure,
    Starts(Text, String),
}

#[derive(Debug, Clone)]
enum Text {
    Const(String),
    Id,
    Class,
    Rack,
    Label(String),
    Joined(Box<Text>, Box<Text>),
}

#[derive(Debug, Clone)]
enum Number {
    Const(i32),
    Version,
    Computed(Box<Number>, &'static str, Box<Number>),
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

impl Bool {
    fn text(&self) -> String {
        match self {
            Bool::Const(flag) => flag.to_string(),
            Bool::Not(inner) => format!("!({})", inner.text()),
            Bool::And(a, b) => format!("({}) && ({})", a.text(), b.text()),
            Bool::Or(a, b) => format!("({}) || ({})", a.text(), b.text()),
            Bool::Text(a, operator, b) => format!("{} {operator} {}", a.text(), b.text()),
            Bool::In(a, items) => {
                let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
                format!("{} in [{}]", a.text(), items.join(", "))
            }
            Bool::KeyIn(key) => format!("{} in this.metadata.labels", quoted(key)),
            Bool::Number(a, operator, b) => format!("{} {operator} {}", a.text(), b.text()),
            Bool::HasClass => "has(this.spec.class)".to_owned(),
            Bool::HasBmc => "has(this.spec.bmc)".to_owned(),
            Bool::ClassIsNull(is) => format!("this.spec.class {} null", if *is { "==" } else { "!=" }),
            Bool::Insecure => "this.spec.bmc.insecure".to_owned(),
            Bool::Starts(a, with) => format!("({}).startsWith({})", a.text(), quoted(with)),
        }
    }

    fn holds(&self, of: &Sample) -> Option<bool> {
        Some(match self {
            Bool::Const(flag) => *flag,
            Bool::Not(inner) => !inner.holds(of)?,
            Bool::And(a, b) => match (a.holds(of), b.holds(of)) {
                (Some(false), _) | (_, Some(false)) => false,
                (Some(true), Some(true)) => true,
                _ => return None,
            },
            Bool::Or(a, b) => match (a.holds(of), b.holds(of)) {
                (Some(true), _) | (_, Some(true)) => true,
                (Some(false), Some(false)) => false,
                _ => return None,
            },
            Bool::Text(a, operator, b) => compare(operator, &a.value(of)?, &b.value(of)?),
            Bool::In(a, items) => items.contains(&a.value(of)?),
            Bool::KeyIn(key) => of.labels.contains_key(key),
            Bool::Number(a, operator, b) => compare(operator, &a.value(of)?, &b.value(of)?),
            Bool::HasClass => of.class.as_ref().is_some_and(|class| !class.is_empty()),
            Bool::HasBmc => of.insecure.is_some(),
            Bool::ClassIsNull(is) => of.class.as_ref().is_none_or(String::is_empty) == *is,
            Bool::Insecure => of.insecure.unwrap_or(false),
            Bool::Starts(a, with) => a.value(of)?.starts_with(with),
        })
    }
}

fn compare<T: PartialOrd>(operator: &str, a: &T, b: &T) -> bool {
    match operator {
        "==" => a == b,
        "!=" => a != b,
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        _ => a >= b,
    }
}

impl Text {
    fn text(&self) -> String {
        match self {
            Text::Const(text) => quoted(text),
            Text::Id => "this.id".to_owned(),
            Text::Class => "this.spec.class".to_owned(),
            Text::Rack => "this.spec.rack".to_owned(),
            Text::Label(key) => format!("this.metadata.labels[{}]", quoted(key)),
            Text::Joined(a, b) => format!("({} + {})", a.text(), b.text()),
        }
    }

    fn value(&self, of: &Sample) -> Option<String> {
        Some(match self {
            Text::Const(text) => text.clone(),
            Text::Id => of.id.clone(),
            Text::Class => of.class.clone().unwrap_or_default(),
            Text::Rack => of.rack.clone().unwrap_or_default(),
            Text::Label(key) => of.labels.get(key)?.clone(),
            Text::Joined(a, b) => a.value(of)? + &b.value(of)?,
        })
    }
}

impl Number {
    fn text(&self) -> String {
        match self {
            Number::Const(number) => number.to_string(),
            Number::Version => "this.metadata.version".to_owned(),
            Number::Computed(a, operator, b) => format!("({} {operator} {})", a.text(), b.text()),
        }
    }

    fn value(&self, of: &Sample) -> Option<i64> {
        Some(match self {
            Number::Const(number) => i64::from(*number),
            Number::Version => i64::from(of.version),
            Number::Computed(a, operator, b) => {
                let (a, b) = (a.value(of)?, b.value(of)?);
                match *operator {
                    "+" => a.checked_add(b)?,
                    "-" => a.checked_sub(b)?,
                    "*" => a.checked_mul(b)?,
                    "/" => a.checked_div(b)?,
                    _ => a.checked_rem(b)?,
                }
            }
        })
    }
}

fn words() -> impl Strategy<Value = String> {
    let words = ["", "a", "b", "ab", "a'b", "%", "_", "\\", "ü", "a\nb", "gpu"];
    proptest::sample::select(words.to_vec()).prop_map(str::to_owned)
}

fn keys() -> impl Strategy<Value = String> {
    proptest::sample::select(vec!["k", "l"]).prop_map(str::to_owned)
}

fn samples() -> impl Strategy<Value = Sample> {
    let labels = proptest::collection::btree_map(keys(), words(), 0..3);
    let option = || proptest::option::of(words());
    (words(), option(), option(), proptest::option::of(any::<bool>()), 0..9_i32, labels).prop_map(
        |(id, class, rack, insecure, version, labels)| Sample { id, class, rack, insecure, version, labels },
    )
}

fn texts() -> impl Strategy<Value = Text> {
    let leaf = prop_oneof![
        words().prop_map(Text::Const),
        Just(Text::Id),
        Just(Text::Class),
        Just(Text::Rack),
        keys().prop_map(Text::Label),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        (inner.clone(), inner).prop_map(|(a, b)| Text::Joined(Box::new(a), Box::new(b)))
    })
}

fn numbers() -> impl Strategy<Value = Number> {
    let leaf = prop_oneof![(-9..9_i32).prop_map(Number::Const), Just(Number::Version)];
    leaf.prop_recursive(2, 6, 2, |inner| {
        let operators = proptest::sample::select(vec!["+", "-", "*", "/", "%"]);
        (inner.clone(), operators, inner)
            .prop_map(|(a, operator, b)| Number::Computed(Box::new(a), operator, Box::new(b)))
    })
}

fn comparisons() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec!["==", "!=", "<", "<=", ">", ">="])
}

fn bools() -> impl Strategy<Value = Bool> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Bool::Const),
        (texts(), comparisons(), texts()).prop_map(|(a, operator, b)| Bool::Text(a, operator, b)),
        (texts(), proptest::collection::vec(words(), 0..3)).prop_map(|(a, items)| Bool::In(a, items)),
        keys().prop_map(Bool::KeyIn),
        (numbers(), comparisons(), numbers()).prop_map(|(a, operator, b)| Bool::Number(a, operator, b)),
        Just(Bool::HasClass),
        Just(Bool::HasBmc),
        any::<bool>().prop_map(Bool::ClassIsNull),
        Just(Bool::Insecure),
        (texts(), words()).prop_map(|(a, with)| Bool::Starts(a, with)),
    ];
    leaf.prop_recursive(4, 24, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Bool::Not(Box::new(inner))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Bool::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner).prop_map(|(a, b)| Bool::Or(Box::new(a), Box::new(b))),
        ]
    })
}

impl Sample {
    fn json(&self) -> Value {
        let mut value = json!({
            "id": self.id,
            "metadata": {"labels": self.labels, "version": self.version},
            "spec": {},
        });
        if let Some(class) = &self.class {
            value["spec"]["class"] = class.as_str().into();
        }
        if let Some(rack) = &self.rack {
            value["spec"]["rack"] = rack.as_str().into();
        }
        if let Some(insecure) = self.insecure {
            value["spec"]["bmc"] = json!({"insecure": insecure});
        }
        value
    }

    fn has(&self, term: &Term) -> bool {
        match term {
            Term::Label(key, value) => self.labels.get(key) == Some(value),
            Term::Field(path, value) => match path.as_str() {
                "id" => self.id == *value,
                "spec.class" => self.class.as_ref() == Some(value),
                "spec.rack" => self.rack.as_ref() == Some(value),
                other => panic!("no expression is about {other}"),
            },
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_filter_says_what_an_evaluation_by_hand_says(expression in bools(), sample in samples()) {
        let text = expression.text();
        let of = schema::message("osac.private.v1.Host").unwrap();
        let filter = Filter::parse(&text, &of, schema::is_secret).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        let found = filter.matches(&host(sample.json()), 0);
        prop_assert_eq!(found, expression.holds(&sample) == Some(true), "{}", text);
        if let (true, Some(terms)) = (found, filter.terms()) {
            prop_assert!(terms.iter().any(|term| sample.has(term)), "{} is answered from the wrong index: {:?}", text, terms);
        }
    }
}
