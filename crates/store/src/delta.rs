//! Copy/insert deltas between two byte strings, small enough to keep every old version of an object.

mod encoding;
mod matching;
#[cfg(test)]
mod tests;

/// The longest target a delta may rebuild: ten times the largest object, and a bound on what a damaged
/// delta can make us allocate.
pub(crate) const MAX_LEN: usize = 16 << 20;

/// How to rebuild a target from a source.
///
/// We keep them in reverse: the source is the new version of an object, the target the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delta {
    target_len: usize,
    ops: Vec<Op>,
}

/// One stretch of the target. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Op {
    Copy { from: u32, len: u32 },
    Insert(Vec<u8>),
}

/// Why a delta could not be read or applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadDelta {
    #[error(
        "a delta copies bytes {from}..{end} of a source of {source_len}: it belongs to another version of \
         the object, or the stored history is damaged; restore it from a backup"
    )]
    OutsideSource { from: u64, end: u64, source_len: usize },
    #[error(
        "a delta rebuilds {found} bytes but declares {declared}: the stored history is damaged; \
         restore it from a backup"
    )]
    WrongLength { declared: usize, found: u64 },
    #[error(
        "a delta declares {declared} bytes, more than the {MAX_LEN} an object may have: the stored history \
         is damaged; restore it from a backup"
    )]
    TooLong { declared: u64 },
    #[error("a delta cannot be read at byte {at}: the stored history is damaged; restore it from a backup")]
    Malformed { at: usize },
}

impl Delta {
    /// The delta that rebuilds `target` from `source`, in time linear in both.
    ///
    /// A string longer than [`MAX_LEN`] is inserted whole. Such a delta is longer than its target, so a
    /// caller that compares [`Delta::encoded_len`] keeps the full copy instead.
    pub fn between(source: &[u8], target: &[u8]) -> Delta {
        let mut delta = Delta::empty(target.len());
        if source.len() > MAX_LEN || target.len() > MAX_LEN {
            delta.insert(target);
        } else {
            matching::cover(source, target, &mut delta);
        }
        delta
    }

    /// The target, given the source this delta was made from.
    ///
    /// Everything is checked before the one allocation, so a damaged delta costs no memory.
    pub fn apply(&self, source: &[u8]) -> Result<Vec<u8>, BadDelta> {
        self.check_against(source.len())?;
        let mut target = Vec::with_capacity(self.target_len);
        for op in &self.ops {
            match op {
                Op::Copy { from, len } => {
                    target.extend_from_slice(&source[*from as usize..][..*len as usize]);
                }
                Op::Insert(bytes) => target.extend_from_slice(bytes),
            }
        }
        Ok(target)
    }

    /// The two deltas as one: `self` leads from A to B and `next` from B to C; the result leads from A to C.
    ///
    /// Where `next` copies bytes that `self` never made, the result copies what no source can have, so
    /// that applying it is refused just as applying the two in turn would be.
    pub fn then(&self, next: &Delta) -> Delta {
        let stretches = self.stretches();
        let mut joined = Delta::empty(next.target_len);
        for op in &next.ops {
            match op {
                Op::Copy { from, len } => {
                    self.copy_stretch(&stretches, *from as usize, *len as usize, &mut joined);
                }
                Op::Insert(bytes) => joined.insert(bytes),
            }
        }
        joined
    }

    fn empty(target_len: usize) -> Delta {
        Delta { target_len, ops: Vec::new() }
    }

    /// Appends a copy; one that carries on where the last ended makes that one longer.
    fn copy(&mut self, from: u32, len: u32) {
        if len == 0 {
            return;
        }
        if let Some(Op::Copy { from: last_from, len: last_len }) = self.ops.last_mut()
            && last_from.checked_add(*last_len) == Some(from)
            && let Some(longer) = last_len.checked_add(len)
        {
            *last_len = longer;
            return;
        }
        self.ops.push(Op::Copy { from, len });
    }

    /// Appends bytes of the target's own.
    fn insert(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        match self.ops.last_mut() {
            Some(Op::Insert(last)) => last.extend_from_slice(bytes),
            _ => self.ops.push(Op::Insert(bytes.to_vec())),
        }
    }

    fn check_against(&self, source_len: usize) -> Result<(), BadDelta> {
        if self.target_len > MAX_LEN {
            return Err(BadDelta::TooLong { declared: self.target_len as u64 });
        }
        let mut found = 0;
        for op in &self.ops {
            if let Op::Copy { from, len } = *op {
                let (from, end) = (u64::from(from), u64::from(from) + u64::from(len));
                if end > source_len.min(MAX_LEN) as u64 {
                    return Err(BadDelta::OutsideSource { from, end, source_len });
                }
            }
            found += op.len() as u64;
        }
        if found != self.target_len as u64 {
            return Err(BadDelta::WrongLength { declared: self.target_len, found });
        }
        Ok(())
    }

    /// Where in the target each op starts.
    fn stretches(&self) -> Vec<usize> {
        self.ops
            .iter()
            .scan(0usize, |at, op| {
                let start = *at;
                *at = at.saturating_add(op.len());
                Some(start)
            })
            .collect()
    }

    /// Appends to `joined` what makes bytes `from..from + len` of our target, sliced out of our ops.
    fn copy_stretch(&self, stretches: &[usize], from: usize, len: usize, joined: &mut Delta) {
        let mut from = from;
        let end = from.saturating_add(len);
        let first = stretches.partition_point(|start| *start <= from).saturating_sub(1);
        for (op, start) in self.ops.iter().zip(stretches).skip(first) {
            if from >= end {
                return;
            }
            let skipped = from - start;
            let taken = op.len().saturating_sub(skipped).min(end - from);
            match op {
                Op::Copy { from, .. } => joined.copy(from.saturating_add(skipped as u32), taken as u32),
                Op::Insert(bytes) => joined.insert(bytes.get(skipped..skipped + taken).unwrap_or_default()),
            }
            from += taken;
        }
        joined.copy(u32::MAX, (end - from) as u32);
    }
}

impl Op {
    fn len(&self) -> usize {
        match self {
            Op::Copy { len, .. } => *len as usize,
            Op::Insert(bytes) => bytes.len(),
        }
    }
}
