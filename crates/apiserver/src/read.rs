//! Read requests: get, list, watch.

pub mod all_planes;
pub mod answers;
pub mod get;
pub mod list;
pub mod parsed;
pub mod resume;
pub mod shown;
pub mod watch;
