//! The kinds of Kubernetes' own that are served, one file each.

mod columns;
mod config_map;
mod custom_resource_definition;
mod declare;
pub mod delete_options;
mod event;
mod lease;
mod namespace;
mod rbac;
mod reference;
mod reviews;
mod secret;
mod service_account;
pub mod token_request;

use krm::kind::Kind;

/// All of them.
pub fn all() -> Vec<Kind> {
    let mut kinds = vec![
        namespace::kind(),
        config_map::kind(),
        secret::kind(),
        service_account::kind(),
        event::kind(),
        event::mirror::kind(),
        lease::kind(),
        custom_resource_definition::kind(),
    ];
    kinds.extend(rbac::kinds());
    kinds.extend(reviews::kinds());
    kinds
}
