//! Drawings: racks side by side, and the way from port to port.

use std::fmt::Write as _;

use super::elevation::{Elevation, Mounted, cut, label};
use super::trace::Hop;
use crate::kinds::placement::Face;

const UNIT: i32 = 14;
const SIDE: i32 = 180;
const GAP: i32 = 24;
const TOP: i32 = 40;
const STYLE: &str = "<style>text{font:10px ui-monospace,monospace;fill:#1f2933}.t{font-weight:bold;font-size:12px}\
.f{fill:#fff;stroke:#9aa5b1}.Node{fill:#cfe3ff;stroke:#4a78b5}.NetworkDevice{fill:#d5f2dc;stroke:#3f8f5b}\
.k{fill:#fff3c4;stroke:#c99a2e;stroke-dasharray:3 2}.u{fill:#7b8794}.l{stroke:#4a78b5;fill:none;stroke-width:1.5}</style>";

/// Racks side by side, each with its front and its rear.
pub fn racks(racks: &[Elevation]) -> String {
    let tallest = racks.iter().map(|rack| rack.height_u).max().unwrap_or(0).min(200);
    let wide = 2 * SIDE + 24 + GAP;
    let (width, height) = (GAP + wide * i32::try_from(racks.len()).unwrap_or(1), TOP + tallest * UNIT + 40);
    let mut drawing = begin(width, height);
    for (index, rack) in racks.iter().enumerate() {
        let left = GAP + wide * i32::try_from(index).unwrap_or(0);
        let bottom = TOP + tallest * UNIT;
        text(&mut drawing, left, 16, "t", &format!("{} ({})", rack.rack, rack.site));
        for (side, face, title) in [(0, Face::Front, "front"), (1, Face::Rear, "rear")] {
            let x = left + 24 + side * (SIDE + 4);
            text(&mut drawing, x, 32, "u", title);
            let high = rack.height_u.min(tallest) * UNIT;
            rectangle(&mut drawing, (x, bottom - high, SIDE, high), "f");
            for kept in rack.reservations.iter().filter(|kept| kept.face.is_none_or(|own| own == face)) {
                block(&mut drawing, (x, bottom), (kept.start, kept.end), "k", &kept.name);
            }
            let here = rack.devices.iter().filter(|device| device.face.is_none_or(|own| own == face));
            for Mounted { kind, start, end, .. } in here.clone() {
                block(&mut drawing, (x, bottom), (*start, *end), kind, "");
            }
            for device in here {
                let y = bottom - device.end * UNIT + 11;
                text(&mut drawing, x + 4, y, "", &cut(&label(device), 28));
            }
        }
        for unit in (1..=rack.height_u.min(tallest)).filter(|unit| unit % 5 == 0 || *unit == 1) {
            text(&mut drawing, left, bottom - unit * UNIT + 11, "u", &unit.to_string());
        }
        let power = rack.power.budget.map_or("?".to_owned(), |budget| budget.to_string());
        let foot =
            format!("free {}U/{}U, {} W of {power} W", rack.free_front, rack.free_rear, rack.power.drawn);
        text(&mut drawing, left + 24, bottom + 16, "u", &foot);
    }
    drawing + "</svg>\n"
}

/// The way from a port, and where it splits.
pub fn way(hop: &Hop) -> String {
    let mut rows = Vec::new();
    flatten(hop, 0, &mut rows);
    let height = 20 + 44 * i32::try_from(rows.len()).unwrap_or(1);
    let deepest = rows.iter().map(|(depth, _)| *depth).max().unwrap_or(0);
    let mut drawing = begin(520 + deepest * 40, height);
    let mut last: Vec<(i32, i32)> = Vec::new();
    for (index, (depth, hop)) in rows.iter().enumerate() {
        let (x, y) = (16 + depth * 40, 12 + 44 * i32::try_from(index).unwrap_or(0));
        last.retain(|(other, _)| other < depth);
        if let Some((_, from)) = last.last() {
            let _ = write!(drawing, "<path class=\"l\" d=\"M{} {} V{} H{}\"/>", x - 28, from + 30, y + 15, x);
        }
        last.push((*depth, y));
        rectangle(
            &mut drawing,
            (x, y, 320, 30),
            if hop.device.starts_with("Node/") { "Node" } else { "NetworkDevice" },
        );
        text(&mut drawing, x + 6, y + 13, "t", &cut(&format!("{} {}", hop.device, hop.label), 44));
        text(&mut drawing, x + 6, y + 25, "u", &cut(&hop.via(), 56));
    }
    drawing + "</svg>\n"
}

fn flatten<'a>(hop: &'a Hop, depth: i32, rows: &mut Vec<(i32, &'a Hop)>) {
    rows.push((depth, hop));
    for next in &hop.next {
        flatten(next, depth + 1, rows);
    }
}

fn begin(width: i32, height: i32) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\">{STYLE}"
    )
}

fn block(drawing: &mut String, origin: (i32, i32), units: (i32, i32), class: &str, name: &str) {
    let (x, bottom) = origin;
    let (start, end) = units;
    let y = bottom - end * UNIT;
    rectangle(drawing, (x + 1, y + 1, SIDE - 2, (end - start + 1) * UNIT - 2), class);
    if !name.is_empty() {
        text(drawing, x + 4, y + 11, "u", &cut(name, 28));
    }
}

fn rectangle(drawing: &mut String, place: (i32, i32, i32, i32), class: &str) {
    let (x, y, width, height) = place;
    let _ = write!(
        drawing,
        "<rect class=\"{}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"2\"/>",
        escaped(class)
    );
}

fn text(drawing: &mut String, x: i32, y: i32, class: &str, text: &str) {
    let _ = write!(drawing, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(text));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
