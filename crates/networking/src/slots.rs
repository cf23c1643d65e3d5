//! Slots: 256 places of equal size, of which runs are taken whose length is a power of two.

use std::fmt::Write;

/// Bits of the number of a slot.
pub const BITS: u8 = 8;
const SLOTS: u16 = 1 << BITS;

/// Which slots are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slots([u64; 4]);

/// A run of slots: 2 to the power of its order, beginning at a multiple of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The first slot.
    pub start: u8,
    /// How many, as a power of two: 0 to 8.
    pub order: u8,
}

impl Run {
    fn slots(self) -> impl Iterator<Item = u16> {
        let start = u16::from(self.start);
        start..start + (1 << self.order.min(BITS))
    }
}

impl Slots {
    /// Reads them from 64 hexadecimal digits; an empty text is none taken.
    pub fn parse(text: &str) -> Option<Slots> {
        if text.is_empty() {
            return Some(Slots::default());
        }
        let mut words = [0; 4];
        for (at, word) in words.iter_mut().enumerate() {
            *word = u64::from_str_radix(text.get(at * 16..at * 16 + 16)?, 16).ok()?;
        }
        (text.len() == 64).then_some(Slots(words))
    }

    /// The text that it is read from.
    pub fn text(&self) -> String {
        self.0.iter().fold(String::with_capacity(64), |mut text, word| {
            // Writing to a String does not fail.
            let _ = write!(text, "{word:016x}");
            text
        })
    }

    /// Whether none is taken.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// Whether every slot of a run is free.
    pub fn is_free(&self, run: Run) -> bool {
        run.slots().all(|slot| !self.has(slot))
    }

    /// Takes a run.
    pub fn take(&mut self, run: Run) {
        run.slots().for_each(|slot| self.0[usize::from(slot / 64)] |= 1 << (slot % 64));
    }

    /// Frees a run.
    pub fn free(&mut self, run: Run) {
        run.slots().for_each(|slot| self.0[usize::from(slot / 64)] &= !(1 << (slot % 64)));
    }

    /// The free run of this order that leaves the largest runs whole: the one in the smallest free space, and the first of
    /// those.
    pub fn find(&self, order: u8) -> Option<Run> {
        (order..=BITS).find_map(|space| {
            let run = self.runs(space).find(|run| self.is_space(*run))?;
            Some(Run { start: run.start, order })
        })
    }

    /// The order of the largest free run; nothing if every slot is taken.
    pub fn largest(&self) -> Option<u8> {
        (0..=BITS).rev().find(|order| self.runs(*order).any(|run| self.is_free(run)))
    }

    fn runs(&self, order: u8) -> impl Iterator<Item = Run> {
        let step = 1usize << order.min(BITS);
        (0..SLOTS)
            .step_by(step)
            .filter_map(move |start| Some(Run { start: u8::try_from(start).ok()?, order }))
    }

    /// Whether a run is free and not half of a larger free one.
    fn is_space(&self, run: Run) -> bool {
        let buddy = Run { start: run.start ^ 1u8.checked_shl(u32::from(run.order)).unwrap_or(0), ..run };
        self.is_free(run) && (run.order == BITS || !self.is_free(buddy))
    }

    fn has(&self, slot: u16) -> bool {
        self.0[usize::from(slot / 64)] >> (slot % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_run_is_at_the_beginning_and_small_ones_fill_gaps() {
        let mut slots = Slots::default();
        assert_eq!(slots.find(5), Some(Run { start: 0, order: 5 }));
        slots.take(Run { start: 0, order: 5 });
        assert_eq!(slots.find(5), Some(Run { start: 32, order: 5 }));
        slots.take(Run { start: 64, order: 0 });
        assert_eq!(slots.find(0), Some(Run { start: 65, order: 0 }), "beside the small one");
        assert_eq!(slots.find(7), Some(Run { start: 128, order: 7 }));
        assert_eq!((slots.find(8), slots.largest()), (None, Some(7)));
        slots.take(Run { start: 0, order: 8 });
        assert_eq!((slots.find(0), slots.largest()), (None, None));
        slots.free(Run { start: 0, order: 8 });
        assert!(slots.is_empty());
        assert_eq!(slots.find(8), Some(Run { start: 0, order: 8 }));
    }

    proptest! {
        #[test]
        fn runs_never_overlap_and_everything_comes_back(orders in prop::collection::vec((0u8..=6, any::<bool>()), 0..120)) {
            let (mut slots, mut held) = (Slots::default(), Vec::<Run>::new());
            for (order, gives_back) in orders {
                if gives_back && !held.is_empty() {
                    slots.free(held.remove(usize::from(order) % held.len()));
                }
                let Some(run) = slots.find(order) else {
                    prop_assert!(slots.largest().is_none_or(|largest| largest < order));
                    continue;
                };
                prop_assert!(slots.is_free(run) && run.start % (1 << order) == 0);
                slots.take(run);
                held.push(run);
                let taken: u32 = held.iter().map(|run| 1u32 << run.order).sum();
                prop_assert_eq!(slots.0.iter().map(|word| word.count_ones()).sum::<u32>(), taken);
                prop_assert_eq!(Slots::parse(&slots.text()), Some(slots));
            }
            held.into_iter().for_each(|run| slots.free(run));
            prop_assert!(slots.is_empty());
        }
    }
}
