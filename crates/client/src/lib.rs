//! The client of the public API: typed and dynamic objects, watches, transactions, questions and leases.
//!
//! It depends on the resource model alone, not on the server.

mod body;
mod collection;
mod connect;
mod controller_lease;
mod error;
pub mod kubeconfig;
pub mod lease;
mod lines;
mod link;
pub mod login;
mod pages;
mod past;
mod planes;
mod request;
mod retries;
mod sending;
mod tls;
mod transactions;
mod watch;

pub use collection::{Collection, DeleteOptions, Patch, Propagation};
pub use controller_lease::ControllerLease;
pub use error::{Error, Refusal, Result, UNKNOWN_PATH};
pub use kubeconfig::{Access, Kubeconfig, Overrides};
pub use lease::{Fence, Lease};
pub use lines::Lines;
pub use pages::{ListOptions, Page, Pages};
pub use past::{HistoryOptions, Undo};
pub use planes::{InPlane, PROJECTS};
pub use request::{Request, segment};
pub use retries::Retries;
pub use sending::{Answer, Client, Exchange, Observer};
pub use tls::system_authorities;
pub use transactions::{Report, Transaction, plan_path};
pub use watch::{Event, Key, Watch};

/// The guide for people who use this crate, whose examples are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/write-a-program.md")]
struct Guide;
