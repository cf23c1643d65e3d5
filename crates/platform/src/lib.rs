//! The platform services: organizations and projects, identity and access management, and activity.

pub mod activity;
pub mod bootstrap;
pub mod iam;
mod module;
pub mod tenancy;

pub use module::Module;

use krm::kind::Kind;

/// All kinds of the platform.
pub fn all() -> Vec<Kind> {
    let mut all = tenancy::all();
    all.extend(iam::all());
    all.extend(activity::all());
    all
}
