//! The page about a type or a field, laid out as kubectl does it.

use serde_json::Value;

use crate::discovery::Resource;
use crate::failure::Failure;
use crate::print::shown_as_go;

/// How many values of a list of allowed ones are shown beside a field.
const MOST_VALUES: usize = 4;

/// A page in the making.
pub struct Page<'a> {
    pub document: &'a Value,
    pub recursive: bool,
    pub max_depth: usize,
}

impl<'a> Page<'a> {
    /// The whole page; where a field does not exist, its head and why not.
    pub fn explain(&self, resource: &Resource, fields: &[String]) -> (String, Result<(), Failure>) {
        let schemas = self.document["components"]["schemas"].as_object().into_iter().flatten();
        let is_wanted = |schema: &Value| {
            schema["x-kubernetes-group-version-kind"].as_array().into_iter().flatten().any(|known| {
                known["group"] == *resource.group
                    && known["version"] == *resource.version
                    && known["kind"] == *resource.kind
            })
        };
        let Some((_, schema)) = schemas.into_iter().find(|(_, schema)| is_wanted(schema)) else {
            let failure = Failure::other(format!(
                "GVR ({}, Resource={}) not found in OpenAPI schema",
                resource.api_version(),
                resource.plural
            ));
            return (String::new(), Err(failure));
        };
        let mut text = String::new();
        if !resource.group.is_empty() {
            text += &format!("GROUP:      {}\n", resource.group);
        }
        text += &format!("KIND:       {}\nVERSION:    {}\n\n", resource.kind, resource.version);
        match self.about(schema, fields, &mut Vec::new()) {
            Some(about) => (text + &about + "\n", Ok(())),
            None => {
                let last = fields.last().map_or("", String::as_str);
                let failure = Failure::other(format!("field \"{last}\" does not exist"));
                let near = self.neighbours(schema, fields).into_iter().find(|near| is_near(near, last));
                let failure = match near {
                    Some(near) => failure.hint(format!("did you mean \"{near}\"?")),
                    None => failure,
                };
                (text, Err(failure))
            }
        }
    }

    fn resolved<'s>(&self, schema: &'s Value) -> &'s Value
    where
        'a: 's,
    {
        let target = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/components/schemas/"));
        match target.map(|name| &self.document["components"]["schemas"][name]) {
            Some(found) if found.is_object() => found,
            _ => schema,
        }
    }

    /// The fields that stand where the last of these was looked for.
    fn neighbours(&self, schema: &Value, fields: &[String]) -> Vec<String> {
        let mut schema = self.inside(schema);
        for field in fields.iter().take(fields.len().saturating_sub(1)) {
            schema = self.inside(&schema["properties"][field]);
        }
        schema["properties"].as_object().into_iter().flatten().map(|(field, _)| field.clone()).collect()
    }

    /// What holds the fields: of a list that is what it is a list of.
    fn inside<'s>(&self, schema: &'s Value) -> &'s Value
    where
        'a: 's,
    {
        let mut schema = schema;
        for _ in 0..8 {
            schema = self.resolved(schema);
            schema = match (&schema["allOf"][0], &schema["items"]) {
                (only, _) if only.is_object() => only,
                (_, items) if items.is_object() => items,
                _ => return schema,
            };
        }
        schema
    }

    /// Follows fields; `None` where one does not exist.
    fn about(&self, schema: &Value, fields: &[String], seen: &mut Vec<String>) -> Option<String> {
        let name = schema["$ref"].as_str().unwrap_or("").to_owned();
        let resolved = self.resolved(schema);
        let Some((field, rest)) = fields.split_first() else { return Some(self.details(resolved)) };
        if !name.is_empty() && seen.contains(&name) {
            return None;
        }
        seen.push(name);
        if let Some(inner) = resolved["properties"].get(field) {
            let mut text = String::new();
            if rest.is_empty() {
                text += &format!("FIELD: {field} <{}>\n", self.kind(inner));
                text += &all_values(inner);
                text += "\n\n";
            }
            return Some(text + &self.about(inner, rest, &mut Vec::new())?);
        }
        if resolved["items"].is_object() {
            return self.about(&resolved["items"], fields, seen);
        }
        if resolved["additionalProperties"].is_object() {
            return self.about(&resolved["additionalProperties"], fields, seen);
        }
        let alternatives = resolved["allOf"].as_array().into_iter().flatten();
        alternatives.into_iter().find_map(|alternative| self.about(alternative, fields, seen))
    }

    fn details(&self, schema: &Value) -> String {
        let mut description = self.description(schema);
        if description.is_empty() {
            description = "<empty>".to_owned();
        }
        let mut text = format!("DESCRIPTION:\n{}\n", indented(&wrapped(&description, 76), 4));
        let docs = &schema["externalDocs"];
        if docs.is_object() {
            text += "\nEXTERNAL DOCS:\n";
            if let Some(about) = docs["description"].as_str() {
                text += &format!("{}\n", indented(&wrapped(about, 76), 4));
            }
            if let Some(url) = docs["url"].as_str() {
                text += &format!("    URL: {url}\n");
            }
        }
        let fields = self.fields(schema, 1, &[]);
        if !fields.is_empty() {
            text += &format!("FIELDS:\n{fields}");
        }
        text
    }

    /// What is said of a schema and of those it is made of.
    fn description(&self, schema: &Value) -> String {
        let schema = self.resolved(schema);
        let mut text = schema["description"].as_str().map_or(String::new(), |text| format!("{text}\n"));
        for alternative in schema["allOf"].as_array().into_iter().flatten() {
            text += &self.description(alternative);
        }
        for inner in ["items", "additionalProperties"] {
            if schema[inner].is_object() {
                text += &self.description(&schema[inner]);
            }
        }
        text
    }

    fn fields(&self, schema: &Value, level: usize, seen: &[String]) -> String {
        let name = schema["$ref"].as_str().unwrap_or("").to_owned();
        if !name.is_empty() && seen.contains(&name) {
            return String::new();
        }
        let mut seen = seen.to_vec();
        seen.push(name);
        let resolved = self.resolved(schema);
        let mut text = String::new();
        for (field, inner) in resolved["properties"].as_object().into_iter().flatten() {
            text += &self.field(resolved, field, inner, level);
            if self.recursive && (self.max_depth == 0 || level < self.max_depth) {
                text += &self.fields(inner, level + 1, &seen);
            }
        }
        for alternative in resolved["allOf"].as_array().into_iter().flatten() {
            text += &self.fields(alternative, level, &seen);
        }
        for inner in ["items", "additionalProperties"] {
            if resolved[inner].is_object() {
                text += &self.fields(&resolved[inner], level, &seen);
            }
        }
        text
    }

    fn field(&self, parent: &Value, name: &str, schema: &Value, level: usize) -> String {
        let indent = level * 2;
        let mut text = format!("{}\t<{}>", indented(name, indent), self.kind(schema));
        let mut required = parent["required"].as_array().into_iter().flatten();
        if required.any(|required| required == name) {
            text += " -required-";
        }
        text += &few_values(schema, indent);
        text.push('\n');
        if self.recursive {
            return text;
        }
        let about =
            schema["description"].as_str().filter(|about| !about.is_empty()).unwrap_or("<no description>");
        text += &format!("{}\n", indented(&wrapped(about, 78 - indent), indent + 2));
        text.push('\n');
        text
    }

    /// `[]string`, `map[string]Object`, `ObjectMeta`.
    fn kind(&self, schema: &Value) -> String {
        if schema["items"].is_object() {
            return format!("[]{}", self.kind(&schema["items"]));
        }
        if schema["additionalProperties"].is_object() {
            return format!("map[string]{}", self.kind(&schema["additionalProperties"]));
        }
        if let Some([one]) = schema["allOf"].as_array().map(Vec::as_slice)
            && !schema["properties"].is_object()
        {
            return self.kind(one);
        }
        if let Some(name) = schema["$ref"].as_str() {
            let target = self.resolved(schema);
            return match target["type"].as_str() {
                Some(kind) if kind != "object" => kind.to_owned(),
                _ => name.rsplit(['/', '.']).next().unwrap_or("Object").to_owned(),
            };
        }
        match schema["type"].as_str() {
            None | Some("object" | "") => "Object".to_owned(),
            Some(kind) => kind.to_owned(),
        }
    }
}

fn value(value: &Value) -> String {
    match value.as_str() {
        Some("") => "\"\"".to_owned(),
        _ => shown_as_go(value),
    }
}

fn all_values(schema: &Value) -> String {
    let Some(values) = schema["enum"].as_array() else { return String::new() };
    values.iter().fold("ENUM:".to_owned(), |text, one| format!("{text}\n    {}", value(one)))
}

fn few_values(schema: &Value, indent: usize) -> String {
    let Some(values) = schema["enum"].as_array() else { return String::new() };
    let shown: Vec<String> = values.iter().take(MOST_VALUES).map(value).collect();
    let more = if values.len() > MOST_VALUES { ", ...." } else { "" };
    format!("\n{}enum: {}{more}", " ".repeat(indent), shown.join(", "))
}

fn indented(text: &str, by: usize) -> String {
    let blanks = " ".repeat(by);
    format!("{blanks}{}", text.replace('\n', &format!("\n{blanks}")))
}

/// Breaks lines before words that would pass the width; the breaks there are stay.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// Whether somebody may have meant the one and written the other.
fn is_near(field: &str, word: &str) -> bool {
    let (field, word) = (field.to_lowercase(), word.to_lowercase());
    word.len() > 2 && (field.starts_with(&word) || crate::discovery::distance(&field, &word) <= 2)
}
