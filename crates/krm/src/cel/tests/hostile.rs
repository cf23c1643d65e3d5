//! Rules and objects that mean no good.

use std::time::{Duration, Instant};

use super::*;

/// Judges on a thread with a small stack, and within a time that no honest rule takes.
fn judged(schema: Value, value: Value) -> Vec<String> {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let started = Instant::now();
    let errors = thread.spawn(move || judge(&schema, &value, None)).unwrap().join().unwrap();
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    errors
}

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "text": {"type": "string"},
        "list": {"type": "array", "items": {"type": "string"}},
    }})
}

#[test]
fn nested_expressions_do_not_exhaust_the_stack() {
    let value = json!({"text": "", "list": ["a"]});
    let deep = [
        format!("{}true{}", "(".repeat(240), ")".repeat(240)),
        format!("{}self.text == ''", "!!".repeat(120)),
        format!("{}true{}", "[1].all(x, ".repeat(60), ")".repeat(60)),
        format!("{}1{} != []", "[".repeat(240), "]".repeat(240)),
        format!("{}1{} != {{}}", "{1: ".repeat(240), "}".repeat(240)),
        format!("{}true", "true ? true : ".repeat(240)),
    ];
    for rule in deep {
        let errors = judged(with_rule(&schema(), &rule), value.clone());
        assert!(errors.len() <= 1, "{rule}: {errors:?}");
    }
}

#[test]
fn what_doubles_again_and_again_is_stopped() {
    // A list of one is where a name can be given to anything.
    let doubled = |start: &str, step: &str, end: &str| {
        format!("[{start}]{}.all(v, {end})", format!(".map(v, {step})").repeat(50))
    };
    let rules = [
        doubled("[1]", "v + v", "size(v) > 0"),
        doubled("'a'", "v + v", "size(v) > 0"),
        doubled("[1]", "[v, v]", "v == v"),
        doubled("{1: 1}", "{1: v, 2: v}", "v == v"),
        doubled("{1: 1}", "{v: v}", "v == v"),
        doubled("[1]", "[v, v]", "'%s'.format([v]) == ''"),
        doubled("[1]", "[v, v]", "dyn(v).flatten(64) == []"),
    ];
    for rule in rules {
        let errors = judged(with_rule(&schema(), &rule), json!({}));
        assert_eq!(errors.len(), 1, "{rule}");
    }
}

#[test]
fn cheap_calls_on_large_values_are_stopped() {
    let text = "a".repeat(1 << 20);
    let list: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let value = json!({"text": text, "list": list});
    let rules = [
        "self.text.replace('a', self.text) != ''",
        "self.list.all(x, size(self.text) > 0)",
        "self.list.all(x, self == self)",
        "self.list.all(x, self.list.all(y, x == y || true))",
        "self.list.all(x, !'b'.matches(x + '[^a]{1,900}'))",
        "self.list.map(x, self.text).join() != ''",
        "'%s%s%s%s%s%s%s%s%s%s'.format([self.list, self.list, self.list, self.list, self.list, self.list, self.list, self.list, self.list, self.list]) == '' || self.list.map(x, '%s'.format([self.text])).size() > 0",
        "lists.range(100000000).size() > 0",
        "self.list.distinct().size() == 1",
    ];
    for rule in rules {
        let errors = judged(with_rule(&schema(), rule), value.clone());
        assert_eq!(errors.len(), 1, "{rule}");
        assert!(errors[0].contains("no further validation rules will be run"), "{rule}: {}", errors[0]);
    }
}
