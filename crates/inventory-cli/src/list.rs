//! The list commands, such as `groundplane inventory nodes --site fra1`, with the columns of `datumctl inventory`.

mod columns;
mod filter;
pub mod get;
pub mod kinds;
mod located;
mod map;
pub mod select;

use clap::{Arg, ArgAction, ArgMatches, Command};
use cli::{Failure, Session};
use serde_json::{Value, json};

use crate::output::{self, Form, LISTED};
use columns::Column;
use filter::Filter;
use select::Selection;

/// A kind with its aliases, filters and columns.
pub struct Listed {
    /// Name of the kind.
    pub kind: &'static str,
    /// Its plural, which is the name of the command.
    pub plural: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    about: &'static str,
    example: &'static str,
    filters: &'static [Filter],
    columns: &'static [Column],
    /// Additional columns of `-o wide`.
    wide: &'static [Column],
}

impl Listed {
    /// Whether its table has the region that is a label.
    fn has_region(&self) -> bool {
        self.columns.iter().chain(self.wide).any(Column::is_region)
    }
}

/// All kinds, in the order of the help text.
pub fn all() -> &'static [Listed] {
    &columns::ALL
}

/// The arguments of a list command.
#[derive(Debug)]
pub struct Arguments {
    plural: &'static str,
    names: Vec<String>,
    filters: Vec<(Filter, String)>,
    labels: Option<String>,
    fields: Option<String>,
    output: Option<String>,
    no_headers: bool,
    as_of: Option<String>,
    /// For ports: with what is at the other end.
    is_map: bool,
}

/// The list commands.
pub fn commands() -> impl Iterator<Item = Command> {
    all().iter().map(|listed| {
        let command = Command::new(listed.plural).about(listed.about).after_help(format!(
            "Examples:\n  groundplane inventory {0}\n  groundplane inventory {1}\n  groundplane inventory {0} -l team=core -o yaml",
            listed.plural, listed.example
        ));
        let command = listed
            .aliases
            .iter()
            // Singulars belong to `get`, and `rack` is a command of its own.
            .filter(|alias| **alias != listed.kind.to_lowercase())
            .fold(command, |command, alias| command.alias(*alias));
        let map = (listed.plural == "ports").then(map::flag);
        command.args(listed.filters.iter().map(|filter| filter.flag())).args(map).args(common())
    })
}

/// The arguments of every list command.
fn common() -> [Arg; 6] {
    [
        Arg::new("names").value_name("NAME").num_args(0..).help("Names of the objects to list. Defaults to all."),
        Arg::new("selector")
            .long("selector")
            .short('l')
            .value_name("LABELS")
            .help("Label selector, such as team=core."),
        Arg::new("field-selector")
            .long("field-selector")
            .value_name("FIELDS")
            .help("Field selector, such as spec.serial=CZJ123456."),
        Arg::new("output")
            .long("output")
            .short('o')
            .value_name("FORMAT")
            .help("Output format: table, wide, json, yaml, name."),
        Arg::new("no-headers")
            .long("no-headers")
            .action(ArgAction::SetTrue)
            .help("Print the table without headings."),
        Arg::new("as-of").long("as-of").value_name("TIME|REVISION").help(
            "Read the state at a point in time: a timestamp (2026-11-10T09:00:00Z), a date (2026-11-10), an age (2h) or a revision.",
        ),
    ]
}

/// Whether a word is one of the list commands.
pub fn is_command(word: &str) -> bool {
    all().iter().any(|listed| listed.plural == word || listed.aliases.contains(&word))
}

impl Arguments {
    /// The arguments of a command, if it is a list command.
    pub fn of_command(name: &str, matches: &ArgMatches) -> Option<Arguments> {
        let listed = all().iter().find(|listed| listed.plural == name)?;
        Some(Arguments::read(listed, listed.filters, matches))
    }

    fn read(listed: &'static Listed, filters: &[Filter], matches: &ArgMatches) -> Arguments {
        let text = |id: &str| matches.get_one::<String>(id).cloned();
        let given = filters.iter().filter_map(|filter| Some((*filter, text(filter.name())?)));
        Arguments {
            plural: listed.plural,
            names: matches.get_many::<String>("names").into_iter().flatten().cloned().collect(),
            filters: given.collect(),
            labels: text("selector"),
            fields: text("field-selector"),
            output: text("output"),
            no_headers: matches.get_flag("no-headers"),
            as_of: text("as-of"),
            is_map: listed.plural == "ports"
                && matches.try_get_one::<bool>("map").ok().flatten() == Some(&true),
        }
    }
}

/// Prints a list.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let form = Form::parse(arguments.output.as_deref(), &LISTED)?;
    let as_of = output::moment(arguments.as_of.as_deref())?;
    if arguments.filters.iter().any(|(filter, _)| *filter == Filter::Cluster) {
        // Here --cluster means a cluster of the inventory, not one of the kubeconfig.
        session.global.cluster = None;
    }
    let Some(listed) = all().iter().find(|listed| listed.plural == arguments.plural) else { return Ok(()) };
    let client = session.client().await?;
    if as_of.is_some() {
        output::keeps_a_past(session).await?;
    }
    let (mut labels, mut fields): (Vec<String>, Vec<String>) =
        (arguments.labels.into_iter().collect(), arguments.fields.into_iter().collect());
    if let [only] = arguments.names.as_slice() {
        fields.push(format!("metadata.name={only}"));
    }
    let (located, direct): (Vec<_>, Vec<_>) =
        arguments.filters.iter().partition(|(filter, _)| filter.is_located(listed.kind));
    for (filter, value) in direct {
        filter.select(listed.kind, value, &mut labels, &mut fields);
    }
    let joined = |parts: &[String]| (!parts.is_empty()).then(|| parts.join(","));
    let selection = Selection {
        plural: listed.plural,
        labels: joined(&labels),
        fields: joined(&fields),
        as_of: as_of.clone(),
    };
    let places = located::Places::of(&located);
    let mut items = match places.find(listed.kind, &selection, &client).await {
        Err(failure) if failure.refusal().is_some_and(|refusal| refusal.code() == 403) => {
            for (filter, value) in located {
                filter.select(listed.kind, value, &mut labels, &mut fields);
            }
            let selection = Selection { labels: joined(&labels), fields: joined(&fields), ..selection };
            let found = selection.every(&client).await?.items;
            session.console.say(
                "selected by topology labels, which follow changes later: you may not list what is in between",
            );
            found
        }
        found => found?,
    };
    if matches!(form, Form::Table | Form::Wide) && listed.has_region() {
        located::fill_regions(&mut items, as_of.as_deref(), &client).await;
    }
    if listed.plural == "ports" {
        items.sort_by(map::compare);
    }
    let name = |item: &Value| item["metadata"]["name"].as_str().unwrap_or("").to_owned();
    if !arguments.names.is_empty() {
        items.retain(|item| arguments.names.contains(&name(item)));
    }
    match arguments.is_map {
        true => map::print(&items, form, as_of.as_deref(), &client, session).await?,
        false => print(listed, form, !arguments.no_headers, &items, session)?,
    }
    let is_missing = |wanted: &&String| !items.iter().any(|item| name(item) == **wanted);
    let missing = arguments.names.iter().filter(is_missing);
    Failure::all(missing.map(|name| output::not_found(listed.plural, name)).collect())
}

fn print(
    listed: &Listed,
    form: Form,
    is_headed: bool,
    items: &[Value],
    session: &mut Session,
) -> Result<(), Failure> {
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
            if !is_headed && rows.len() > 1 {
                rows.remove(0);
                return output::text(&inventory::questions::table(&rows), session);
            }
            output::table(&rows, session)
        }
    }
}
