//! Physical inventory: its kinds, their validation rules, the controller that maintains their status, and the queries
//! (trace, impact, elevation, space) over them.

mod choice;
mod condition;
mod quantity;
mod references;

pub mod bulk;
pub mod controllers;
pub mod demo;
pub mod failure;
pub mod graph;
pub mod kinds;
pub mod memory;
mod module;
pub mod natural;
pub mod power;
pub mod questions;
pub mod state;
pub mod topology;

pub use choice::Choice;
pub use condition::{Condition, Status, pending};
pub use module::Module;
pub use quantity::Quantity;
pub use references::{
    AssetReference, CircuitEndpoint, LocalObjectReference, ObjectReference, PortDeviceReference,
};

use krm::kind::Kind;

/// All kinds of the inventory: `inventory.miloapis.com` and `graph.inventory.miloapis.com`.
pub fn all() -> Vec<Kind> {
    let mut all = kinds::all();
    all.extend(graph::all());
    all
}
