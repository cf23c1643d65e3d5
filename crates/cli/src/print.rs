//! Objects on stdout, in the form that `-o` asks for.

mod columns;
mod diff;
mod fit;
mod go;
mod sort;
mod table;
mod unified;

use std::io::Write;

use krm::jsonpath::{JsonPath, Template};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::gotemplate::GoTemplate;
use crate::names;

pub use columns::CustomColumns;
pub use diff::changes as diff_lines;
pub use fit::table as fitted;
pub use go::shown as shown_as_go;
pub use sort::{SortBy, relaxed_path};
pub use table::{Table, TableOptions};
pub use unified::unified;

/// A form that `-o` asks for.
pub enum Output {
    /// For people; with more columns when `wide`.
    Table {
        wide: bool,
    },
    Json,
    Yaml,
    /// `kind/name`, one on a line.
    Name,
    /// What paths lead to.
    JsonPath(Template),
    /// The same as a list in JSON.
    JsonPathAsJson(Template),
    Columns(CustomColumns),
    /// What a template of Go's makes of it.
    GoTemplate(Box<GoTemplate>),
}

const ALLOWED: &str = "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,name,template,templatefile,wide,yaml";

impl Output {
    /// Reads the value of `-o`; none is a table.
    pub fn parse(text: Option<&str>, no_headers: bool) -> Result<Output, Failure> {
        let text = text.unwrap_or("");
        let (form, argument) = match text.split_once('=') {
            Some((form, argument)) => (form, Some(argument)),
            None => (text, None),
        };
        let argument = |what: &str| {
            argument.filter(|argument| !argument.is_empty()).ok_or_else(|| {
                Failure::usage("template format specified but no template given")
                    .hint(format!("-o {form}={what}"))
            })
        };
        let template = |text: &str| {
            Template::parse(text)
                .map_err(|why| Failure::other(format!("error parsing jsonpath {text}, {why}")))
        };
        match form {
            "" => Ok(Output::Table { wide: false }),
            "wide" => Ok(Output::Table { wide: true }),
            "json" => Ok(Output::Json),
            "yaml" => Ok(Output::Yaml),
            "name" => Ok(Output::Name),
            "jsonpath" => Ok(Output::JsonPath(template(argument("'{.metadata.name}'")?)?)),
            "jsonpath-as-json" => Ok(Output::JsonPathAsJson(template(argument("'{.metadata.name}'")?)?)),
            "jsonpath-file" => {
                Ok(Output::JsonPath(template(read("--template", argument("FILE")?)?.trim_end_matches('\n'))?))
            }
            "custom-columns" => {
                Ok(Output::Columns(CustomColumns::parse(argument("NAME:.metadata.name")?, no_headers)?))
            }
            "custom-columns-file" => Ok(Output::Columns(CustomColumns::of_file(
                &read("template", argument("FILE")?)?,
                no_headers,
            )?)),
            "go-template" | "template" => go_template(argument("'{{.metadata.name}}'")?),
            "go-template-file" | "templatefile" => go_template(&read("--template", argument("FILE")?)?),
            other => Err(Failure::usage(format!(
                "unable to match a printer suitable for the output format {}, allowed formats are: {ALLOWED}",
                krm::field::quote(other)
            ))),
        }
    }

    /// The same where the template may be given apart from `-o`, and may want fields to be there.
    pub fn with_template(
        text: Option<&str>,
        template: Option<&str>,
        missing_keys_fail: bool,
        no_headers: bool,
    ) -> Result<Output, Failure> {
        let output = match template.filter(|template| !template.is_empty()) {
            None => Output::parse(text, no_headers)?,
            Some(template) => {
                let form = text.filter(|form| !form.is_empty()).unwrap_or("go-template");
                Output::parse(Some(&format!("{form}={template}")), no_headers)?
            }
        };
        Ok(match output {
            Output::GoTemplate(template) if missing_keys_fail => {
                Output::GoTemplate(Box::new(template.missing_keys_fail()))
            }
            output => output,
        })
    }

    /// Whether the server's table is what is printed.
    pub fn is_table(&self) -> bool {
        matches!(self, Output::Table { .. })
    }

    /// Prints what was found: an object, or a list of them.
    pub fn print(&self, out: &mut dyn Write, found: &Value) -> Result<(), Failure> {
        match self {
            Output::Json => writeln!(out, "{}", krm::encode::to_json_pretty(found))?,
            Output::Yaml => out.write_all(krm::encode::to_yaml(found).as_bytes())?,
            Output::Name | Output::Table { .. } => {
                for object in objects(found) {
                    writeln!(out, "{}", names::of_object(object))?;
                }
            }
            Output::JsonPath(template) => {
                let text = template.render(found).map_err(|why| executing(&why))?;
                out.write_all(text.as_bytes())?;
            }
            Output::JsonPathAsJson(template) => {
                let found = template.values(found).map_err(|why| executing(&why))?;
                let found = found.into_iter().map(std::borrow::Cow::into_owned).collect();
                writeln!(out, "{}", krm::encode::to_json_pretty(&Value::Array(found)))?;
            }
            Output::Columns(columns) => columns.print(out, &objects(found).collect::<Vec<_>>())?,
            Output::GoTemplate(template) => {
                let text = template.render(found).map_err(|why| {
                    let source = krm::field::quote(template.source());
                    Failure::other(format!("error executing template {source}: {why}"))
                })?;
                out.write_all(&text)?;
            }
        }
        Ok(())
    }
}

fn go_template(text: &str) -> Result<Output, Failure> {
    match GoTemplate::parse(text) {
        Ok(template) => Ok(Output::GoTemplate(Box::new(template))),
        Err(wrong) => {
            let told = format!("error parsing template {text}, {}", wrong.message);
            Err(Failure::other(told).note(wrong.excerpt))
        }
    }
}

fn executing(why: &str) -> Failure {
    Failure::other(format!("error executing jsonpath: {why}"))
}

/// The text of a file that `-o` names; kubectl's words if it can't be read.
fn read(what: &str, path: &str) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        let why = error.to_string();
        let why = why.split(" (os error").next().unwrap_or_default().to_lowercase();
        Failure::other(format!("error reading {what} {path}, open {path}: {why}"))
    })
}

/// The objects of a list, or the one there is.
pub fn objects(found: &Value) -> impl Iterator<Item = &Value> {
    let items = found["items"].as_array().filter(|_| is_list(found));
    let one = items.is_none().then_some(found);
    items.into_iter().flatten().chain(one)
}

/// Whether a document is a list of objects.
pub fn is_list(found: &Value) -> bool {
    found["items"].is_array() && found["kind"].as_str().is_some_and(|kind| kind.ends_with("List"))
}

/// Objects of any kinds as one document.
pub fn as_list(objects: Vec<Value>) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": objects})
}

/// Takes away what hardly anybody wants to see.
pub fn without_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// A path as people write it, with or without braces and dot.
pub fn path(text: &str) -> Result<JsonPath, Failure> {
    let inner = relaxed_path(text)?;
    JsonPath::parse(&inner).map_err(|why| Failure::usage(format!("the path {text} can't be read: {why}")))
}
