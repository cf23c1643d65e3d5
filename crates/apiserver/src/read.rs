//! Reading: one object, a list of them, the changes as they happen.

pub mod get;
pub mod list;
pub mod parsed;
pub mod resume;
pub mod shown;
pub mod watch;
