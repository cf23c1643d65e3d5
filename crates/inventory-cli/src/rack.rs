//! `groundplane inventory rack show`: rack elevations, side by side.

mod drawing;

use clap::{Subcommand, ValueEnum};
use cli::{Failure, Session};
use inventory::questions::elevation::Elevation;
use serde::Deserialize;
use serde_json::Value;

use crate::as_if::AsIfFlag;
use crate::output::{self, Form};

/// Show rack elevations.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Show(Show),
}

/// Show the elevation of racks: devices on front and rear, free and reserved units, and power.
///
/// Racks are drawn side by side, as many as fit the terminal. Racks of a row are sorted by name.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
struct Show {
    /// Names of the racks.
    #[arg(value_name = "RACK", required_unless_present_any = ["site", "row"])]
    racks: Vec<String>,

    /// Show all racks of this site.
    #[arg(long, value_name = "SITE", conflicts_with = "racks")]
    site: Option<String>,

    /// Show only racks in this cage.
    #[arg(long, value_name = "CAGE", conflicts_with = "racks")]
    cage: Option<String>,

    /// Show only racks in this row.
    #[arg(long, value_name = "ROW", conflicts_with = "racks")]
    row: Option<String>,

    #[command(flatten)]
    as_if: AsIfFlag,

    /// Face to show.
    #[arg(long, value_enum, default_value_t = Side::Both)]
    face: Side,

    /// Read the state at a point in time: a timestamp (2026-11-10T09:00:00Z), a date (2026-11-10), an age (2h) or a revision.
    #[arg(long, value_name = "TIME|REVISION")]
    as_of: Option<String>,

    /// Output format: table (text drawing), wide (with a list of devices), json, yaml, name (the devices), svg.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Side {
    Front,
    Rear,
    Both,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory rack show fra1-a01
  groundplane inventory rack show fra1-a01 fra1-a02 --face front
  groundplane inventory rack show --site fra1 --row A
  groundplane inventory rack show --site fra1 --row A -o svg > row-a.svg
  groundplane inventory rack show fra1-a01 --as-of 3d";

/// Shows racks.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let Command::Show(asked) = arguments.command;
    let all = [Form::Table, Form::Wide, Form::Json, Form::Yaml, Form::Name, Form::Svg];
    let form = Form::parse(asked.output.as_deref(), &all)?;
    let name = match asked.racks.as_slice() {
        [one] => one.as_str(),
        _ => "-",
    };
    let names = (asked.racks.len() > 1).then(|| asked.racks.join(","));
    let ask = output::question("racks", name, "elevation")
        .query_if("names", names)
        .query_if("site", asked.site.as_deref())
        .query_if("cage", asked.cage.as_deref())
        .query_if("row", asked.row.as_deref())
        .query_if("asOf", output::moment(asked.as_of.as_deref())?);
    let ask = asked.as_if.ask(ask)?;
    let client = session.client().await?;
    if form == Form::Svg {
        let drawing = output::answer_drawing(&client, ask).await?;
        return output::text(&drawing, session);
    }
    let answer = output::answer(&client, ask).await?;
    if matches!(form, Form::Json | Form::Yaml) {
        return output::value(form, &answer, session);
    }
    output::say_incomplete(&answer, session);
    let racks = racks(answer)?;
    if form == Form::Name {
        let names = |rack: &Elevation| {
            let mounted = rack.devices.iter().map(|one| (one.kind.clone(), one.name.clone()));
            let beside = rack.zero_u.iter().map(|one| (one.kind.clone(), one.name.clone()));
            mounted.chain(beside).collect::<Vec<_>>()
        };
        let devices: Vec<(String, String)> = racks.iter().flat_map(names).collect();
        return output::names(devices.iter().map(|(kind, name)| (kind.as_str(), name.as_str())), session);
    }
    if racks.is_empty() {
        return output::text("No matching inventory found.\n", session);
    }
    let drawn = drawing::Drawing {
        front: asked.face != Side::Rear,
        rear: asked.face != Side::Front,
        width: session.console.width.filter(|_| session.console.out_is_terminal),
        has_colours: session.console.colours && session.console.out_is_terminal,
        is_wide: form == Form::Wide,
    };
    output::text(&drawn.of(&racks), session)
}

fn racks(answer: Value) -> Result<Vec<Elevation>, Failure> {
    let unreadable = |error| Failure::other(format!("cannot parse the server's answer: {error}"));
    match answer.get("racks") {
        Some(racks) => Vec::deserialize(racks).map_err(unreadable),
        None => Ok(vec![Elevation::deserialize(&answer).map_err(unreadable)?]),
    }
}
