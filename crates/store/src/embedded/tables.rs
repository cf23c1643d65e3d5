//! The tables of the embedded engine's file.

use redb::TableDefinition;

use crate::history::record::Place;
use crate::key::Key;

/// The format this program writes, and the newest it reads.
pub(crate) const FORMAT: u32 = 1;

/// Key → head and bytes of the object.
pub(crate) const OBJECTS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("objects");
/// Key, NUL, place → record.
pub(crate) const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");
/// First revision of a group of commits → lines of the log.
pub(crate) const LOG: TableDefinition<u64, &[u8]> = TableDefinition::new("log");
/// Name → lease.
pub(crate) const LEASES: TableDefinition<&str, &[u8]> = TableDefinition::new("leases");
/// Name → something small.
pub(crate) const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");

/// Names in [`META`].
pub(crate) const META_FORMAT: &str = "engine/format";
pub(crate) const META_REVISION: &str = "engine/revision";
pub(crate) const META_FLOOR: &str = "engine/floor";
/// The number of the last batch: each has one, also those that make no revision.
pub(crate) const META_BATCH: &str = "engine/batch";
pub(crate) const META_RECORD_BYTES: &str = "engine/record-bytes";

/// Where a record stands in [`RECORDS`].
pub(crate) fn record_key(key: &Key, place: Place) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(key.as_bytes().len() + 13);
    bytes.extend_from_slice(key.as_bytes());
    bytes.push(0);
    bytes.extend_from_slice(&place.to_bytes());
    bytes
}

/// Takes such a key apart.
pub(crate) fn split_record_key(bytes: &[u8]) -> Option<(&[u8], Place)> {
    let (key, place) = bytes.split_at_checked(bytes.len().checked_sub(13)?)?;
    Some((key, Place::from_bytes(place.strip_prefix(&[0])?)?))
}

pub(crate) fn u64_of(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
