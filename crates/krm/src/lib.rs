//! The resource model, pure: objects, schemas, selectors, patches, field ownership, and what a kind declares.
//!
//! No I/O, no async, no HTTP: the API server and the domains stand on this.

pub mod field;
pub mod object;
pub mod status;

pub use field::{FieldError, Path};
pub use object::Object;
pub use status::Status;
