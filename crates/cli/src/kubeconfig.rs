//! Which server, and who asks: what kubeconfig files and flags say together.

mod access;
mod exec;
mod files;

pub use access::{Access, Proof};
pub use files::{Entry, Kubeconfig};
