//! Time and randomness, which are passed in: a simulation has its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ring::rand::{SecureRandom, SystemRandom};

use crate::clock::{Clock, SystemClock};

/// Where a store, and the server on it, take time and randomness from. The default is the machine's.
#[derive(Clone)]
pub struct Environment {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub randomness: Arc<dyn Randomness>,
    /// Whether all work stays on the thread of its caller, as in a simulation, where threads would end in any order.
    pub is_single_threaded: bool,
}

impl Default for Environment {
    fn default() -> Environment {
        Environment {
            clock: Arc::new(SystemClock),
            randomness: Arc::new(SystemRandomness),
            is_single_threaded: false,
        }
    }
}

/// A source of random bytes.
pub trait Randomness: Send + Sync + 'static {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness>;
}

/// The source had no random bytes to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no random bytes")]
pub struct NoRandomness;

/// The operating system's randomness, fit for keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        SystemRandom::new().fill(bytes).map_err(|_| NoRandomness)
    }
}

/// Numbers that follow from a seed (SplitMix64). For simulations: anybody can foretell them.
#[derive(Debug)]
pub struct Seeded {
    state: AtomicU64,
}

impl Seeded {
    /// The numbers of this seed.
    pub fn new(seed: u64) -> Seeded {
        Seeded { state: AtomicU64::new(seed) }
    }

    /// The next number.
    pub fn number(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which must not be zero.
    pub fn below(&self, bound: u64) -> u64 {
        self.number() % bound
    }
}

impl Randomness for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.number().to_be_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_are_those_of_splitmix64() {
        // From the reference implementation, https://prng.di.unimi.it/splitmix64.c.
        let numbers = Seeded::new(1_234_567);
        assert_eq!(numbers.number(), 6_457_827_717_110_365_317);
        assert_eq!(numbers.number(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn bytes_of_one_seed_are_the_same_and_of_another_are_not() {
        let bytes = |seed| {
            let mut bytes = [0; 21];
            Seeded::new(seed).fill(&mut bytes).unwrap();
            bytes
        };
        assert_eq!(bytes(7), bytes(7));
        assert_ne!(bytes(7), bytes(8));
    }
}
