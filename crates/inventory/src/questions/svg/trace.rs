//! Port trace from left to right: a card per device with its ingress and egress ports.

use super::super::elevation::cut;
use super::super::trace::{By, Hop};
use super::Drawing;

const CARD: i32 = 230;
/// Width of the gap between two columns of cards, where the cables are.
const RUN: i32 = 210;
const ROW: i32 = 70;
const HEAD: i32 = 22;
const MARGIN: i32 = 20;
/// Maximum size of a drawing.
const MOST: i32 = 4000;

const STYLE: &str = "\
text{font-size:10px;fill:#243b53}\
.sheet{fill:#fff}.card{fill:#fff;stroke:#9fb3c8}.head{fill:#334e68}.Node-head{fill:#2f6fc0}.Site-head{fill:#6b3fc0}\
.Rack-head{fill:#c0442a}.name{fill:#fff;font-size:11px;font-weight:700}.kind{fill:#e1e8ef;font-size:8px;text-anchor:end}\
.port{font-weight:700}.out{font-weight:700;text-anchor:end}.id{fill:#829ab1;font-size:8px}.id-out{fill:#829ab1;font-size:8px;text-anchor:end}\
.by{font-size:9px;text-anchor:middle}.more{fill:#627d98;font-size:9px;text-anchor:middle}.foot{fill:#627d98;font-size:11px}\
.inside{stroke:#9fb3c8;stroke-width:1.5;fill:none;stroke-dasharray:2 3}\
.run{stroke:#627d98;stroke-width:2.5;fill:none}.FiberSMF{stroke:#e0a800}.FiberMMF{stroke:#17a2a8}.Copper{stroke:#2f6fc0}\
.Power{stroke:#c0442a}.DAC{stroke:#334e68}.circuit{stroke:#6b3fc0;stroke-dasharray:7 4}";

/// Draws the path from a port with its branches. If something was withheld, it does not say that nothing is connected.
pub fn trace(hop: &Hop, is_incomplete: bool) -> String {
    let (columns, rows) = (columns(hop), rows(hop));
    let width = (2 * MARGIN + columns * CARD + (columns - 1) * RUN).min(MOST);
    let height = (2 * MARGIN + rows * ROW + 24).min(MOST);
    let mut drawing = Drawing::new(width, height, STYLE);
    card(&mut drawing, hop, (MARGIN, MARGIN));
    let told = match hop.next.is_empty() {
        true if is_incomplete => "No connection is visible with your permissions.".to_owned(),
        true => "Not connected.".to_owned(),
        false => {
            let ends = hop.ends().len();
            let ends = if ends == 1 { "one end".to_owned() } else { format!("{ends} ends") };
            format!("{} m of cable, {ends}", hop.metres())
        }
    };
    drawing.text(MARGIN, height - MARGIN + 6, "foot", &told);
    drawing.finish()
}

/// The egress ports of a device: those connected internally to the ingress port, or that port itself.
fn exits(hop: &Hop) -> Vec<&Hop> {
    let inside: Vec<&Hop> = hop.next.iter().filter(|next| is_inside(next)).collect();
    if inside.is_empty() { vec![hop] } else { inside }
}

fn is_inside(hop: &Hop) -> bool {
    matches!(hop.by, Some(By::Panel { .. } | By::Power))
}

/// The devices that a port is connected to by cables and circuits.
fn beyond(exit: &Hop) -> impl Iterator<Item = &Hop> {
    exit.next.iter().filter(|next| !is_inside(next))
}

/// Number of columns of cards.
fn columns(hop: &Hop) -> i32 {
    let after = exits(hop).into_iter().flat_map(beyond).map(columns).max();
    1 + after.unwrap_or(0)
}

/// Number of rows that a card and everything behind it take.
fn rows(hop: &Hop) -> i32 {
    exits(hop).into_iter().map(rows_behind).sum()
}

fn rows_behind(exit: &Hop) -> i32 {
    beyond(exit).map(rows).sum::<i32>().max(1)
}

/// Draws a card, and everything behind it.
fn card(drawing: &mut Drawing, hop: &Hop, at: (i32, i32)) {
    let (x, y) = at;
    if x > MOST || y > MOST {
        return;
    }
    let (kind, name) = hop.device.split_once('/').unwrap_or(("", "(not visible)"));
    let exits = exits(hop);
    // As high as it takes to reach its last exit; what is behind that may reach further down.
    let before_last: i32 = exits.iter().rev().skip(1).map(|exit| rows_behind(exit)).sum();
    let height = (before_last + 1) * ROW - 12;
    let state = hop.state.map_or(String::new(), |state| format!(" ({state})"));
    let name = &format!("{name}{state}");
    drawing.begin(&format!("{kind} {name}"));
    drawing.rectangle((x, y, CARD, height), "card", 4);
    let head = if matches!(kind, "Node" | "Site" | "Rack") { format!("{kind}-head") } else { "head".into() };
    drawing.rectangle((x, y, CARD, HEAD), &head, 4);
    drawing.rectangle((x, y + HEAD - 4, CARD, 4), &head, 0);
    let letters = 31_usize.saturating_sub(kind.len() * 3 / 4);
    drawing.text(x + 8, y + 15, "name", &cut(name, letters.max(8)));
    drawing.text(x + CARD - 8, y + 14, "kind", kind);
    drawing.end();
    // Where the way comes in, and for a port that is left again by itself, where it goes out.
    let is_through = !exits.iter().any(|exit| std::ptr::eq(*exit, hop));
    let middle = y + HEAD + (ROW - 12 - HEAD) / 2;
    let is_start = hop.by.is_none();
    if is_through || !is_start {
        port(drawing, hop, (x + 8, middle), false);
    }
    let mut top = y;
    for exit in exits {
        let out = top + HEAD + (ROW - 12 - HEAD) / 2;
        if is_through || is_start {
            port(drawing, exit, (x + CARD - 8, out), true);
        }
        if is_through {
            let (from, to) = (x + CARD / 2 - 22, x + CARD / 2 + 18);
            drawing.path(
                "inside",
                &format!("M{from} {middle}C{} {middle} {} {out} {to} {out}", from + 16, to - 16),
            );
        }
        let mut below = top;
        for next in beyond(exit) {
            run(drawing, next, (x + CARD, out), below + HEAD + (ROW - 12 - HEAD) / 2);
            card(drawing, next, (x + CARD + RUN, below));
            below += rows(next) * ROW;
        }
        top += rows_behind(exit) * ROW;
    }
}

/// The name of a port on its device, with the object's name below.
fn port(drawing: &mut Drawing, hop: &Hop, at: (i32, i32), is_out: bool) {
    let (label, id) = if is_out { ("out", "id-out") } else { ("port", "id") };
    drawing.begin(&format!("Port {}", hop.port));
    drawing.text(at.0, at.1, label, &cut(&hop.label, 15));
    drawing.text(at.0, at.1 + 12, id, &shortened(&hop.port, 21));
    drawing.end();
}

/// The last characters of a name, which distinguish it.
fn shortened(name: &str, most: usize) -> String {
    match name.chars().count().checked_sub(most) {
        None | Some(0) => name.to_owned(),
        Some(over) => std::iter::once('…').chain(name.chars().skip(over + 1)).collect(),
    }
}

/// The cable or circuit that leads to a card.
fn run(drawing: &mut Drawing, next: &Hop, from: (i32, i32), y: i32) {
    let (x, out) = from;
    let (class, name, more) = match &next.by {
        Some(By::Cable { name, media, metres, state }) => {
            let long = metres.map_or(String::new(), |metres| format!(" · {metres} m"));
            let state = state.map_or(String::new(), |state| format!(" · {state}"));
            (format!("run {media}"), name.clone(), format!("{media}{long}{state}"))
        }
        Some(By::Circuit { name, id, provider, .. }) => {
            let told = id.as_deref().unwrap_or(name);
            let of = if provider.is_empty() { String::new() } else { format!(" of {provider}") };
            ("run circuit".to_owned(), told.to_owned(), format!("circuit{of}"))
        }
        _ => ("run".to_owned(), String::new(), String::new()),
    };
    let (end, bend) = (x + RUN, x + 26);
    drawing.begin(&format!("{name}, {more}"));
    let path = match out == y {
        true => format!("M{x} {out}H{end}"),
        false => format!("M{x} {out}C{} {out} {} {y} {} {y}H{end}", bend, x, bend + 8),
    };
    drawing.path(&class, &path);
    let middle = x + RUN / 2 + 12;
    drawing.text(middle, y - 6, "by", &shortened(&name, 30));
    drawing.text(middle, y + 14, "more", &cut(&more, 32));
    drawing.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(by: Option<By>, device: &str, next: Vec<Hop>) -> Hop {
        Hop {
            by,
            port: format!("{device}-p"),
            label: "p<1>".into(),
            device: format!("Node/{device}"),
            state: None,
            next,
        }
    }

    fn cable() -> Option<By> {
        Some(By::Cable { name: "k".into(), media: "DAC".into(), metres: Some(2.0), state: None })
    }

    #[test]
    fn a_card_holds_both_ends_of_a_panel_and_all_outlets_of_a_pdu() {
        let outlets = (0..3).map(|_| hop(Some(By::Power), "pdu", vec![hop(cable(), "host", Vec::new())]));
        let path = hop(None, "rack", vec![hop(cable(), "pdu", outlets.collect())]);
        assert_eq!((columns(&path), rows(&path)), (3, 3));
        let drawing = trace(&path, false);
        assert_eq!(drawing.matches("class=\"card\"").count(), 1 + 1 + 3, "{drawing}");
        assert_eq!(drawing.matches("class=\"inside\"").count(), 3, "{drawing}");
        assert!(drawing.contains("p&lt;1&gt;") && !drawing.contains("p<1>"), "{drawing}");
    }

    #[test]
    fn names_are_shortened_where_they_are_alike() {
        assert_eq!(shortened("fra1-a01-panel-1-1-front", 12), "…l-1-1-front");
        assert_eq!(shortened("eth0", 12), "eth0");
    }
}
