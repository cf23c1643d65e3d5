//! Commands for what a project may use and how much: quota, access to services, and locations.

mod access;
mod locations;
mod module;
mod output;
mod quota;
mod services;

pub use module::{Access, Locations, Quota, Services};
