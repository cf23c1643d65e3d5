//! The kinds of Kubernetes that clients expect of any API server. Each is one file.

mod columns;
mod config_map;
mod custom_resource_definition;
mod declare;
mod event;
mod lease;
mod namespace;
mod rbac;
mod reference;
mod reviews;
mod secret;
mod service_account;

pub mod delete_options;
pub mod token_request;

#[cfg(test)]
mod tests;

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
