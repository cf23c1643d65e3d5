//! The hash chain of one object: each record's hash covers the one before it.

use ring::digest::{Context, SHA256};

use super::record::{Hash, Head, NO_HASH, Record, RecordId};
use crate::key::Key;

/// The hash of stored bytes.
pub(crate) fn digest(bytes: &[u8]) -> Hash {
    finish({
        let mut context = Context::new(&SHA256);
        context.update(bytes);
        context
    })
}

/// The hash of an object as a record leaves it: its bytes, and what is kept next to them but for its place.
pub(crate) fn state(head: &Head, stored: &[u8]) -> Hash {
    let mut context = Context::new(&SHA256);
    context.update(b"groundplane object 1");
    context.update(&head.uid.0);
    context.update(&[head.level as u8, head.sealed as u8]);
    for number in [head.expires, head.stamp.map(u64::from)] {
        context.update(&[number.is_some() as u8]);
        context.update(&number.unwrap_or_default().to_be_bytes());
    }
    context.update(stored);
    finish(context)
}

/// The hash of a record: over whose it is, its place, who, when, why, what, and the record before it.
///
/// The version is not part of it, since etcd tells it only after the write; the log binds it, and
/// checkpoints bind the log. The way back is not part of it either: it may be rewritten as long as it
/// leads to bytes with the right digest.
pub(crate) fn link(key: &Key, place: RecordId, record: &Record) -> Hash {
    let mut context = Context::new(&SHA256);
    context.update(b"groundplane record 1");
    context.update(&record.previous);
    context.update(&place.to_bytes());
    context.update(&record.uid.0);
    context.update(&record.time.to_be_bytes());
    context.update(&[record.level as u8, record.deleted as u8]);
    context.update(&record.digest);
    let message = record.message.as_deref();
    let texts = [
        Some(key.as_bytes()),
        Some(record.user.as_bytes()),
        Some(record.manager.as_bytes()),
        Some(record.verb.as_bytes()),
        message.map(str::as_bytes),
    ];
    for text in texts {
        // The length before each text, and none for "no text", so that texts can't be shifted into each other.
        let length = text.map_or(u64::MAX, |text| text.len() as u64);
        context.update(&length.to_be_bytes());
        context.update(text.unwrap_or_default());
    }
    let hash = finish(context);
    debug_assert_ne!(hash, NO_HASH);
    hash
}

pub(crate) fn finish(context: Context) -> Hash {
    let mut hash = NO_HASH;
    hash.copy_from_slice(context.finish().as_ref());
    hash
}
