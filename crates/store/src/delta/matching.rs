//! Finding what a target shares with its source.

use super::Delta;

/// Source blocks are indexed at every multiple of this; a run twice as long is always found.
const BLOCK: usize = 16;

/// The shortest run worth a copy where the two strings were last in step.
const IN_STEP: usize = 8;

/// How far around the changed middle of the source we index: an added list item looks like its neighbours,
/// while indexing a megabyte for one changed word would cost more than it saves.
const NEIGHBOURHOOD: usize = 4096;

/// Covers `target` with copies from `source` and inserts. Both fit a `u32`.
///
/// Each byte of the target is passed over once: a failed candidate costs a comparison of one block, a match
/// moves us to its end, and extending a match backwards only takes from the bytes not yet written.
pub(super) fn cover(source: &[u8], target: &[u8], delta: &mut Delta) {
    let prefix = common_prefix(source, target);
    let suffix = common_suffix(&source[prefix..], &target[prefix..]);
    let middle_end = target.len() - suffix;

    copy(delta, 0, prefix);
    cover_middle(source, target, prefix, suffix, delta);
    copy(delta, source.len() - suffix, target.len() - middle_end);
}

fn cover_middle(source: &[u8], target: &[u8], prefix: usize, suffix: usize, delta: &mut Delta) {
    let end = target.len() - suffix;
    if end - prefix < IN_STEP {
        return delta.insert(&target[prefix..end]);
    }
    let indexed_from = prefix.saturating_sub(NEIGHBOURHOOD);
    let indexed_to = (source.len() - suffix + NEIGHBOURHOOD).min(source.len());
    let blocks = Blocks::index(&source[indexed_from..indexed_to]);

    let mut written = prefix;
    let mut at = prefix;
    // Where the source would go on if the bytes since the last copy were replaced one for one.
    let mut source_in_step = prefix;
    while at + IN_STEP <= end {
        let in_step = source_in_step + (at - written);
        let found = if starts_alike::<IN_STEP>(&source[in_step.min(source.len())..], &target[at..end]) {
            Some(in_step)
        } else {
            blocks.find(&target[at..end]).map(|offset| indexed_from + offset)
        };
        let Some(from) = found else {
            at += 1;
            continue;
        };
        let forward = common_prefix(&source[from..], &target[at..end]);
        let backward = common_suffix(&source[..from], &target[written..at]);
        delta.insert(&target[written..at - backward]);
        copy(delta, from - backward, backward + forward);
        at += forward;
        written = at;
        source_in_step = from + forward;
    }
    delta.insert(&target[written..end]);
}

/// `cover` was given strings whose offsets fit a `u32`.
fn copy(delta: &mut Delta, from: usize, len: usize) {
    delta.copy(from as u32, len as u32);
}

/// A hash table of the offsets of a source's blocks.
struct Blocks<'a> {
    source: &'a [u8],
    /// One offset per slot. An empty slot says 0, which needs no mark of its own: every candidate is compared.
    slots: Vec<u32>,
    shift: u32,
}

impl<'a> Blocks<'a> {
    fn index(source: &'a [u8]) -> Blocks<'a> {
        let (blocks, _) = source.as_chunks::<BLOCK>();
        let bits = (blocks.len() * 2).next_power_of_two().trailing_zeros().max(1);
        let shift = u64::BITS - bits;
        let mut slots = vec![0; 1 << bits];
        // From the end, so that the first of equal blocks stays: the longest run follows it.
        for (nth, block) in blocks.iter().enumerate().rev() {
            slots[slot(block, shift)] = (nth * BLOCK) as u32;
        }
        Blocks { source, slots, shift }
    }

    /// An offset in the source where the first block of `target` is also found.
    fn find(&self, target: &[u8]) -> Option<usize> {
        let block = target.first_chunk::<BLOCK>()?;
        let offset = self.slots[slot(block, self.shift)] as usize;
        starts_alike::<BLOCK>(&self.source[offset..], target).then_some(offset)
    }
}

/// Multiply-shift hashing: the high bits of a product depend on every byte below them.
fn slot(block: &[u8; BLOCK], shift: u32) -> usize {
    let both = u128::from_le_bytes(*block);
    let (low, high) = (both as u64, (both >> 64) as u64);
    let mixed = (low.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ high).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed >> shift) as usize
}

fn starts_alike<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    matches!((a.first_chunk::<N>(), b.first_chunk::<N>()), (Some(a), Some(b)) if a == b)
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let ((a_blocks, _), (b_blocks, _)) = (a.as_chunks::<BLOCK>(), b.as_chunks::<BLOCK>());
    let whole = BLOCK * a_blocks.iter().zip(b_blocks).take_while(|(a, b)| a == b).count();
    whole + a[whole..].iter().zip(&b[whole..]).take_while(|(a, b)| a == b).count()
}

fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let ((_, a_blocks), (_, b_blocks)) = (a.as_rchunks::<BLOCK>(), b.as_rchunks::<BLOCK>());
    let whole = BLOCK * a_blocks.iter().rev().zip(b_blocks.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - whole], &b[..b.len() - whole]);
    whole + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}
