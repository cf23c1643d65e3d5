//! The messages and services of the API, as the .proto files under `docs/api/proto` declare them.

use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, FieldDescriptor, MessageDescriptor, ServiceDescriptor};

const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(DESCRIPTORS).expect("the build script has compiled the descriptors")
});

/// Fields whose values are secret: kept sealed, and part of no list, event or filter.
const SECRETS: [&str; 6] = [
    "osac.private.v1.BMC.password",
    "osac.private.v1.HubSpec.kubeconfig",
    "osac.private.v1.HubSpec.pull_secret",
    "osac.public.v1.ClustersGetKubeconfigResponse.kubeconfig",
    "osac.public.v1.ClustersGetPasswordResponse.password",
    "google.api.HttpBody.data",
];

/// All messages and services.
pub fn pool() -> &'static DescriptorPool {
    &POOL
}

/// The descriptor set itself, for reflection.
pub fn descriptors() -> &'static [u8] {
    DESCRIPTORS
}

/// A message by its full name.
pub fn message(name: &str) -> Option<MessageDescriptor> {
    POOL.get_message_by_name(name)
}

/// A service by its full name.
pub fn service(name: &str) -> Option<ServiceDescriptor> {
    POOL.get_service_by_name(name)
}

/// Whether the value of a field is secret.
pub fn is_secret(field: &FieldDescriptor) -> bool {
    SECRETS.contains(&field.full_name())
}
