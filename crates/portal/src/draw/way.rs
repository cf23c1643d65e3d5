//! The path of a port, end to end, from top to bottom: panels, lengths and splits.

use maud::{Markup, html};
use serde_json::Value;

use crate::kinds::Collection;
use crate::text;
use crate::viewer::Viewer;

const WIDTH: i64 = 260;
/// Room beside a column, for what leads to the next box.
const BESIDE: i64 = 190;
const BOX: i64 = 46;
const GAP: i64 = 54;
/// Steps that are drawn; a path of more is hardly a path.
const MOST: usize = 400;

/// A box of the drawing.
struct Stop {
    column: i64,
    depth: i64,
    from: Option<(i64, i64)>,
    device: String,
    label: String,
    port: String,
    by: String,
    class: &'static str,
}

/// Draws what a trace found.
pub fn path(viewer: &Viewer, trace: &Value) -> Markup {
    let mut stops = Vec::new();
    let columns = lay_out(&trace["way"], 0, 0, None, &mut stops);
    let deepest = stops.iter().map(|stop| stop.depth).max().unwrap_or(0);
    let x = |column: i64| column * (WIDTH + BESIDE) + 10;
    let y = |depth: i64| depth * (BOX + GAP) + 10;
    let (wide, tall) = (columns.max(1) * (WIDTH + BESIDE) + 20, (deepest + 1) * (BOX + GAP) - GAP + 20);
    html! {
        svg.way viewBox=(format!("0 0 {wide} {tall}")) width=(wide) height=(tall) role="group" aria-label="Path of the port" {
            @for stop in &stops {
                @let (left, top) = (x(stop.column), y(stop.depth));
                @if let Some((column, depth)) = stop.from {
                    @let (from, above) = (x(column) + WIDTH / 2, y(depth) + BOX);
                    path class=(format!("edge {}", stop.class)) d=(format!("M{from} {above}C{from} {} {} {} {} {top}", above + GAP / 2, left + WIDTH / 2, top - GAP / 2, left + WIDTH / 2)) {}
                    text.about x=(left + WIDTH / 2 + 8) y=(top - GAP / 2 + 4) { (text::limited(&stop.by, 62)) }
                }
                a href=[port_page(viewer, &stop.port)] {
                    title { (stop.device) " " (stop.label) @if !stop.by.is_empty() { ", " (stop.by) } }
                    rect.node x=(left) y=(top) width=(WIDTH) height=(BOX) rx="4" {}
                    text.name x=(left + 12) y=(top + 19) { (text::limited(&stop.device, 34)) }
                    text.about x=(left + 12) y=(top + 36) { (text::limited(&stop.label, 40)) }
                }
            }
        }
    }
}

fn port_page(viewer: &Viewer, port: &str) -> Option<String> {
    if port.is_empty() {
        return None;
    }
    let root = apiserver::plane::Plane::root();
    let ports = Collection::of(viewer, &root, "inventory.miloapis.com", "ports").ok()?;
    Some(ports.object_page(viewer, "", port, &[]))
}

/// Puts a step and what follows it into columns, and tells how many columns it takes.
fn lay_out(step: &Value, column: i64, depth: i64, from: Option<(i64, i64)>, stops: &mut Vec<Stop>) -> i64 {
    if step.is_null() || stops.len() >= MOST {
        return 0;
    }
    let by = &step["by"];
    let kind = text::at(by, "/kind");
    let mut said = match kind {
        "Panel" => "through the panel".to_owned(),
        "" => String::new(),
        kind => format!("{kind} {}", text::at(by, "/name")),
    };
    if let Some(media) = by["media"].as_str() {
        said += &format!(" · {media}");
    }
    if let Some(metres) = by["metres"].as_f64() {
        said += &format!(" · {metres} m");
    }
    let class = match (kind, text::at(by, "/media")) {
        ("Panel", _) => "inside",
        ("Circuit", _) => "circuit",
        (_, "Power") => "power",
        _ => "",
    };
    stops.push(Stop {
        column,
        depth,
        from,
        device: text::at(step, "/device").replacen('/', " ", 1),
        label: text::at(step, "/label").to_owned(),
        port: text::at(step, "/port").to_owned(),
        by: said,
        class,
    });
    let mut taken = 0;
    for next in text::items(step, "/next") {
        taken += lay_out(next, column + taken, depth + 1, Some((column, depth)), stops);
    }
    taken.max(1)
}
