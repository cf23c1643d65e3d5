//! Where the bucket of a consumer and a resource is.

use ring::digest::{SHA256, digest};

use crate::kinds::ConsumerRef;

/// Namespace of buckets and grants in the root, except those of organizations.
pub const SYSTEM_NAMESPACE: &str = "milo-system";

/// Name of the bucket of a consumer for a type of resource: a hash, since both may be longer than a name.
pub fn bucket_name(consumer: &ConsumerRef, resource_type: &str) -> String {
    let text = format!("{resource_type}{}{}", consumer.kind, consumer.name);
    let hash = digest(&SHA256, text.as_bytes());
    hash.as_ref().iter().fold("bucket-".to_owned(), |name, byte| name + &format!("{byte:02x}"))
}

/// Namespace of the buckets of a consumer.
pub fn bucket_namespace(consumer: &ConsumerRef) -> String {
    match consumer.kind.as_str() {
        "Organization" => format!("organization-{}", consumer.name),
        _ => SYSTEM_NAMESPACE.to_owned(),
    }
}
