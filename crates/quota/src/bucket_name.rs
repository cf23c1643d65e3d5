//! Where the bucket of a consumer and a resource is.

use ring::digest::{SHA256, digest};

use crate::kinds::ConsumerRef;

/// Namespace of buckets and grants in the root, except those of organizations.
pub const SYSTEM_NAMESPACE: &str = "milo-system";

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Name of the bucket of a consumer for a type of resource: a hash, since both may be longer than a name.
pub fn bucket_name(consumer: &ConsumerRef, resource_type: &str) -> String {
    let text = format!("{resource_type}{}{}", consumer.kind, consumer.name);
    let hash = digest(&SHA256, text.as_bytes());
    let mut name = String::with_capacity("bucket-".len() + 2 * hash.as_ref().len());
    name.push_str("bucket-");
    for byte in hash.as_ref() {
        name.extend([byte >> 4, byte & 15].map(|digit| char::from(HEX[usize::from(digit)])));
    }
    name
}

/// Namespace of the buckets of a consumer.
pub fn bucket_namespace(consumer: &ConsumerRef) -> String {
    match consumer.kind.as_str() {
        crate::ORGANIZATION => format!("organization-{}", consumer.name),
        _ => SYSTEM_NAMESPACE.to_owned(),
    }
}
