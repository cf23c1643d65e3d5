//! Site design: reads documents, renders layers and computes the settings of every node, with the origin of each value.

pub mod as_built;
pub mod compile;
pub mod deckhand;
pub mod document;
pub mod inherit;
pub mod model;
pub mod object;
pub mod provenance;
pub mod reach;
pub mod secrets;
pub mod user_kinds;
pub mod validate;
pub mod yaml;
