//! Many clients at once try to break every rule of the inventory, on both engines; at no moment is one broken.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "../../../apiserver/tests/shelves/dice.rs"]
mod dice;
#[path = "../../../apiserver/tests/shelves/server.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod server;
#[path = "../../../apiserver/tests/shelves/tally.rs"]
mod tally;
#[path = "../../../apiserver/tests/shelves/watched.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod watched;

mod at_once;
mod hold;
mod referred;
mod wired;

/// The kinds that the servers of these tests serve.
mod served {
    pub use inventory::all;
}
