//! Networks through the API: claims of many clients at once, on both engines, and what the controllers do.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "../../../apiserver/tests/shelves/objects.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod objects;
#[path = "../../../apiserver/tests/shelves/server.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod server;

mod at_once;
mod attached;
mod places;

/// The kinds that the servers of these tests serve.
mod served {
    pub use networking::all;
}
