//! Cable: a cable between two ports, or a breakout cable between one port and several.

use krm::field::{FieldError, Path};
use krm::kind::{
    Bucket, Change, Declaration, Metadata, Reference, Resource, Sentence, Verdict, View, allow, deny,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::texts;
use super::port::PortType;
use super::{Port, declare_inventory, prints_ready, resolves_endpoints};
use crate::choice::choice;
use crate::questions;
use crate::{LocalObjectReference, Quantity, Status};

/// Bucket of the cables in a port, keyed by the port's name.
pub const IN_PORT: Bucket = Bucket::new("inventory.miloapis.com/in-port").stored_as("inventory-in-port");

/// A cable between two ports, or a breakout cable from one port to several. A port carries at most one cable and cannot
/// be deleted while a cable refers to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Cable {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the cable. Set by users.
    pub spec: CableSpec,
    /// Observation state of the cable. Set by the inventory controller; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// The medium of a cable.
    Media: Copper, FiberSMF, FiberMMF, Power, DAC
}

choice! {
    /// The state of a cable.
    CableState: Planned, Connected, Decommissioning
}

/// Specification of a cable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.endpoints.all(one, self.endpoints.exists_one(other, other.name == one.name))", "message": "cable endpoints must be distinct"},
]))]
pub struct CableSpec {
    /// Ports that the cable connects: two, or for a breakout cable the common port first and then its branches. At most 64;
    /// they must exist, differ and carry no other cable.
    #[schemars(length(min = 2, max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub endpoints: Vec<LocalObjectReference>,
    /// Medium of the cable: copper, single-mode fiber (`FiberSMF`), multi-mode fiber (`FiberMMF`), power, or direct attach
    /// copper (`DAC`). `Power` cables fit `Power` ports, and only those; fiber and `DAC` do not fit `Serial` ports.
    pub media: Media,
    /// Length in meters, as a Kubernetes quantity: `2`, `1.5` or `500m` (0.5 m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_m: Option<Quantity>,
    /// Text of the label on the cable. Need not be unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Color of the cable, such as `blue`. Free text, 1 to 63 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub color: Option<String>,
    /// Connection status. Unset means `Connected`. Impact and power analysis follow connected cables only; traces follow all and
    /// mark the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<CableState>,
    /// Mapping of fibers or pairs between the ends. Each position of an end is used at most once; at most 1024 lanes. By
    /// default, position n of the first endpoint connects to the n-th of the other endpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), extend("x-kubernetes-list-type" = "atomic"))]
    pub lanes: Vec<Lane>,
}

/// One fiber or pair of a cable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lane {
    /// One end of the lane, at one endpoint of the cable.
    pub from: LaneEnd,
    /// Other end of the lane. Must be at a different endpoint of the cable.
    pub to: LaneEnd,
}

/// One end of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct LaneEnd {
    /// Index into the cable's `endpoints`, counted from 0.
    #[schemars(range(min = 0, max = 63))]
    pub endpoint: i32,
    /// Position of the fiber or pair at that endpoint, counted from 1.
    #[schemars(range(min = 1, max = 1024))]
    pub position: i32,
}

impl Media {
    /// Whether a cable of this medium fits into a port: power into power ports only, and fiber into no serial port.
    pub fn fits(self, port: PortType) -> bool {
        match (self, port) {
            (Media::Power, port) => port == PortType::Power,
            (_, PortType::Power) => false,
            (Media::FiberSMF | Media::FiberMMF | Media::DAC, PortType::Serial) => false,
            _ => true,
        }
    }
}

impl CableSpec {
    /// The declared lanes, or the default mapping if there are none.
    pub fn lanes(&self) -> Vec<Lane> {
        if !self.lanes.is_empty() {
            return self.lanes.clone();
        }
        let further = 1..i32::try_from(self.endpoints.len()).unwrap_or(i32::MAX);
        let lane = |endpoint| Lane {
            from: LaneEnd { endpoint: 0, position: endpoint },
            to: LaneEnd { endpoint, position: 1 },
        };
        further.map(lane).collect()
    }

    /// Whether it is a breakout cable: it has more than two ends.
    pub fn is_breakout(&self) -> bool {
        self.endpoints.len() > 2
    }

    /// The ports, with their positions, that a port is connected to. `position` limits it to one position of the port.
    pub fn across(&self, port: &str, position: Option<i32>) -> Vec<(&str, i32)> {
        if !self.is_breakout() && self.lanes.is_empty() {
            let other = self.endpoints.iter().find(|end| end.name != port);
            return other.map(|end| (end.name.as_str(), position.unwrap_or(1))).into_iter().collect();
        }
        let Some(here) = self.endpoints.iter().position(|end| end.name == port) else { return Vec::new() };
        let is_here = |end: &LaneEnd| {
            usize::try_from(end.endpoint) == Ok(here) && position.is_none_or(|wanted| wanted == end.position)
        };
        let mut found = Vec::new();
        for lane in self.lanes() {
            for (near, far) in [(lane.from, lane.to), (lane.to, lane.from)] {
                let end = usize::try_from(far.endpoint).ok().and_then(|index| self.endpoints.get(index));
                if let Some(end) = end.filter(|_| is_here(&near)) {
                    found.push((end.name.as_str(), far.position));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Resource for Cable {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Cable";
    const PLURAL: &'static str = "cables";

    fn declare() -> Declaration<Cable> {
        let port = Reference::to::<Port>("spec.endpoints[].name");
        let cable = declare_inventory("vcable.inventory.miloapis.com", &["Link"])
            .tells_created(&[
                Sentence { when: "has($.endpoints) && size($.endpoints) == 2", says: "connected {{ $.endpoints[0].name }} and {{ $.endpoints[1].name }} with {{ $.media }} @" },
                Sentence { when: "has($.media)", says: "created {{ $.media }} @" },
            ])
            .refers(resolves_endpoints(port.absent("endpoint Port {} not found")))
            .selects(&["spec.endpoints.name", "spec.media", "spec.state", "spec.color", "spec.label"])
            .searches(&["spec.label"])
            .prints("Media", "string", ".spec.media")
            .prints("A", "string", ".spec.endpoints[0].name")
            .prints("Z", "string", ".spec.endpoints[1].name")
            .prints("Length", "string", ".spec.lengthM")
            .prints_age()
            .answers("impact", "Impact", questions::impact::answer("Cable"))
            .bucket_raw(IN_PORT, |cable| texts(cable, "spec.endpoints.name").collect())
            .validate(validate_lanes)
            .rule(check_ports_are_free)
            .rule(check_media_fits);
        prints_ready(cable)
    }
}

/// Lanes connect two different existing endpoints, and no two lanes share a position.
fn validate_lanes(change: &Change<Cable>) -> Vec<FieldError> {
    let Some(cable) = change.after() else { return Vec::new() };
    let (spec, mut errors, mut taken) = (Path::of("spec"), Vec::new(), Vec::new());
    let list = spec.field("lanes");
    for (index, lane) in cable.spec.lanes.iter().enumerate() {
        let path = list.index(index);
        for (field, end) in [("from", lane.from), ("to", lane.to)] {
            let path = path.field(field);
            if usize::try_from(end.endpoint).is_ok_and(|at| at >= cable.spec.endpoints.len()) {
                let why =
                    format!("must be less than the number of endpoints ({})", cable.spec.endpoints.len());
                errors.push(FieldError::invalid(&path.field("endpoint"), &end.endpoint.into(), why));
            }
            if taken.contains(&end) {
                errors.push(FieldError::duplicate(&path.field("position"), &end.position.into()));
            }
            taken.push(end);
        }
        if lane.from.endpoint == lane.to.endpoint {
            let why = "must differ from from.endpoint: a lane connects two different endpoints";
            errors.push(FieldError::invalid(
                &path.field("to").field("endpoint"),
                &lane.to.endpoint.into(),
                why,
            ));
        }
    }
    errors
}

/// A port carries at most one cable.
fn check_ports_are_free(change: &Change<Cable>, view: &mut View<'_>) -> Verdict {
    let Some(cable) = change.after() else { return allow() };
    let before = change.before().map(|old| old.spec.endpoints.as_slice()).unwrap_or_default();
    for end in cable.spec.endpoints.iter().filter(|end| !before.contains(end)) {
        let there = view.bucket(IN_PORT, &end.name);
        if let Some(other) = there.iter().find(|other| other.name() != cable.metadata.name) {
            return deny(format!("Port {} already carries Cable {}", end.name, other.name()));
        }
    }
    allow()
}

/// The medium of a cable fits all its ports.
fn check_media_fits(change: &Change<Cable>, view: &mut View<'_>) -> Verdict {
    let Some(cable) = change.after() else { return allow() };
    let same = |old: &Cable| old.spec.media == cable.spec.media && old.spec.endpoints == cable.spec.endpoints;
    if change.before().is_some_and(same) {
        return allow();
    }
    for end in &cable.spec.endpoints {
        let Some(port) = view.get::<Port>(&end.name) else { continue };
        if !cable.spec.media.fits(port.spec.kind) {
            return deny(format!(
                "a {} cable does not fit Port {} of type {}",
                cable.spec.media, end.name, port.spec.kind
            ));
        }
    }
    allow()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cable(ends: &[&str], lanes: serde_json::Value) -> CableSpec {
        let ends: Vec<_> = ends.iter().map(|name| json!({"name": name})).collect();
        serde_json::from_value(json!({"endpoints": ends, "media": "DAC", "lanes": lanes})).unwrap()
    }

    #[test]
    fn a_breakout_leads_from_one_port_to_many_and_back() {
        let breakout = cable(&["q", "s1", "s2"], json!([]));
        assert_eq!(breakout.across("q", None), [("s1", 1), ("s2", 1)]);
        assert_eq!(breakout.across("q", Some(2)), [("s2", 1)]);
        assert_eq!(breakout.across("s2", None), [("q", 2)]);
    }

    #[test]
    fn a_plain_cable_keeps_the_position_and_crossed_lanes_change_it() {
        assert_eq!(cable(&["a", "z"], json!([])).across("a", Some(7)), [("z", 7)]);
        let crossed = json!([
            {"from": {"endpoint": 0, "position": 1}, "to": {"endpoint": 1, "position": 2}},
            {"from": {"endpoint": 0, "position": 2}, "to": {"endpoint": 1, "position": 1}},
        ]);
        assert_eq!(cable(&["a", "z"], crossed).across("z", Some(2)), [("a", 1)]);
    }
}
