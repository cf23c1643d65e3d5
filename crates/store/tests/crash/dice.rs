//! Chance that can be repeated: the same seed throws the same numbers.

/// SplitMix64, which is enough to pick a key or a moment.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn seeded(seed: u64) -> Dice {
        Dice(seed)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.number() % limit
    }

    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}
