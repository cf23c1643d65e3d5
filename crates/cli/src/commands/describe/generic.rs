//! Any object: its fields under readable names.

use serde_json::{Map, Value};

use super::Page;
use crate::print::shown_as_go;

/// Longer annotations go on lines of their own.
const LONG: usize = 140;

const HIDDEN: [&str; 5] = [
    ".metadata.managedFields",
    ".metadata.name",
    ".metadata.namespace",
    ".metadata.labels",
    ".metadata.annotations",
];

/// An object of a kind that has no description of its own.
pub(super) fn object(page: &mut Page, object: &Value) -> bool {
    head(page, object, true);
    if let Some(fields) = object.as_object() {
        content(page, 0, fields, "");
    }
    true
}

/// Name, namespace, labels and annotations.
pub(super) fn head(page: &mut Page, object: &Value, with_namespace: bool) {
    let metadata = &object["metadata"];
    let text = |field: &str| metadata[field].as_str().unwrap_or("");
    page.line(0, &format!("Name:\t{}", text("name")));
    if with_namespace {
        page.line(0, &format!("Namespace:\t{}", text("namespace")));
    }
    labels(page, &metadata["labels"]);
    annotations(page, &metadata["annotations"]);
}

fn labels(page: &mut Page, labels: &Value) {
    let mut title = "Labels:";
    for (key, value) in labels.as_object().into_iter().flatten() {
        page.line(0, &format!("{}\t{key}={}", std::mem::take(&mut title), value.as_str().unwrap_or("")));
    }
    if !title.is_empty() {
        page.line(0, "Labels:\t<none>");
    }
}

fn annotations(page: &mut Page, annotations: &Value) {
    let mut title = "Annotations:";
    for (key, value) in annotations.as_object().into_iter().flatten() {
        // The description has all of it already.
        if key == "kubectl.kubernetes.io/last-applied-configuration" {
            continue;
        }
        let value = value.as_str().unwrap_or("");
        let value = value.strip_suffix('\n').unwrap_or(value);
        let title = std::mem::take(&mut title);
        if value.len() + key.len() + 2 <= LONG && !value.contains('\n') {
            page.line(0, &format!("{title}\t{key}: {value}"));
            continue;
        }
        page.line(0, &format!("{title}\t{key}:"));
        for line in value.split('\n') {
            let short: String = match line.len() > LONG - 2 {
                true => line.chars().take(LONG - 2).collect::<String>() + "...",
                false => line.to_owned(),
            };
            page.line(0, &format!("\t  {short}"));
        }
    }
    if !title.is_empty() {
        page.line(0, "Annotations:\t<none>");
    }
}

fn content(page: &mut Page, level: usize, fields: &Map<String, Value>, above: &str) {
    for (field, value) in fields {
        let path = format!("{above}.{field}");
        if HIDDEN.contains(&path.as_str()) {
            continue;
        }
        let label = label(field);
        match value {
            Value::Object(inner) => {
                page.line(level, &format!("{label}:"));
                content(page, level + 1, inner, &path);
            }
            Value::Array(items) => {
                page.line(level, &format!("{label}:"));
                for item in items {
                    match item {
                        Value::Object(inner) => content(page, level + 1, inner, &path),
                        other => page.line(level + 1, &shown_as_go(other)),
                    }
                }
            }
            other => page.line(level, &format!("{label}:\t{}", shown_as_go(other))),
        }
    }
}

/// `siteRef` as `Site Ref`, `apiVersion` as `API Version`.
fn label(field: &str) -> String {
    if !field.chars().all(|c| c.is_alphabetic() || c == '-') {
        return field.to_owned();
    }
    let shown = words(field).into_iter().map(|word| match word.to_uppercase().as_str() {
        known @ ("API" | "URL" | "UID" | "OSB" | "GUID") => known.to_owned(),
        _ => {
            let mut chars = word.chars();
            let rest = |chars: std::str::Chars| chars.flat_map(char::to_lowercase).collect::<String>();
            chars
                .next()
                .map_or(String::new(), |first| first.to_uppercase().chain(rest(chars).chars()).collect())
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// The words of a name in camel case: a run of capitals is one, and its last letter begins the next.
fn words(field: &str) -> Vec<String> {
    #[derive(PartialEq, Clone, Copy)]
    enum Class {
        Lower,
        Upper,
        Other,
    }
    let class = |c: char| match c {
        c if c.is_lowercase() => Class::Lower,
        c if c.is_uppercase() => Class::Upper,
        _ => Class::Other,
    };
    let mut runs: Vec<(Class, String)> = Vec::new();
    for c in field.chars() {
        match runs.last_mut() {
            Some((last, run)) if *last == class(c) => run.push(c),
            _ => runs.push((class(c), c.to_string())),
        }
    }
    for at in 0..runs.len().saturating_sub(1) {
        if runs[at].0 == Class::Upper
            && runs[at + 1].0 == Class::Lower
            && let Some(last) = runs[at].1.pop()
        {
            runs[at + 1].1.insert(0, last);
        }
    }
    runs.into_iter().map(|(_, run)| run).filter(|run| !run.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields_become_readable() {
        for (field, shown) in [
            ("siteRef", "Site Ref"),
            ("apiVersion", "API Version"),
            ("uid", "UID"),
            ("lastHTTPCode", "Last Http Code"),
            ("circuitID", "Circuit Id"),
            ("a.b/c", "a.b/c"),
            ("spec", "Spec"),
        ] {
            assert_eq!(label(field), shown);
        }
    }
}
