//! `groundplane inventory move`: moves a device to another position, and tells which cables no longer reach.

use cli::{Client, Failure, Session};
use inventory::Quantity;
use serde_json::{Value, json};

use crate::change::{Device, Plan, PlanFlags, name_of, named};

/// Height of a rack unit, in meters.
const UNIT: f64 = 0.04445;
/// Width of a rack, in meters.
const RACK: f64 = 0.6;
/// What a cable needs beyond the straight way, in meters: within a rack, and between racks.
const SLACK: (f64, f64) = (0.3, 2.0);

/// Move a node or network device to other rack units, and list the cables that no longer reach.
///
/// The height, face and depth of the device stay. Cables keep their ports; lengths are estimated from rack units and, within a
/// row, the order of racks by name. Without a terminal, --yes is required.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Device, as KIND/NAME, or NAME if it is unambiguous.
    #[arg(value_name = "KIND/NAME")]
    device: String,

    /// Rack and lowest unit, such as fra1-a02:20; only the rack for a 0U device.
    #[arg(long, value_name = "RACK:UNIT")]
    to: String,

    /// Reservation of the rack whose units the device uses.
    #[arg(long, value_name = "NAME")]
    reservation: Option<String>,

    #[command(flatten)]
    plan: PlanFlags,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory move node/fra1-a01-node03 --to fra1-a02:20 --dry-run
  groundplane inventory move fra1-a01-node03 --to fra1-a02:U20 --yes
  groundplane inventory move networkdevice/fra1-a01-pdu-a --to fra1-a02";

/// Plans and carries out a move.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let device = Device::find(&arguments.device, &client).await?;
    let (rack, unit) = match arguments.to.split_once(':') {
        Some((rack, unit)) => {
            let unit = unit.trim_start_matches(['u', 'U']);
            let unit: i64 = unit.parse().map_err(|_| {
                Failure::usage(format!(
                    "--to: {unit:?} is not a rack unit; use RACK:UNIT, such as fra1-a02:20"
                ))
            })?;
            (rack, Some(unit))
        }
        None => (arguments.to.as_str(), None),
    };
    let mut placement = json!({
        "rackRef": {"name": rack}, "startUnit": unit, "reservation": arguments.reservation,
    });
    let high = &device.object["spec"]["placement"]["unitHeight"];
    placement["unitHeight"] = match (unit, high.is_null()) {
        (None, _) => Value::Null,
        (Some(_), false) => high.clone(),
        (Some(_), true) => 1.into(),
    };
    let mut plan = Plan::default();
    plan.patch(device.kind, &device.name, json!({"spec": {"inSlot": null, "placement": placement}}));
    let here = Place::of_rack(rack, unit, &client).await?;
    for cable in &device.cables {
        plan.notes.extend(reach(cable, &device, &here, &client).await?);
    }
    plan.run(&format!("Move {} {}", device.kind, device.name), &arguments.plan, &client, session).await
}

/// Where a device is.
struct Place {
    rack: String,
    site: String,
    row: String,
    unit: Option<i64>,
}

impl Place {
    async fn of_rack(rack: &str, unit: Option<i64>, client: &Client) -> Result<Place, Failure> {
        let found = named("racks", "metadata.name", rack, client).await?;
        let text = |path: &str| {
            found.first().and_then(|rack| rack.pointer(path)).and_then(Value::as_str).unwrap_or("").to_owned()
        };
        Ok(Place { rack: rack.to_owned(), site: text("/spec/siteRef/name"), row: text("/spec/row"), unit })
    }

    /// About how long a cable between two places must be; none if it is anybody's guess.
    async fn to(&self, other: &Place, client: &Client) -> Result<Option<f64>, Failure> {
        let high = |place: &Place| place.unit.unwrap_or(1).max(1) as f64 * UNIT;
        if self.rack == other.rack {
            return Ok(Some((high(self) - high(other)).abs() + SLACK.0));
        }
        if self.site != other.site || self.row != other.row || self.row.is_empty() {
            return Ok(None);
        }
        let mut row = named("racks", "spec.row", &self.row, client).await?;
        row.retain(|rack| rack["spec"]["siteRef"]["name"] == self.site.as_str());
        let mut names: Vec<&str> = row.iter().map(name_of).collect();
        names.sort_by(|a, b| inventory::natural::compare(a, b));
        let at = |rack: &str| names.iter().position(|name| *name == rack).unwrap_or(0) as f64;
        Ok(Some((at(&self.rack) - at(&other.rack)).abs() * RACK + SLACK.1))
    }
}

/// What to say about a cable of a device that is moved.
async fn reach(
    cable: &Value,
    device: &Device,
    here: &Place,
    client: &Client,
) -> Result<Option<String>, Failure> {
    let name = name_of(cable);
    let ends = cable["spec"]["endpoints"].as_array().into_iter().flatten();
    let own =
        |end: &&Value| device.ports.iter().any(|port| name_of(port) == end["name"].as_str().unwrap_or(""));
    let mut longest: Option<f64> = None;
    for end in ends.filter(|end| !own(end)) {
        let port = named("ports", "metadata.name", end["name"].as_str().unwrap_or(""), client).await?;
        let Some(far) = port.first().map(|port| port["spec"]["deviceRef"].clone()) else { continue };
        let Some(place) = place_of(&far, client).await? else {
            return Ok(Some(format!("check Cable {name}: it is unknown where {} is", told(&far))));
        };
        let Some(metres) = here.to(&place, client).await? else {
            return Ok(Some(format!("check Cable {name}: {} is in another row", told(&far))));
        };
        longest = Some(longest.unwrap_or(0.0).max(metres));
    }
    let Some(needed) = longest else { return Ok(None) };
    let long = match &cable["spec"]["lengthM"] {
        Value::Null => None,
        Value::String(text) => Quantity(text.clone()).value(),
        other => Quantity(other.to_string()).value(),
    };
    Ok(match long {
        None => Some(format!("check Cable {name}: its length is unknown, about {needed:.1} m are needed")),
        Some(long) if long < needed => Some(format!(
            "Cable {name} no longer reaches: it is {long} m long, about {needed:.1} m are needed"
        )),
        Some(_) => None,
    })
}

fn told(device: &Value) -> String {
    format!("{} {}", device["kind"].as_str().unwrap_or(""), device["name"].as_str().unwrap_or(""))
}

/// Where the device of a port is.
async fn place_of(device: &Value, client: &Client) -> Result<Option<Place>, Failure> {
    let name = device["name"].as_str().unwrap_or("");
    let plural = match device["kind"].as_str() {
        Some("Rack") => return Ok(Some(Place::of_rack(name, None, client).await?)),
        Some("Node") => "nodes",
        _ => "networkdevices",
    };
    let found = named(plural, "metadata.name", name, client).await?;
    let placement = found.first().map(|object| object["spec"]["placement"].clone()).unwrap_or_default();
    let Some(rack) = placement["rackRef"]["name"].as_str() else { return Ok(None) };
    Ok(Some(Place::of_rack(rack, placement["startUnit"].as_i64(), client).await?))
}
