//! `groundplane patch`: a few fields of an object, changed.

use std::io::Write;

use http::Method;
use serde_json::Value;

use crate::client::Ask;
use crate::commands::found;
use crate::commands::selection::Selection;
use crate::failure::Failure;
use crate::flags::DryRun;
use crate::manifests::FileFlags;
use crate::print::Output;
use crate::session::Session;

/// Change fields of objects with a patch.
///
/// The patch is JSON or YAML, of one of three types: merge (JSON merge patch, null removes a field), json (a list of JSON
/// patch operations) and strategic (merges lists by key; built-in Kubernetes kinds only). The default is strategic for
/// built-in Kubernetes kinds and merge for all others.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE NAME… or TYPE/NAME…
    #[arg(value_name = "TYPE NAME | TYPE/NAME")]
    words: Vec<String>,

    #[command(flatten)]
    files: FileFlags,

    /// Patch, as JSON or YAML.
    #[arg(
        long,
        short,
        value_name = "PATCH",
        required_unless_present = "patch_file",
        conflicts_with = "patch_file"
    )]
    patch: Option<String>,

    /// File with the patch.
    #[arg(long, value_name = "FILE")]
    patch_file: Option<String>,

    /// Patch type.
    #[arg(long = "type", value_name = "TYPE", value_parser = ["merge", "json", "strategic"])]
    patch_type: Option<String>,

    /// Subresource to write, such as status.
    #[arg(long, value_name = "NAME")]
    subresource: Option<String>,

    #[command(flatten)]
    dry_run: DryRun,

    /// Field manager to record as the owner of the fields.
    #[arg(long, value_name = "NAME", default_value = "groundplane")]
    field_manager: String,

    /// Reason for the change, shown in the history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,

    /// Output format: name, json, yaml, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane create configmap settings --from-literal=limit=3
  groundplane patch configmap settings -p '{\"data\":{\"limit\":\"5\"}}'
  groundplane patch configmap settings --type json \\
    -p '[{\"op\":\"remove\",\"path\":\"/data/limit\"}]'";

/// Patches.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let text = match (&arguments.patch, &arguments.patch_file) {
        (Some(patch), _) => patch.clone(),
        (None, Some(file)) => std::fs::read_to_string(file)
            .map_err(|error| Failure::other(format!("unable to read patch file: {file}: {error}")))?,
        (None, None) => {
            return Err(Failure::usage(
                "must specify --patch or --patch-file containing the contents of the patch",
            ));
        }
    };
    let patch = krm::decode::read_yaml(text.as_bytes())
        .map_err(|error| Failure::other(format!("unable to parse {}: {error}", krm::field::quote(&text))))?;
    let patch = krm::encode::to_json(&patch.value);
    let places =
        found::places(&arguments.words, &arguments.files, &Selection::default(), false, session).await?;
    if places.is_empty() {
        return Err(
            Failure::usage("no objects passed to patch").hint("name an object as TYPE NAME, or use -f")
        );
    }
    let client = session.client().await?;
    let mut failures = Vec::new();
    for place in &places {
        let is_theirs = place.resource.group.is_empty() || place.resource.group.ends_with(".k8s.io");
        let kind = match arguments.patch_type.as_deref() {
            Some("merge") => "application/merge-patch+json",
            Some("json") => "application/json-patch+json",
            Some(_) => "application/strategic-merge-patch+json",
            None if is_theirs && place.resource.group != "apiextensions.k8s.io" => {
                "application/strategic-merge-patch+json"
            }
            None => "application/merge-patch+json",
        };
        let path = match &arguments.subresource {
            Some(subresource) => format!("{}/{subresource}", place.path()),
            None => place.path(),
        };
        let before = client.value(&Ask::get(path.clone())).await;
        let ask = Ask::new(Method::PATCH, path)
            .query("fieldManager", arguments.field_manager.as_str())
            .query_if(
                "dryRun",
                arguments.dry_run.parameter().or(arguments.dry_run.is_client().then_some("All")),
            )
            .message(arguments.message.as_deref())
            .body(kind, patch.clone());
        let patched = match before {
            Err(failure) => Err(failure),
            Ok(before) => client.value(&ask).await.map(|after| (before, after)),
        };
        match patched {
            Err(failure) => failures.push(unsupported(failure, kind, place)),
            Ok((before, mut after)) => {
                let changed = before != after;
                if let Some(form) = &arguments.output {
                    crate::print::without_managed_fields(&mut after);
                    Output::parse(Some(form), false)?.print(&mut session.console.out, &after)?;
                } else {
                    let done = if changed { "patched" } else { "patched (no change)" };
                    writeln!(session.console.out, "{} {done}", place.shown())?;
                }
            }
        }
    }
    Failure::all(failures)
}

fn unsupported(failure: Failure, kind: &str, place: &found::ObjectTarget) -> Failure {
    let is_unsupported = failure.refusal().is_some_and(|refusal| refusal.code() == 415);
    match failure.refusal().map(|refusal| refusal.status["message"].clone()) {
        Some(Value::String(message)) if is_unsupported => Failure::other(format!(
            "{kind} is not supported by {}, Kind={}: {message}",
            place.resource.api_version(),
            place.resource.kind
        ))
        .hint("use --type merge"),
        _ => failure,
    }
}
