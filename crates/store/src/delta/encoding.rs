//! Deltas as bytes: the target's length, then each op as a varint `length << 1 | is_insert`, followed by the
//! inserted bytes or by how far the copy starts from the end of the copy before it. Edits in place make that
//! distance small, so most copies take three bytes.

use super::{BadDelta, Delta, MAX_LEN, Op};

impl Delta {
    /// Appends this delta to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.write(&mut |bytes| out.extend_from_slice(bytes));
    }

    /// How many bytes [`Delta::encode`] appends. Not fewer than the target has? Then keep the target.
    pub fn encoded_len(&self) -> usize {
        let mut len = 0;
        self.write(&mut |bytes| len += bytes.len());
        len
    }

    /// The delta that `bytes` hold, all of them.
    pub fn decode(bytes: &[u8]) -> Result<Delta, BadDelta> {
        let mut reader = Reader { bytes, at: 0 };
        let declared = reader.varint()?;
        if declared > MAX_LEN as u64 {
            return Err(BadDelta::TooLong { declared });
        }
        let mut delta = Delta::empty(declared as usize);
        let mut found = 0;
        let mut last_end = 0;
        while reader.at < bytes.len() {
            let at = reader.at;
            let op = reader.op(&mut last_end)?;
            found += op.len() as u64;
            if op.len() == 0 {
                return Err(BadDelta::Malformed { at });
            }
            delta.ops.push(op);
        }
        if found != declared {
            return Err(BadDelta::WrongLength { declared: delta.target_len, found });
        }
        Ok(delta)
    }

    fn write(&self, out: &mut impl FnMut(&[u8])) {
        write_varint(self.target_len as u64, out);
        let mut last_end = 0;
        for op in &self.ops {
            match op {
                Op::Copy { from, len } => {
                    write_varint(u64::from(*len) << 1, out);
                    write_varint(zigzag(i64::from(*from) - last_end), out);
                    last_end = i64::from(*from) + i64::from(*len);
                }
                Op::Insert(bytes) => {
                    write_varint((bytes.len() as u64) << 1 | 1, out);
                    out(bytes);
                }
            }
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn op(&mut self, last_end: &mut i64) -> Result<Op, BadDelta> {
        let at = self.at;
        let head = self.varint()?;
        if head & 1 == 1 {
            let len = usize::try_from(head >> 1).map_err(|_| BadDelta::Malformed { at })?;
            let bytes = self.bytes[self.at..].get(..len).ok_or(BadDelta::Malformed { at })?;
            self.at += len;
            return Ok(Op::Insert(bytes.to_vec()));
        }
        let len = u32::try_from(head >> 1).map_err(|_| BadDelta::Malformed { at })?;
        let from = last_end
            .checked_add(unzigzag(self.varint()?))
            .and_then(|from| u32::try_from(from).ok())
            .ok_or(BadDelta::Malformed { at })?;
        *last_end = i64::from(from) + i64::from(len);
        Ok(Op::Copy { from, len })
    }

    /// Seven bits a byte, lowest first, the eighth set on all but the last.
    fn varint(&mut self) -> Result<u64, BadDelta> {
        let start = self.at;
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(BadDelta::Malformed { at: start })?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(BadDelta::Malformed { at: start })
    }
}

fn write_varint(mut value: u64, out: &mut impl FnMut(&[u8])) {
    let mut buffer = [0; 10];
    let mut len = 0;
    while value >= 0x80 {
        buffer[len] = value as u8 | 0x80;
        value >>= 7;
        len += 1;
    }
    buffer[len] = value as u8;
    out(&buffer[..=len]);
}

/// Small distances in either direction become small numbers.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
