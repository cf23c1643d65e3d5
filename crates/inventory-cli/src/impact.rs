//! `groundplane inventory impact`: impact analysis of a failure.

use cli::{Client, Failure, Session};
use inventory::state::Target;
use serde_json::Value;

use crate::as_if::AsIfFlag;
use crate::list::select::Selection;
use crate::list::{Listed, kinds};
use crate::output::{self, Form};

/// Show what loses power, network or redundancy if objects fail.
///
/// Only what is in service counts: a path through a switch that has failed already, or over a cable that is only planned, is
/// no path. Loads move to the feeds that are left, and what is above its rating trips.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Objects that fail together, as KIND/NAME, KIND NAME, or NAME if it is unambiguous; rack/NAME:FEED for a power feed.
    /// Kinds: cable, port, node, networkdevice, rack, circuit, site, provider, region.
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..)]
    words: Vec<String>,

    /// For racks: only this power feed fails.
    #[arg(long, value_name = "FEED")]
    feed: Option<String>,

    #[command(flatten)]
    as_if: AsIfFlag,

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
  groundplane inventory impact networkdevice/fra1-spine1 circuit/fra1-arelion
  groundplane inventory impact networkdevice/fra1-spine1 --as-if networkdevice/fra1-spine2=failed
  groundplane inventory impact rack/fra1-a01 --feed A
  groundplane inventory impact site/fra1 -o json";

/// The supported kinds.
const KINDS: [&str; 9] =
    ["NetworkDevice", "Node", "Rack", "Cable", "Port", "Circuit", "Site", "Provider", "Region"];

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
            "no networkdevice, node, rack, cable, port, circuit, site, provider or region is named {name}"
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

/// The objects that the words name.
async fn targets(
    words: &[String],
    feed: Option<&str>,
    as_of: Option<&str>,
    client: &Client,
) -> Result<Vec<Target>, Failure> {
    let is_named = |word: &String| word.contains('/');
    let mut found = Vec::new();
    match words {
        [kind, names @ ..]
            if !names.is_empty() && !words.iter().any(is_named) && kinds::named(kind).is_ok() =>
        {
            for name in names {
                found.push(target(&format!("{kind}/{name}"))?);
            }
        }
        words => {
            for word in words {
                found.push(match is_named(word) {
                    true => target(word)?,
                    false => Target::new(kind_of(word, as_of, client).await?.kind, word),
                });
            }
        }
    }
    let Some(feed) = feed else { return Ok(found) };
    if found.iter().any(|target| target.kind != "Rack") {
        return Err(Failure::usage(
            "--feed applies to racks only, as in: groundplane inventory impact rack/NAME --feed A",
        ));
    }
    found.iter_mut().for_each(|target| target.feed = Some(feed.to_owned()));
    Ok(found)
}

fn target(text: &str) -> Result<Target, Failure> {
    let (kind, _) = text.split_once('/').unwrap_or((text, ""));
    let listed = kinds::named(kind)?;
    if !KINDS.contains(&listed.kind) {
        return Err(Failure::usage(format!("impact analysis does not support {}", listed.kind)).hint(
            "supported kinds: cable, port, node, networkdevice, rack, circuit, site, provider, region; \"groundplane referrers\" lists the references to any object",
        ));
    }
    Target::parse(text).map_err(Failure::usage)
}

/// Prints the impact.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let form = Form::parse(arguments.output.as_deref(), &[Form::Table, Form::Json, Form::Yaml, Form::Name])?;
    let as_of = output::moment(arguments.as_of.as_deref())?;
    let client = session.client().await?;
    let targets = targets(&arguments.words, arguments.feed.as_deref(), as_of.as_deref(), &client).await?;
    let Some((first, others)) = targets.split_first() else {
        return Err(Failure::usage("name the object that fails, as KIND/NAME"));
    };
    let ask = output::question(first.plural(), &first.name, "impact")
        .query_if("feed", first.feed.as_deref())
        .query_if("asOf", as_of);
    let ask = others.iter().fold(ask, |ask, also| ask.query("also", also.key()));
    let ask = arguments.as_if.ask(ask)?;
    if form == Form::Table {
        let text = output::answer_text(&client, ask).await?;
        return output::text(&text, session);
    }
    let answer = output::answer(&client, ask).await?;
    if form != Form::Name {
        return output::value(form, &answer, session);
    }
    output::say_incomplete(&answer, session);
    let lists = ["losesPower", "losesNetwork", "losesPowerRedundancy", "losesNetworkRedundancy"];
    let mut lost: Vec<&str> = lists
        .iter()
        .flat_map(|list| answer[list].as_array().into_iter().flatten().filter_map(Value::as_str))
        .collect();
    lost.sort_unstable();
    lost.dedup();
    output::names(lost.iter().filter_map(|one| one.split_once('/')), session)
}
