//! `groundplane replace`: objects as files have them, whole.

use std::io::Write;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};

use super::apply::{self, Prepared};
use crate::client::{Ask, Client};
use crate::failure::Failure;
use crate::flags::{self, DryRun};
use crate::manifests::FileFlags;
use crate::names;
use crate::print::{self, Output};
use crate::session::Session;

/// Replace objects with the manifests of files.
///
/// Fields that the manifest does not set are removed: start from "groundplane get -o yaml". If the manifest has a
/// resourceVersion, the object is replaced only if it has not changed since. With --force, objects are deleted and created
/// again, and need not exist.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    files: FileFlags,

    /// Delete the objects, then create them again.
    #[arg(long)]
    force: bool,

    /// With --force: grace period in seconds.
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    grace_period: Option<i64>,

    /// With --force: time to wait for the deletion, such as 30s.
    #[arg(long, value_name = "TIME", default_value = "0", hide_default_value = true)]
    timeout: String,

    /// With --force: deletion of dependents (ownerReferences): background, foreground or orphan.
    #[arg(long, value_name = "HOW", default_value = "background", num_args = 0..=1, require_equals = true,
        default_missing_value = "background", value_parser = ["background", "foreground", "orphan", "true", "false"],
        hide_possible_values = true)]
    cascade: String,

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

    /// Validation of unknown fields: strict (fail), warn or ignore.
    #[arg(long, value_name = "HOW", default_value = "strict", num_args = 0..=1, require_equals = true,
        default_missing_value = "strict", value_parser = ["strict", "warn", "ignore", "true", "false"], hide_possible_values = true)]
    validate: String,

    /// Output format: name, json, yaml, jsonpath=TEMPLATE, go-template=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane create configmap settings --from-literal=limit=3
  groundplane get configmap settings -o yaml > settings.yaml
  groundplane replace -f settings.yaml --dry-run=server
  groundplane replace -f settings.yaml";

/// How long an old object may take to go, where nobody says.
const LONGEST: Duration = Duration::from_secs(300);
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// Replaces.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    check(&arguments)?;
    let manifests = arguments.files.read(&mut session.console)?;
    if manifests.is_empty() {
        return Err(Failure::other("no objects passed to replace"));
    }
    let prepared = apply::prepare(manifests, session).await?;
    let output = arguments.output.as_deref().map(|form| Output::parse(Some(form), false)).transpose()?;
    let client = session.client().await?;
    if arguments.force {
        return anew(&arguments, &prepared, output.as_ref(), &client, session).await;
    }
    let mut failures = Vec::new();
    for one in &prepared {
        match replaced(&arguments, one, &client).await {
            Ok(object) => tell(object, &arguments, output.as_ref(), session)?,
            Err(failure) => failures.push(of_file(one, "replacing", failure)),
        }
    }
    Failure::all(failures)
}

fn check(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.files.is_empty() {
        return Err(Failure::usage("must specify one of -f and -k").hint("groundplane replace -f FILE"));
    }
    let forced_only = [
        ("--grace-period", arguments.grace_period.is_some_and(|period| period >= 0)),
        ("--timeout", arguments.timeout != "0"),
    ];
    for (flag, is_given) in forced_only {
        if is_given && !arguments.force {
            return Err(Failure::usage(format!("{flag} must have --force specified")));
        }
    }
    if arguments.force && !arguments.dry_run.is_real() {
        return Err(Failure::usage("--dry-run can not be used when --force is set"));
    }
    Ok(())
}

/// The object after it was replaced.
async fn replaced(arguments: &Arguments, one: &Prepared, client: &Client) -> Result<Value, Failure> {
    let mut object = one.manifest.object.clone();
    if arguments.dry_run.is_client() {
        return Ok(object);
    }
    if one.name.is_empty() {
        return Err(Failure::other("resource name may not be empty"));
    }
    let path = match &arguments.subresource {
        Some(subresource) => format!("{}/{subresource}", one.path()),
        None => one.path(),
    };
    let is_conditional = object["metadata"]["resourceVersion"].as_str().is_some_and(|own| !own.is_empty());
    if !is_conditional && let Ok(present) = client.value(&Ask::get(path.clone())).await {
        object["metadata"]["resourceVersion"] = present["metadata"]["resourceVersion"].clone();
    }
    let ask = Ask::new(Method::PUT, path)
        .query("fieldManager", arguments.field_manager.as_str())
        .query("fieldValidation", apply::validation(&arguments.validate))
        .query_if("dryRun", arguments.dry_run.parameter())
        .message(arguments.message.as_deref())
        .json(&object);
    client.value(&ask).await
}

/// Deletes all of them, waits until they are gone, and creates all of them.
async fn anew(
    arguments: &Arguments,
    prepared: &[Prepared],
    output: Option<&Output>,
    client: &Client,
    session: &mut Session,
) -> Result<(), Failure> {
    let timeout = flags::duration(&arguments.timeout).ok_or_else(|| {
        Failure::usage(format!("--timeout {}: use a duration such as 30s", arguments.timeout))
    })?;
    let timeout = if timeout.is_zero() { LONGEST } else { timeout };
    let mut gone = Vec::new();
    for one in prepared {
        gone.push(deleted(arguments, one, client, session).await?);
    }
    session.console.flush()?;
    for one in prepared {
        wait_until_gone(one, client, timeout).await?;
    }
    let mut failures = Vec::new();
    for (one, was_there) in prepared.iter().zip(gone) {
        let ask = Ask::new(Method::POST, one.resource.collection(one.namespace.as_deref()))
            .query("fieldManager", arguments.field_manager.as_str())
            .query("fieldValidation", apply::validation(&arguments.validate))
            .message(arguments.message.as_deref())
            .json(&without_identity(&one.manifest.object));
        match client.value(&ask).await {
            Ok(object) => tell(object, arguments, output, session)?,
            Err(failure) => {
                let failure = of_file(one, "creating", failure);
                failures.push(match was_there {
                    true => failure.hint(format!(
                        "the old one is deleted; \"groundplane restore {} {}\" brings it back",
                        one.resource.plural, one.name
                    )),
                    false => failure,
                });
            }
        }
    }
    Failure::all(failures)
}

/// Deletes an object; false if it was not there.
async fn deleted(
    arguments: &Arguments,
    one: &Prepared,
    client: &Client,
    session: &mut Session,
) -> Result<bool, Failure> {
    let policy = match arguments.cascade.as_str() {
        "orphan" | "false" => "Orphan",
        "foreground" => "Foreground",
        _ => "Background",
    };
    let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": policy});
    // None at all could lose what still runs; one second is as good as none.
    if let Some(period) = arguments.grace_period.filter(|period| *period >= 0) {
        options["gracePeriodSeconds"] = period.max(1).into();
    }
    let ask = Ask::new(Method::DELETE, one.path()).message(arguments.message.as_deref()).json(&options);
    match client.value(&ask).await {
        Err(failure) if failure.is_not_found() => return Ok(false),
        Err(failure) => return Err(of_file(one, "deleting", failure)),
        Ok(_) => {}
    }
    let kind = names::typed(&one.resource.kind, &one.resource.group);
    let out = &mut session.console.out;
    match (arguments.output.as_deref(), &one.namespace) {
        (Some("name"), _) => writeln!(out, "{kind}/{}", one.name)?,
        (_, Some(namespace)) => {
            writeln!(out, "{kind} {} deleted from {namespace} namespace", krm::field::quote(&one.name))?;
        }
        (_, None) => writeln!(out, "{kind} {} deleted", krm::field::quote(&one.name))?,
    }
    Ok(true)
}

async fn wait_until_gone(one: &Prepared, client: &Client, timeout: Duration) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut pause = PAUSES.0;
    loop {
        match client.value(&Ask::get(one.path())).await {
            Err(failure) if failure.is_not_found() => return Ok(()),
            Err(failure) => return Err(failure),
            Ok(_) if begun.elapsed() > timeout => {
                return Err(Failure::other("timed out waiting for the condition").hint(format!(
                    "{} is being deleted, and its finalizers keep it; nothing was created yet",
                    one.manifest.name()
                )));
            }
            Ok(_) => {}
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// A new object has neither the version nor the uid of the old one.
fn without_identity(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
        metadata.remove("uid");
    }
    object
}

fn of_file(one: &Prepared, doing: &str, failure: Failure) -> Failure {
    one.manifest.shown(failure.during(&format!("error when {doing} \"{}\"", one.manifest.source_name())))
}

fn tell(
    mut object: Value,
    arguments: &Arguments,
    output: Option<&Output>,
    session: &mut Session,
) -> Result<(), Failure> {
    match output {
        Some(output) => {
            print::without_managed_fields(&mut object);
            output.print(&mut session.console.out, &object)
        }
        None => {
            let suffix = arguments.dry_run.suffix();
            writeln!(session.console.out, "{} replaced{suffix}", names::of_object(&object))?;
            Ok(())
        }
    }
}
