//! The commands `groundplane source` and `groundplane sync`, as clients of the public API.

mod accept;
mod access;
mod add;
mod config;
mod diff;
mod doctor;
mod listen;
mod module;
mod output;
mod source;
mod sync;

pub use access::token;
pub use module::{Sources, Sync};
