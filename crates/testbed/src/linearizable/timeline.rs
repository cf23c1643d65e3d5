//! The calls and returns of a history in order of time, from which operations are taken out and put back.

use super::Op;

/// A doubly linked list over a fixed set of events. Operation `n` has the events `2n` (call) and `2n + 1`
/// (return; absent when unknown).
pub(super) struct Timeline {
    next: Vec<usize>,
    previous: Vec<usize>,
    returns: Vec<bool>,
}

impl Timeline {
    pub(super) fn of(ops: &[Op]) -> Timeline {
        let mut events: Vec<(u64, bool, usize)> = Vec::with_capacity(ops.len() * 2);
        for (nth, op) in ops.iter().enumerate() {
            events.push((op.call, false, 2 * nth));
            events.extend(op.ret.map(|ret| (ret, true, 2 * nth + 1)));
        }
        // Calls before returns of the same instant: such operations may have met.
        events.sort_unstable();

        let head = 2 * ops.len();
        let mut timeline = Timeline {
            next: vec![head; head + 1],
            previous: vec![head; head + 1],
            returns: ops.iter().map(|op| op.ret.is_some()).collect(),
        };
        let mut last = head;
        for (_, _, event) in events {
            timeline.next[last] = event;
            timeline.previous[event] = last;
            last = event;
        }
        timeline.previous[head] = last;
        timeline
    }

    /// The operations that may be next: those called before any of the remaining ones returned.
    ///
    /// Operations may be taken while walking: `after` is the one last seen, taken or not.
    pub(super) fn next_enabled(&self, after: Option<usize>) -> Option<usize> {
        let event = self.next[after.map_or(self.head(), |op| 2 * op)];
        (event != self.head() && event.is_multiple_of(2)).then_some(event / 2)
    }

    /// All operations that may be next.
    pub(super) fn enabled(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.next_enabled(None), |op| self.next_enabled(Some(*op)))
    }

    /// The remaining operations called before `op` returned, or all when that is unknown.
    pub(super) fn called_before_return_of(&self, op: usize) -> impl Iterator<Item = usize> {
        let events = std::iter::successors(Some(self.next[self.head()]), |event| Some(self.next[*event]));
        let end = if self.returns[op] { 2 * op + 1 } else { self.head() };
        let head = self.head();
        events
            .take_while(move |event| *event != end && *event != head)
            .filter(|event| event.is_multiple_of(2))
            .map(|event| event / 2)
    }

    /// Takes an operation out. Its own links stay, so that a walk goes on from it and it can be put back.
    pub(super) fn take(&mut self, op: usize) {
        if self.returns[op] {
            self.unlink(2 * op + 1);
        }
        self.unlink(2 * op);
    }

    /// Puts back the operation that was taken last.
    pub(super) fn put_back(&mut self, op: usize) {
        self.link(2 * op);
        if self.returns[op] {
            self.link(2 * op + 1);
        }
    }

    fn head(&self) -> usize {
        self.next.len() - 1
    }

    fn unlink(&mut self, event: usize) {
        self.next[self.previous[event]] = self.next[event];
        self.previous[self.next[event]] = self.previous[event];
    }

    fn link(&mut self, event: usize) {
        self.next[self.previous[event]] = event;
        self.previous[self.next[event]] = event;
    }
}
