//! Rack elevations as text, as many racks side by side as fit.

use inventory::kinds::placement::{Face, Footprint};
use inventory::questions::elevation::{Elevation, Feed, MountedDevice, ZeroUDevice};

/// Width of the drawing when stdout is not a terminal.
const IN_A_PIPE: usize = 120;
/// Minimum and maximum width of a face.
const NARROWEST: usize = 12;
const WIDEST: usize = 30;
/// Gap between two racks.
const BETWEEN: usize = 3;

const BLUE: &str = "\u{1b}[34m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const RED: &str = "\u{1b}[31m";
const DIM: &str = "\u{1b}[2m";
const BOLD: &str = "\u{1b}[1m";

/// Drawing options.
pub struct Drawing {
    pub front: bool,
    pub rear: bool,
    pub width: Option<usize>,
    pub has_colours: bool,
    /// Lists all devices with units and watts below the rack.
    pub is_wide: bool,
}

impl Drawing {
    /// Draws racks side by side, in several bands if needed.
    pub fn of(&self, racks: &[Elevation]) -> String {
        let (side, in_a_band) = self.layout(racks.len());
        let bands: Vec<String> = racks.chunks(in_a_band).map(|band| self.band(band, side)).collect();
        bands.join("\n")
    }

    fn sides(&self) -> usize {
        usize::from(self.front) + usize::from(self.rear)
    }

    /// Width of a face and number of racks per band.
    fn layout(&self, racks: usize) -> (usize, usize) {
        let whole = self.width.unwrap_or(IN_A_PIPE);
        let wide = |side: usize| 4 + self.sides() * (side + 1);
        let fit = |side: usize| (whole + BETWEEN) / (wide(side) + BETWEEN);
        // All in one band if narrow faces suffice; else as many as remain readable.
        let in_a_band = if fit(NARROWEST) >= racks { racks.max(1) } else { fit(20).max(1) };
        let side = (NARROWEST..=WIDEST).rev().find(|side| fit(*side) >= in_a_band);
        (side.unwrap_or(NARROWEST), in_a_band)
    }

    fn band(&self, racks: &[Elevation], side: usize) -> String {
        let tallest = racks.iter().map(|rack| rack.height_u).max().unwrap_or(0);
        let wide = 4 + self.sides() * (side + 1) - 1;
        let mut lines = Vec::new();
        let mut line = |cells: Vec<(String, &str)>| {
            let cells = cells
                .into_iter()
                .map(|(cell, colour)| self.painted(&padded(&cut(&cell, wide), wide), colour));
            let text = cells.collect::<Vec<String>>().join(&" ".repeat(BETWEEN));
            lines.push(text.trim_end().to_owned());
        };
        line(racks.iter().map(|rack| (title(rack, wide), BOLD)).collect());
        let heads: Vec<&str> = [("FRONT", self.front), ("REAR", self.rear)]
            .into_iter()
            .filter_map(|(head, is_drawn)| is_drawn.then_some(head))
            .collect();
        let head: String = heads.iter().map(|head| padded(head, side + 1)).collect();
        line(racks.iter().map(|_| (format!("  U {}", head.trim_end()), DIM)).collect());
        for unit in (1..=tallest).rev() {
            let racks = racks.iter().map(|rack| match unit > rack.height_u {
                true => " ".repeat(wide),
                false => self.units(rack, unit, side),
            });
            lines.push(racks.collect::<Vec<String>>().join(&" ".repeat(BETWEEN)).trim_end().to_owned());
        }
        // A single rack may use the whole line.
        let room = if racks.len() == 1 { self.width.unwrap_or(IN_A_PIPE) } else { wide };
        let feet: Vec<Vec<(String, &str)>> =
            racks.iter().map(|rack| foot(rack, self.is_wide, room)).collect();
        for row in 0..feet.iter().map(Vec::len).max().unwrap_or(0) {
            let cells = feet.iter().map(|foot| {
                let (text, colour) = foot.get(row).cloned().unwrap_or((String::new(), ""));
                self.painted(&padded(&cut(&text, room), wide), colour)
            });
            lines.push(cells.collect::<Vec<String>>().join(&" ".repeat(BETWEEN)).trim_end().to_owned());
        }
        lines.join("\n") + "\n"
    }

    fn units(&self, rack: &Elevation, unit: i32, side: usize) -> String {
        let cell = |face| {
            let (text, colour) = unit_text(rack, unit, face, side);
            self.painted(&padded(&text, side), colour)
        };
        let mut cells = vec![self.painted(&format!("{unit:>3}"), DIM)];
        cells.extend(self.front.then(|| cell(Face::Front)));
        cells.extend(self.rear.then(|| cell(Face::Rear)));
        cells.join(" ")
    }

    fn painted(&self, text: &str, colour: &str) -> String {
        match self.has_colours && !colour.is_empty() && !text.trim().is_empty() {
            true => format!("{colour}{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}

fn title(rack: &Elevation, most: usize) -> String {
    let part = |name: &str, value: &Option<String>| {
        value.as_ref().map_or(String::new(), |value| format!(", {name} {value}"))
    };
    let (name, site, high) = (&rack.rack, &rack.site, rack.height_u);
    let state = rack.state.map_or(String::new(), |state| format!(", {state}"));
    let place = format!("{site}{}{}{state}", part("cage", &rack.cage), part("row", &rack.row));
    let within = |place: &str| match place.trim_start_matches(", ") {
        "" => format!("{name} {high}U"),
        place => format!("{name} ({place}) {high}U"),
    };
    fitting(most, [within(&place), within(site), name.clone()])
}

/// The first text that fits, or the last one cut off.
fn fitting<const N: usize>(most: usize, tries: [String; N]) -> String {
    let fits = tries.iter().find(|text| text.chars().count() <= most);
    cut(fits.or(tries.last()).map_or("", String::as_str), most)
}

fn unit_text<'a>(rack: &Elevation, unit: i32, face: Face, side: usize) -> (String, &'a str) {
    if let Some(device) = rack.at(unit, face) {
        let colour = match device.state {
            Some(state) if !state.is_in_service() => RED,
            Some(_) => YELLOW,
            None if device.kind == "Node" => BLUE,
            None => GREEN,
        };
        let is_top = unit == device.end;
        return (if is_top { format!("▌{}", label(rack, device, side - 1)) } else { "▌".to_owned() }, colour);
    }
    let kept = rack
        .reservations
        .iter()
        .find(|kept| Footprint { start: kept.start, end: kept.end, face: kept.face }.takes(unit, face));
    match kept {
        Some(kept) if unit == kept.end => (cut(&format!("┊reserved: {}", kept.name), side), YELLOW),
        Some(_) => ("┊".to_owned(), YELLOW),
        None => ("·".to_owned(), DIM),
    }
}

/// The label of a device, shortened to fit; the distinguishing suffix is kept longest.
fn label(rack: &Elevation, device: &MountedDevice, most: usize) -> String {
    let state = device.state.map(|state| state.to_string());
    let more: Vec<&str> = state.as_deref().into_iter().chain(device.about.as_deref()).collect();
    let about = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
    let marked = state.map(|state| format!(" ({state})")).unwrap_or_default();
    let short = device.name.strip_prefix(rack.rack.as_str()).filter(|rest| rest.starts_with('-'));
    let tries = [
        Some(format!("{}{about}", device.name)),
        Some(format!("{}{marked}", device.name)),
        short.map(|rest| format!("…{rest}{about}")),
        short.map(|rest| format!("…{rest}{marked}")),
    ];
    let fits = tries.into_iter().flatten().find(|text| text.chars().count() <= most);
    fits.unwrap_or_else(|| cut(&device.name, most))
}

/// The lines below a rack: space and power.
fn foot(rack: &Elevation, is_wide: bool, most: usize) -> Vec<(String, &'static str)> {
    let (front, rear, run) = (rack.free_front, rack.free_rear, rack.largest_free);
    let free = [
        format!("Free {front}U front, {rear}U rear; {run}U contiguous"),
        format!("Free {front}U/{rear}U, largest {run}U"),
        format!("Free {front}U/{rear}U"),
    ];
    let mut lines = vec![(fitting(most, free), "")];
    if !rack.zero_u.is_empty() {
        let names: Vec<String> = rack.zero_u.iter().map(ZeroUDevice::label).collect();
        let short = |name: &String| match name.strip_prefix(rack.rack.as_str()) {
            Some(rest) => format!("…{rest}"),
            None => name.clone(),
        };
        let shorter: Vec<String> = names.iter().map(short).collect();
        let tries = [
            format!("0U {}", names.join(", ")),
            format!("0U {}", shorter.join(", ")),
            format!("{} × 0U", names.len()),
        ];
        lines.push((fitting(most, tries), ""));
    }
    let power = &rack.power;
    lines.push(match power.budget {
        Some(budget) => (used("Power", power.drawn, budget, most), over(power.drawn, budget)),
        None => {
            let known = format!("Power {} W", power.drawn);
            (fitting(most, [format!("{known}; feed rating unknown"), known]), "")
        }
    });
    lines.extend(power.feeds.iter().map(|Feed { name, usable, drawn }| match usable {
        Some(usable) => (used(&format!("  {name:<3}"), *drawn, *usable, most), over(*drawn, *usable)),
        None => (format!("  {name:<3} {drawn} W"), ""),
    }));
    for device in rack.devices.iter().filter(|device| is_wide || !device.slots.is_empty()) {
        if !device.slots.is_empty() {
            let slots: Vec<String> =
                device.slots.iter().map(|(slot, inside)| format!("{slot}: {inside}")).collect();
            lines.push((format!("In {}: {}", device.name, slots.join(", ")), ""));
        }
        if is_wide {
            let watts = device.watts.map_or(String::new(), |watts| format!(", {watts} W"));
            lines.push((format!("U{}-U{} {}{watts}", device.start, device.end, device.name), ""));
        }
    }
    lines
}

/// `Power 3120 of 9000 W  35 %  ███░░░░░░░`, shortened to fit.
fn used(what: &str, drawn: i64, usable: i64, most: usize) -> String {
    let percent = if usable > 0 { drawn.saturating_mul(100) / usable } else { 0 };
    let filled = usize::try_from((percent / 10).clamp(0, 10)).unwrap_or(0);
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(10 - filled));
    fitting(
        most,
        [
            format!("{what} {drawn} of {usable} W  {percent} %  {bar}"),
            format!("{what} {drawn} of {usable} W {percent} %"),
            format!("{what} {drawn} W {percent} %"),
            format!("{what} {percent} %"),
        ],
    )
}

fn over(drawn: i64, usable: i64) -> &'static str {
    if drawn > usable { RED } else { "" }
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}

fn cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn rack(name: &str, height: i32) -> Elevation {
        let rack = json!({
            "rack": name, "site": "fra1", "heightU": height, "freeFront": 1, "freeRear": 2, "largestFree": 1,
            "devices": [
                {"kind": "Node", "name": format!("{name}-node01"), "about": "compute", "start": 1, "end": 2},
                {"kind": "NetworkDevice", "name": "leaf", "start": 3, "end": 3, "face": "Front", "watts": 350},
            ],
            "reservations": [{"name": "db", "start": 3, "end": 3, "face": "Rear"}],
            "power": {"drawn": 900, "budget": 1000, "feeds": [{"name": "A", "usable": 1000, "drawn": 1100}]},
        });
        serde_json::from_value(rack).unwrap()
    }

    fn drawing(width: Option<usize>) -> Drawing {
        Drawing { front: true, rear: true, width, has_colours: false, is_wide: false }
    }

    #[test]
    fn a_rack_is_drawn_from_the_top_with_both_sides() {
        assert_eq!(
            drawing(None).of(&[rack("r1", 4)]),
            "\
r1 (fra1) 4U
  U FRONT                          REAR
  4 ·                              ·
  3 ▌leaf                          ┊reserved: db
  2 ▌r1-node01 (compute)           ▌r1-node01 (compute)
  1 ▌                              ▌
Free 1U front, 2U rear; 1U contiguous
Power 900 of 1000 W  90 %  █████████░
  A   1100 of 1000 W  110 %  ██████████
"
        );
    }

    #[test]
    fn racks_of_different_heights_stand_on_the_same_ground() {
        let text = drawing(None).of(&[rack("r1", 3), rack("r2", 5)]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("r1 (fra1) 3U") && lines[0].contains("r2 (fra1) 5U"), "{text}");
        assert!(lines[2].trim_start().starts_with("5 ·"), "{text}");
        assert!(lines[6].starts_with("  1 ▌") && lines[6].matches("  1 ▌").count() == 2, "{text}");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(count in 1_usize..9, width in 40_usize..200, rear: bool) {
            let racks: Vec<Elevation> = (0..count).map(|at| rack(&format!("a-rather-long-name-{at}"), 4)).collect();
            let drawing = Drawing { rear, ..drawing(Some(width)) };
            let text = drawing.of(&racks);
            for line in text.lines() {
                prop_assert!(line.chars().count() <= width, "{} > {width}\n{text}", line.chars().count());
            }
            prop_assert_eq!(text.matches("  U FRONT").count(), count, "{}", text);
        }
    }
}
