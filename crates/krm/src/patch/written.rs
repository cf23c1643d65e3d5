//! A patched object as messages show it.
//!
//! Kubernetes patches the text of an object. What the patch reaches it takes apart, and writes again with sorted keys; all
//! else stays in the order that its Go types declare.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::number;
use crate::proto::{self, Holds, Message};

/// What a patch reaches in an object.
#[derive(Default)]
pub(super) struct Reached {
    /// Whether it put in what is there.
    made: bool,
    below: BTreeMap<String, Reached>,
}

impl Reached {
    /// What a merge patch reaches.
    pub(super) fn by_merging(changes: &Value) -> Reached {
        let Value::Object(changes) = changes else { return Reached { made: true, ..Reached::default() } };
        let below = changes.iter().map(|(key, change)| (key.clone(), Reached::by_merging(change)));
        Reached { made: false, below: below.collect() }
    }

    /// Adds the way to a place that is read, or made.
    pub(super) fn add<'a>(&mut self, steps: impl Iterator<Item = std::borrow::Cow<'a, str>>, made: bool) {
        let mut here = self;
        let mut steps = steps.peekable();
        while let Some(step) = steps.next() {
            // Reading a field takes its holder apart, but not the field.
            if steps.peek().is_none() && !made {
                return;
            }
            here = here.below.entry(step.into_owned()).or_default();
        }
        here.made |= made;
    }
}

/// An object of a kind, after a patch that reached this much of it.
pub(super) fn written(object: &Value, reached: &Reached, api_version: &str, kind: &str) -> String {
    let mut text = String::new();
    let declared = proto::message_of(api_version, kind).map(Declared::Fields);
    write(&mut text, object, Some(reached), declared);
    text
}

/// What Go declares of a value: its fields, or the fields of what stands under keys that anybody may choose.
#[derive(Clone, Copy)]
enum Declared {
    Fields(&'static Message),
    Values(&'static Message),
}

fn write(out: &mut String, value: &Value, reached: Option<&Reached>, declared: Option<Declared>) {
    let below = |key: &str| reached.and_then(|reached| reached.below.get(key));
    let declared = declared.filter(|_| !reached.is_some_and(|reached| reached.made));
    match value {
        Value::Object(fields) => {
            let order = match (declared, reached) {
                (Some(Declared::Fields(message)), None) => Some(message),
                _ => None,
            };
            out.push('{');
            for (at, (key, value)) in ordered(fields, order).enumerate() {
                if at > 0 {
                    out.push(',');
                }
                text(out, key);
                out.push(':');
                write(out, value, below(key), declared.and_then(|declared| declared.inside(key)));
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(out, item, below(&at.to_string()), declared);
            }
            out.push(']');
        }
        Value::String(string) => text(out, string),
        Value::Number(number) => out.push_str(&number::text(number)),
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// The fields of an object in the order of its message, or else sorted.
fn ordered<'a>(
    fields: &'a Map<String, Value>,
    message: Option<&'static Message>,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let declared = message.map_or(&[][..], |message| message.fields);
    let first = declared.iter().filter_map(|field| fields.get_key_value(field.name));
    let rest = fields.iter().filter(|(key, _)| declared.iter().all(|field| field.name != key.as_str()));
    first.chain(rest)
}

impl Declared {
    fn inside(self, key: &str) -> Option<Declared> {
        let message = match self {
            Declared::Values(message) => return Some(Declared::Fields(message)),
            Declared::Fields(message) => message,
        };
        Some(match message.fields.iter().find(|field| field.name == key)?.holds {
            Holds::One(message) | Holds::Many(message) => Declared::Fields(message),
            Holds::OneByText(message) => Declared::Values(message),
            Holds::Either(either) => Declared::Fields(either.object.1),
            Holds::EitherByText(either) => Declared::Values(either.object.1),
            _ => return None,
        })
    }
}

/// A text as Go writes it in JSON, safe to put in a page.
fn text(out: &mut String, text: &str) {
    for c in Value::from(text).to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_patch_does_not_reach_keeps_the_order_of_its_type() {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "2", "a": "<1>"},
            "metadata": {"labels": {}, "name": "c", "ownerReferences": [{"apiVersion": "v1", "uid": "u", "kind": "K"}]}
        });
        let shown = |reached: &Reached| written(&object, reached, "v1", "ConfigMap");
        let data =
            r#"{"apiVersion":"v1","data":{"a":"\u003c1\u003e","b":"2"},"kind":"ConfigMap","metadata":"#;
        let owners = r#""ownerReferences":[{"apiVersion":"v1","kind":"K","uid":"u"}]"#;
        assert_eq!(shown(&Reached::default()), format!(r#"{data}{{"name":"c","labels":{{}},{owners}}}}}"#));
        let reached = Reached::by_merging(&json!({"metadata": {"labels": {"x": "y"}}}));
        assert_eq!(shown(&reached), format!(r#"{data}{{"labels":{{}},"name":"c",{owners}}}}}"#));
    }
}
