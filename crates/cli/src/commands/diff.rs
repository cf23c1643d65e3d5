//! `groundplane diff`: files against the server, or the server against its past.

use std::io::Write;

use http::Method;
use serde_json::{Value, json};

use super::apply::{self, Prepared};
use crate::client::{Ask, Client};
use crate::commands::selection::{self, Selection};
use crate::failure::Failure;
use crate::flags;
use crate::locate;
use crate::manifests::FileFlags;
use crate::print;
use crate::session::Session;

/// Show what "apply" would change, or changes since a time.
///
/// With -f, shows what "groundplane apply" would change. With --since, shows what has changed since a time or revision.
///
/// Exit code: 0 without differences, 1 with differences, 2 on failure.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// With --since: TYPE[,TYPE…] [NAME…], or TYPE/NAME…
    #[arg(value_name = "TYPE [NAME…] | TYPE/NAME", requires = "since")]
    words: Vec<String>,

    #[command(flatten)]
    files: FileFlags,

    /// Show changes since this time (2026-11-10, 2h) or revision.
    #[arg(long, value_name = "TIME|REVISION", conflicts_with_all = ["filenames", "kustomize", "recursive"])]
    since: Option<String>,

    /// With --since: label selector, such as app=web,tier!=db.
    #[arg(long, short = 'l', value_name = "LABELS", requires = "since")]
    selector: Option<String>,

    /// With --since: all namespaces.
    #[arg(long, short = 'A', requires = "since")]
    all_namespaces: bool,

    /// With -f: field manager to compare as.
    #[arg(long, value_name = "NAME", default_value = "groundplane")]
    field_manager: String,

    /// With -f: take over fields that other field managers own.
    #[arg(long)]
    force_conflicts: bool,

    /// Include metadata.managedFields.
    #[arg(long)]
    show_managed_fields: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundplane diff -f site/
  groundplane diff --since 2h configmaps -n default
  groundplane diff --since 1d racks,nodes";

/// Compares; a failure is told by 2, because 1 means that something differs.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let compared = match &arguments.since {
        Some(since) => since_then(&arguments, since, session).await,
        None => with_files(&arguments, session).await,
    };
    match compared {
        Ok(false) => Ok(()),
        Ok(true) => Err(Failure::Exit(1)),
        Err(failure) => {
            session.console.flush()?;
            failure.tell(&mut session.console);
            Err(Failure::Exit(2))
        }
    }
}

async fn with_files(arguments: &Arguments, session: &mut Session) -> Result<bool, Failure> {
    if arguments.files.is_empty() {
        return Err(Failure::usage("must specify one of -f and --since")
            .hint("groundplane diff -f FILE, or groundplane diff --since 2d TYPE [NAME]"));
    }
    let manifests = arguments.files.read(&mut session.console)?;
    let prepared = apply::prepare(manifests, session).await?;
    let client = session.client().await?;
    let mut differs = false;
    for one in &prepared {
        let live = match client.value(&Ask::get(one.path())).await {
            Ok(live) => Some(live),
            Err(failure) if failure.is_not_found() => None,
            Err(failure) => return Err(failure),
        };
        let merged = merged(arguments, one, &client).await.map_err(|failure| one.manifest.shown(failure))?;
        differs |= show(arguments, live, Some(merged), session)?;
    }
    Ok(differs)
}

async fn merged(arguments: &Arguments, one: &Prepared, client: &Client) -> Result<Value, Failure> {
    let ask = Ask::new(Method::PATCH, one.path())
        .query("dryRun", "All")
        .query("fieldManager", arguments.field_manager.as_str())
        .query_if("force", arguments.force_conflicts.then_some("true"))
        .body("application/apply-patch+yaml", krm::encode::to_json(&one.manifest.object));
    client.value(&ask).await
}

async fn since_then(arguments: &Arguments, since: &str, session: &mut Session) -> Result<bool, Failure> {
    let moment = flags::moment(since)?;
    if arguments.words.is_empty() {
        return Err(Failure::usage("--since needs resource types, as in: groundplane diff --since 2h racks"));
    }
    let selection = Selection {
        selector: arguments.selector.clone(),
        all_namespaces: arguments.all_namespaces,
        ..Selection::default()
    };
    let namespace = selection.namespace(session).await?;
    let discovery = session.discovery().await?;
    let client = session.client().await?;
    let mut differs = false;
    for target in locate::targets(&discovery, &arguments.words)? {
        let mut pair = [Vec::new(), Vec::new()];
        for (objects, as_of) in pair.iter_mut().zip([Some(&moment), None]) {
            let ask = match &target.name {
                Some(name) => Ask::get(target.resource.object(namespace.as_deref(), name)),
                None => selection.on(Ask::get(target.resource.collection(namespace.as_deref()))),
            };
            let ask = ask.query_if("asOf", as_of.cloned());
            match &target.name {
                Some(_) => match client.value(&ask).await {
                    Ok(object) => objects.push(object),
                    Err(failure) if failure.is_not_found() => {}
                    Err(failure) => return Err(failure),
                },
                None => {
                    selection::pages(&client, &ask, selection::CHUNK, |mut page| {
                        objects.extend(selection::items(&mut page));
                        Ok(())
                    })
                    .await?;
                }
            }
        }
        let [before, after] = pair;
        for (old, new) in matched(before, after) {
            differs |= show(arguments, old, new, session)?;
        }
    }
    Ok(differs)
}

/// Objects of then and now, by namespace and name.
fn matched(before: Vec<Value>, after: Vec<Value>) -> Vec<(Option<Value>, Option<Value>)> {
    let mut all: std::collections::BTreeMap<(String, String), (Option<Value>, Option<Value>)> =
        Default::default();
    let key = |object: &Value| {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or("").to_owned();
        (text("namespace"), text("name"))
    };
    for object in before {
        let place = key(&object);
        all.entry(place).or_default().0 = Some(object);
    }
    for object in after {
        let place = key(&object);
        all.entry(place).or_default().1 = Some(object);
    }
    all.into_values().collect()
}

/// Shows what differs between two states of an object; whether anything does.
fn show(
    arguments: &Arguments,
    before: Option<Value>,
    after: Option<Value>,
    session: &mut Session,
) -> Result<bool, Failure> {
    let named = after.as_ref().or(before.as_ref()).cloned().unwrap_or_default();
    let (before, after) = masked(before, after);
    let text = |object: Option<Value>| {
        object.map_or(String::new(), |mut object| {
            if !arguments.show_managed_fields {
                print::without_managed_fields(&mut object);
            }
            // It changes with every write, and says nothing about the object.
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("resourceVersion");
            }
            krm::encode::to_yaml(&object)
        })
    };
    let difference = print::unified(&text(before), &text(after));
    if difference.is_empty() {
        return Ok(false);
    }
    let part = |value: &Value| value.as_str().unwrap_or("").replace('/', ".");
    let file = format!(
        "{}.{}.{}.{}",
        part(&named["apiVersion"]),
        part(&named["kind"]),
        part(&named["metadata"]["namespace"]),
        part(&named["metadata"]["name"])
    );
    let (old, new) = if arguments.since.is_some() { ("THEN", "NOW") } else { ("LIVE", "MERGED") };
    writeln!(session.console.out, "--- {old}/{file}\n+++ {new}/{file}")?;
    for line in difference.lines() {
        let colour = match line.as_bytes().first() {
            Some(b'+') => "\u{1b}[32m",
            Some(b'-') => "\u{1b}[31m",
            Some(b'@') => "\u{1b}[36m",
            _ => "",
        };
        let line = if colour.is_empty() { line.to_owned() } else { session.console.painted(colour, line) };
        writeln!(session.console.out, "{line}")?;
    }
    Ok(true)
}

/// Secrets show that they differ, and not what they are.
fn masked(mut before: Option<Value>, mut after: Option<Value>) -> (Option<Value>, Option<Value>) {
    let is_secret = |object: &Option<Value>| object.as_ref().is_some_and(|object| object["kind"] == "Secret");
    if !is_secret(&before) && !is_secret(&after) {
        return (before, after);
    }
    let values = |object: &Option<Value>| {
        object.as_ref().and_then(|object| object["data"].as_object().cloned()).unwrap_or_default()
    };
    let (old, new) = (values(&before), values(&after));
    let mask = |object: &mut Option<Value>, other: &serde_json::Map<String, Value>, word: &str| {
        let Some(object) = object else { return };
        for (key, value) in object["data"].as_object_mut().into_iter().flatten() {
            *value = match other.get(key) {
                Some(known) if known != value => json!(format!("*** ({word})")),
                _ => json!("***"),
            };
        }
        if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        }
    };
    mask(&mut before, &new, "before");
    mask(&mut after, &old, "after");
    (before, after)
}
