//! Texts with paths in braces, as `kubectl get -o jsonpath=` takes them: `{range .items[*]}{.metadata.name}{"\n"}{end}`.

use std::borrow::Cow;

use serde_json::Value;

use super::JsonPath;
use crate::{encode, number};

/// A template that has been parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Path(JsonPath),
    /// What is written once for each value that a path leads to.
    Each(JsonPath, Vec<Part>),
}

impl Template {
    /// Parses a template.
    pub fn parse(text: &str) -> Result<Template, String> {
        let mut rest = text;
        let parts = parts(&mut rest, false)?;
        Ok(Template { parts })
    }

    /// The template with what its paths lead to in `root`.
    pub fn render(&self, root: &Value) -> Result<String, String> {
        let mut text = String::new();
        render(&self.parts, root, &mut text)?;
        Ok(text)
    }

    /// Everything its paths lead to, in order.
    pub fn values<'a>(&self, root: &'a Value) -> Result<Vec<Cow<'a, Value>>, String> {
        let mut all = Vec::new();
        for part in &self.parts {
            if let Part::Path(path) | Part::Each(path, _) = part {
                all.extend(path.find_all(root)?);
            }
        }
        Ok(all)
    }
}

/// A value as templates show it: text as it is, lists and maps as JSON.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number::in_text(number),
        Value::Bool(flag) => flag.to_string(),
        list_or_map => encode::to_json_text(list_or_map),
    }
}

fn parts(rest: &mut &str, is_in_range: bool) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    loop {
        let open = rest.find('{').unwrap_or(rest.len());
        let (text, from_brace) = rest.split_at(open);
        if !text.is_empty() {
            parts.push(Part::Text(text.to_owned()));
        }
        *rest = from_brace;
        let Some(inner) = rest.strip_prefix('{') else {
            return if is_in_range { Err("not in range, nothing to end".to_owned()) } else { Ok(parts) };
        };
        let end = closing(inner).ok_or("unclosed action")?;
        let action = inner[..end].trim();
        *rest = &inner[end + 1..];
        if action == "end" {
            return if is_in_range { Ok(parts) } else { Err("not in range, nothing to end".to_owned()) };
        }
        if let Some(path) = action.strip_prefix("range").filter(|path| path.starts_with([' ', '.', '@', '$']))
        {
            let path = JsonPath::parse(path.trim_start())?;
            parts.push(Part::Each(path, self::parts(rest, true)?));
        } else {
            parts.push(Part::Path(JsonPath::parse(action)?));
        }
    }
}

/// Where an action ends: at the brace outside of quotes.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut was_backslash = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '}') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c && !was_backslash => quote = None,
            _ => {}
        }
        was_backslash = c == '\\' && !was_backslash;
    }
    None
}

fn render(parts: &[Part], root: &Value, text: &mut String) -> Result<(), String> {
    for part in parts {
        match part {
            Part::Text(literal) => text.push_str(literal),
            Part::Path(path) => {
                let found = path.find_all(root)?;
                for (at, value) in found.iter().enumerate() {
                    if at > 0 {
                        text.push(' ');
                    }
                    text.push_str(&shown(value));
                }
            }
            Part::Each(path, inner) => {
                for value in path.find_all(root)? {
                    render(inner, &value, text)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rendered(template: &str) -> String {
        let root = json!({"items": [
            {"name": "a", "labels": {"x": "1"}, "n": 1.5},
            {"name": "b", "labels": {}, "n": null},
        ]});
        Template::parse(template).unwrap().render(&root).unwrap()
    }

    #[test]
    fn paths_in_braces_are_replaced_by_what_they_lead_to() {
        assert_eq!(rendered("{.items[*].name}"), "a b");
        assert_eq!(rendered("names: {.items[0].name}, {.items[1].name}!"), "names: a, b!");
        assert_eq!(rendered("{.items[*].labels}"), r#"{"x":"1"} {}"#);
        assert_eq!(rendered("{.items[*].n}"), "1.5 null");
        assert_eq!(rendered("{.nothing}"), "");
        assert_eq!(rendered(".items"), ".items");
    }

    #[test]
    fn ranges_repeat_what_is_in_them() {
        let template = "{range .items[*]}{.name}{\"\\t\"}{.labels.x}{'\\n'}{end}";
        assert_eq!(rendered(template), "a\t1\nb\t\n");
        assert_eq!(rendered("{range .items[*]}{range .labels}<{.x}>{end}{end}"), "<1><>");
        assert_eq!(rendered(r#"{.items[?(@.name=="b")].name}{"}"}"#), "b}");
    }

    #[test]
    fn a_broken_template_is_refused() {
        for broken in ["{.a", "{end}", "{range .a}{.b}"] {
            assert!(Template::parse(broken).is_err(), "{broken}");
        }
    }
}
