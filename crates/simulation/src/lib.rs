//! Runs a system on the simulated store, on one paused thread: the same seed gives the same trace.
//!
//! A scenario is an async closure that builds a system on the simulation's disk and runs it until it has nothing more
//! to do. [`Simulation::run`] runs it once, with the faults of the simulation, and again from the disk whenever the
//! process is stopped. [`walk_stops`] runs it once for each place where the process can stop. [`Reconcilers`] does both for
//! reconcilers on API servers.
//!
//! ```
//! use simulation::{Simulation, walk_stops};
//! use store::{Author, Body, Key, Put, Store, Transaction, Uid};
//!
//! let key = || Key::new("greeting").expect("a valid key");
//! let scenario = async |simulation: &Simulation| {
//!     let store = simulation.open(None).await.map_err(|error| error.to_string())?;
//!     let put = Put::new(key(), Uid([1; 16]), Body::plain("hello"));
//!     let transaction = Transaction::by(Author::new("someone", "example")).put(put);
//!     store.commit(transaction).await.map(drop).map_err(|error| error.to_string())
//! };
//! let is_there = async |simulation: &Simulation| {
//!     let store = simulation.open(None).await.map_err(|error| error.to_string())?;
//!     store.latest().get(&key()).map(drop).ok_or("nobody was greeted".to_owned())
//! };
//! let walked = walk_stops(|| Simulation::seeded(7), scenario, is_there).expect("it holds wherever it stops");
//! assert_eq!(walked.steps, 1);
//! ```

mod chances;
mod reconcilers;
mod schedule;
mod servers;
mod simulation;
mod trace;
mod user;
mod walk;

pub use chances::Chances;
pub use reconcilers::Reconcilers;
pub use schedule::Stop;
pub use servers::Servers;
pub use simulation::Simulation;
pub use trace::Trace;
pub use user::User;
pub use walk::{Failure, Walked, walk_stops};
