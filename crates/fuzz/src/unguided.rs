//! The engine that needs nothing: seeds, changed at random, for as long as one likes. The same every time.

use std::time::{Duration, Instant};

use crate::Target;

/// How long one input may take: far beyond what any should, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs a target on its seeds and on what it makes of them, for that long; tells how many inputs there were.
///
/// # Panics
///
/// When something does not hold, or an input takes too long; the input is printed before.
pub fn run(target: &Target, long: Duration) -> usize {
    let begun = Instant::now();
    let mut seeds = (target.seeds)();
    seeds.push(Vec::new());
    seeds.iter().for_each(|seed| try_one(target, seed));
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut count = seeds.len();
    while begun.elapsed() < long {
        let mut input = seeds[dice.below(seeds.len())].clone();
        for _ in 0..=dice.below(6) {
            change(&mut input, target, &seeds, &mut dice);
        }
        try_one(target, &input);
        count += 1;
    }
    count
}

/// Checks one input; should it fail, it is known which.
pub fn try_one(target: &Target, input: &[u8]) {
    let shown = Shown { target: target.name, input };
    let begun = Instant::now();
    (target.check)(input);
    let took = begun.elapsed();
    assert!(took < PATIENCE, "{} took {took:?}", target.name);
    std::mem::forget(shown);
}

/// Tells the input when the check of it does not come back.
struct Shown<'a> {
    target: &'a str,
    input: &'a [u8],
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        eprintln!("{} fails for this input: {}", self.target, self.input.escape_ascii());
    }
}

fn change(input: &mut Vec<u8>, target: &Target, seeds: &[Vec<u8>], dice: &mut Dice) {
    let at = dice.below(input.len() + 1);
    match dice.below(8) {
        0 => input.insert(at, dice.next() as u8),
        1 if at < input.len() => {
            input.remove(at);
        }
        2 | 3 if at < input.len() => input[at] = dice.next() as u8,
        4 if !target.words.is_empty() => {
            let word = target.words[dice.below(target.words.len())];
            input.splice(at..at, word.bytes());
        }
        5 => input.truncate(at.max(1)),
        6 => {
            let other = &seeds[dice.below(seeds.len())];
            let from = dice.below(other.len() + 1);
            let to = other.len().min(from + dice.below(40));
            input.splice(at..at, other[from..to].iter().copied());
        }
        _ => {
            let to = input.len().min(at + dice.below(20));
            let again = input[at..to].to_vec();
            input.splice(at..at, again);
        }
    }
    input.truncate(8 << 10);
}

/// Numbers without a pattern (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
