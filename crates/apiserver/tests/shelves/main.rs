//! Three small kinds, the ones that `docs/adding-a-kind.md` is written around, on real servers over HTTPS: what a kind
//! declares holds, also while many clients write at once, on both engines.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod dice;
mod kinds;
mod objects;
mod server;
mod watched;

mod at_once;
mod gone_with_the_owner;
mod leases;
mod misbehaving;
mod namespaces;
mod older_objects;
mod page;
mod past;
mod planes;
mod plans;
mod random_past;
mod references;
mod searching;
mod shrinking;
mod transactions;
mod verbs;
