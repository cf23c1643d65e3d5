//! `groundplane inventory impact`: impact analysis of a failure.

use cli::{Client, Failure, Session};
use serde_json::Value;

use crate::list::select::Selection;
use crate::list::{Listed, kinds};
use crate::output::{self, Form};

/// Show what loses power, network or redundancy if an object fails.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Object that fails, as KIND/NAME, KIND NAME, or NAME if it is unambiguous. Kinds: cable, port, node, networkdevice,
    /// rack, circuit.
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,

    /// For a rack: only this power feed fails.
    #[arg(long, value_name = "FEED")]
    feed: Option<String>,

    /// Read the state at a point in time: a timestamp (2026-11-10T09:00:00Z), a date (2026-11-10), an age (2h) or a revision.
    #[arg(long, value_name = "TIME|REVISION")]
    as_of: Option<String>,

    /// Output format: table (text), json, yaml, name (the affected devices).
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory impact fra1-spine1
  groundplane inventory impact nd fra1-a01-pdu-a
  groundplane inventory impact rack/fra1-a01 --feed A
  groundplane inventory impact cable/fra1-a01-leaf1-up1--fra1-spine1 -o json";

/// The supported kinds.
const KINDS: [&str; 6] = ["NetworkDevice", "Node", "Rack", "Cable", "Port", "Circuit"];

/// The kind of the only object with this name.
async fn kind_of(name: &str, as_of: Option<&str>, client: &Client) -> Result<&'static Listed, Failure> {
    let mut found = Vec::new();
    for kind in KINDS {
        let listed = kinds::named(kind)?;
        let selection = Selection {
            fields: Some(format!("metadata.name={name}")),
            as_of: as_of.map(str::to_owned),
            ..Selection::all(listed.plural)
        };
        if !selection.every(client).await?.items.is_empty() {
            found.push(listed);
        }
    }
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(Failure::other(format!(
            "no networkdevice, node, rack, cable, port or circuit is named {name}"
        ))
        .hint(format!("find it with \"groundplane search {name}\""))),
        several => {
            let names: Vec<String> =
                several.iter().map(|listed| format!("{}/{name}", listed.kind.to_lowercase())).collect();
            Err(Failure::usage(format!("several objects are named {name}"))
                .hint(format!("choose one: {}", names.join(", "))))
        }
    }
}

/// Prints the impact.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let form = Form::parse(arguments.output.as_deref(), &[Form::Table, Form::Json, Form::Yaml, Form::Name])?;
    let as_of = output::moment(arguments.as_of.as_deref())?;
    let client = session.client().await?;
    let (listed, name) = match arguments.words.as_slice() {
        [one] => match one.split_once('/') {
            Some((kind, name)) => (kinds::named(kind)?, name),
            None => (kind_of(one, as_of.as_deref(), &client).await?, one.as_str()),
        },
        [kind, name, ..] => (kinds::named(kind)?, name.as_str()),
        [] => return Err(Failure::usage("name the object that fails, as KIND/NAME")),
    };
    if arguments.feed.is_some() && listed.kind != "Rack" {
        return Err(Failure::usage(
            "--feed applies to racks only, as in: groundplane inventory impact rack/NAME --feed A",
        ));
    }
    if !KINDS.contains(&listed.kind) {
        return Err(Failure::usage(format!("impact analysis does not support {}", listed.kind))
            .hint("supported kinds: cable, port, node, networkdevice, rack, circuit; \"groundplane referrers\" lists the references to any object"));
    }
    let ask = output::question(listed.plural, name, "impact")
        .query_if("feed", arguments.feed.as_deref())
        .query_if("asOf", as_of);
    if form == Form::Table {
        let text = output::answer_text(&client, ask).await?;
        return output::text(&text, session);
    }
    let answer = output::answer(&client, ask).await?;
    if form != Form::Name {
        return output::value(form, &answer, session);
    }
    let lists = ["losesPower", "losesNetwork", "losesPowerRedundancy", "losesNetworkRedundancy"];
    let mut lost: Vec<&str> = lists
        .iter()
        .flat_map(|list| answer[list].as_array().into_iter().flatten().filter_map(Value::as_str))
        .collect();
    lost.sort_unstable();
    lost.dedup();
    output::names(lost.iter().filter_map(|one| one.split_once('/')), session)
}
