//! Dice that fall the same way every time, for each client its own.

/// A small generator (xorshift64*), good enough to mix operations up.
pub struct Dice(u64);

impl Dice {
    /// The dice of one client.
    pub fn of(client: usize) -> Dice {
        Dice(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(client as u64 + 1) | 1)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }
}
