//! Placement: the rack units (U) that a device occupies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LocalObjectReference;
use crate::choice::choice;

choice! {
    /// A face of a rack.
    Face: Front, Rear
}

/// Position of a device in a rack: it occupies units `startUnit` to `startUnit + unitHeight - 1` on `face`. A 0U device, such
/// as a vertical PDU, sets neither and occupies no unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [
    {"rule": "has(self.startUnit) == has(self.unitHeight)", "message": "startUnit and unitHeight must be set together; a 0U device sets neither"},
    {"rule": "has(self.startUnit) || !has(self.reservation)", "message": "a 0U device uses no reserved units"},
]))]
pub struct Placement {
    /// Rack that the device is mounted in. Must exist and be at the device's site.
    pub rack_ref: LocalObjectReference,
    /// Lowest rack unit that the device occupies. U1 is the bottom of the rack. Unset for a 0U device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub start_unit: Option<i32>,
    /// Number of rack units that the device occupies. The highest one must be within the rack's `heightU`. Unset for a 0U
    /// device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub unit_height: Option<i32>,
    /// Face of the rack that the device is mounted on. Devices on the same face must not overlap. Defaults to `Front`.
    #[serde(default = "front")]
    pub face: Face,
    /// Whether the device occupies its units on front and rear. Defaults to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_depth: Option<bool>,
    /// Name of the rack's reservation whose units the device uses. It must lie within those units. Without it, the device
    /// must not overlap any reservation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub reservation: Option<String>,
}

fn front() -> Face {
    Face::Front
}

impl Placement {
    /// The units that it occupies, on one face or both; none for a 0U device.
    pub fn footprint(&self) -> Option<Footprint> {
        let face = if self.full_depth == Some(true) { None } else { Some(self.face) };
        let (start, height) = (self.start_unit?, self.unit_height?);
        Some(Footprint { start, end: highest_unit(start, height), face })
    }
}

/// The highest of `height` units from `start` on. Saturates, so that an overflow lies above any rack.
pub fn highest_unit(start: i32, height: i32) -> i32 {
    start.saturating_add(height.saturating_sub(1))
}

/// A range of rack units on one face or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// Lowest unit.
    pub start: i32,
    /// Highest unit.
    pub end: i32,
    /// Face; `None` means both.
    pub face: Option<Face>,
}

impl Footprint {
    /// Whether the two share a unit on a face.
    pub fn overlaps(&self, other: &Footprint) -> bool {
        let same_side = match (self.face, other.face) {
            (Some(one), Some(another)) => one == another,
            _ => true,
        };
        same_side && self.start <= other.end && other.start <= self.end
    }

    /// Whether it lies entirely within the other one.
    pub fn is_within(&self, other: &Footprint) -> bool {
        let sides = other.face.is_none() || self.face == other.face;
        sides && other.start <= self.start && self.end <= other.end
    }

    /// Whether it occupies a unit on a face.
    pub fn takes(&self, unit: i32, face: Face) -> bool {
        (self.start..=self.end).contains(&unit) && self.face.is_none_or(|own| own == face)
    }

    /// The face, as denials print it.
    pub fn face_name(&self) -> &'static str {
        match self.face {
            Some(Face::Front) => "Front",
            Some(Face::Rear) => "Rear",
            None => "full depth",
        }
    }
}

impl std::fmt::Display for Footprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "U{}-U{}", self.start, self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_footprint() -> impl Strategy<Value = Footprint> {
        let face = prop_oneof![Just(None), Just(Some(Face::Front)), Just(Some(Face::Rear))];
        (1..50, 1..10, face).prop_map(|(start, height, face)| Footprint {
            start,
            end: highest_unit(start, height),
            face,
        })
    }

    proptest! {
        #[test]
        fn two_overlap_exactly_when_they_share_a_unit_on_a_face(one in any_footprint(), other in any_footprint()) {
            let share = (1..70).any(|unit| {
                [Face::Front, Face::Rear].iter().any(|face| one.takes(unit, *face) && other.takes(unit, *face))
            });
            prop_assert_eq!(one.overlaps(&other), share);
            prop_assert_eq!(other.overlaps(&one), share);
        }
    }

    #[test]
    fn a_height_that_overflows_saturates() {
        assert_eq!(highest_unit(i32::MAX, i32::MAX), i32::MAX);
    }
}
