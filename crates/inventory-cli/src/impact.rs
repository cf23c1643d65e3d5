//! `groundplane inventory impact`: what breaks if something goes.

use cli::{Failure, Session};
use serde_json::Value;

use crate::list::kinds;
use crate::output::{self, Form};

/// Show what loses power, network or redundancy if a cable, port, device, rack or feed goes.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// What would go, as KIND/NAME or KIND NAME; kinds: cable, port, node, networkdevice, rack, circuit.
    #[arg(value_name = "KIND/NAME", required = true, num_args = 1..=2)]
    words: Vec<String>,

    /// Of a rack, only this power feed.
    #[arg(long, value_name = "FEED")]
    feed: Option<String>,

    /// How it was then: a time (2026-11-10T09:00:00Z, 2026-11-10, 2h for two hours ago) or a revision.
    #[arg(long, value_name = "TIME|REVISION")]
    as_of: Option<String>,

    /// The form: table (text), json, yaml, name (what loses anything).
    #[arg(long, short, value_name = "FORM")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory impact networkdevice/fra1-spine1
  groundplane inventory impact nd fra1-a01-pdu-a
  groundplane inventory impact rack/fra1-a01 --feed A
  groundplane inventory impact cable/fra1-a01-leaf1-up1--fra1-spine1 -o json";

/// Says what would be lost.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let form = Form::parse(arguments.output.as_deref(), &[Form::Table, Form::Json, Form::Yaml, Form::Name])?;
    let (kind, name) = match arguments.words.as_slice() {
        [one] => one.split_once('/').ok_or_else(|| {
            Failure::usage(format!("of which kind is {one}?")).hint(format!(
                "write KIND/NAME, as networkdevice/{one}; \"groundplane search {one}\" tells the kind"
            ))
        })?,
        [kind, name, ..] => (kind.as_str(), name.as_str()),
        [] => return Err(Failure::usage("name what would go, as KIND/NAME")),
    };
    let listed = kinds::named(kind)?;
    if arguments.feed.is_some() && listed.kind != "Rack" {
        return Err(Failure::usage("--feed is for racks: groundplane inventory impact rack/NAME --feed A"));
    }
    if !["Cable", "Port", "Node", "NetworkDevice", "Rack", "Circuit"].contains(&listed.kind) {
        return Err(Failure::usage(format!("what goes with a {} is not worked out", listed.kind))
            .hint("name a cable, port, node, networkdevice, rack or circuit; \"groundplane referrers\" tells who points at anything"));
    }
    let ask = output::question(listed.plural, name, "impact")
        .query_if("feed", arguments.feed.as_deref())
        .query_if("asOf", output::moment(arguments.as_of.as_deref())?);
    let client = session.client().await?;
    if form == Form::Table {
        let text = output::answer_text(&client, ask, "text/plain").await?;
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
