//! Trace: follows a port through cables, patch panels, circuits and PDUs to where the path ends.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;
use serde::Serialize;

use super::{shown, svg};
use crate::kinds::port::{self, PortType};
use crate::kinds::{Cable, Circuit, Port, cable, circuit};
use crate::references::EndKind;

/// Maximum length of a path, in cables and circuits.
const MAX_HOPS: usize = 64;

/// A port on the path, how it is reached, and where the path continues.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hop {
    /// How the port is reached; unset for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// Name of the port, or of the site at which a circuit terminates.
    pub port: String,
    /// Name of the port on its device.
    pub label: String,
    /// Device of the port, as `Kind/name`.
    pub device: String,
    /// The next hops; several where the path branches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<Hop>,
}

/// What connects two ports.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum By {
    /// A cable.
    Cable {
        /// Name of the cable.
        name: String,
        /// Medium of the cable.
        media: String,
        /// Length in meters.
        #[serde(skip_serializing_if = "Option::is_none")]
        metres: Option<f64>,
    },
    /// A patch panel, at a position.
    Panel {
        /// Position at the rear port.
        position: i32,
    },
    /// A circuit of a provider.
    Circuit {
        /// Name of the circuit.
        name: String,
        /// Provider's identifier.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Name of the provider.
        provider: String,
        /// Whether it leads to another network.
        #[serde(skip)]
        leads_out: bool,
    },
    /// Inside a device, between a power inlet and an outlet.
    Power,
}

impl Hop {
    /// Text for how the port is reached.
    pub fn via(&self) -> String {
        match &self.by {
            None => "from here".to_owned(),
            Some(By::Cable { name, media, metres }) => {
                let long = metres.map(|metres| format!(", {metres} m")).unwrap_or_default();
                format!("cable {name} ({media}{long})")
            }
            Some(By::Panel { position }) => format!("patch panel, position {position}"),
            Some(By::Circuit { name, id, provider, .. }) => {
                let id = id.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
                format!("circuit {name}{id} ({provider})")
            }
            Some(By::Power) => "inside the device".to_owned(),
        }
    }

    /// Total known length of the cables from here on, in meters.
    pub fn metres(&self) -> f64 {
        let own = match &self.by {
            Some(By::Cable { metres, .. }) => metres.unwrap_or(0.0),
            _ => 0.0,
        };
        own + self.next.iter().map(Hop::metres).sum::<f64>()
    }

    /// The ports where the path ends.
    pub fn ends(&self) -> Vec<&Hop> {
        match self.next.is_empty() {
            true => vec![self],
            false => self.next.iter().flat_map(Hop::ends).collect(),
        }
    }
}

/// Traces the path from a port.
pub fn from(start: &Port, look: &dyn QueryContext) -> Hop {
    let mut way = Tracer { look, seen: BTreeSet::new() };
    way.seen.insert(start.metadata.name.clone());
    let next = way.out(start, None, MAX_HOPS);
    Hop { next, ..hop(None, start) }
}

struct Tracer<'a> {
    look: &'a dyn QueryContext,
    seen: BTreeSet<String>,
}

impl Tracer<'_> {
    /// Follows the cables and circuits of a port.
    fn out(&mut self, port: &Port, position: Option<i32>, left: usize) -> Vec<Hop> {
        let Some(left) = left.checked_sub(1) else { return Vec::new() };
        let mut next = Vec::new();
        let name = port.metadata.name.as_str();
        for cable in self.look.in_bucket::<Cable>(cable::IN_PORT, name) {
            for (far, position_there) in cable.spec.across(name, position) {
                let by = By::Cable {
                    name: cable.metadata.name.clone(),
                    media: cable.spec.media.to_string(),
                    metres: cable.spec.length_m.as_ref().and_then(crate::Quantity::value),
                };
                next.extend(self.arrive(by, far, Some(position_there), left));
            }
        }
        for circuit in self.look.in_bucket::<Circuit>(circuit::AT_PORT, name) {
            let is_here = circuit.spec.a_end.kind == EndKind::Port && circuit.spec.a_end.name == name;
            let far = if is_here { &circuit.spec.z_end } else { &circuit.spec.a_end };
            let by = By::Circuit {
                name: circuit.metadata.name.clone(),
                id: circuit.spec.circuit_id.clone(),
                provider: circuit.spec.provider_ref.name.clone(),
                leads_out: circuit.spec.leads_out(),
            };
            match far.kind {
                EndKind::Port => next.extend(self.arrive(by, &far.name, None, left)),
                EndKind::Site => next.push(Hop {
                    by: Some(by),
                    port: far.name.clone(),
                    label: String::new(),
                    device: format!("Site/{}", far.name),
                    next: Vec::new(),
                }),
            }
        }
        next
    }

    /// Arrives at a port and continues through its patch panel or PDU, if any.
    fn arrive(&mut self, by: By, name: &str, position: Option<i32>, left: usize) -> Option<Hop> {
        if !self.seen.insert(name.to_owned()) {
            return None;
        }
        let port = self.look.find::<Port>(name)?;
        let inside = self.inside(&port, position);
        let mut next = Vec::new();
        for (by, beyond, position) in inside {
            if self.seen.insert(beyond.metadata.name.clone()) {
                let on = self.out(&beyond, position, left);
                next.push(Hop { next: on, ..hop(Some(by), &beyond) });
            }
        }
        Some(Hop { next, ..hop(Some(by), &port) })
    }

    /// The ports of the same device that a port is connected to internally.
    fn inside(&self, port: &Port, position: Option<i32>) -> Vec<(By, Arc<Port>, Option<i32>)> {
        if let Some(through) = port.spec.through() {
            let rear = self.look.find::<Port>(&through.port_ref.name);
            let position = through.position;
            return rear.map(|rear| (By::Panel { position }, rear, Some(position))).into_iter().collect();
        }
        if port.spec.kind == PortType::Power {
            let beyond = match port.spec.inlet() {
                Some(inlet) => self.look.find::<Port>(inlet).into_iter().collect(),
                None => self.look.in_bucket::<Port>(port::FROM_INLET, &port.metadata.name),
            };
            return beyond.into_iter().map(|port| (By::Power, port, None)).collect();
        }
        let fronts = self.look.in_bucket::<Port>(port::THROUGH, &port.metadata.name).into_iter();
        let mut fronts: Vec<(By, Arc<Port>, Option<i32>)> = fronts
            .filter_map(|front| Some((front.spec.through()?.position, front)))
            .filter(|(at, _)| {
                port.spec.positions.is_none_or(|all| all == 1) || position.is_none_or(|wanted| wanted == *at)
            })
            .map(|(position, front)| (By::Panel { position }, front, None))
            .collect();
        fronts.sort_by(|a, b| a.1.metadata.name.cmp(&b.1.metadata.name));
        fronts
    }
}

fn hop(by: Option<By>, port: &Port) -> Hop {
    Hop {
        by,
        port: port.metadata.name.clone(),
        label: port.spec.name.clone(),
        device: port.spec.device_key(),
        next: Vec::new(),
    }
}

/// Text output.
pub fn text(hop: &Hop) -> String {
    let mut lines = Vec::new();
    fn line(hop: &Hop, depth: usize, lines: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        if hop.by.is_some() {
            lines.push(format!("{indent}│ {}", hop.via()));
        }
        let what = if hop.label.is_empty() { String::new() } else { format!(" {}", hop.label) };
        lines.push(format!("{indent}● {}{what} [{}]", hop.device, hop.port));
        let splits = hop.next.len() > 1;
        for next in &hop.next {
            line(next, if splits { depth + 1 } else { depth }, lines);
        }
    }
    line(hop, 0, &mut lines);
    let ends = hop.ends();
    let is_alone = hop.next.is_empty();
    lines.push(match is_alone {
        true => "Not connected.".to_owned(),
        false => {
            let named = |end: &&Hop| format!("{} {}", end.device, end.label).trim_end().to_owned();
            let ends: Vec<String> = ends.iter().map(named).collect();
            format!("Ends at {}. Total cable length: {} m.", ends.join(", "), hop.metres())
        }
    });
    lines.join("\n") + "\n"
}

/// JSON output.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PortTrace {
    way: Hop,
    ends: Vec<String>,
    total_metres: f64,
}

/// Answers `…/ports/<name>/trace`.
pub fn answer(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let Some(start) = look.find::<Port>(asked.name) else {
        return Err(Status::bad_request("name the port to trace: ports/NAME/trace"));
    };
    let way = from(&start, look);
    let ends = way.ends().iter().map(|end| end.port.clone()).collect();
    let traced = PortTrace { total_metres: way.metres(), ends, way };
    shown(asked, &traced, || text(&traced.way), Some(&|| svg::trace(&traced.way)))
}
