//! When each bucket was last entered, left or changed.
//!
//! Only transactions of this process ask, so this is kept in memory alone.

use std::collections::HashMap;

use bytes::Bytes;

use crate::version::Revision;

/// The last change of each bucket after `floor`.
pub(crate) struct Touched {
    floor: Revision,
    last: HashMap<Bytes, Revision>,
}

/// Buckets remembered before the older half is let go of.
const MANY: usize = 200_000;

impl Touched {
    pub fn after(floor: Revision) -> Touched {
        Touched { floor, last: HashMap::new() }
    }

    pub fn touch(&mut self, bucket: Bytes, revision: Revision) {
        self.last.insert(bucket, revision);
    }

    /// Whether the bucket is as it was at `at`. Of a time before the floor nobody knows: then no.
    pub fn unchanged_since(&self, bucket: &Bytes, at: Revision) -> bool {
        at >= self.floor && self.last.get(bucket).is_none_or(|last| *last <= at)
    }

    /// Forgets the older half once there are many.
    pub fn tidy(&mut self) {
        if self.last.len() < MANY {
            return;
        }
        let mut revisions: Vec<Revision> = self.last.values().copied().collect();
        let (_, middle, _) = revisions.select_nth_unstable(MANY / 2);
        self.floor = *middle;
        let floor = self.floor;
        self.last.retain(|_, last| *last > floor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forgotten_bucket_counts_as_changed_for_those_who_read_before() {
        let mut touched = Touched::after(Revision::ZERO);
        for number in 0..MANY as u64 {
            touched.touch(Bytes::from(number.to_string()), Revision::new(number + 1));
        }
        assert!(touched.unchanged_since(&Bytes::from("0"), Revision::new(1)));
        assert!(!touched.unchanged_since(&Bytes::from("5"), Revision::new(1)));
        touched.tidy();
        assert!(!touched.unchanged_since(&Bytes::from("0"), Revision::new(1)));
        assert!(touched.unchanged_since(&Bytes::from("0"), Revision::new(MANY as u64)));
        assert!(touched.last.len() <= MANY / 2);
    }
}
