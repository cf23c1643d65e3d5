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

/// Show objects.
///
/// Prints the most important facts about objects: those of one or several types, with these names or labels. What it
/// prints is what kubectl prints, so that scripts can rely on it.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE[,TYPE…] [NAME…], or TYPE/NAME…
    #[arg(value_name = "TYPE [NAME…] | TYPE/NAME")]
    pub words: Vec<String>,

    #[command(flatten)]
    pub files: FileFlags,

    /// The form: wide, json, yaml, name, jsonpath=TEMPLATE, jsonpath-file=FILE, jsonpath-as-json=TEMPLATE,
    /// go-template=TEMPLATE, go-template-file=FILE, custom-columns=NAME:PATH,…, custom-columns-file=FILE.
    #[arg(long, short, value_name = "FORM")]
    pub output: Option<String>,

    /// The template, or the file with it, where -o only says which kind of template it is; go-template if nothing does.
    #[arg(long, value_name = "TEMPLATE")]
    pub template: Option<String>,

    /// Whether a template may name fields that are not there.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true",
        default_missing_value = "true", action = clap::ArgAction::Set)]
    pub allow_missing_template_keys: bool,

    #[command(flatten)]
    pub selection: Selection,

    /// How it was then: a time (2026-11-10T09:00:00Z, 2026-11-10, 2h for two hours ago) or a revision.
    #[arg(long, value_name = "TIME|REVISION", conflicts_with_all = ["watch", "watch_only"])]
    pub as_of: Option<String>,

    /// Stay, and show what changes.
    #[arg(long, short)]
    pub watch: bool,

    /// Show only what changes from now on.
    #[arg(long)]
    pub watch_only: bool,

    /// With --watch: say for each line whether the object was added, modified or deleted.
    #[arg(long)]
    pub output_watch_events: bool,

    /// No line of headings.
    #[arg(long)]
    pub no_headers: bool,

    /// All labels in a last column.
    #[arg(long)]
    pub show_labels: bool,

    /// A column for each of these labels.
    #[arg(long, short = 'L', value_name = "LABEL,…", value_delimiter = ',')]
    pub label_columns: Vec<String>,

    /// The type before each name.
    #[arg(long)]
    pub show_kind: bool,

    /// Which program wrote which field, too.
    #[arg(long)]
    pub show_managed_fields: bool,

    /// Put in order by the value at this path, as in .metadata.creationTimestamp.
    #[arg(long, value_name = "PATH")]
    pub sort_by: Option<String>,

    /// An object that is not there is no failure.
    #[arg(long)]
    pub ignore_not_found: bool,

    /// Objects in one request; 0 for all at once.
    #[arg(long, value_name = "NUMBER", default_value_t = CHUNK, hide_default_value = true)]
    pub chunk_size: u32,

    /// A part of the object that is served by itself, such as status or scale.
    #[arg(long, value_name = "NAME")]
    pub subresource: Option<String>,

    /// Ask for this path of the server and print the answer as it comes.
    #[arg(long, value_name = "PATH")]
    pub raw: Option<String>,

    /// For compatibility: tables are always the server's.
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub server_print: Option<bool>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane get configmaps                             those of the namespace
  groundplane get cm,secrets -A                          two types, everywhere
  groundplane get kettle whistler -n kitchen -o yaml     one object, whole
  groundplane get kettles -l colour=red --sort-by .spec.litres
  groundplane get kettles --as-of 2026-11-10T09:00:00Z   how it was last Tuesday
  groundplane get kettles -o jsonpath='{.items[*].metadata.name}'
  groundplane get secret bmc -o go-template='{{.data.password | base64decode}}'
  groundplane get kettles --watch";

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
            .hint("\"groundplane api-resources\" lists the types there are"));
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
