//! Cable: what runs between ports.

use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Reference, Resource, Verdict, View, allow, deny};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::texts;
use super::{inventoried, prints_ready};
use crate::choice::choice;
use crate::questions;
use crate::{LocalObjectReference, Quantity, Status};

/// The bucket of the cables in a port, by the port's name.
pub const IN_PORT: &str = "inventory-in-port";

/// What runs between ports.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Cable {
    /// What every object has.
    pub metadata: Metadata,
    /// What it is.
    pub spec: CableSpec,
    /// What is observed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

choice! {
    /// What a cable is made of.
    Media: Copper, FiberSMF, FiberMMF, Power, DAC
}

choice! {
    /// How far a cable is in its life.
    CableState: Planned, Connected, Decommissioning
}

/// What a cable is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "self.endpoints.all(one, self.endpoints.exists_one(other, other.name == one.name))", "message": "cable endpoints must be distinct"},
]))]
pub struct CableSpec {
    /// The ports it is in: two, or of a breakout the one port and then those it is split to.
    #[schemars(length(min = 2, max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub endpoints: Vec<LocalObjectReference>,
    /// What it is made of.
    pub media: Media,
    /// How long it is, in metres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_m: Option<Quantity>,
    /// What is written on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its colour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub color: Option<String>,
    /// How far it is in its life; connected unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<CableState>,
    /// Which fibre or pair of one end is which of another. Unless said, the first end's n-th is the n-th further end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), extend("x-kubernetes-list-type" = "atomic"))]
    pub lanes: Vec<Lane>,
}

/// One fibre or pair of a cable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lane {
    /// Where it begins.
    pub from: LaneEnd,
    /// Where it ends.
    pub to: LaneEnd,
}

/// An end of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct LaneEnd {
    /// Which of the cable's endpoints; the first is 0.
    #[schemars(range(min = 0, max = 63))]
    pub endpoint: i32,
    /// Which position there.
    #[schemars(range(min = 1, max = 1024))]
    pub position: i32,
}

impl CableSpec {
    /// The lanes as they are said, or as they are when nothing is said.
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

    /// Whether it splits: more than two ends.
    pub fn is_breakout(&self) -> bool {
        self.endpoints.len() > 2
    }

    /// Where one comes out who goes in at a port: which ports, and at which of their positions. `position` is the one
    /// that is gone in at; all of them unless it is said.
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
        let port = Reference::at("spec.endpoints[].name", super::GROUP, "ports");
        let cable = inventoried("vcable.inventory.miloapis.com", &["Link"])
            .refers(port.absent("endpoint Port {} not found"))
            .selects(&["spec.endpoints.name", "spec.media", "spec.state", "spec.color", "spec.label"])
            .searches(&["spec.label"])
            .prints("Media", "string", ".spec.media")
            .prints("A", "string", ".spec.endpoints[0].name")
            .prints("Z", "string", ".spec.endpoints[1].name")
            .prints("Length", "string", ".spec.lengthM")
            .prints_age()
            .answers("impact", "Impact", questions::impact::answer("Cable"))
            .bucket_raw(IN_PORT, |cable| texts(cable, "spec.endpoints.name").collect())
            .validate(lanes_lie_apart)
            .rule(is_alone_in_its_ports);
        prints_ready(cable)
    }
}

/// Lanes are between different ends that are there, and no two share a position.
fn lanes_lie_apart(change: &Change<Cable>) -> Vec<FieldError> {
    let Some(cable) = change.after() else { return Vec::new() };
    let (spec, mut errors, mut taken) = (Path::of("spec"), Vec::new(), Vec::new());
    let list = spec.field("lanes");
    for (index, lane) in cable.spec.lanes.iter().enumerate() {
        let path = list.index(index);
        for (field, end) in [("from", lane.from), ("to", lane.to)] {
            let path = path.field(field);
            if usize::try_from(end.endpoint).is_ok_and(|at| at >= cable.spec.endpoints.len()) {
                let why =
                    format!("the cable has {} endpoints, the first of them 0", cable.spec.endpoints.len());
                errors.push(FieldError::invalid(&path.field("endpoint"), &end.endpoint.into(), why));
            }
            if taken.contains(&end) {
                errors.push(FieldError::duplicate(&path.field("position"), &end.position.into()));
            }
            taken.push(end);
        }
        if lane.from.endpoint == lane.to.endpoint {
            let why = "a lane is between two different endpoints";
            errors.push(FieldError::invalid(
                &path.field("to").field("endpoint"),
                &lane.to.endpoint.into(),
                why,
            ));
        }
    }
    errors
}

/// A port carries one cable.
fn is_alone_in_its_ports(change: &Change<Cable>, view: &mut View<'_>) -> Verdict {
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
