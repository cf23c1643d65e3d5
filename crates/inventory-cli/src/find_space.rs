//! `groundplane inventory find-space`: racks with free units, power and ports.

use clap::ValueEnum;
use cli::{Failure, Session};
use serde_json::Value;

use crate::as_if::AsIfFlag;
use crate::output::{self, Form};

/// Number of ruled-out racks that are listed without `-o wide`.
const FEW: usize = 10;
/// Number of positions that are shown without `--count`.
const FOUND: u32 = 10;

/// Find rack space: free units with enough power and network ports.
///
/// The best position comes first: the smallest free range that fits, then the rack with the most power left. Racks
/// without a suitable position are listed with the reason.
///
/// Racks that are not in service are ruled out, as are the ports of switches that are not.
///
/// Exit code: 0 if as many positions were found as --count asks for (without it, at least one), 1 if not.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Number of contiguous rack units.
    #[arg(long, short, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    units: u16,

    /// Face that must be free.
    #[arg(long, value_enum, default_value_t = Side::Both)]
    face: Side,

    /// Power budget that the rack must have left, in watts.
    #[arg(long, value_name = "NUMBER")]
    watts: Option<u32>,

    /// Number of free network ports on switches in the same rack.
    #[arg(long, value_name = "NUMBER")]
    ports: Option<u32>,

    /// Number of positions to find. Without it, up to 10 are shown.
    #[arg(long, short, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,

    /// Spread positions: at most one per rack or per row.
    #[arg(long, value_enum, default_value_t = Spread::None)]
    spread: Spread,

    /// Search only this site.
    #[arg(long, value_name = "SITE")]
    site: Option<String>,

    /// Search only this region.
    #[arg(long, value_name = "REGION")]
    region: Option<String>,

    /// Search only this cage.
    #[arg(long, value_name = "CAGE")]
    cage: Option<String>,

    /// Search only this row.
    #[arg(long, value_name = "ROW")]
    row: Option<String>,

    #[command(flatten)]
    as_if: AsIfFlag,

    /// Output format: table, wide (with all ruled-out racks), json, yaml, name (the racks).
    #[arg(long, short, value_name = "FORMAT")]
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

/// Finds rack space.
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
        .query("count", arguments.count.unwrap_or(FOUND).to_string())
        .query("spread", word(arguments.spread.to_possible_value()))
        .query_if("site", arguments.site.as_deref())
        .query_if("region", arguments.region.as_deref())
        .query_if("cage", arguments.cage.as_deref())
        .query_if("row", arguments.row.as_deref());
    let ask = arguments.as_if.ask(ask)?;
    let client = session.client().await?;
    let answer = output::answer(&client, ask).await?;
    let places = answer["places"].as_array().cloned().unwrap_or_default();
    match form {
        Form::Json | Form::Yaml => output::value(form, &answer, session)?,
        Form::Name => {
            let racks = places.iter().filter_map(|place| place["rack"].as_str());
            output::names(racks.map(|rack| ("Rack", rack)), session)?;
            output::say_incomplete(&answer, session);
        }
        _ => {
            output::say_incomplete(&answer, session);
            show(&arguments, &answer, &places, form == Form::Wide, session)?;
        }
    }
    let asked = arguments.count.map_or(1, |count| usize::try_from(count).unwrap_or(usize::MAX));
    match places.len() < asked {
        true if !places.is_empty() => {
            session.console.say(&format!("found {} of {asked} positions", places.len()));
            Err(Failure::Exit(1))
        }
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
    let head = ["RACK", "SITE", "ROW", "UNITS", "FACE", "UNITS-LEFT", "WATTS-LEFT", "PORTS"];
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
        ([], _) if output::is_incomplete(answer) => {
            output::text("No rack that you may read has enough space.\n", session)?;
        }
        ([], []) => {
            output::text("No racks match.\n", session)?;
            session.console.say("hint: list all racks with \"groundplane inventory racks\"");
        }
        ([], _) => output::text("No rack has enough space.\n", session)?,
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
        session.console.say(&format!("{more} more racks are ruled out; list all with -o wide"));
    }
    Ok(())
}
