//! Trace: follows a port through cables, patch panels, circuits and PDUs to where the path ends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm::kind::{Answered, QueryContext, Questioned, Resource};
use krm::status::Status;
use serde::Serialize;

use super::{Stated, shown, shows, svg};
use crate::kinds::device::Lifecycle;
use crate::kinds::port::{self, PortType};
use crate::kinds::{Cable, Circuit, Port, Provider, Site, cable, circuit};
use crate::references::EndKind;
use crate::state::{AsIf, Fleet};

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
    /// Device of the port, as `Kind/name`; empty if whoever asks may not read it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// State of the port, which is that of its device, unless it is `Active`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Lifecycle>,
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
        /// State of the cable, unless it is connected.
        #[serde(skip_serializing_if = "Option::is_none")]
        state: Option<Lifecycle>,
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
        /// Name of the provider; empty if whoever asks may not read it.
        #[serde(skip_serializing_if = "String::is_empty")]
        provider: String,
        /// State of the circuit, if the question assumes one.
        #[serde(skip_serializing_if = "Option::is_none")]
        state: Option<Lifecycle>,
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
            Some(By::Cable { name, media, metres, state }) => {
                let long = metres.map(|metres| format!(", {metres} m")).unwrap_or_default();
                let state = state.map(|state| format!(", {state}")).unwrap_or_default();
                format!("cable {name} ({media}{long}{state})")
            }
            Some(By::Panel { position }) => format!("patch panel, position {position}"),
            Some(By::Circuit { name, id, provider, state, .. }) => {
                let id = id.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
                let of = if provider.is_empty() { String::new() } else { format!(" ({provider})") };
                let state = state.map(|state| format!(" ({state})")).unwrap_or_default();
                format!("circuit {name}{id}{of}{state}")
            }
            Some(By::Power) => "inside the device".to_owned(),
        }
    }

    /// The same path without the names of devices, sites and providers that may not be read.
    pub fn without_withheld(mut self, look: &dyn QueryContext) -> Hop {
        if let Some(By::Circuit { provider, .. }) = &mut self.by
            && !look.shows::<Provider>(provider)
        {
            provider.clear();
        }
        if !shows(&self.device, look) {
            // A circuit that ends at a site has no port there: the hop is named after the site.
            if self.device.starts_with("Site/") {
                self.port.clear();
            }
            self.device.clear();
        }
        self.next = self.next.into_iter().map(|next| next.without_withheld(look)).collect();
        self
    }

    /// The device, in words if it may not be read.
    fn device_text(&self) -> &str {
        if self.device.is_empty() { "(not visible)" } else { &self.device }
    }

    /// The same path with the states of its ports, cables and circuits.
    pub fn marked(mut self, fleet: &Fleet<'_>) -> Hop {
        self.state = match self.device.split_once('/') {
            Some((Site::KIND, site)) => fleet.mark(Site::KIND, site),
            _ => fleet.mark(Port::KIND, &self.port),
        };
        match &mut self.by {
            Some(By::Cable { name, state, .. }) => *state = fleet.mark(Cable::KIND, name),
            Some(By::Circuit { name, state, .. }) => *state = fleet.mark(Circuit::KIND, name),
            _ => {}
        }
        self.next = self.next.into_iter().map(|next| next.marked(fleet)).collect();
        self
    }

    /// The devices, cables and circuits on the path that are not in service, with their states.
    fn out_of_service(&self, found: &mut BTreeMap<String, Lifecycle>) {
        let is_out = |state: &Option<Lifecycle>| state.filter(|state| !state.is_in_service());
        if let Some(state) = is_out(&self.state).filter(|_| !self.device.is_empty()) {
            found.insert(self.device.clone(), state);
        }
        match &self.by {
            // A cable that is being decommissioned may be pulled already.
            Some(By::Cable { name, state: Some(state), .. }) => {
                found.insert(format!("{}/{name}", Cable::KIND), *state);
            }
            Some(By::Circuit { name, state, .. }) => {
                found.extend(is_out(state).map(|state| (format!("{}/{name}", Circuit::KIND), state)));
            }
            _ => {}
        }
        self.next.iter().for_each(|next| next.out_of_service(found));
    }

    /// Total known length of the cables from here on, in meters. A cable with several ends is as long as it is, once.
    pub fn metres(&self) -> f64 {
        let mut cables = BTreeMap::new();
        self.add_cables(&mut cables);
        // The sum of nothing is -0.
        cables.values().fold(0.0, |sum, metres| sum + metres)
    }

    fn add_cables<'a>(&'a self, cables: &mut BTreeMap<&'a str, f64>) {
        if let Some(By::Cable { name, metres, .. }) = &self.by {
            cables.insert(name, metres.unwrap_or(0.0));
        }
        self.next.iter().for_each(|next| next.add_cables(cables));
    }

    /// The ports where the path ends.
    pub fn ends(&self) -> Vec<&Hop> {
        match self.next.is_empty() {
            true => vec![self],
            false => self.next.iter().flat_map(Hop::ends).collect(),
        }
    }
}

/// Traces the path from a port. It names devices, sites and providers as the ports and circuits on it do; before it is shown,
/// [`Hop::without_withheld`] takes out those that whoever asks may not read.
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
                    state: None,
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
                state: None,
                leads_out: circuit.spec.leads_out(),
            };
            match far.kind {
                EndKind::Port => next.extend(self.arrive(by, &far.name, None, left)),
                EndKind::Site => next.push(Hop {
                    by: Some(by),
                    port: far.name.clone(),
                    label: String::new(),
                    device: format!("Site/{}", far.name),
                    state: None,
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
        state: None,
        next: Vec::new(),
    }
}

/// Text output. If something was withheld, it does not say that nothing is connected.
pub fn text(hop: &Hop, is_incomplete: bool) -> String {
    let mut lines = Vec::new();
    fn line(hop: &Hop, depth: usize, lines: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        if hop.by.is_some() {
            lines.push(format!("{indent}│ {}", hop.via()));
        }
        let what = if hop.label.is_empty() { String::new() } else { format!(" {}", hop.label) };
        let port = if hop.port.is_empty() { String::new() } else { format!(" [{}]", hop.port) };
        let state = hop.state.map(|state| format!(" ({state})")).unwrap_or_default();
        lines.push(format!("{indent}● {}{state}{what}{port}", hop.device_text()));
        let splits = hop.next.len() > 1;
        for next in &hop.next {
            line(next, if splits { depth + 1 } else { depth }, lines);
        }
    }
    line(hop, 0, &mut lines);
    let ends = hop.ends();
    lines.push(match hop.next.is_empty() {
        true if is_incomplete => "No connection is visible with your permissions.".to_owned(),
        true => "Not connected.".to_owned(),
        false => {
            let named = |end: &&Hop| format!("{} {}", end.device_text(), end.label).trim_end().to_owned();
            let ends: Vec<String> = ends.iter().map(named).collect();
            format!("Ends at {}. Total cable length: {} m.", ends.join(", "), hop.metres())
        }
    });
    let mut out = BTreeMap::new();
    hop.out_of_service(&mut out);
    if !out.is_empty() {
        let out: Vec<String> = out.iter().map(|(name, state)| format!("{name} ({state})")).collect();
        lines.push(format!("Not in service: {}.", out.join(", ")));
    }
    lines.join("\n") + "\n"
}

/// JSON output.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PortTrace {
    way: Hop,
    ends: Vec<String>,
    total_metres: f64,
    /// The devices, cables and circuits on the path that are not in service.
    out_of_service: Vec<Stated>,
}

/// Answers `…/ports/<name>/trace`.
pub fn answer(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let Some(start) = look.find::<Port>(asked.name) else {
        return Err(Status::bad_request("name the port to trace: ports/NAME/trace"));
    };
    let as_if = AsIf::asked(asked, look)?;
    let way = from(&start, look).without_withheld(look).marked(&Fleet::new(look, &as_if));
    let mut out = BTreeMap::new();
    way.out_of_service(&mut out);
    let out_of_service = out.into_iter().map(|(name, state)| Stated { name, state }).collect();
    let ends = way.ends().iter().map(|end| end.port.clone()).filter(|port| !port.is_empty()).collect();
    let traced = PortTrace { total_metres: way.metres(), ends, out_of_service, way };
    let is_incomplete = look.is_incomplete();
    let drawing = || svg::trace(&traced.way, is_incomplete);
    shown(asked, &traced, || text(&traced.way, is_incomplete), Some(&drawing))
}
