//! A rack from the front or from the rear.

use maud::{Markup, html};
use serde_json::Value;

use crate::text;

/// Height of a unit.
const UNIT: i64 = 18;
/// Width of the bay.
const WIDTH: i64 = 230;
/// Width of the numbers beside it.
const RULER: i64 = 26;

/// A side of a rack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// Seen from the front.
    Front,
    /// Seen from the rear.
    Rear,
}

/// What is drawn on a device besides its name.
pub struct Device {
    /// The address of its page.
    pub page: String,
    /// Its class in the stylesheet, by what the colours mean.
    pub class: String,
    /// Its group in the legend.
    pub legend: String,
    /// What it is, for tooltips and screen readers.
    pub about: String,
}

/// Draws a side of a rack. `device` tells about each device of the elevation; devices can be dragged if `can_move`.
pub fn face(elevation: &Value, face: Face, can_move: bool, device: &dyn Fn(&Value) -> Device) -> Markup {
    let units = elevation["heightU"].as_i64().unwrap_or(42).clamp(1, 100);
    let height = units * UNIT;
    let rack = text::at(elevation, "/rack");
    let name = if face == Face::Front { "Front" } else { "Rear" };
    let top_of = |unit: i64| (units - unit) * UNIT;
    html! {
        figure.rack {
            figcaption { (name) }
            svg viewBox=(format!("0 0 {} {}", WIDTH + RULER + 2, height + 2)) width=(WIDTH + RULER + 2) height=(height + 2)
                role="group" aria-label=(format!("{name} of rack {rack}")) data-rack=(rack) data-units=(units) data-face=(name) data-unit=(UNIT) {
                rect.bay x=(RULER) y="1" width=(WIDTH) height=(height) rx="3" {}
                @for unit in 1..=units {
                    text.unit x=(RULER - 6) y=(top_of(unit) + 13) { (unit) }
                    @if unit > 1 { path.line d=(format!("M{} {}h{}", RULER, top_of(unit - 1) + 1, WIDTH)) {} }
                }
                @for kept in text::items(elevation, "/reservations") {
                    @if let Some((start, end)) = span(kept) {
                        rect.kept x=(RULER + 1) y=(top_of(end) + 1) width=(WIDTH - 2) height=((end - start + 1) * UNIT) rx="2" {}
                        text.about x=(RULER + WIDTH - 8) y=(top_of(end) + 13) text-anchor="end" { "reserved: " (text::limited(text::at(kept, "/name"), 20)) }
                    }
                }
                @for found in text::items(elevation, "/devices").iter().filter(|device| is_on(device, face)) {
                    @if let Some((start, end)) = span(found) {
                        @let about = device(found);
                        @let label = text::at(found, "/name");
                        @let (y, tall) = (top_of(end) + 1, (end - start + 1) * UNIT);
                        @let kind = text::at(found, "/kind");
                        @let key = format!("{kind}/{label}");
                        a href=(about.page) data-device=[can_move.then_some(key)] data-start=(start) data-height=(end - start + 1) {
                            title { (label) " · U" (start) "–U" (end) " · " (about.about) }
                            rect class=(format!("device {}", about.class)) x=(RULER + 1) y=(y + 1) width=(WIDTH - 2) height=(tall - 2) rx="2" {}
                            rect class=(format!("mark {}", about.class)) x=(RULER + 1) y=(y + 1) width="4" height=(tall - 2) {}
                            text.name x=(RULER + 12) y=(y + tall / 2 + 4) { (text::limited(label, 26)) }
                            @if let Some(watts) = found["watts"].as_u64() {
                                text.watts x=(RULER + WIDTH - 8) y=(y + tall / 2 + 4) text-anchor="end" { (watts) " W" }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// First and last unit of something in a rack.
fn span(placed: &Value) -> Option<(i64, i64)> {
    let start = placed["start"].as_i64()?;
    Some((start, placed["end"].as_i64().unwrap_or(start)))
}

/// Whether a device is seen from a side: one without a side fills the rack from front to rear.
fn is_on(device: &Value, face: Face) -> bool {
    match text::at(device, "/face") {
        "Front" => face == Face::Front,
        "Rear" => face == Face::Rear,
        _ => true,
    }
}

/// A rack as a small tile of a floor plan: how full it is, by its units.
pub fn tile(elevation: &Value, class: &str) -> Markup {
    let units = elevation["heightU"].as_i64().unwrap_or(42).clamp(1, 100);
    html! {
        svg.tile viewBox=(format!("0 0 44 {}", units * 2 + 4)) aria-hidden="true" {
            rect.bay x="1" y="1" width="42" height=(units * 2 + 2) rx="2" {}
            @for found in text::items(elevation, "/devices") {
                @if let Some((start, end)) = span(found) {
                    rect class=(format!("device {class}")) x="3" y=((units - end) * 2 + 2) width="38" height=((end - start + 1) * 2) {}
                }
            }
        }
    }
}
