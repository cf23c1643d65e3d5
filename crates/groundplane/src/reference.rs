//! The reference of our kinds, out of their own declarations: a page in Markdown for each group.

mod serve_page;

use std::fmt::Write as _;
use std::path::PathBuf;

use krm::kind::{Kind, Missing, OnDelete};
use serde_json::Value;

use crate::failure::Failure;
use crate::modules;

/// Write the reference of our kinds.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the pages.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the reference pages of the modules below the folder, and the tables in `serve.md`.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    for listed in modules::all() {
        let module = listed.module();
        let Some(reference) = module.reference_page() else { continue };
        let path = arguments.folder.join(reference.path);
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::write(&path, page(reference.introduction, &module.kinds())))
            .map_err(|error| Failure::new(format_args!("writing {}", path.display()), error))?;
    }
    let path = arguments.folder.join("fulfillment/fields.md");
    std::fs::write(&path, fulfillment::fields::page())
        .map_err(|error| Failure::new(format_args!("writing {}", path.display()), error))?;
    let path = arguments.folder.join("serve.md");
    let failed = |why: &dyn std::fmt::Display| Failure::new(format_args!("updating {}", path.display()), why);
    let text = std::fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let text = serve_page::refreshed(&text).map_err(|error| failed(&error))?;
    std::fs::write(&path, text).map_err(|error| failed(&error))
}

const HEAD: &str = "\
<!-- Made from the kinds' own declarations by `cargo xtask docs`: change those. -->

";

/// The whole page.
fn page(introduction: &str, kinds: &[Kind]) -> String {
    let mut text = format!("{HEAD}{introduction}\n");
    let main_group = kinds.first().map_or("", |kind| &kind.group);
    for kind in kinds {
        let version = kind.stored();
        let schema = version.schema.json();
        let told = schema["description"].as_str().unwrap_or("");
        // Writing to a string can't fail.
        let _ = write!(
            text,
            "## {}\n\n`{}/{}`, `{}`{}. {}\n\n",
            heading(kind, main_group),
            kind.group,
            version.name,
            kind.names.plural,
            short_names(kind),
            sentence(told)
        );
        text += "| field | type | | description |\n| --- | --- | --- | --- |\n";
        match schema["properties"].get("spec") {
            Some(spec) => fields(spec, "spec", &mut text),
            // Some kinds have their fields beside their metadata.
            None => fields(&without_metadata(schema), "", &mut text),
        }
        text += &references(kind);
        if !version.selectable.is_empty() {
            let selectable = code_list(version.selectable.iter().map(String::as_str));
            let _ = writeln!(text, "\n**Selectable:** {selectable}.");
        }
        let questions: Vec<&str> = kind.questions.iter().map(|question| question.name).collect();
        if !questions.is_empty() {
            let _ = writeln!(text, "\n**Queries:** {}.", code_list(questions.into_iter()));
        }
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

/// The name of a kind, and the first word of its group if that is not the main one of the page.
fn heading(kind: &Kind, main_group: &str) -> String {
    match kind.group == main_group {
        true => kind.names.kind.clone(),
        false => {
            format!("{} ({})", kind.names.kind, kind.group.split('.').next().unwrap_or_default())
        }
    }
}

fn short_names(kind: &Kind) -> String {
    let names = &kind.names.short;
    if names.is_empty() {
        String::new()
    } else {
        format!(", {}", code_list(names.iter().map(String::as_str)))
    }
}

fn code_list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<String>>().join(", ")
}

/// The schema of an object without what every object has.
fn without_metadata(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|name, _| !["apiVersion", "kind", "metadata", "status"].contains(&name.as_str()));
    }
    schema
}

fn fields(schema: &Value, path: &str, text: &mut String) {
    let required = |name: &str| schema["required"].as_array().into_iter().flatten().any(|one| one == name);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let list = &field["items"];
        let inner = if list.is_object() { list } else { field };
        let dot = if path.is_empty() { "" } else { "." };
        let path = format!("{path}{dot}{name}{}", if list.is_object() { "[]" } else { "" });
        let what = sentence(field["description"].as_str().or(inner["description"].as_str()).unwrap_or(""));
        let (kind, mark) = (type_of(field), if required(name) { "**R**" } else { "" });
        let _ = writeln!(text, "| `{path}` | {kind} | {mark} | {what}{} |", limits(inner));
        fields(inner, &path, text);
    }
}

fn type_of(field: &Value) -> String {
    if field["x-kubernetes-int-or-string"] == true {
        return "quantity".to_owned();
    }
    match field["type"].as_str() {
        Some("array") => format!("list of {}", type_of(&field["items"])),
        Some("object") if field["additionalProperties"].is_object() => "map".to_owned(),
        Some(kind) => kind.to_owned(),
        None => String::new(),
    }
}

/// What a value may be, as far as the schema says.
fn limits(field: &Value) -> String {
    let mut told = Vec::new();
    if let Some(words) = field["enum"].as_array() {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        told.push(format!("One of {}.", words.join(", ")));
    }
    match (field["minimum"].as_f64(), field["maximum"].as_f64()) {
        (Some(least), Some(most)) => told.push(format!("From {least} to {most}.")),
        (Some(least), None) => told.push(format!("At least {least}.")),
        _ => {}
    }
    if let Some(pattern) = field["pattern"].as_str().filter(|pattern| pattern.len() < 60) {
        told.push(format!("Pattern: `{}`.", pattern.replace('|', "\\|")));
    }
    if !field["default"].is_null() {
        told.push(format!("Defaults to `{}`.", field["default"].to_string().trim_matches('"')));
    }
    if told.is_empty() { String::new() } else { format!(" {}", told.join(" ")) }
}

fn references(kind: &Kind) -> String {
    if kind.references.is_empty() {
        return String::new();
    }
    let mut text =
        "\n| reference | to | if the target does not exist | if the target is deleted |\n| --- | --- | --- | --- |\n"
            .to_owned();
    for reference in &kind.references {
        let missing = match &reference.missing {
            Missing::NotReady(reason) => format!("not Ready (`{reason}`)"),
            Missing::Refuse => "refused".to_owned(),
            Missing::Ignore => "accepted".to_owned(),
        };
        let deleted = match reference.on_delete {
            OnDelete::Block => "refused",
            OnDelete::NotReady(_) => "allowed; not Ready",
            OnDelete::Ignore => "allowed",
        };
        let fixed = if reference.immutable { " (immutable)" } else { "" };
        let _ =
            writeln!(text, "| `{}`{fixed} | {} | {missing} | {deleted} |", reference.path, reference.plural);
    }
    text
}

/// One line of Markdown.
fn sentence(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "\\<")
}
