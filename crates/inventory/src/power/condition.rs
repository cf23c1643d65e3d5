//! The power conditions of a rack: whether its feeds and ports are within their ratings, and stay so when a feed fails.

use std::collections::BTreeSet;

use krm::Object;
use krm::condition::Finding;
use krm::kind::QueryContext;
use serde::Deserialize;
use serde_json::Value;

use super::cascade::{Overload, after};
use super::grid::Grid;
use crate::failure::Failure;
use crate::kinds::Rack;
use crate::kinds::port::feed_of;
use crate::state::{AsIf, Fleet};

/// Whether all feeds, outlets and inlets are within their ratings.
pub const WITHIN_RATING: &str = "PowerWithinRating";
/// Whether every device keeps its power, and every feed stays within its rating, when one of the rack's feeds fails.
pub const REDUNDANT: &str = "PowerRedundant";

/// The power conditions of a rack; none if no load is known.
pub fn of(rack: &Object, look: &dyn QueryContext) -> [(&'static str, Option<Finding>); 2] {
    let (within, redundant) =
        findings(rack, look).map_or((None, None), |(within, redundant)| (Some(within), redundant));
    [(WITHIN_RATING, within), (REDUNDANT, redundant)]
}

fn findings(rack: &Object, look: &dyn QueryContext) -> Option<(Finding, Option<Finding>)> {
    let rack = Rack::deserialize(&Value::Object(rack.0.clone())).ok()?;
    let as_recorded = AsIf::recorded();
    let fleet = Fleet::new(look, &as_recorded);
    let in_service = fleet.in_service();
    let name = &rack.metadata.name;
    let grid = Grid::around([format!("Rack/{name}")], &in_service);
    let flow = grid.flow(&Failure::default());
    if rack.spec.power_feeds.iter().all(|feed| flow.feed(&feed_of(name, &feed.name)) == 0) {
        return None;
    }
    Some((within_rating(&grid.overloads_now(&flow)), redundant(&rack, &in_service)))
}

fn within_rating(overloads: &[Overload]) -> Finding {
    let first = overloads.iter().find(|one| !one.name.starts_with("Port/")).or(overloads.first());
    match first {
        None => Finding::holds(
            WITHIN_RATING,
            "WithinRating",
            "All feeds and ports are within their rating".to_owned(),
        ),
        Some(one) => {
            let reason = if one.name.starts_with("Port/") { "PortOverRating" } else { "FeedOverRating" };
            Finding::fails(WITHIN_RATING, reason, told(one))
        }
    }
}

/// Whether the rack survives the failure of any one feed; `None` while that is unknown.
fn redundant(rack: &Rack, look: &dyn QueryContext) -> Option<Finding> {
    let fails = |reason: &'static str, message: String| Some(Finding::fails(REDUNDANT, reason, message));
    let name = &rack.metadata.name;
    for feed in &rack.spec.power_feeds {
        let mut failure =
            Failure { feeds: BTreeSet::from([feed_of(name, &feed.name)]), ..Failure::default() };
        let lost = after(&mut failure, look);
        if let Some(over) = lost.overloaded.first() {
            let trips = if over.trips { " and trips" } else { "" };
            return fails(
                "FeedOverloadOnFailure",
                format!("if feed {} fails, {}{trips}", feed.name, told(over)),
            );
        }
        if let Some(device) = lost.dark.first() {
            let others = match lost.dark.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more lose"),
            };
            let verb = if others.is_empty() { " loses" } else { "" };
            return fails(
                "PowerLossOnFailure",
                format!("if feed {} fails, {device}{others}{verb} power", feed.name),
            );
        }
    }
    let is_known = rack.spec.power_feeds.iter().all(|feed| feed.rated_watts().is_some());
    let message = "Every feed can fail without an overload or a loss of power".to_owned();
    is_known.then(|| Finding::holds(REDUNDANT, "Redundant", message))
}

/// `feed A carries 2000 W of 1840 W usable`.
fn told(over: &Overload) -> String {
    let (name, watts, limit) = (&over.name, over.watts, over.limit);
    match name.rsplit_once(':') {
        Some((_, feed)) => format!("feed {feed} carries {watts} W of {limit} W usable"),
        None => format!("{name} carries {watts} W of {limit} W rated"),
    }
}
