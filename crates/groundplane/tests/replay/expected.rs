//! Whether an answer is as a scenario tells it.

use serde_json::Value;
use testbed::server::Answer;

/// An answer, taken apart.
pub struct Found<'a> {
    answer: &'a Answer,
    /// The body as JSON, or null.
    pub body: Value,
}

impl<'a> Found<'a> {
    pub fn new(answer: &'a Answer) -> Found<'a> {
        Found { answer, body: answer.json() }
    }

    fn header(&self, name: &str) -> Vec<String> {
        let values = self.answer.headers.get_all(name).iter();
        values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
    }
}

/// What is not as told. `want` is a status, or a map of what is said about the answer.
pub fn faults(want: &Value, found: &Found) -> Vec<String> {
    let mut faults = Vec::new();
    let code = want.as_u64().or_else(|| want["code"].as_u64());
    if let Some(code) = code
        && code != u64::from(found.answer.code)
    {
        return vec![format!("want {code} got {}: {}", found.answer.code, short(&found.answer.text()))];
    }
    for (aspect, value) in want.as_object().into_iter().flatten() {
        match aspect.as_str() {
            "code" => {}
            "reason" | "message" => {
                faults.extend(differences(value, &found.body[aspect.as_str()], aspect));
            }
            "causes" => faults.extend(causes(value, found)),
            "warnings" => faults.extend(warnings(value, found)),
            "has" => faults.extend(differences(value, &found.body, "")),
            "lacks" => faults.extend(strings(value).filter_map(|path| {
                let there = at(&found.body, path);
                (!there.is_null()).then(|| format!("{path} is there: {there}"))
            })),
            "text" if fits(value.as_str().unwrap_or_default(), &found.answer.text()) => {}
            "text" => faults.push(format!("text: want {value} got {:?}", found.answer.text())),
            "headers" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    let got = found.header(name).join(", ");
                    if !fits(value.as_str().unwrap_or_default(), &got) {
                        faults.push(format!("header {name}: want {value} got {got:?}"));
                    }
                }
            }
            other => faults.push(format!("nobody knows what {other} means")),
        }
    }
    faults
}

/// Causes in any order, each as `field | reason | message`.
fn causes(want: &Value, found: &Found) -> Vec<String> {
    let got = found.body["details"]["causes"].as_array().cloned().unwrap_or_default();
    let text = |cause: &Value, part: &str| cause[part].as_str().unwrap_or_default().to_owned();
    let got = got.iter().map(|cause| {
        format!("{} | {} | {}", text(cause, "field"), text(cause, "reason"), text(cause, "message"))
    });
    unordered("cause", strings(want), got.collect())
}

/// The texts of `Warning` headers in any order.
fn warnings(want: &Value, found: &Found) -> Vec<String> {
    let told = found.header("warning");
    let text = |told: &String| {
        told.strip_prefix("299 - \"")
            .and_then(|rest| rest.strip_suffix('"'))
            .unwrap_or(told)
            .replace("\\\"", "\"")
    };
    unordered("warning", strings(want), told.iter().map(text).collect())
}

fn unordered<'a>(what: &str, want: impl Iterator<Item = &'a str>, mut got: Vec<String>) -> Vec<String> {
    let mut faults = Vec::new();
    for want in want {
        match got.iter().position(|got| fits(want, got)) {
            Some(place) => drop(got.remove(place)),
            None => faults.push(format!("{what} missing: {want}")),
        }
    }
    faults.extend(got.into_iter().map(|got| format!("{what} too many: {got}")));
    faults
}

/// Where `got` does not hold what `want` says: objects may hold more, lists and values may not.
pub fn differences(want: &Value, got: &Value, path: &str) -> Vec<String> {
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            let each = want.iter().flat_map(|(key, value)| {
                differences(value, got.get(key).unwrap_or(&Value::Null), &format!("{path}.{key}"))
            });
            each.collect()
        }
        (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
            let each = want.iter().zip(got).enumerate();
            each.flat_map(|(index, (want, got))| differences(want, got, &format!("{path}[{index}]")))
                .collect()
        }
        (Value::String(want), Value::String(got)) if fits(want, got) => Vec::new(),
        (Value::String(want), got) if want == "<any>" && !got.is_null() => Vec::new(),
        (Value::Number(want), Value::Number(got)) if want.as_f64() == got.as_f64() => Vec::new(),
        (want, got) if want == got => Vec::new(),
        (want, got) => {
            vec![format!("{path}: want {} got {}", short(&want.to_string()), short(&got.to_string()))]
        }
    }
}

/// What is at a dotted path; `items[0]` and `conditions[type=Ready]` find in lists.
pub fn at(value: &Value, path: &str) -> Value {
    let mut here = value;
    for part in path.split('.') {
        let (key, places) = part.split_once('[').unwrap_or((part, ""));
        if !key.is_empty() {
            here = &here[key.replace("~1", ".").as_str()];
        }
        for place in places.split('[').filter(|place| !place.is_empty()) {
            let place = place.trim_end_matches(']');
            here = match (place.parse::<usize>(), place.split_once('=')) {
                (Ok(index), _) => &here[index],
                (_, Some((key, is))) => {
                    let mut items = here.as_array().into_iter().flatten();
                    items.find(|item| item[key] == is).unwrap_or(&Value::Null)
                }
                _ => &Value::Null,
            };
        }
    }
    here.clone()
}

/// Whether a text is the one told, in which `<any>` stands for anything.
fn fits(want: &str, got: &str) -> bool {
    let mut parts = want.split("<any>");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = got.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some(place) = rest.find(part) else { return false };
        rest = &rest[place + part.len()..];
    }
    rest.ends_with(last)
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn short(text: &str) -> String {
    text.chars().take(1500).collect()
}
