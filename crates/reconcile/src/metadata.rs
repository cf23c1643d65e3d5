//! Metadata of objects that are not read whole, and what a change of it means.

use std::sync::LazyLock;

use krm::Object;
use krm::sparse::Sparse;

/// The fields that controllers see of objects that they don't read whole.
const FIELDS: [&str; 10] = [
    "annotations",
    "deletionTimestamp",
    "finalizers",
    "generation",
    "labels",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "uid",
];

static METADATA: LazyLock<Sparse> =
    LazyLock::new(|| Sparse::new(FIELDS.map(|field| format!("metadata.{field}")).iter().map(String::as_str)));

/// The metadata of an object in JSON.
pub fn read(bytes: &[u8]) -> Option<Object> {
    METADATA.read(bytes)
}

/// Whether nothing but the status of an object may have changed. It holds for kinds that count generations.
pub fn says_the_same(before: &Object, after: &Object) -> bool {
    const COUNTED: [&str; 7] =
        ["annotations", "deletionTimestamp", "finalizers", "generation", "labels", "ownerReferences", "uid"];
    COUNTED.iter().all(|field| before.meta(field) == after.meta(field))
}
