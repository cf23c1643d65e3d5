//! History of objects: earlier states, who changed them, undo and restore.

pub mod as_of;
pub mod history;
pub mod restore;
pub mod revision;
pub mod rollout;
pub mod undo;

use krm::status::Status;
use krm::time::Moment;

use crate::api::store_failure;

/// What a client is told when the store can't tell of the past.
pub fn failure(asked: &str, error: &store::Error) -> Status {
    match error {
        store::Error::Forgotten { earliest } => Status::expired(format!(
            "history before {} was removed by retention; {asked} is older",
            moment(*earliest).to_micros()
        )),
        store::Error::Gone { earliest, .. } => Status::expired(format!(
            "history of this kind before revision {} was removed by retention; {asked} is older",
            earliest.end()
        )),
        store::Error::Future { now, .. } => {
            Status::bad_request(format!("revision {asked} does not exist yet; the latest is {}", now.end()))
        }
        other => store_failure(other),
    }
}

/// A time of the store.
pub fn moment(micros: u64) -> Moment {
    Moment {
        seconds: i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX),
        nanoseconds: u32::try_from(micros % 1_000_000).unwrap_or(0) * 1000,
    }
}
