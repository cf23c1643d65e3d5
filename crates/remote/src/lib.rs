//! Runs reconcilers beside the server, over its public API.
//!
//! [`Informers`] follow the kinds that reconcilers read and keep them in memory, with the indexes that plans ask. A [`Host`]
//! plans as the server's own does, and commits each plan as one transaction, fenced by a lease. It depends on the runtime and
//! the client alone, neither on the server nor on its store.

mod cache;
mod catalog;
mod commit;
mod feed;
mod host;
mod informer;
mod place;
mod records;
pub mod role;
mod running;
mod source;
mod world;

pub use cache::Size;
pub use catalog::Catalog;
pub use feed::Informers;
pub use host::{Host, Unfit};
pub use place::Place;
pub use running::{Progress, Stuck};

/// The guide for people who use this crate, whose example is compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/run-a-controller-beside-the-server.md")]
struct Guide;
