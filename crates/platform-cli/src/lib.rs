//! Commands for what a project may use and how much: quota, access to services, and locations.

pub mod access;
mod locations;
mod module;
mod output;
pub mod quota;
pub mod services;

pub use module::{Access, Locations, Quota, Services};
