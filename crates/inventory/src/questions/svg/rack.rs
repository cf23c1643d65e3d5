//! Rack elevation: front and rear face, free and reserved units, and power.

use super::super::elevation::{Elevation, MountedDevice, ReservedUnits, cut, runs};
use super::{Drawing, number};
use crate::kinds::placement::{Face, Footprint};

const UNIT: i32 = 16;
/// Width of a face, of the post with the unit numbers, and of the gap between two racks.
const SIDE: i32 = 214;
const POST: i32 = 24;
const GAP: i32 = 32;
/// Vertical offset of the units.
const TOP: i32 = 72;
const MARGIN: i32 = 24;
const BAR: i32 = 20;
/// Maximum height that is drawn.
const HIGHEST: i32 = 200;
/// Maximum number of characters on a face.
const LETTERS: usize = 31;

const STYLE: &str = "\
text{font-size:10px;fill:#243b53}\
.sheet{fill:#fff}.title{font-size:15px;font-weight:700}.about{fill:#627d98;font-size:11px}\
.head{fill:#829ab1;font-size:9px;letter-spacing:1px}.unit{fill:#d9e2ec;font-size:8px;text-anchor:middle}\
.post{fill:#334e68}.bay{fill:#f7f9fb;stroke:#bcccdc}.line{stroke:#e4eaf0;stroke-width:1}\
.free{fill:#9fb3c8;text-anchor:middle}.watts{fill:#486581;font-size:9px;text-anchor:end}.small{fill:#486581;font-size:9px}\
.Node{fill:#dbeafe;stroke:#93b4e0}.Node-mark{fill:#2f6fc0}\
.switch{fill:#d8f3e3;stroke:#8cc7a5}.switch-mark{fill:#23824f}\
.router{fill:#e8defa;stroke:#b7a0e0}.router-mark{fill:#6b3fc0}\
.panel{fill:#e9eef3;stroke:#b4c2d0}.panel-mark{fill:#627d98}\
.pdu{fill:#ffe3dc;stroke:#e6a898}.pdu-mark{fill:#c0442a}\
.kept{fill:url(#kept);stroke:#d9a53a;stroke-dasharray:4 3}\
.bar{fill:#e9eef3}.well{fill:#3ebd93}.much{fill:#f0b429}.over{fill:#d64545}";

/// Draws racks side by side, each with front and rear.
pub fn racks(racks: &[Elevation]) -> String {
    let tallest = racks.iter().map(|rack| rack.height_u.clamp(0, HIGHEST)).max().unwrap_or(0);
    let bars = racks.iter().map(|rack| 1 + number(rack.power.feeds.len())).max().unwrap_or(0);
    let wide = 2 * SIDE + POST;
    let width = 2 * MARGIN + number(racks.len()) * (wide + GAP) - GAP;
    let ground = TOP + tallest * UNIT;
    let mut drawing = Drawing::new(width.max(2 * MARGIN), ground + 44 + bars * BAR, STYLE);
    drawing.add(format_args!(
        "<defs><pattern id=\"kept\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect width=\"8\" height=\"8\" fill=\"#fff8e1\"/>\
         <rect width=\"3\" height=\"8\" fill=\"#fbe6ad\"/></pattern></defs>"
    ));
    for (index, rack) in racks.iter().enumerate() {
        let left = MARGIN + number(index) * (wide + GAP);
        draw(&mut drawing, rack, left, ground);
    }
    drawing.finish()
}

fn draw(drawing: &mut Drawing, rack: &Elevation, left: i32, ground: i32) {
    let height = rack.height_u.clamp(0, HIGHEST);
    drawing.text(left, 28, "title", &cut(&rack.rack, 46));
    let part = |name: &str, value: &Option<String>| {
        value.as_ref().map_or(String::new(), |value| format!(" · {name} {value}"))
    };
    let state = rack.state.map_or(String::new(), |state| format!(" · {state}"));
    let beside = match rack.zero_u.len() {
        0 => String::new(),
        count => format!(" · {count} × 0U"),
    };
    let about = format!(
        "{}{}{} · {}U{beside}{state}",
        rack.site,
        part("cage", &rack.cage),
        part("row", &rack.row),
        rack.height_u
    );
    drawing.text(left, 45, "about", &cut(about.trim_start_matches(" · "), 66));
    let post = left + SIDE;
    let top = ground - height * UNIT;
    for (x, face, head) in [(left, Face::Front, "FRONT"), (post + POST, Face::Rear, "REAR")] {
        drawing.text(x, TOP - 8, "head", head);
        drawing.rectangle((x, top, SIDE, height * UNIT), "bay", 3);
        for unit in 1..height {
            let y = ground - unit * UNIT;
            drawing.path("line", &format!("M{} {y}H{}", x + 1, x + SIDE - 1));
        }
        side(drawing, rack, face, (x, ground));
    }
    drawing.rectangle((post, top, POST, height * UNIT), "post", 2);
    for unit in 1..=height {
        drawing.text(post + POST / 2, ground - unit * UNIT + 11, "unit", &unit.to_string());
    }
    power(drawing, rack, left, ground + 18);
}

/// One face: reserved units, devices, and the size of large free ranges.
fn side(drawing: &mut Drawing, rack: &Elevation, face: Face, origin: (i32, i32)) {
    let is_here = |own: &Option<Face>| own.is_none_or(|own| own == face);
    let mut taken = Vec::new();
    for ReservedUnits { name, start, end, face: own, reason } in &rack.reservations {
        taken.push(Footprint { start: *start, end: *end, face: *own });
        if is_here(own) {
            let place = units(origin, *start, *end);
            let why = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            drawing.begin(&format!("reserved: {name}{why}, U{start}-U{end}"));
            drawing.rectangle(place, "kept", 2);
            drawing.text(place.0 + 9, place.1 + 11, "", &cut(&format!("reserved: {name}"), LETTERS));
            drawing.end();
        }
    }
    for device in &rack.devices {
        taken.push(device.footprint());
        if is_here(&device.face) {
            mounted(drawing, device, face, units(origin, device.start, device.end));
        }
    }
    for (start, long) in runs(rack.height_u.clamp(0, HIGHEST), &taken, Some(face)) {
        if long >= 3 {
            let (x, y, width, height) = units(origin, start, start + long - 1);
            drawing.text(x + width / 2, y + height / 2 + 4, "free", &format!("{long}U free"));
        }
    }
}

/// The rectangle of a range of units.
fn units(origin: (i32, i32), start: i32, end: i32) -> super::Rect {
    let (x, ground) = origin;
    let (start, end) = (start.clamp(1, HIGHEST), end.clamp(1, HIGHEST));
    (x + 2, ground - end * UNIT + 1, SIDE - 4, (end - start + 1) * UNIT - 2)
}

fn mounted(drawing: &mut Drawing, device: &MountedDevice, face: Face, place: super::Rect) {
    let (x, y, width, height) = place;
    let class = class(device);
    let state = device.state.map(|state| state.to_string());
    let about: Vec<&str> = state.as_deref().into_iter().chain(device.about.as_deref()).collect();
    let about = about.join(", ");
    let watts = device.watts.map_or(String::new(), |watts| format!("{watts} W"));
    let inside: Vec<String> =
        device.slots.iter().map(|(slot, inside)| format!("slot {slot}: {inside}")).collect();
    let mut told = vec![format!("{} {}", device.kind, device.name)];
    told.extend([about.clone(), format!("U{}-U{}", device.start, device.end), watts.clone()]);
    told.extend(inside.iter().cloned());
    told.retain(|part| !part.is_empty());
    drawing.begin(&told.join(", "));
    drawing.rectangle(place, class, 2);
    drawing.rectangle((x, y, 4, height), &format!("{class}-mark"), 1);
    // The other side of a device that is as deep as the rack.
    let is_back = device.face.is_none() && face == Face::Rear;
    let beside = if is_back { "(rear)" } else { &watts };
    // A device of one unit has no second line for its state.
    let name = match &state {
        Some(state) if height <= UNIT => format!("{} ({state})", device.name),
        _ => device.name.clone(),
    };
    drawing.text(x + 9, y + 11, "", &cut(&name, LETTERS - 1 - beside.chars().count()));
    drawing.text(x + width - 5, y + 11, "watts", beside);
    if height > UNIT && !is_back {
        let below = if inside.is_empty() { about.clone() } else { inside.join(", ") };
        drawing.text(x + 9, y + 24, "small", &cut(&below, LETTERS + 4));
    }
    drawing.end();
}

fn class(device: &MountedDevice) -> &'static str {
    match (device.kind.as_str(), device.about.as_deref()) {
        ("Node", _) => "Node",
        (_, Some("PatchPanel")) => "panel",
        (_, Some("PDU")) => "pdu",
        (_, Some("BorderRouter" | "Firewall")) => "router",
        _ => "switch",
    }
}

/// Power of the rack and of each feed, as bars.
fn power(drawing: &mut Drawing, rack: &Elevation, left: i32, top: i32) {
    let whole = ("power".to_owned(), rack.power.drawn, rack.power.budget);
    let feeds = rack.power.feeds.iter().map(|feed| (format!("feed {}", feed.name), feed.drawn, feed.usable));
    for (at, (name, drawn, usable)) in (0..).zip(std::iter::once(whole).chain(feeds)) {
        let (x, y, width) = (left + 72, top + at * BAR, 200);
        drawing.text(left, y + 10, "about", &cut(&name, 11));
        drawing.rectangle((x, y, width, 12), "bar", 3);
        let told = match usable {
            None => format!("{drawn} W; rating unknown"),
            Some(usable) => {
                let percent = if usable > 0 { drawn.saturating_mul(100) / usable } else { 100 };
                let filled = i32::try_from(percent.clamp(0, 100)).unwrap_or(100) * width / 100;
                let class = match percent {
                    ..75 => "well",
                    75..=100 => "much",
                    _ => "over",
                };
                drawing.rectangle((x, y, filled.max(2), 12), class, 3);
                format!("{drawn} of {usable} W, {percent} %")
            }
        };
        drawing.text(x + width + 8, y + 10, "about", &told);
    }
}
