//! Relations of an object as a small graph: what refers to it on the left, what it refers to on the right.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::pages::Related;
use crate::text;

const WIDTH: i64 = 760;
const BOX: i64 = 220;
const STEP: i64 = 34;

/// A node of the graph: one object, or many of one kind.
struct Node {
    name: String,
    about: String,
    page: Option<String>,
}

/// The graph.
pub fn graph(title: &str, incoming: &[Related], outgoing: &[Related]) -> Markup {
    let (left, right) = (nodes(incoming), nodes(outgoing));
    let rows = left.len().max(right.len()).max(1) as i64;
    let height = rows * STEP + 20;
    let middle = height / 2;
    let centre = (WIDTH - BOX) / 2;
    html! {
        svg.graph viewBox=(format!("0 0 {WIDTH} {height}")) width=(WIDTH) height=(height) role="group" aria-label=(format!("Relations of {title}")) {
            (side(&left, 0, rows, Some((BOX, centre, middle))))
            (side(&right, WIDTH - BOX, rows, Some((WIDTH - BOX, centre + BOX, middle))))
            rect.node.here x=(centre) y=(middle - 14) width=(BOX) height="28" rx="4" {}
            text x=(centre + BOX / 2) y=(middle + 4) text-anchor="middle" { (text::limited(title, 28)) }
        }
    }
}

fn side(nodes: &[Node], x: i64, rows: i64, to: Option<(i64, i64, i64)>) -> Markup {
    let first = 10 + (rows - nodes.len() as i64) * STEP / 2;
    html! {
        @for (index, node) in nodes.iter().enumerate() {
            @let y = first + index as i64 * STEP;
            @if let Some((from, end, middle)) = to {
                path.edge d=(format!("M{from} {}C{} {} {} {middle} {end} {middle}", y + 14, (from + end) / 2, y + 14, (from + end) / 2)) {}
            }
            @let drawn = html! {
                rect.node x=(x) y=(y) width=(BOX) height="28" rx="4" {}
                text x=(x + 10) y=(y + 18) { (text::limited(&node.name, 22)) }
                text.about x=(x + BOX - 8) y=(y + 18) text-anchor="end" { (text::limited(&node.about, 16)) }
            };
            @match &node.page {
                Some(page) => a href=(page) { title { (node.about) " " (node.name) } (drawn) },
                None => g { (drawn) },
            }
        }
    }
}

/// Objects of a kind are one node each while there are few of them, and one together when there are many.
fn nodes(related: &[Related]) -> Vec<Node> {
    let mut kinds: BTreeMap<&str, Vec<&Related>> = BTreeMap::new();
    for one in related {
        kinds.entry(&one.kind).or_default().push(one);
    }
    let many = |all: &Vec<&Related>| all.len() > 4;
    let mut nodes = Vec::new();
    for (kind, all) in kinds {
        match many(&all) {
            true => nodes.push(Node {
                name: text::counted(all.len() as u64, kind, kind),
                about: String::new(),
                page: None,
            }),
            false => nodes.extend(all.iter().map(|one| Node {
                name: one.name.clone(),
                about: kind.to_owned(),
                page: one.page.clone(),
            })),
        }
    }
    nodes.truncate(14);
    nodes
}
