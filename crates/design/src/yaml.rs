//! YAML as the original read it (PyYAML's `safe_load`), with the file and line of every value kept.
//!
//! Plain scalars are typed by the rules of YAML 1.1: `yes` and `off` are booleans, `010` is eight, `1_000`
//! and `1:30` are integers, `1e3` is text. Two things differ from PyYAML: timestamps stay text, and so do
//! integers beyond 64 bits.

pub(crate) mod extent;
mod file;
mod json;
mod map;
mod reader;
mod scalar;
mod text;
mod value;
mod write;

pub use file::File;
pub use map::{Entry, Key, Map};
pub use reader::{Stream, Warning, YamlError, read};
pub use value::{Node, Position, Value};
pub use write::write;
