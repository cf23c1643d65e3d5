//! The lists: `groundplane inventory nodes --site fra1` and the other eleven, with the columns of the original.

mod columns;
mod filter;
pub mod get;
pub mod kinds;

use clap::{Arg, ArgMatches, Command};
use cli::{Ask, Client, Failure, Session};
use serde_json::{Value, json};

use crate::output::{self, Form, LISTED};
use columns::Column;
use filter::Filter;

/// A kind, how it is called, what it is filtered by and what is shown of it.
pub struct Listed {
    /// The kind.
    pub kind: &'static str,
    /// Its plural, which is the command.
    pub plural: &'static str,
    /// What else it is called.
    pub aliases: &'static [&'static str],
    about: &'static str,
    example: &'static str,
    filters: &'static [Filter],
    columns: &'static [Column],
    /// What `-o wide` shows besides.
    wide: &'static [Column],
}

/// All kinds, in the order of the help.
pub fn all() -> &'static [Listed] {
    &columns::ALL
}

/// What was asked for.
#[derive(Debug)]
pub struct Arguments {
    plural: &'static str,
    filters: Vec<(Filter, String)>,
    output: Option<String>,
    as_of: Option<String>,
}

/// The commands.
pub fn commands() -> impl Iterator<Item = Command> {
    all().iter().map(|listed| {
        let command = Command::new(listed.plural).about(listed.about).after_help(format!(
            "Examples:\n  groundplane inventory {}\n  groundplane inventory {}",
            listed.plural, listed.example
        ));
        let command = listed
            .aliases
            .iter()
            // The singular is `get`'s, and that of racks a command of its own.
            .filter(|alias| **alias != listed.kind.to_lowercase())
            .fold(command, |command, alias| command.alias(*alias));
        command.args(listed.filters.iter().map(|filter| filter.flag())).args(common())
    })
}

/// The flags of every list.
fn common() -> [Arg; 2] {
    [
        Arg::new("output")
            .long("output")
            .short('o')
            .value_name("FORM")
            .help("The form: table, wide, json, yaml, name."),
        Arg::new("as-of").long("as-of").value_name("TIME|REVISION").help(
            "How it was then: a time (2026-11-10T09:00:00Z, 2026-11-10, 2h for two hours ago) or a revision.",
        ),
    ]
}

/// Whether a word is one of the commands.
pub fn is_command(word: &str) -> bool {
    all().iter().any(|listed| listed.plural == word || listed.aliases.contains(&word))
}

impl Arguments {
    /// What a command was given, if it is one of these.
    pub fn of_command(name: &str, matches: &ArgMatches) -> Option<Arguments> {
        let listed = all().iter().find(|listed| listed.plural == name)?;
        Some(Arguments::read(listed, listed.filters, matches))
    }

    fn read(listed: &'static Listed, filters: &[Filter], matches: &ArgMatches) -> Arguments {
        let text = |id: &str| matches.get_one::<String>(id).cloned();
        let given = filters.iter().filter_map(|filter| Some((*filter, text(filter.name())?)));
        Arguments {
            plural: listed.plural,
            filters: given.collect(),
            output: text("output"),
            as_of: text("as-of"),
        }
    }
}

/// Prints a list.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let form = Form::parse(arguments.output.as_deref(), &LISTED)?;
    let as_of = output::moment(arguments.as_of.as_deref())?;
    if arguments.filters.iter().any(|(filter, _)| *filter == Filter::Cluster) {
        // Here the flag means a cluster of the inventory, not one of the kubeconfig.
        session.global.cluster = None;
    }
    let Some(listed) = all().iter().find(|listed| listed.plural == arguments.plural) else { return Ok(()) };
    let client = session.client().await?;
    let mut ask = Ask::get(format!("{}/{}", output::ROOT, listed.plural)).query_if("asOf", as_of);
    let (mut labels, mut fields) = (Vec::new(), Vec::new());
    for (filter, value) in &arguments.filters {
        filter.select(listed.kind, value, &mut labels, &mut fields);
    }
    ask = ask.query_if("labelSelector", (!labels.is_empty()).then(|| labels.join(",")));
    ask = ask.query_if("fieldSelector", (!fields.is_empty()).then(|| fields.join(",")));
    let items = every(&client, &ask).await.map_err(|failure| {
        failure.during(&format!("could not list {}", listed.plural)).without("inventory")
    })?;
    print(listed, form, items, session)
}

fn print(listed: &Listed, form: Form, items: Vec<Value>, session: &mut Session) -> Result<(), Failure> {
    match form {
        Form::Json | Form::Yaml => {
            let list = json!({
                "apiVersion": format!("{}/{}", inventory::kinds::GROUP, inventory::kinds::VERSION),
                "kind": format!("{}List", listed.kind),
                "metadata": {},
                "items": items,
            });
            output::value(form, &list, session)
        }
        Form::Name => {
            let names = items.iter().filter_map(|item| item["metadata"]["name"].as_str());
            output::names(names.map(|name| (listed.kind, name)), session)
        }
        _ => {
            let wide: &[Column] = if form == Form::Wide { listed.wide } else { &[] };
            let shown: Vec<&Column> = listed.columns.iter().chain(wide).collect();
            let mut rows = vec![shown.iter().map(|column| column.head.to_owned()).collect::<Vec<String>>()];
            rows.extend(items.iter().map(|item| shown.iter().map(|column| column.cell(item)).collect()));
            output::table(&rows, session)
        }
    }
}

/// All objects of a list, page by page; they come by name.
pub async fn every(client: &Client, ask: &Ask) -> Result<Vec<Value>, Failure> {
    let (mut items, mut resume) = (Vec::new(), None::<String>);
    loop {
        let mut page = ask.clone().query("limit", "500");
        page = page.query_if("continue", resume.take());
        let mut found = client.value(&page).await?;
        let next = found["metadata"]["continue"].as_str().unwrap_or("").to_owned();
        let of = (found["apiVersion"].take(), found["kind"].take());
        let kind = of.1.as_str().and_then(|kind| kind.strip_suffix("List")).unwrap_or("").to_owned();
        if let Some(Value::Array(page)) = found.get_mut("items").map(Value::take) {
            items.extend(page.into_iter().map(|mut item| {
                item["apiVersion"] = of.0.clone();
                item["kind"] = kind.clone().into();
                if let Some(metadata) = item["metadata"].as_object_mut() {
                    metadata.remove("managedFields");
                }
                item
            }));
        }
        if next.is_empty() {
            return Ok(items);
        }
        resume = Some(next);
    }
}
