//! Documents of a design, in Deckhand's, Drydock's legacy and our own format.

pub mod airship;
mod envelope;
mod load;
pub mod native;
mod reference;

pub use envelope::{Document, DocumentError, DocumentId, Envelope};
pub use load::{LoadError, Loaded, load, parse};
pub use reference::{DesignReference, Fetch, InvalidDesignReference};

#[cfg(test)]
mod tests;
