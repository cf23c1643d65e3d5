//! Kubeconfig files: which server, and as whom.

mod access;
mod exec;
mod files;
mod overrides;

pub(crate) use access::now;
pub use access::{Access, Proof};
pub use files::{Entry, Kubeconfig, default_data_folder};
pub use overrides::Overrides;
