//! Reading requests: where they go, what they ask for, in which form they want it.

pub mod accept;
pub mod body;
pub mod path;
pub mod query;
