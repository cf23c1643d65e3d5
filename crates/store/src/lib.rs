//! Revisions, guarded transactions, watch and history of objects under keys, in one file or on etcd.
//!
//! The store knows nothing of what the bytes mean. [`Store`] is the contract; [`Embedded`] keeps it in one
//! file of its own, [`etcd::Etcd`] on etcd, and [`simulated::Simulated`] in memory, for simulations.

mod backup;
mod clock;
mod contention;
pub mod decisions;
mod delta;
mod embedded;
mod entry;
mod environment;
mod error;
pub mod etcd;
mod hex;
mod history;
mod housekeeping;
mod key;
mod keys;
mod lease;
mod limits;
mod memory;
mod model;
mod private_file;
pub mod seal;
pub mod sign;
pub mod simulated;
mod size;
mod snapshot;
mod steady;
mod store;
mod transact;
mod transaction;
mod version;
mod view;

pub use backup::Summary as BackupSummary;
pub use backup::manifest::{Contents as BackupContents, KeyNote, SEALING_KEYS, SIGNING_KEY};
pub use backup::restore::RAISE;
pub use clock::{Clock, SystemClock};
pub use embedded::{Device, Embedded, Settings};
pub use entry::{Body, Entry, Uid};
pub use environment::{Environment, NoRandomness, Randomness, Seeded, SystemRandomness};
pub use error::{Conflict, Error, Result};
pub use history::archive::Later;
pub use history::checkpoint::Checkpoint;
pub use history::keeper::{CheckpointKeeper, FileKeeper};
pub use history::verify::{Problem, Report};
pub use history::{At, Change, ChangeAt, Changes, Cursor, Deed, DeedMark, DeedPlace, Done, Level, Touched};
pub use housekeeping::{Rules, Tidied};
pub use key::{BadKey, Key, MAX_KEY_BYTES};
pub use keys::{Keys, Rotated};
pub use lease::Acquired;
pub use limits::Limits;
pub use memory::recent::{Event, Window};
pub use memory::watch::Watch;
pub use model::{Model, Plain, Retention, Term};
pub use size::Size;
pub use snapshot::{Page, Snapshot, Stats};
pub use store::{Decide, Parts, Store};
pub use transact::Refused;
pub use transaction::{Amendment, Author, Committed, Fence, Guard, Put, Transaction, Write};
pub use version::{MAX_WRITES, Revision, Version};
pub use view::View;
