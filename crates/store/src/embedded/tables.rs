//! The tables of the embedded engine's file.

use redb::TableDefinition;

use crate::key::Key;

/// The format this program writes, and the only one it reads: format 1, which kept the log in a table of its own, was
/// never released.
pub(crate) const FORMAT: u32 = 2;

/// Key → head and bytes of the object.
pub(crate) const OBJECTS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("objects");
/// Version → record. They are written in their order, which costs a fraction of putting each beside its object:
/// the object names its last record, and each record the one before it. In this order they are the log, too.
pub(crate) const RECORDS: TableDefinition<u64, &[u8]> = TableDefinition::new("records");
/// Key, NUL, birth → version of the last record of a life that ended.
pub(crate) const ENDS: TableDefinition<&[u8], u64> = TableDefinition::new("ends");
/// Name → lease.
pub(crate) const LEASES: TableDefinition<&str, &[u8]> = TableDefinition::new("leases");
/// Name → something small.
pub(crate) const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");

/// Names in [`META`].
pub(crate) const META_FORMAT: &str = "engine/format";
pub(crate) const META_FLOOR: &str = "engine/floor";
pub(crate) const META_REACHED: &str = "engine/reached";

/// Where the end of a life stands in [`ENDS`].
pub(crate) fn end_key(key: &Key, born: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(key.as_bytes().len() + 9);
    bytes.extend_from_slice(key.as_bytes());
    bytes.push(0);
    bytes.extend_from_slice(&born.to_be_bytes());
    bytes
}

pub(crate) fn u64_of(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
