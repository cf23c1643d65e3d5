//! Histories of clients of a real register: each operation happens at one instant between call and return.

use crate::linearizable::{Kind, Op, Value};

/// What the clients do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mix {
    /// Reads and writes.
    Registers,
    /// All kinds; swaps expect what their client saw last.
    Everything,
    /// Creations, deletes and reads: the register is often empty.
    Creations,
}

pub(super) fn simulate(seed: u64, processes: usize, ops: usize, mix: Mix, unknown_percent: u64) -> Vec<Op> {
    let mut random = Random(seed);
    let mut instants = planned(&mut random, processes, ops, unknown_percent);
    instants.sort_by_key(|planned| planned.happens);

    let mut holds = None;
    let mut last_seen = vec![None; processes];
    let mut history = Vec::with_capacity(ops);
    for (nth, planned) in instants.into_iter().enumerate() {
        let seen = &mut last_seen[planned.process];
        let mut kind = choose(&mut random, mix, nth as Value + 1, *seen);
        let lost = planned.ret.is_none() && random.below(2) == 0;
        if !lost {
            run(&mut kind, &mut holds);
            *seen = holds;
        }
        let Planned { process, call, ret, .. } = planned;
        history.push(Op { process, key: "k".to_owned(), call, ret, kind });
    }
    history
}

struct Planned {
    process: usize,
    call: u64,
    happens: u64,
    ret: Option<u64>,
}

fn planned(random: &mut Random, processes: usize, ops: usize, unknown_percent: u64) -> Vec<Planned> {
    let mut now = vec![0; processes];
    (0..ops)
        .map(|nth| {
            let process = nth % processes;
            let call = now[process] + 1 + random.below(20);
            let unknown = random.below(100) < unknown_percent;
            let happens = call + random.below(if unknown { 2_000 } else { 100 });
            let ret = happens + random.below(100);
            now[process] = if unknown { call + 100 } else { ret };
            Planned { process, call, happens, ret: (!unknown).then_some(ret) }
        })
        .collect()
}

fn choose(random: &mut Random, mix: Mix, new: Value, seen: Option<Value>) -> Kind {
    let swap = |expect| Kind::Cas { expect, new, ok: false };
    match (mix, random.below(10)) {
        (Mix::Registers, 0..5) | (Mix::Everything, 0..3) => Kind::Write(new),
        (Mix::Everything, 3) | (Mix::Creations, 0..3) => Kind::Delete,
        (Mix::Everything, 4..7) => swap(seen),
        (Mix::Creations, 3..7) => swap(None),
        _ => Kind::Read(None),
    }
}

fn run(kind: &mut Kind, holds: &mut Option<Value>) {
    match kind {
        Kind::Write(value) => *holds = Some(*value),
        Kind::Delete => *holds = None,
        Kind::Read(found) => *found = *holds,
        Kind::Cas { expect, new, ok } => {
            *ok = expect == holds;
            if *ok {
                *holds = Some(*new);
            }
        }
    }
}

/// splitmix64: the seed is the whole history.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }
}
