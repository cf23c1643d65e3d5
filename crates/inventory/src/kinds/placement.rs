//! Placement: the units of a rack that a device occupies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LocalObjectReference;
use crate::choice::choice;

choice! {
    /// A side of a rack.
    Face: Front, Rear
}

/// Where in a rack a device is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// The rack.
    pub rack_ref: LocalObjectReference,
    /// The lowest unit that it occupies; U1 is the bottom.
    #[schemars(range(min = 1))]
    pub start_unit: i32,
    /// How many units it occupies.
    #[schemars(range(min = 1))]
    pub unit_height: i32,
    /// The side it is mounted on.
    #[serde(default = "front")]
    pub face: Face,
    /// Whether it takes both sides of its units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_depth: Option<bool>,
    /// The reservation of the rack, by its name, whose units it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub reservation: Option<String>,
}

fn front() -> Face {
    Face::Front
}

impl Placement {
    /// The units and sides that it takes.
    pub fn footprint(&self) -> Footprint {
        let face = if self.full_depth == Some(true) { None } else { Some(self.face) };
        Footprint { start: self.start_unit, end: last(self.start_unit, self.unit_height), face }
    }
}

/// The last of `height` units from `start`; far above any rack when there is no such number.
pub fn last(start: i32, height: i32) -> i32 {
    start.saturating_add(height.saturating_sub(1))
}

/// Units of a rack, on one side or on both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// The lowest unit.
    pub start: i32,
    /// The highest unit.
    pub end: i32,
    /// The side; both when there is none.
    pub face: Option<Face>,
}

impl Footprint {
    /// Whether the two want the same place.
    pub fn overlaps(&self, other: &Footprint) -> bool {
        let same_side = match (self.face, other.face) {
            (Some(one), Some(another)) => one == another,
            _ => true,
        };
        same_side && self.start <= other.end && other.start <= self.end
    }

    /// Whether it lies in the other one altogether.
    pub fn is_within(&self, other: &Footprint) -> bool {
        let sides = other.face.is_none() || self.face == other.face;
        sides && other.start <= self.start && self.end <= other.end
    }

    /// Whether it takes a unit on a side.
    pub fn takes(&self, unit: i32, face: Face) -> bool {
        (self.start..=self.end).contains(&unit) && self.face.is_none_or(|own| own == face)
    }

    /// The side, as messages tell it.
    pub fn side(&self) -> &'static str {
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
            end: last(start, height),
            face,
        })
    }

    proptest! {
        #[test]
        fn two_overlap_exactly_when_they_share_a_unit_of_a_side(one in any_footprint(), other in any_footprint()) {
            let share = (1..70).any(|unit| {
                [Face::Front, Face::Rear].iter().any(|face| one.takes(unit, *face) && other.takes(unit, *face))
            });
            prop_assert_eq!(one.overlaps(&other), share);
            prop_assert_eq!(other.overlaps(&one), share);
        }
    }

    #[test]
    fn a_height_beyond_all_numbers_is_no_small_one() {
        assert_eq!(last(i32::MAX, i32::MAX), i32::MAX);
    }
}
