//! `groundplane get`: objects, as tables or in any other form.

mod tables;
mod watch;
mod whole;

use std::io::Write;

use crate::client::Ask;
use crate::commands::selection::{CHUNK, Selection};
use crate::discovery::Resource;
use crate::failure::Failure;
use crate::flags;
use crate::locate::{self, Target};
use crate::manifests::FileFlags;
use crate::print::{Output, SortBy, TableOptions};
use crate::session::Session;

pub use tables::{ACCEPT as TABLE_ACCEPT, headed, now};
pub use whole::target_of;

/// List objects, or show one.
///
/// Prints a table of the objects of one or several types, as kubectl does. -o selects other formats, -l and
/// --field-selector select objects, --as-of reads an earlier state.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE[,TYPE…] [NAME…], or TYPE/NAME…
    #[arg(value_name = "TYPE [NAME…] | TYPE/NAME")]
    pub words: Vec<String>,

    #[command(flatten)]
    pub files: FileFlags,

    /// Output format: wide, json, yaml, name, jsonpath=TEMPLATE, jsonpath-file=FILE, jsonpath-as-json=TEMPLATE,
    /// go-template=TEMPLATE, go-template-file=FILE, custom-columns=NAME:PATH,… or custom-columns-file=FILE.
    #[arg(long, short, value_name = "FORMAT")]
    pub output: Option<String>,

    /// Template, or file with one, for -o jsonpath and -o go-template (the default).
    #[arg(long, value_name = "TEMPLATE")]
    pub template: Option<String>,

    /// Print nothing for fields that a template names and an object lacks, instead of failing.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true", action = clap::ArgAction::Set)]
    pub allow_missing_template_keys: bool,

    #[command(flatten)]
    pub selection: Selection,

    /// Read the state at a time (2026-11-10T09:00:00Z, 2026-11-10, or 2h for two hours ago) or a revision.
    #[arg(long, value_name = "TIME|REVISION", conflicts_with_all = ["watch", "watch_only"])]
    pub as_of: Option<String>,

    /// List the objects, then watch for changes.
    #[arg(long, short)]
    pub watch: bool,

    /// Watch for changes without listing the objects first.
    #[arg(long)]
    pub watch_only: bool,

    /// With --watch: print the event type (ADDED, MODIFIED, DELETED).
    #[arg(long)]
    pub output_watch_events: bool,

    /// Print no headers.
    #[arg(long)]
    pub no_headers: bool,

    /// Show all labels in the last column.
    #[arg(long)]
    pub show_labels: bool,

    /// Show these labels as columns.
    #[arg(long, short = 'L', value_name = "LABEL,…", value_delimiter = ',')]
    pub label_columns: Vec<String>,

    /// Print the type before each name.
    #[arg(long)]
    pub show_kind: bool,

    /// Include metadata.managedFields.
    #[arg(long)]
    pub show_managed_fields: bool,

    /// Sort by the value at this JSONPath, such as .metadata.creationTimestamp.
    #[arg(long, value_name = "PATH")]
    pub sort_by: Option<String>,

    /// Succeed if an object does not exist.
    #[arg(long)]
    pub ignore_not_found: bool,

    /// Objects per request; 0 for all in one request.
    #[arg(long, value_name = "NUMBER", default_value_t = CHUNK, hide_default_value = true)]
    pub chunk_size: u32,

    /// Subresource to read, such as status or scale.
    #[arg(long, value_name = "NAME")]
    pub subresource: Option<String>,

    /// Request this path from the server and print the response as it is.
    #[arg(long, value_name = "PATH")]
    pub raw: Option<String>,

    /// For compatibility: tables are always the server's.
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub server_print: Option<bool>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane get configmaps                     the current namespace
  groundplane get configmaps,secrets -A          two types, all namespaces
  groundplane get namespace default -o yaml      one object
  groundplane get racks --as-of 2h               the state two hours ago
  groundplane get nodes -l role=compute --watch
  groundplane get racks -o jsonpath='{.items[*].metadata.name}'";

/// What was asked for, read.
pub(crate) struct Query {
    pub arguments: Arguments,
    pub output: Output,
    pub sort: Option<SortBy>,
    pub as_of: Option<String>,
    /// The namespace to look in: none for all.
    pub namespace: Option<String>,
}

/// Shows objects.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    if let Some(path) = &arguments.raw {
        return raw(path, session).await;
    }
    let output = Output::with_template(
        arguments.output.as_deref(),
        arguments.template.as_deref(),
        !arguments.allow_missing_template_keys,
        arguments.no_headers,
    )?;
    let sort = arguments.sort_by.as_deref().map(SortBy::parse).transpose()?;
    let as_of = arguments.as_of.as_deref().map(flags::moment).transpose()?;
    if arguments.words.is_empty() && arguments.files.is_empty() {
        return Err(Failure::usage("You must specify the type of resource to get.")
            .hint("\"groundplane api-resources\" lists the resource types"));
    }
    let mut targets = Vec::new();
    let namespace = arguments.selection.namespace(session).await?;
    if arguments.files.is_empty() {
        let discovery = session.discovery().await?;
        targets.extend(locate::targets(&discovery, &arguments.words)?);
    } else {
        for manifest in arguments.files.read(&mut session.console)? {
            targets.push(target_of(&manifest, session).await?);
        }
    }
    check(&arguments, &targets)?;
    let query = Query { arguments, output, sort, as_of, namespace };
    if query.arguments.watch || query.arguments.watch_only {
        return watch::run(&query, &targets, session).await;
    }
    match query.output.is_table() {
        true => tables::run(&query, &targets, session).await,
        false => whole::run(&query, &targets, session).await,
    }
}

fn check(arguments: &Arguments, targets: &[Target]) -> Result<(), Failure> {
    let is_named = targets.iter().any(|target| target.name.is_some());
    if is_named && arguments.selection.all_namespaces {
        return Err(Failure::usage("a resource cannot be retrieved by name across all namespaces"));
    }
    if is_named && arguments.files.is_empty() && arguments.selection.is_narrow() {
        return Err(Failure::usage("name cannot be provided when a selector is specified"));
    }
    if arguments.subresource.is_some() && !is_named {
        return Err(Failure::usage("subresource cannot be used when bulk resources are specified"));
    }
    Ok(())
}

impl Query {
    /// The request for a target.
    pub(crate) fn ask(&self, target: &Target) -> Ask {
        let namespace = self.namespace.as_deref();
        let ask = match &target.name {
            None => self.arguments.selection.on(Ask::get(target.resource.collection(namespace))),
            Some(name) => {
                let path = target.resource.object(namespace, name);
                match &self.arguments.subresource {
                    Some(subresource) => Ask::get(format!("{path}/{subresource}")),
                    None => Ask::get(path),
                }
            }
        };
        ask.query_if("asOf", self.as_of.clone())
    }

    /// How tables look.
    pub(crate) fn table_options(
        &self,
        resource: &Resource,
        with_kind: bool,
        width: Option<usize>,
    ) -> TableOptions {
        TableOptions {
            wide: matches!(self.output, Output::Table { wide: true }),
            no_headers: self.arguments.no_headers,
            show_labels: self.arguments.show_labels,
            label_columns: self.arguments.label_columns.clone(),
            with_namespace: self.arguments.selection.all_namespaces && resource.is_namespaced,
            with_kind: with_kind || self.arguments.show_kind,
            first: None,
            width,
        }
    }
}

async fn raw(path: &str, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let answer = client.answer(&Ask::get(path).accept("*/*")).await?;
    if answer.code >= 300 {
        return Err(crate::client::refused(&answer));
    }
    session.console.out.write_all(&answer.body)?;
    Ok(())
}
