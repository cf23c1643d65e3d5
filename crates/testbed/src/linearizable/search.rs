//! The search for an order, after Wing and Gong, with Lowe's memory of what was tried.
//!
//! Three things keep it short. What changes nothing is ordered as soon as it fits. A content is not left while
//! somebody must still find it and nobody can make it again. And a change together with all who find it, once
//! it fits as a whole, is never taken back: see [`Search::may_go_first`].

use std::cmp::Reverse;
use std::collections::HashSet;

use super::register::{Content, Effect, NOTHING, Register};
use super::settle::settled;
use super::{Kind, Op, Value};

/// Choices tried before we give up: some seconds.
const MAX_CHOICES: usize = 500_000;

pub(super) enum Outcome {
    Linearizable,
    Stuck(Stuck),
    Undecided,
}

/// The end of the longest order found.
pub(super) struct Stuck {
    pub(super) holding: Option<Value>,
    pub(super) window: Vec<Op>,
}

pub(super) fn search(ops: &[Op]) -> Outcome {
    let ops: Vec<Op> = without_noise(ops);
    let register = Register::before(&settled(&ops));
    Search {
        ops: &ops,
        register,
        tried: HashSet::new(),
        choices: Vec::new(),
        wanted: Vec::new(),
        stuck: None,
    }
    .run()
}

struct Search<'a> {
    ops: &'a [Op],
    register: Register,
    tried: HashSet<(u128, Content)>,
    choices: Vec<Choice>,
    /// Scratch of [`Search::candidates`]: the contents that operations which may be next need to find, and when
    /// the first of these returned.
    wanted: Vec<(Content, u64)>,
    stuck: Option<(usize, Stuck)>,
}

/// A point where the order may go on in several ways.
struct Choice {
    ordered: usize,
    /// Not yet tried, the best last.
    candidates: Vec<usize>,
    /// The choice whose change must be followed by this one, if this one is forced: see [`Search::is_forced`].
    start: usize,
    /// Whether what was chosen at `start` may go first in any order.
    final_when_closed: bool,
}

/// Which of several changes to try first: the greatest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Urgency {
    /// It makes what a refusal must not find, so something else should come soon after it.
    covers: bool,
    /// When it must have happened.
    deadline: Reverse<u64>,
}

impl Search<'_> {
    fn run(mut self) -> Outcome {
        let mut tries = 0;
        self.register.order_what_changes_nothing();
        while self.register.definite_left > 0 {
            self.open_choice();
            if !self.choose_next() {
                return self.stuck.map_or(Outcome::Undecided, |(_, stuck)| Outcome::Stuck(stuck));
            }
            tries += 1;
            if tries > MAX_CHOICES {
                return Outcome::Undecided;
            }
        }
        Outcome::Linearizable
    }

    fn open_choice(&mut self) {
        let new = self.tried.insert((self.register.ordered_hash, self.register.holds));
        let candidates = if new { self.candidates() } else { Vec::new() };
        if new && candidates.is_empty() {
            self.remember_stuck();
        }
        let here = self.choices.len();
        let (start, final_when_closed) = match self.choices.last() {
            Some(last) if self.is_forced() => (last.start, last.final_when_closed),
            _ => (here, false),
        };
        self.choices.push(Choice { ordered: self.register.ordered(), candidates, start, final_when_closed });
    }

    /// Takes the best candidate left at the last choice that has any.
    fn choose_next(&mut self) -> bool {
        while let Some(choice) = self.choices.last_mut() {
            self.register.undo_to(choice.ordered);
            let Some(op) = choice.candidates.pop() else {
                self.choices.pop();
                continue;
            };
            if choice.start + 1 == self.choices.len() {
                let may_go_first = self.may_go_first(op);
                if let Some(choice) = self.choices.last_mut() {
                    choice.final_when_closed = may_go_first;
                }
            }
            self.register.order(op);
            self.register.order_what_changes_nothing();
            self.close_choices();
            return true;
        }
        false
    }

    /// Forgets the alternatives to what need not be taken back.
    fn close_choices(&mut self) {
        let left = self.register.left(self.register.holds);
        let nobody_needs_it =
            left.finders == 0 && left.possible_finders == 0 && (left.idle_finders == 0 || left.refusals == 0);
        if let Some(last) = self.choices.last()
            && nobody_needs_it
            && last.final_when_closed
        {
            self.choices.truncate(last.start);
        }
    }

    /// The content must still be found by somebody, and nobody can make it again: the only way on is a change
    /// that finds it.
    fn is_forced(&self) -> bool {
        let left = self.register.left(self.register.holds);
        left.makers == 0 && left.finders > 0
    }

    /// Whether any order of the rest can be rearranged to begin with the change `op` and all who find what it
    /// makes, provided that they fit there.
    ///
    /// An order of the rest begins with some change, as all that changes nothing was taken. Moving ours, which
    /// stay together, before it disturbs only a change that needs to find the present content, and a refusal
    /// that relied on ours to cover up a content it must not find, made by a change before ours.
    fn may_go_first(&self, op: usize) -> bool {
        let register = &self.register;
        let Effect::Put { makes, .. } = register.effects[op] else { return false };
        let made = register.left(makes);
        let surely_happens = register.is_definite(op) || (made.makers == 1 && made.finders > 0);
        let pointless = |other: usize| register.is_idle(other) && register.left(register.holds).refusals == 0;
        let needed_now = register.timeline.enabled().any(|other| {
            let needs_it =
                matches!(register.effects[other], Effect::Put { needs: Some(needs), .. } if needs == register.holds);
            other != op && needs_it && !pointless(other)
        });
        let relied_on_by_refusal = register.any_refusals_left()
            && self.first_to_return(op, makes).is_none_or(|first| {
                register.timeline.called_before_return_of(first).any(|other| {
                    other != op
                        && matches!(register.effects[other],
                            Effect::Put { makes, .. } if register.left(makes).refusals > 0)
                })
            });
        surely_happens && !needed_now && !relied_on_by_refusal
    }

    /// Of the change `op` and those who may be next and find what it makes, the first that returned.
    fn first_to_return(&self, op: usize, makes: Content) -> Option<usize> {
        let register = &self.register;
        let finds_it = |other: &usize| match register.effects[*other] {
            Effect::QueryContext(content) => content == makes && register.left(makes).makers == 1,
            _ => *other == op,
        };
        let together =
            register.timeline.enabled().filter(finds_it).filter(|other| register.is_definite(*other));
        together.min_by_key(|other| register.returned[*other])
    }

    /// The changes that may be next, the best last.
    fn candidates(&mut self) -> Vec<usize> {
        let mut wanted = std::mem::take(&mut self.wanted);
        let must_leave = self.note_wanted(&mut wanted);
        let register = &self.register;
        let wanted_by = |content: Content| {
            let at = wanted.binary_search_by_key(&content, |(content, _)| *content);
            at.ok().map(|at| wanted[at].1)
        };
        let useful = |op: usize, makes: Content| {
            register.is_definite(op) || (must_leave && makes != register.holds) || wanted_by(makes).is_some()
        };

        let mut puts: Vec<(Urgency, usize)> = Vec::new();
        let mut delete: Option<(u64, usize)> = None;
        let mut has_cover = false;
        for op in register.timeline.enabled() {
            let Effect::Put { needs, makes } = register.effects[op] else { continue };
            let fits = needs.is_none_or(|needs| needs == register.holds);
            if !fits || !useful(op, makes) || !self.may_leave_for(op, needs, makes) {
                continue;
            }
            let returned = register.returned[op].unwrap_or(u64::MAX);
            if makes == NOTHING {
                // One delete is as good as another, so the one that must happen first goes first.
                delete = Some(delete.map_or((returned, op), |other| other.min((returned, op))));
                continue;
            }
            // Tried only to cover up the present content, one such write is as good as another.
            let is_cover =
                needs.is_none() && !register.is_definite(op) && register.left(makes).is_only_made();
            if !(is_cover && has_cover) {
                let deadline = wanted_by(makes).map_or(returned, |wanted| wanted.min(returned));
                puts.push((
                    Urgency { covers: register.left(makes).refusals > 0, deadline: Reverse(deadline) },
                    op,
                ));
            }
            has_cover |= is_cover;
        }
        puts.sort_unstable();
        self.wanted = wanted;
        delete.into_iter().map(|(_, op)| op).chain(puts.into_iter().map(|(_, op)| op)).collect()
    }

    /// Notes which contents are needed by what may be next, and by when; true when a refusal waits for any
    /// other content.
    ///
    /// A change of unknown outcome is only worth trying for one of these: it never has to happen.
    fn note_wanted(&self, wanted: &mut Vec<(Content, u64)>) -> bool {
        wanted.clear();
        let mut must_leave = false;
        for op in self.register.timeline.enabled() {
            match self.register.effects[op] {
                Effect::QueryContext(content) | Effect::Put { needs: Some(content), .. } => {
                    wanted.push((content, self.register.returned[op].unwrap_or(u64::MAX)));
                }
                Effect::Refuse(_) => must_leave = true,
                Effect::Put { needs: None, .. } => {}
            }
        }
        wanted.sort_unstable();
        wanted.dedup_by_key(|(content, _)| *content);
        must_leave
    }

    /// Whether all who must find the present content have done so, or still can after `op`.
    fn may_leave_for(&self, op: usize, needs: Option<Content>, makes: Content) -> bool {
        let register = &self.register;
        let left = register.left(register.holds);
        let finds_it = register.is_definite(op) && needs == Some(register.holds);
        makes == register.holds || left.makers > 0 || left.finders == usize::from(finds_it)
    }

    /// Keeps what remains here, and who made what it needs, if this is the longest order yet.
    fn remember_stuck(&mut self) {
        let register = &self.register;
        if self.stuck.as_ref().is_some_and(|(ordered, _)| *ordered >= register.ordered()) {
            return;
        }
        let waiting: Vec<usize> =
            register.timeline.enabled().filter(|op| register.is_definite(*op)).collect();
        let mut concerned = vec![register.holds];
        for op in &waiting {
            match register.effects[*op] {
                Effect::QueryContext(content) | Effect::Put { needs: Some(content), .. } => {
                    concerned.push(content)
                }
                _ => {}
            }
        }
        concerned.retain(|content| *content != NOTHING);
        let makes_concerned = |op: &usize| matches!(register.effects[*op], Effect::Put { makes, .. } if concerned.contains(&makes));
        let makers = (0..self.ops.len()).filter(makes_concerned).filter(|op| !waiting.contains(op));
        let window = waiting.iter().copied().chain(makers).map(|op| self.ops[op].clone()).collect();
        let holding = self.ops.iter().zip(&register.effects).find_map(|(op, effect)| match effect {
            Effect::Put { makes, .. } if *makes == register.holds => value_made(op),
            _ => None,
        });
        self.stuck = Some((register.ordered(), Stuck { holding, window }));
    }
}

fn value_made(op: &Op) -> Option<Value> {
    match op.kind {
        Kind::Write(value) | Kind::Cas { new: value, .. } => Some(value),
        Kind::Read(_) | Kind::Delete => None,
    }
}

/// Leaves out what says nothing: reads without an answer, and changes of unknown outcome that nobody found.
/// Those that nobody found may still explain a refusal, so where there is one they stay.
fn without_noise(ops: &[Op]) -> Vec<Op> {
    let refused = |op: &Op| op.ret.is_some() && matches!(op.kind, Kind::Cas { ok: false, .. });
    let any_refused = ops.iter().any(refused);
    let found: HashSet<Option<Value>> = ops
        .iter()
        .filter_map(|op| match op.kind {
            Kind::Read(found) if op.ret.is_some() => Some(found),
            Kind::Cas { expect, .. } => Some(expect),
            _ => None,
        })
        .collect();
    let says_something = |op: &&Op| {
        op.ret.is_some()
            || match op.kind {
                Kind::Read(_) => false,
                _ => any_refused || found.contains(&value_made(op)),
            }
    };
    ops.iter().filter(says_something).cloned().collect()
}
