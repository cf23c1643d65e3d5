//! The resource model, pure: objects, schemas, selectors, patches, field ownership, and what a kind declares.
//!
//! No I/O, no async, no HTTP: the API server and the domains stand on this.

pub mod base64;
pub mod body;
pub mod cel;
pub mod condition;
pub mod crd;
pub mod decode;
pub mod diff;
pub mod encode;
pub mod field;
mod golang;
pub mod jsonpath;
pub mod kind;
pub mod meta;
pub mod names;
pub mod number;
pub mod object;
pub mod ownership;
pub mod patch;
pub mod proto;
pub mod quantity;
pub mod schema;
pub mod selector;
pub mod shape;
mod shown;
pub mod sparse;
pub mod status;
pub mod table;
pub mod time;

pub use field::{FieldError, Path};
pub use object::Object;
pub use status::Status;
