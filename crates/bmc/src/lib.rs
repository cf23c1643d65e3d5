//! Drivers of baseboard management controllers (BMCs), for every power call of the product.
//!
//! [`Bmc`] is the contract. [`redfish`], [`ipmi`], [`libvirt`] and [`manual`] implement it. Results of actions are read
//! back from the BMC before they count. Every login goes through a [`ledger::LoginLedger`], which keeps a BMC from
//! locking the account. [`rotation`] changes passwords so that an interruption never locks anybody out, and [`scan`]
//! finds BMCs in a range of addresses.
//!
//! The crate keeps no state of its own: clock, randomness, credentials, pins and the count of failed logins come from
//! the caller. Waiting uses tokio's time, so that tests pause it.

mod address;
pub mod bios;
pub mod boot;
mod contract;
pub mod credentials;
pub mod environment;
pub mod error;
pub mod firmware;
pub mod inventory;
pub mod ipmi;
pub mod ledger;
pub mod libvirt;
pub mod login;
pub mod manual;
pub mod media;
pub mod power;
mod readback;
pub mod redfish;
pub mod rotation;
pub mod scan;
pub mod sensors;
pub mod trust;

pub use address::{Address, Protocol};
pub use contract::{Answer, Bmc, Outcome};
pub use credentials::{Credentials, Password};
pub use environment::{Clock, Environment, Random, SystemClock, SystemRandom};
pub use error::{Cause, Error, Result};
