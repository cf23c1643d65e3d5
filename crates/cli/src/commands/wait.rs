//! `groundplane wait`: until objects are as they should be.

use std::io::Write;
use std::time::{Duration, Instant};

use krm::jsonpath::JsonPath;
use serde_json::Value;

use crate::client::Client;
use crate::commands::found::{self, ObjectTarget};
use crate::commands::selection::Selection;
use crate::failure::Failure;
use crate::flags;
use crate::manifests::FileFlags;
use crate::print;
use crate::session::Session;

/// Wait for a condition of objects.
///
/// Several --for are waited for one after the other. Exit code: 0 when all conditions are met, 1 on timeout.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE NAME… or TYPE/NAME…
    #[arg(value_name = "TYPE NAME | TYPE/NAME")]
    words: Vec<String>,

    #[command(flatten)]
    files: FileFlags,

    #[command(flatten)]
    selection: Selection,

    /// All objects of the type in the namespace.
    #[arg(long)]
    all: bool,

    /// Condition: create, delete, condition=NAME[=VALUE], or jsonpath='{PATH}'[=VALUE].
    #[arg(long = "for", value_name = "WHAT", required = true)]
    conditions: Vec<String>,

    /// Time to wait, such as 30s; 0 checks once, a negative time waits for a week.
    #[arg(long, value_name = "TIME", default_value = "30s", allow_hyphen_values = true)]
    timeout: String,

    /// Output format: name, json, yaml, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane wait racks --all --for=condition=Ready --timeout=5m
  groundplane wait namespace/default --for=jsonpath='{.status.phase}'=Active
  groundplane wait crd --all --for=condition=Established";

/// What is waited for.
enum Condition {
    Created,
    Deleted,
    Is { name: String, value: String },
    Path { path: JsonPath, value: Option<String> },
}

/// How long between two looks, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// Waits.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let timeout = match arguments.timeout.strip_prefix('-') {
        Some(_) => Duration::from_secs(7 * 24 * 3600),
        None => flags::duration(&arguments.timeout).ok_or_else(|| {
            Failure::usage(format!("--timeout {}: use a duration such as 30s", arguments.timeout))
        })?,
    };
    let conditions: Vec<Condition> =
        arguments.conditions.iter().map(|text| Condition::parse(text)).collect::<Result<_, _>>()?;
    let output =
        arguments.output.as_deref().map(|form| print::Output::parse(Some(form), false)).transpose()?;
    let client = session.client().await?;
    let deadline = Instant::now() + timeout;
    let places =
        found::places(&arguments.words, &arguments.files, &arguments.selection, arguments.all, session)
            .await?;
    let is_for_deletion = conditions.iter().any(|condition| matches!(condition, Condition::Deleted));
    if places.is_empty() && !is_for_deletion {
        return Err(Failure::other("no matching resources found"));
    }
    let is_for_creation = conditions.iter().any(|condition| matches!(condition, Condition::Created));
    for place in &places {
        // What is gone already is not worth a word.
        if is_for_deletion && place.fetch(&client).await.is_err_and(|failure| failure.is_not_found()) {
            continue;
        }
        for condition in &conditions {
            let last = until(&client, place, condition, deadline, is_for_creation, timeout.is_zero()).await?;
            match (&output, last) {
                (Some(output), Some(object)) => output.print(&mut session.console.out, &object)?,
                _ => writeln!(session.console.out, "{} condition met", place.shown())?,
            }
        }
    }
    Ok(())
}

impl Condition {
    fn parse(text: &str) -> Result<Condition, Failure> {
        if let Some(rest) = text.strip_prefix("condition=") {
            let (name, value) = rest.split_once('=').unwrap_or((rest, "true"));
            return Ok(Condition::Is { name: name.to_owned(), value: value.to_lowercase() });
        }
        if let Some(rest) = text.strip_prefix("jsonpath=") {
            let (path, value) = split(rest);
            if value.as_deref() == Some("") {
                return Err(Failure::usage(
                    "jsonpath wait has to have a value after equal sign, like --for=jsonpath='{.status.readyReplicas}'=3",
                ));
            }
            return Ok(Condition::Path { path: print::path(&path)?, value });
        }
        match text.to_lowercase().as_str() {
            "delete" => Ok(Condition::Deleted),
            "create" => Ok(Condition::Created),
            _ => Err(Failure::usage(format!("unrecognized condition: {}", krm::field::quote(text)))),
        }
    }

    fn holds(&self, object: Option<&Value>) -> bool {
        match (self, object) {
            (Condition::Deleted, object) => object.is_none(),
            (Condition::Created, object) => object.is_some(),
            (_, None) => false,
            (Condition::Is { name, value }, Some(object)) => {
                let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
                let wanted = |condition: &&Value| {
                    condition["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case(name))
                };
                let found = conditions.find(wanted);
                found
                    .and_then(|condition| condition["status"].as_str())
                    .is_some_and(|status| status.to_lowercase() == *value)
            }
            (Condition::Path { path, value }, Some(object)) => {
                let found = path.find_all(object).unwrap_or_default();
                match value {
                    None => !found.is_empty(),
                    Some(value) => matches!(found.as_slice(), [one] if print::shown_as_go(one) == *value),
                }
            }
        }
    }
}

/// A path, and the value behind a single equals sign.
fn split(text: &str) -> (String, Option<String>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'=' && bytes.get(at + 1) == Some(&b'=') {
            at += 2;
        } else if bytes[at] == b'=' {
            return (text[..at].to_owned(), Some(text[at + 1..].trim_matches(['\'', '"']).to_owned()));
        } else {
            at += 1;
        }
    }
    (text.to_owned(), None)
}

async fn until(
    client: &Client,
    place: &ObjectTarget,
    condition: &Condition,
    deadline: Instant,
    may_be_missing: bool,
    is_one_look: bool,
) -> Result<Option<Value>, Failure> {
    let mut pause = PAUSES.0;
    loop {
        let object = match place.fetch(client).await {
            Ok(object) => Some(object),
            Err(failure) if failure.is_not_found() => {
                if !may_be_missing && !matches!(condition, Condition::Deleted) {
                    return Err(failure);
                }
                None
            }
            Err(failure) => return Err(failure),
        };
        if condition.holds(object.as_ref()) {
            return Ok(object);
        }
        if Instant::now() >= deadline {
            let name = format!("{}/{}", place.resource.plural, place.name);
            return Err(Failure::other(match is_one_look {
                true => format!("condition not met for {name}"),
                false => format!("timed out waiting for the condition on {name}"),
            }));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSES.1);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_hold_by_name_and_value() {
        let object =
            json!({"status": {"conditions": [{"type": "Ready", "status": "True"}], "n": 3, "b": true}});
        let holds =
            |text: &str| Condition::parse(text).unwrap_or_else(|_| panic!("{text}")).holds(Some(&object));
        assert!(holds("condition=ready") && holds("condition=Ready=true") && !holds("condition=Ready=False"));
        assert!(
            holds("jsonpath={.status.n}=3")
                && holds("jsonpath='{.status.b}'=true".replace('\'', "").as_str())
        );
        assert!(holds("jsonpath={.status.conditions[?(@.type==\"Ready\")].status}=True"));
        assert!(holds("jsonpath=.status.n") && !holds("jsonpath=.status.m"));
        assert!(holds("create") && !holds("delete"));
        assert!(Condition::parse("happy").is_err());
    }
}
