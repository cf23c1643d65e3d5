//! Hosts from other systems: Sources, the synchronizer that copies their hosts, and its adapters.
//!
//! An [`adapter::Adapter`] lists what another system has, as plain [`observation`]s. [`sync`] decides purely what that
//! changes, and what of it is not believed. [`runner`] brings the two together against the public API of a server. In the
//! server, [`guard`] keeps every source to its own hosts, and [`controllers`] show on hosts what their sources found.

pub mod adapter;
pub mod adapters;
pub mod controllers;
pub mod guard;
pub mod http;
pub mod kinds;
pub mod labels;
mod module;
pub mod observation;
pub mod runner;
pub mod sync;

pub use kinds::{Source, SourceFinding};
pub use module::Module;

/// API group of Sources.
pub const GROUP: &str = "sources.groundplane.dev";
/// API version of Sources.
pub const VERSION: &str = "v1alpha1";
/// Namespace of the service accounts and credentials of Sources.
pub const NAMESPACE: &str = "groundplane-sources";

/// The page for people who write an adapter, whose example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/sources/write-an-adapter.md")]
struct Guide;
