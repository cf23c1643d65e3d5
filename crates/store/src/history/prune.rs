//! Letting go of records inside one life of an object, so that what stays still fits together.

use super::archive::{Edit, Filed};
use super::chain;
use super::record::{Before, Gap, Hash, Record, RecordId};
use crate::error::Result;
use crate::key::Key;
use crate::sign::{PublicKey, SigningKey};

const DOMAIN: &str = "groundplane gap 1";

/// Drops records from a life (oldest first) and mends the record after each run of dropped ones: its way
/// back leads past them, and a signed gap vouches for the missing links of the chain.
///
/// The newest record of a life is dropped only with the whole life.
pub(crate) fn prune(
    key: &Key,
    life: &[(RecordId, Record)],
    dropped: &[bool],
    signing: &SigningKey,
) -> Result<Vec<Edit>> {
    let mut edits = Vec::new();
    let mut run: Option<usize> = None;
    for (index, (place, record)) in life.iter().enumerate() {
        if dropped[index] {
            edits.push(Edit::DropRecord(key.clone(), *place, record.version));
            run.get_or_insert(index);
        } else if let Some(first) = run.take() {
            let mended = mend(key, *place, record, &life[first..index], first == 0, signing)?;
            edits.push(Edit::PutRecord(Box::new(Filed { key: key.clone(), place: *place, record: mended })));
        }
    }
    Ok(edits)
}

/// Whether the gap before this record is one that a holder of the key made.
pub(crate) fn vouched(key: &Key, place: RecordId, record: &Record, gap: &Gap, signers: &[PublicKey]) -> bool {
    let message = message(key, place, gap.first, &gap.previous, &record.previous);
    signers.iter().any(|signer| signer.verify(DOMAIN, &message, &gap.signature))
}

fn mend(
    key: &Key,
    place: RecordId,
    record: &Record,
    run: &[(RecordId, Record)],
    from_the_start: bool,
    signing: &SigningKey,
) -> Result<Record> {
    let mut mended = record.clone();
    let mut first = place.sequence;
    let mut previous = record.previous;
    for (at, old) in run.iter().rev() {
        mended.before = match (&mended.before, &old.before) {
            (Some(near), Some(far)) => Some(Before { body: near.body.and_then(&far.body)?, ..far.clone() }),
            _ => None,
        };
        (first, previous) = match &old.gap {
            Some(gap) => (gap.first, gap.previous),
            None => (at.sequence, old.previous),
        };
    }
    if from_the_start {
        mended.before = None;
    }
    let signature = signing.sign(DOMAIN, &message(key, place, first, &previous, &record.previous)).to_vec();
    mended.gap = Some(Gap { first, previous, signature });
    Ok(mended)
}

fn message(key: &Key, place: RecordId, first: u32, previous: &Hash, last: &Hash) -> Vec<u8> {
    let mut message = Vec::with_capacity(128);
    message.extend_from_slice(&chain::digest(key.as_bytes()));
    message.extend_from_slice(&place.to_bytes());
    message.extend_from_slice(&first.to_be_bytes());
    message.extend_from_slice(previous);
    message.extend_from_slice(last);
    message
}
