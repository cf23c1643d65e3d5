//! Kubernetes' built-in kinds that clients expect of any API server, and the kinds of this server. One file
//! each.

mod beyond;
mod columns;
mod config_map;
mod custom_resource_definition;
mod declare;
mod endpoints;
mod event;
mod lease;
mod namespace;
mod rbac;
mod reference;
mod reviews;
mod secret;
mod service;
mod service_account;

pub mod delete_options;
pub mod token_request;

#[cfg(test)]
mod tests;

pub(crate) use config_map::{MOST_BYTES as MOST_SECRET_BYTES, decoded_size};
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
        service::kind(),
    ];
    kinds.extend(endpoints::kinds());
    kinds.extend(rbac::kinds());
    kinds.extend(reviews::kinds());
    kinds.extend(beyond::kinds());
    kinds
}
