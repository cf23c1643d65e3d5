//! `groundplane inventory find-space`: where there is room for what is to come.

use clap::ValueEnum;
use cli::{Failure, Session};
use serde_json::Value;

use crate::output::{self, Form};

/// How many racks without room are told of unless all are wanted.
const FEW: usize = 10;

/// Find racks with room for what is to come, best first, and say why each other rack is ruled out.
///
/// The tightest place comes first, so that large ones stay; then where most power is left.
///
/// Exit code: 0 when there is room for all, 1 when there is not.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// How many units.
    #[arg(long, short, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    units: u16,

    /// Which side has to be free.
    #[arg(long, value_enum, default_value_t = Side::Both)]
    face: Side,

    /// How many watts it draws at most.
    #[arg(long, value_name = "NUMBER")]
    watts: Option<u32>,

    /// How many free ports of switches in the same rack.
    #[arg(long, value_name = "NUMBER")]
    ports: Option<u32>,

    /// How many such places.
    #[arg(long, short, value_name = "NUMBER", default_value_t = 10)]
    count: u32,

    /// One in a rack, or one in a row.
    #[arg(long, value_enum, default_value_t = Spread::None)]
    spread: Spread,

    /// Only at this site.
    #[arg(long, value_name = "SITE")]
    site: Option<String>,

    /// Only in this region.
    #[arg(long, value_name = "REGION")]
    region: Option<String>,

    /// Only in this cage.
    #[arg(long, value_name = "CAGE")]
    cage: Option<String>,

    /// Only in this row.
    #[arg(long, value_name = "ROW")]
    row: Option<String>,

    /// The form: table, wide (with every rack that is ruled out), json, yaml, name (the racks).
    #[arg(long, short, value_name = "FORM")]
    output: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Side {
    Front,
    Rear,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Spread {
    None,
    Rack,
    Row,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory find-space --units 2 --watts 500
  groundplane inventory find-space -u 2 -c 3 --spread rack --ports 2 --site fra1
  groundplane inventory find-space -u 1 --face rear --row A -o name";

/// Finds room.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let forms = [Form::Table, Form::Wide, Form::Json, Form::Yaml, Form::Name];
    let form = Form::parse(arguments.output.as_deref(), &forms)?;
    let word = |value: Option<clap::builder::PossibleValue>| {
        value.map(|value| value.get_name().to_owned()).unwrap_or_default()
    };
    let ask = output::question("racks", "-", "find-space")
        .query("units", arguments.units.to_string())
        .query("face", word(arguments.face.to_possible_value()))
        .query_if("watts", arguments.watts.map(|watts| watts.to_string()))
        .query_if("ports", arguments.ports.map(|ports| ports.to_string()))
        .query("count", arguments.count.to_string())
        .query("spread", word(arguments.spread.to_possible_value()))
        .query_if("site", arguments.site.as_deref())
        .query_if("region", arguments.region.as_deref())
        .query_if("cage", arguments.cage.as_deref())
        .query_if("row", arguments.row.as_deref());
    let client = session.client().await?;
    let answer = output::answer(&client, ask).await?;
    let places = answer["places"].as_array().cloned().unwrap_or_default();
    match form {
        Form::Json | Form::Yaml => output::value(form, &answer, session)?,
        Form::Name => {
            let racks = places.iter().filter_map(|place| place["rack"].as_str());
            output::names(racks.map(|rack| ("Rack", rack)), session)?;
        }
        _ => show(&arguments, &answer, &places, form == Form::Wide, session)?,
    }
    // Unless a number was asked for, ten is only what is shown.
    match places.is_empty() {
        true => Err(Failure::Exit(1)),
        false => Ok(()),
    }
}

fn show(
    arguments: &Arguments,
    answer: &Value,
    places: &[Value],
    shows_all: bool,
    session: &mut Session,
) -> Result<(), Failure> {
    let text = |value: &Value| match value {
        Value::Null => "<none>".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let head = ["RACK", "SITE", "ROW", "UNITS", "SIDE", "LEFT", "WATTS-LEFT", "PORTS"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for place in places {
        let start = place["startUnit"].as_i64().unwrap_or(1);
        let end = start + i64::from(arguments.units) - 1;
        rows.push(vec![
            text(&place["rack"]),
            text(&place["site"]),
            text(&place["row"]),
            if start == end { format!("U{start}") } else { format!("U{start}-U{end}") },
            place["face"].as_str().unwrap_or("both").to_owned(),
            format!("{}U", text(&place["leftOver"])),
            text(&place["wattsLeft"]),
            text(&place["freePorts"]),
        ]);
    }
    let ruled_out = answer["ruledOut"].as_array().map(Vec::as_slice).unwrap_or_default();
    match (places, ruled_out) {
        ([], []) => {
            output::text("No rack is there to look in.\n", session)?;
            session.console.say("hint: \"groundplane inventory racks\" tells where there are any");
        }
        ([], _) => output::text("No rack has room for it.\n", session)?,
        _ => output::table(&rows, session)?,
    }
    let shown = if shows_all { ruled_out.len() } else { FEW };
    if !ruled_out.is_empty() {
        output::text("\nRuled out\n", session)?;
        let mut rows = vec![vec!["RACK".to_owned(), "REASON".to_owned()]];
        rows.extend(ruled_out.iter().take(shown).map(|out| vec![text(&out["rack"]), text(&out["reason"])]));
        output::table(&rows, session)?;
    }
    if ruled_out.len() > shown {
        let more = ruled_out.len() - shown;
        session.console.say(&format!("{more} more racks are ruled out; -o wide tells of all"));
    }
    Ok(())
}
