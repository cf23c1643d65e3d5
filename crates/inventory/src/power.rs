//! Power distribution: from a rack's power feeds through PDUs to the devices that draw power.
//!
//! A device draws its power through its live power supplies. Each of them carries its `drawnWatts`, or an equal share of
//! what the device draws beyond that. The share of a supply that is not live moves to the others in proportion. Every port
//! on the way up, and the feed, carries the sum of what is below it, and has a limit: `ratedWatts` of a port, the usable
//! power of a feed.

mod cascade;
pub mod condition;
mod flow;
mod grid;

use krm::kind::QueryContext;

use crate::kinds::Rack;
use crate::kinds::port::feed_of;

pub use cascade::{Cascade, Overload, after};
pub use flow::Flow;
pub use grid::{Grid, own_draw};

/// The load of a rack's power feed, in watts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedLoad {
    /// Name of the feed.
    pub feed: String,
    /// Usable power, if its rating is known.
    pub usable: Option<i64>,
    /// Power drawn from it.
    pub drawn: i64,
}

/// The load of each feed of a rack.
pub fn feeds(rack: &Rack, look: &dyn QueryContext) -> Vec<FeedLoad> {
    let name = &rack.metadata.name;
    let grid = Grid::around([format!("Rack/{name}")], look);
    let flow = grid.flow(&crate::failure::Failure::default());
    let load = |feed: &crate::kinds::rack::PowerFeed| FeedLoad {
        feed: feed.name.clone(),
        usable: feed.usable_watts(),
        drawn: watts(flow.feed(&feed_of(name, &feed.name))),
    };
    rack.spec.power_feeds.iter().map(load).collect()
}

/// Milliwatts as watts, rounded. Loads are kept in milliwatts, so that shares add up.
pub fn watts(milliwatts: i64) -> i64 {
    milliwatts.saturating_add(500) / 1000
}
