//! Turns designs into running machines: tasks, their pure planner, drivers, boot actions, build data.
//!
//! A [`kinds::Task`] runs an [`action::Action`] on a revision of a design. [`progress`] and [`schedule`] decide, as pure
//! functions, which step of which node comes next; [`controllers`] commit what they decide and execute steps through
//! [`driver`]s. [`work`] is what a driver gets to know of a design.

pub mod action;
pub mod algebra;
pub mod claim;
pub mod controllers;
pub mod driver;
pub mod drivers;
pub mod filter;
pub mod hardware;
pub mod kinds;
mod module;
pub mod oob;
pub mod planned;
pub mod progress;
pub mod questions;
pub mod schedule;
pub mod work;

pub use kinds::all;
pub use module::Module;

/// API group of the orchestration kinds.
pub const GROUP: &str = "orchestration.groundplane.dev";
/// API version of the orchestration kinds.
pub const VERSION: &str = "v1alpha1";
