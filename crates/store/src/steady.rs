//! A time of day that a wrong clock does not move at once.
//!
//! What is old is let go of by the time of day, for good, and every change is dated by it. A machine's clock that is wrong for some
//! seconds, after a start or while it is set, must do neither. So the time of day is followed as long as it goes along with the
//! monotonic time; when it jumps, the monotonic time is followed until the clock has stayed at its new time for a while.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Steps up to this are those of a clock that is kept right.
const TOLERANCE: u64 = 2_000_000;
/// How long a clock must stay at its new time before that is believed.
const HOLD: Duration = Duration::from_secs(120);
/// How long nothing is let go of after a jump.
const UNSETTLED: Duration = Duration::from_secs(3600);

/// Follows a clock, and notices when it jumps.
#[derive(Debug, Default)]
pub(crate) struct Steady {
    state: Mutex<Option<State>>,
}

#[derive(Debug, Clone, Copy)]
struct State {
    /// A time of day that was right, and the monotonic time of that moment.
    wall: u64,
    at: Instant,
    jumped: Option<Jumped>,
    /// When it jumped last, or its new time was believed.
    unsettled: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Jumped {
    by: i64,
    since: Instant,
}

impl Steady {
    /// The time of day, in microseconds since 1970, when the machine's clocks say this.
    pub(crate) fn at(&self, wall: u64, instant: Instant) -> u64 {
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = kept.get_or_insert(State { wall, at: instant, jumped: None, unsettled: None });
        let expected =
            state.wall.saturating_add(instant.saturating_duration_since(state.at).as_micros() as u64);
        let by = wall.wrapping_sub(expected) as i64;
        if by.unsigned_abs() <= TOLERANCE {
            (state.wall, state.at, state.jumped) = (wall, instant, None);
            return wall;
        }
        match state.jumped {
            Some(jumped) if by.abs_diff(jumped.by) <= TOLERANCE => {
                if instant.saturating_duration_since(jumped.since) < HOLD {
                    return expected;
                }
                tracing::warn!(
                    by_seconds = by / 1_000_000,
                    "the clock has stayed at its new time, which counts now"
                );
                *state = State { wall, at: instant, jumped: None, unsettled: Some(instant) };
                wall
            }
            _ => {
                tracing::warn!(
                    by_seconds = by / 1_000_000,
                    "the clock has jumped: its new time counts once it has stayed for {HOLD:?}, and no history is let \
                     go of for an hour; check the time synchronization of this machine"
                );
                state.jumped = Some(Jumped { by, since: instant });
                state.unsettled = Some(instant);
                expected
            }
        }
    }

    /// Whether the clock has not jumped for some time, so that what it says is too old may go.
    pub(crate) fn is_settled(&self, instant: Instant) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let unsettled = state.and_then(|state| state.unsettled);
        unsettled.is_none_or(|at| instant.saturating_duration_since(at) >= UNSETTLED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YEAR: u64 = 365 * 24 * 3600 * 1_000_000;
    const START: u64 = 50 * YEAR;

    struct Machine {
        steady: Steady,
        began: Instant,
    }

    impl Machine {
        fn new() -> Machine {
            let machine = Machine { steady: Steady::default(), began: Instant::now() };
            assert_eq!(machine.after(0, 0), START);
            machine
        }

        /// What is said when `seconds` have passed and the clock is off by so much.
        fn after(&self, seconds: u64, off: i64) -> u64 {
            let wall = (START + seconds * 1_000_000).saturating_add_signed(off);
            self.steady.at(wall, self.began + Duration::from_secs(seconds))
        }

        fn is_settled(&self, seconds: u64) -> bool {
            self.steady.is_settled(self.began + Duration::from_secs(seconds))
        }
    }

    #[test]
    fn a_clock_that_is_wrong_for_a_minute_is_not_believed() {
        for off in [YEAR as i64, -(YEAR as i64), 3_600_000_000, -10_000_000] {
            let machine = Machine::new();
            assert!(machine.is_settled(0));
            for second in 1..60 {
                assert_eq!(machine.after(second, off), START + second * 1_000_000, "{off}");
                assert!(!machine.is_settled(second));
            }
            assert_eq!(machine.after(61, 0), START + 61_000_000);
            assert!(!machine.is_settled(3_000), "nothing is let go of yet");
            machine.after(3_602, 0);
            assert!(machine.is_settled(3_662));
        }
    }

    #[test]
    fn a_clock_that_was_set_is_believed_after_a_while() {
        let machine = Machine::new();
        let off = 7_200_000_000;
        assert_eq!(machine.after(1, off), START + 1_000_000);
        assert_eq!(machine.after(100, off), START + 100_000_000);
        assert_eq!(machine.after(122, off), START + 122_000_000 + off as u64);
        assert_eq!(machine.after(123, off), START + 123_000_000 + off as u64);
        assert!(!machine.is_settled(130) && machine.is_settled(122 + 3600));
    }

    #[test]
    fn small_steps_of_a_clock_that_is_kept_right_are_followed() {
        let machine = Machine::new();
        let mut off = 0;
        for second in 1..100 {
            off += 400_000;
            assert_eq!(machine.after(second * 10, off), START + second * 10_000_000 + off as u64);
        }
        assert!(machine.is_settled(1_000));
    }

    #[test]
    fn a_clock_that_keeps_jumping_is_never_believed() {
        let machine = Machine::new();
        for round in 1..50 {
            let off = i64::try_from(round * 3_600_000_000).unwrap();
            assert_eq!(machine.after(round * 60, off), START + round * 60_000_000);
        }
    }
}
