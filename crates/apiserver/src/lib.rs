//! The resource model over HTTP, on a store: discovery, verbs, watch, who may do what. It knows no kind.

pub mod identity;

pub use identity::Identity;
