//! `groundplane inventory move`: moves a device to another position, and tells which cables no longer reach.

use std::collections::BTreeSet;

use cli::{Client, Failure, Session};
use inventory::Quantity;
use serde_json::{Value, json};

use crate::change::{Device, Plan, PlanFlags, name_of, named};

/// Height of a rack unit, in meters.
const UNIT: f64 = 0.04445;
/// Width of a rack, in meters.
const RACK: f64 = 0.6;
/// How deep slots are nested at most.
const SLOTS: usize = 8;
/// What a cable needs beyond the straight way, in meters: within a rack, and between racks.
const SLACK: (f64, f64) = (0.3, 2.0);
/// The least way from one row to the next, in meters: over an aisle.
const AISLE: f64 = 1.2;

/// Move a node or network device to other rack units, and list the cables that no longer reach.
///
/// The height, face and depth of the device stay, and what is in its slots goes with it. Cables keep their ports; lengths are
/// estimated from rack units and, within a row, the order of racks by name. Without a terminal, --yes is required.
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
    let units = &device.object["spec"]["placement"]["unitHeight"];
    if unit.is_none() && !units.is_null() {
        return Err(Failure::usage(format!(
            "--to: {} {} is {units}U high and needs a rack unit; use RACK:UNIT, such as {rack}:20",
            device.kind, device.name
        ))
        .hint(format!("find free units with \"groundplane inventory find-space --units {units}\"")));
    }
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
    let moved = with_what_is_inside(device, &client).await?;
    let mut known = BTreeSet::new();
    for cable in moved.iter().flat_map(|device| &device.cables) {
        if known.insert(name_of(cable)) {
            plan.notes.extend(reach(cable, &moved, &here, &client).await?);
        }
    }
    let device = &moved[0];
    plan.run(&format!("Move {} {}", device.kind, device.name), &arguments.plan, &client, session).await
}

/// A device and those in its slots, and in theirs.
async fn with_what_is_inside(device: Device, client: &Client) -> Result<Vec<Device>, Failure> {
    let mut all = vec![device];
    let mut at = 0;
    while let Some(holder) = all.get(at) {
        let (holder_kind, holder_name) = (holder.kind, holder.name.clone());
        for (kind, plural) in [("node", "nodes"), ("networkdevice", "networkdevices")] {
            for inside in named(plural, "spec.inSlot.deviceRef.name", &holder_name, client).await? {
                let name = name_of(&inside);
                let is_known = all.iter().any(|one| one.name == name && one.kind.eq_ignore_ascii_case(kind));
                if inside["spec"]["inSlot"]["deviceRef"]["kind"] == holder_kind && !is_known {
                    all.push(Device::find(&format!("{kind}/{name}"), client).await?);
                }
            }
        }
        at += 1;
    }
    Ok(all)
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

    /// About how long a cable between two places must be.
    async fn to(&self, other: &Place, client: &Client) -> Result<Way, Failure> {
        let high = |place: &Place| place.unit.unwrap_or(1).max(1) as f64 * UNIT;
        if self.rack == other.rack {
            return Ok(Way::About((high(self) - high(other)).abs() + SLACK.0));
        }
        if self.site != other.site {
            return Ok(Way::OtherSite);
        }
        if self.row.is_empty() || other.row.is_empty() {
            return Ok(Way::AtLeast(SLACK.1, "it is unknown in which rows they are"));
        }
        if self.row != other.row {
            return Ok(Way::AtLeast(SLACK.1 + AISLE, "it is in another row"));
        }
        let mut row = named("racks", "spec.row", &self.row, client).await?;
        row.retain(|rack| rack["spec"]["siteRef"]["name"] == self.site.as_str());
        let mut names: Vec<&str> = row.iter().map(name_of).collect();
        names.sort_by(|a, b| inventory::natural::compare(a, b));
        let at = |rack: &str| names.iter().position(|name| *name == rack).unwrap_or(0) as f64;
        Ok(Way::About((at(&self.rack) - at(&other.rack)).abs() * RACK + SLACK.1))
    }
}

/// What is known of the way between two places.
enum Way {
    /// About so many meters.
    About(f64),
    /// At least so many meters, and why nothing better is known.
    AtLeast(f64, &'static str),
    /// No cable leads there.
    OtherSite,
}

/// What to say about a cable of devices that are moved.
async fn reach(
    cable: &Value,
    moved: &[Device],
    here: &Place,
    client: &Client,
) -> Result<Option<String>, Failure> {
    let name = name_of(cable);
    let ends = cable["spec"]["endpoints"].as_array().into_iter().flatten();
    let ports: BTreeSet<&str> = moved.iter().flat_map(|device| &device.ports).map(name_of).collect();
    let own = |end: &Value| ports.contains(end["name"].as_str().unwrap_or(""));
    let far: Vec<&Value> = ends.filter(|end| !own(end)).collect();
    let long = match &cable["spec"]["lengthM"] {
        Value::Null => None,
        Value::String(text) => Quantity(text.clone()).value(),
        other => Quantity(other.to_string()).value(),
    };
    let mut longest: Option<f64> = None;
    for end in far {
        let port = named("ports", "metadata.name", end["name"].as_str().unwrap_or(""), client).await?;
        let Some(far) = port.first().map(|port| port["spec"]["deviceRef"].clone()) else { continue };
        let Some(place) = place_of(&far, client).await? else {
            return Ok(Some(format!("check Cable {name}: it is unknown where {} is", told(&far))));
        };
        match (here.to(&place, client).await?, long) {
            (Way::About(metres), _) => longest = Some(longest.unwrap_or(0.0).max(metres)),
            (Way::OtherSite, _) => {
                return Ok(Some(format!(
                    "Cable {name} no longer reaches: {} is at another site",
                    told(&far)
                )));
            }
            (Way::AtLeast(metres, _), Some(long)) if long < metres => {
                return Ok(Some(format!(
                    "Cable {name} no longer reaches: it is {long} m long, at least {metres:.1} m are needed to {}",
                    told(&far)
                )));
            }
            (Way::AtLeast(metres, why), _) => {
                return Ok(Some(format!(
                    "check Cable {name}: at least {metres:.1} m are needed to {}, and {why}",
                    told(&far)
                )));
            }
        }
    }
    let Some(needed) = longest else { return Ok(None) };
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
    let mut device =
        named(plural, "metadata.name", name, client).await?.into_iter().next().unwrap_or_default();
    // What is in a slot is where the device with the slot is. Slots are nested a few times at most.
    for _ in 0..SLOTS {
        let placement = &device["spec"]["placement"];
        if let Some(rack) = placement["rackRef"]["name"].as_str() {
            return Ok(Some(Place::of_rack(rack, placement["startUnit"].as_i64(), client).await?));
        }
        let holder = device["spec"]["inSlot"]["deviceRef"].clone();
        let plural = if holder["kind"] == "Node" { "nodes" } else { "networkdevices" };
        let Some(name) = holder["name"].as_str() else { return Ok(None) };
        device = named(plural, "metadata.name", name, client).await?.into_iter().next().unwrap_or_default();
    }
    Ok(None)
}
