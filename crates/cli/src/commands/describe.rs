//! `groundplane describe`: one object in all its detail, with its events.

mod core;
mod events;
mod generic;
mod rbac;

use std::io::Write;

use serde_json::Value;

use crate::client::{Ask, Client};
use crate::commands::get::target_of;
use crate::commands::selection::{self, Selection};
use crate::discovery::Resource;
use crate::failure::Failure;
use crate::locate;
use crate::manifests::FileFlags;
use crate::session::Session;
use crate::tabs;

pub use events::when;
pub use rbac::rules_table;

/// Show the fields and the events of objects.
///
/// If no object has the name, all objects whose names start with it are shown.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE[,TYPE…] [NAME…], or TYPE/NAME…
    #[arg(value_name = "TYPE [NAME…] | TYPE/NAME")]
    words: Vec<String>,

    #[command(flatten)]
    files: FileFlags,

    /// Label selector, such as app=web,tier!=db.
    #[arg(long, short = 'l', value_name = "LABELS")]
    selector: Option<String>,

    /// All namespaces.
    #[arg(long, short = 'A')]
    all_namespaces: bool,

    /// Show the events of the objects.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true", action = clap::ArgAction::Set)]
    show_events: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundplane describe namespace default
  groundplane describe configmaps                all of the current namespace
  groundplane describe namespaces kube           names that start with kube";

/// Describes.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    if arguments.words.is_empty() && arguments.files.is_empty() {
        return Err(Failure::usage("You must specify the type of resource to describe.")
            .hint("\"groundplane api-resources\" lists the resource types"));
    }
    let client = session.client().await?;
    let selection = Selection {
        selector: arguments.selector.clone(),
        all_namespaces: arguments.all_namespaces,
        ..Selection::default()
    };
    let namespace = selection.namespace(session).await?;
    let mut targets = Vec::new();
    if arguments.files.is_empty() {
        let discovery = session.discovery().await?;
        targets.extend(
            locate::targets(&discovery, &arguments.words)?
                .into_iter()
                .map(|target| (target, namespace.clone())),
        );
    } else {
        for manifest in arguments.files.read(&mut session.console)? {
            let own = manifest.object["metadata"]["namespace"].as_str().map(str::to_owned);
            targets.push((target_of(&manifest, session).await?, own.or_else(|| namespace.clone())));
        }
    }
    let is_in_namespace = targets.iter().all(|(target, _)| target.resource.is_namespaced);
    let mut failures = Vec::new();
    let mut count = 0;
    for (target, namespace) in targets {
        let found = match &target.name {
            Some(name) => named(&client, &target.resource, namespace.as_deref(), name).await,
            None => selection::list(&client, &target.resource, namespace.as_deref(), &selection).await,
        };
        // Those that are found by the beginning of their names are set apart by a line after each.
        let is_prefix =
            |object: &Value| target.name.as_deref().is_some_and(|name| object["metadata"]["name"] != name);
        match found {
            Err(failure) => failures.push(failure),
            Ok(objects) => {
                for object in objects {
                    let text = described(&client, &object, arguments.show_events).await?;
                    let (between, after) = match (is_prefix(&object), count) {
                        (true, _) => ("", "\n"),
                        (false, 0) => ("", ""),
                        (false, _) => ("\n\n", ""),
                    };
                    write!(session.console.out, "{between}{text}{after}")?;
                    count += 1;
                }
            }
        }
    }
    if count == 0 && failures.is_empty() {
        session.console.say(&match namespace.filter(|_| is_in_namespace) {
            Some(namespace) => format!("No resources found in {namespace} namespace."),
            None => "No resources found".to_owned(),
        });
    }
    Failure::all(failures)
}

/// The object of that name, or those whose names begin with it.
async fn named(
    client: &Client,
    resource: &Resource,
    namespace: Option<&str>,
    name: &str,
) -> Result<Vec<Value>, Failure> {
    match client.value(&Ask::get(resource.object(namespace, name))).await {
        Ok(object) => Ok(vec![object]),
        Err(failure) if failure.is_not_found() => {
            let mut all = selection::list(client, resource, namespace, &Selection::default()).await?;
            all.retain(|object| {
                object["metadata"]["name"].as_str().is_some_and(|known| known.starts_with(name))
            });
            if all.is_empty() { Err(failure) } else { Ok(all) }
        }
        Err(failure) => Err(failure),
    }
}

async fn described(client: &Client, object: &Value, with_events: bool) -> Result<String, Failure> {
    let mut page = Page::default();
    let kind = (object["apiVersion"].as_str().unwrap_or(""), object["kind"].as_str().unwrap_or(""));
    let shows_events = match kind {
        ("v1", "ConfigMap") => core::config_map(&mut page, object),
        ("v1", "Secret") => core::secret(&mut page, object),
        ("v1", "Namespace") => core::namespace(&mut page, object),
        ("v1", "ServiceAccount") => core::service_account(&mut page, object),
        ("rbac.authorization.k8s.io/v1", "Role" | "ClusterRole") => rbac::role(&mut page, object),
        ("rbac.authorization.k8s.io/v1", "RoleBinding" | "ClusterRoleBinding") => {
            rbac::binding(&mut page, object)
        }
        _ => generic::object(&mut page, object),
    };
    if shows_events && with_events {
        events::of(&mut page, client, object).await;
    }
    Ok(page.finish())
}

/// A description as it grows: lines with tabs, laid out in parts.
#[derive(Default)]
pub(crate) struct Page {
    done: String,
    open: String,
}

impl Page {
    /// A line at a level.
    pub(crate) fn line(&mut self, level: usize, line: &str) {
        self.open.extend(std::iter::repeat_n("  ", level));
        self.open.push_str(line);
        self.open.push('\n');
    }

    /// What follows has columns of its own.
    pub(crate) fn new_columns(&mut self) {
        self.done += &tabs::lay_out(&self.open, tabs::DESCRIPTION, &mut Vec::new());
        self.open.clear();
    }

    fn finish(mut self) -> String {
        self.new_columns();
        self.done
    }
}
