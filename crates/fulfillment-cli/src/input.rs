//! What commands read: files with credentials, which never stand on the command line, and new objects.

use std::io::Read;

use cli::{Ask, Failure, Session};
use http::Method;
use serde_json::{Map, Value, json};

use crate::API;
use crate::output::{self, Form};
use crate::table::Shown;

/// The content of a file, or of the standard input for `-`, without the line break at its end.
pub fn file(path: &str, session: &mut Session) -> Result<String, Failure> {
    let mut content = String::new();
    let read = match path {
        "-" => session.console.input.read_to_string(&mut content).map(drop),
        path => std::fs::read_to_string(path).map(|read| content = read),
    };
    read.map_err(|error| Failure::other(format!("reading {path}: {error}")))?;
    Ok(content.trim_end_matches(['\r', '\n']).to_owned())
}

/// A new object with an identifier: its name, and the identifier itself if that is no name.
pub fn object(kind: &str, id: &str) -> Value {
    let name = fulfillment::identity::name_of(id);
    let mut object = json!({
        "apiVersion": format!("{}/{}", fulfillment::GROUP, fulfillment::VERSION),
        "kind": kind,
        "metadata": {"name": name},
    });
    if name != id {
        object["id"] = id.into();
    }
    object
}

/// Fields of an object, without those that were not given.
pub fn given<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let given = fields.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?)));
    Value::Object(given.collect::<Map<String, Value>>())
}

/// Creates an object and says so.
pub async fn create(
    shown: &Shown,
    object: &Value,
    message: Option<&str>,
    form: Form,
    session: &mut Session,
) -> Result<(), Failure> {
    let ask = Ask::new(Method::POST, format!("{API}/{}", shown.plural))
        .query("fieldManager", "groundplane")
        .query("fieldValidation", "Strict")
        .json(object)
        .message(message);
    let made = session.client().await?.value(&ask).await?;
    match form {
        Form::Json | Form::Yaml => output::value(form, &made, session),
        Form::Name | Form::Table | Form::Wide => {
            let line = shown.named(&made);
            output::line(&if form == Form::Name { line } else { format!("{line} created") }, session)
        }
    }
}

/// Deletes objects by their names or identifiers, and says so of each.
pub async fn delete(
    shown: &Shown,
    names: &[String],
    message: Option<&str>,
    session: &mut Session,
) -> Result<(), Failure> {
    let mut failures = Vec::new();
    for name in names {
        let found = match crate::find::one(shown, name, session).await {
            Ok(found) => found,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        };
        let ask = Ask::new(Method::DELETE, crate::find::path_of(shown, &found)).message(message);
        match session.client().await?.value(&ask).await {
            Ok(_) => {
                output::line(&format!("{} deleted", shown.named(&found)), session)?;
            }
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures)
}
