//! `groundplane delete`: takes objects away, and waits until they are gone.

mod gone;

use std::io::Write;

use http::Method;
use serde_json::{Map, Value, json};

use crate::client::{Ask, Client};
use crate::commands::get::target_of;
use crate::commands::selection::{self, Selection};
use crate::discovery::Resource;
use crate::failure::Failure;
use crate::flags::{self, DryRun};
use crate::locate;
use crate::manifests::FileFlags;
use crate::names;
use crate::session::Session;

/// Delete objects by file, name or label selector.
///
/// Waits until the objects are gone, unless --wait=false. Objects from files are deleted in one transaction: all of them
/// or none. "groundplane restore" brings deleted objects back.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE[,TYPE…] [NAME…], or TYPE/NAME…
    #[arg(value_name = "TYPE [NAME…] | TYPE/NAME")]
    words: Vec<String>,

    #[command(flatten)]
    files: FileFlags,

    #[command(flatten)]
    selection: Selection,

    /// All objects of the type in the namespace.
    #[arg(long)]
    all: bool,

    /// Deletion of dependents (ownerReferences): background, foreground or orphan.
    #[arg(long, value_name = "HOW", default_value = "background", num_args = 0..=1, require_equals = true,
        default_missing_value = "background", value_parser = ["background", "foreground", "orphan", "true", "false"],
        hide_possible_values = true)]
    cascade: String,

    /// Grace period in seconds.
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    grace_period: Option<i64>,

    /// Delete immediately: a grace period of one second.
    #[arg(long)]
    now: bool,

    /// Delete immediately, without waiting for confirmation.
    #[arg(long)]
    force: bool,

    /// Succeed if an object does not exist.
    #[arg(long)]
    ignore_not_found: bool,

    /// Wait until the objects are gone.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true", action = clap::ArgAction::Set)]
    wait: bool,

    /// Time to wait, such as 30s; 0 for no limit.
    #[arg(long, value_name = "TIME", default_value = "0")]
    timeout: String,

    /// Ask for confirmation. Without a terminal the answer is no.
    #[arg(long, short)]
    interactive: bool,

    #[command(flatten)]
    dry_run: DryRun,

    /// Reason for the change, shown in the history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,

    /// Output format: name.
    #[arg(long, short, value_name = "FORMAT", value_parser = ["name"])]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane create configmap settings --from-literal=limit=3
  groundplane delete configmap settings
  groundplane restore configmap settings         bring it back
  groundplane delete configmaps -l app=old --dry-run=server";

/// An object that is to go.
pub(super) struct Doomed {
    resource: Resource,
    namespace: Option<String>,
    name: String,
    source: Option<String>,
}

/// Deletes.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let timeout = flags::duration(&arguments.timeout).ok_or_else(|| {
        Failure::usage(format!("--timeout {}: use a duration such as 30s", arguments.timeout))
    })?;
    if arguments.words.is_empty() && arguments.files.is_empty() {
        return Err(Failure::usage(
            "You must provide one or more resources by argument or filename.\n\
            Example resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'",
        ));
    }
    if arguments.force && arguments.grace_period.is_some_and(|period| period > 0) {
        return Err(Failure::usage("--force and --grace-period greater than 0 cannot be specified together"));
    }
    let client = session.client().await?;
    let (doomed, mut failures) = find(&arguments, &client, session).await?;
    if arguments.interactive && !doomed.is_empty() {
        for one in &doomed {
            session.console.say(&format!(
                "{}/{}",
                names::typed(&one.resource.kind, &one.resource.group),
                one.name
            ));
        }
        if !session.console.confirm("Do you want to continue?") {
            writeln!(session.console.out, "deletion is cancelled")?;
            return Ok(());
        }
    }
    if arguments.force && arguments.dry_run.is_real() {
        session.console.warn(
            "Immediate deletion does not wait for confirmation that the running resource has been terminated. \
             The resource may continue to run on the cluster indefinitely.",
        );
    }
    if session.asked_namespace().await?.is_some() && doomed.iter().any(|one| !one.resource.is_namespaced) {
        session.console.warn("deleting cluster-scoped resources, not scoped to the provided namespace");
    }
    let mut deleted: Vec<(&Doomed, String)> = Vec::new();
    let in_one =
        !arguments.files.is_empty() && doomed.len() > 1 && session.discovery().await?.has_transactions();
    if in_one && !arguments.dry_run.is_client() {
        let uids = together(&arguments, &client, &doomed).await?;
        for (one, uid) in doomed.iter().zip(uids) {
            tell(&arguments, one, session)?;
            deleted.push((one, uid));
        }
    } else {
        for one in &doomed {
            match delete(&arguments, &client, one).await {
                Ok(uid) => {
                    tell(&arguments, one, session)?;
                    deleted.push((one, uid));
                }
                Err(failure) if arguments.ignore_not_found && failure.is_not_found() => {}
                Err(failure) => failures.push(match &one.source {
                    Some(source) => failure.during(&format!("error when deleting \"{source}\"")),
                    None => failure,
                }),
            }
        }
    }
    if !failures.is_empty() {
        return Failure::all(failures);
    }
    if doomed.is_empty() {
        writeln!(session.console.out, "No resources found")?;
        return Ok(());
    }
    session.console.flush()?;
    if arguments.wait && arguments.dry_run.is_real() && !arguments.force {
        gone::wait(&client, &deleted, timeout).await?;
    }
    Ok(())
}

/// What is to go, and what can't be found.
async fn find(
    arguments: &Arguments,
    client: &Client,
    session: &mut Session,
) -> Result<(Vec<Doomed>, Vec<Failure>), Failure> {
    let namespace = arguments.selection.namespace(session).await?;
    let mut doomed = Vec::new();
    let mut failures = Vec::new();
    if !arguments.files.is_empty() {
        for manifest in arguments.files.read(&mut session.console)? {
            let target = match target_of(&manifest, session).await {
                Ok(target) => target,
                Err(_) if arguments.ignore_not_found => continue,
                Err(failure) => {
                    failures.push(failure);
                    continue;
                }
            };
            let own = manifest.object["metadata"]["namespace"].as_str().map(str::to_owned);
            let namespace = own.or_else(|| namespace.clone()).filter(|_| target.resource.is_namespaced);
            let source = Some(manifest.source.name.clone());
            doomed.push(Doomed {
                namespace,
                name: target.name.unwrap_or_default(),
                resource: target.resource,
                source,
            });
        }
        return Ok((doomed, failures));
    }
    let discovery = session.discovery().await?;
    for target in locate::targets(&discovery, &arguments.words)? {
        let in_namespace = namespace.clone().filter(|_| target.resource.is_namespaced);
        if let Some(name) = target.name {
            if arguments.selection.is_narrow() || arguments.all {
                let what = if arguments.all { "--all" } else { "a selector" };
                return Err(Failure::usage(format!("name cannot be provided when {what} is specified")));
            }
            doomed.push(Doomed { resource: target.resource, namespace: in_namespace, name, source: None });
            continue;
        }
        if !arguments.all && !arguments.selection.is_narrow() {
            return Err(Failure::usage("resource(s) were provided, but no name was specified"));
        }
        for object in
            selection::list(client, &target.resource, in_namespace.as_deref(), &arguments.selection).await?
        {
            let text = |field: &str| object["metadata"][field].as_str().map(str::to_owned);
            doomed.push(Doomed {
                resource: target.resource.clone(),
                namespace: text("namespace"),
                name: text("name").unwrap_or_default(),
                source: None,
            });
        }
    }
    Ok((doomed, failures))
}

impl Arguments {
    fn options(&self) -> Value {
        let mut options = Map::new();
        options.insert("apiVersion".into(), "v1".into());
        options.insert("kind".into(), "DeleteOptions".into());
        options.insert("propagationPolicy".into(), self.propagation().into());
        let period = match (self.force, self.now) {
            (true, _) => Some(0),
            (false, true) => Some(1),
            (false, false) => self.grace_period.filter(|period| *period >= 0),
        };
        // With a body, the server reads no parameters.
        if let Some(dry_run) = self.dry_run.parameter() {
            options.insert("dryRun".into(), json!([dry_run]));
        }
        if let Some(period) = period {
            options.insert("gracePeriodSeconds".into(), period.into());
        }
        Value::Object(options)
    }

    fn propagation(&self) -> &'static str {
        match self.cascade.as_str() {
            "orphan" | "false" => "Orphan",
            "foreground" => "Foreground",
            _ => "Background",
        }
    }
}

/// Deletes one object, and gives its uid.
async fn delete(arguments: &Arguments, client: &Client, one: &Doomed) -> Result<String, Failure> {
    if arguments.dry_run.is_client() {
        return Ok(String::new());
    }
    let ask = Ask::new(Method::DELETE, one.resource.object(one.namespace.as_deref(), &one.name))
        .message(arguments.message.as_deref())
        .json(&arguments.options());
    let answer = client.value(&ask).await?;
    let uid = match answer["kind"] == "Status" {
        true => &answer["details"]["uid"],
        false => &answer["metadata"]["uid"],
    };
    Ok(uid.as_str().unwrap_or("").to_owned())
}

/// Deletes all of them in one commit, and gives their uids.
async fn together(arguments: &Arguments, client: &Client, doomed: &[Doomed]) -> Result<Vec<String>, Failure> {
    let items: Vec<Value> = doomed
        .iter()
        .map(|one| {
            json!({"operation": "delete", "propagationPolicy": arguments.propagation(), "target": {
                "apiVersion": one.resource.api_version(), "kind": one.resource.kind,
                "namespace": one.namespace, "name": one.name}})
        })
        .collect();
    let body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction",
        "spec": {"message": arguments.message, "items": items}});
    let ask = Ask::new(Method::POST, "/apis/groundplane.dev/v1alpha1/transactions")
        .query_if("dryRun", arguments.dry_run.parameter())
        .json(&body);
    let answer = client.value(&ask).await?;
    let results = answer["status"]["items"].as_array().cloned().unwrap_or_default();
    Ok(results.iter().map(|item| item["uid"].as_str().unwrap_or("").to_owned()).collect())
}

fn tell(arguments: &Arguments, one: &Doomed, session: &mut Session) -> Result<(), Failure> {
    let kind = names::typed(&one.resource.kind, &one.resource.group);
    if arguments.output.is_some() {
        writeln!(session.console.out, "{kind}/{}", one.name)?;
        return Ok(());
    }
    let mut done = if arguments.force { "force deleted" } else { "deleted" }.to_owned();
    if let Some(namespace) = &one.namespace {
        done += &format!(" from {namespace} namespace");
    }
    let suffix = arguments.dry_run.suffix();
    writeln!(session.console.out, "{kind} {} {done}{suffix}", krm::field::quote(&one.name))?;
    Ok(())
}
