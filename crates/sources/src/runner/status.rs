//! The status of a Source, made of what a look came to.

use krm::condition::Condition;
use krm::time::Moment;

use super::cycle::{CycleError, Outcome};
use crate::adapter::FaultKind;
use crate::kinds::source::{Source, SourceStatus};

/// How old `lastSuccess` may get before it alone is written, in seconds.
const STALE: i64 = 600;

/// The status after a look. `None` if what is stored says the same.
pub fn after(
    source: &Source,
    ended: &Result<Outcome, CycleError>,
    system: Option<&str>,
    is_listening: Option<bool>,
    now: Moment,
) -> Option<SourceStatus> {
    let before = source.status.clone().unwrap_or_default();
    let mut new = before.clone();
    let time = now.to_string();
    let generation = source.metadata.generation;
    let mut tell = |kind: &str, holds: bool, reason: &str, message: String| {
        let status = if holds { "True" } else { "False" };
        let since =
            before.conditions.iter().find(|condition| condition.kind == kind && condition.status == status);
        let condition = Condition {
            kind: kind.to_owned(),
            status: status.to_owned(),
            observed_generation: Some(generation),
            last_transition_time: since
                .map_or_else(|| time.clone(), |since| since.last_transition_time.clone()),
            reason: reason.to_owned(),
            message: message.chars().take(2000).collect(),
        };
        new.conditions.retain(|condition| condition.kind != kind);
        new.conditions.push(condition);
    };
    if let Some(is_listening) = is_listening {
        let (reason, message) = match is_listening {
            true => ("Connected", "Changes are heard of as they happen"),
            false => ("Polling", "Everything is listed at every interval"),
        };
        tell("Listening", is_listening, reason, message.to_owned());
    }
    match ended {
        Err(error) => {
            let (reason, step) = match error {
                CycleError::Source(fault) => (fault.kind.reason(), fault.kind.next_step()),
                CycleError::Server(_) | CycleError::Call(_) => {
                    ("ServerRefused", "see the log of the synchronizer")
                }
            };
            tell("Synced", false, reason, format!("{error}; {step}"));
        }
        Ok(outcome) if outcome.doubts.is_some() => {
            let reasons = outcome.doubts.as_ref().map(|doubts| doubts.reasons.join("; ")).unwrap_or_default();
            let name = &source.metadata.name;
            let why =
                format!("{reasons}. Nothing was written. If it is true: groundplane source confirm {name}");
            tell("Believed", false, "NotBelieved", why);
            tell("Synced", false, "NotBelieved", "Nothing was written".to_owned());
        }
        Ok(outcome) => {
            tell("Believed", true, "Plausible", "The list agrees with what is known".to_owned());
            let counts = outcome.counts;
            let (holds, reason) = match counts.failed {
                0 => (true, "Written"),
                _ => (false, "SomeFailed"),
            };
            let message = match counts.failed {
                0 => format!("{} hosts are as the source says", counts.observed),
                failed => format!(
                    "{failed} of {} hosts could not be read or written; status.errors has some",
                    counts.observed
                ),
            };
            tell("Synced", holds, reason, message);
        }
    }
    if let Ok(outcome) = ended {
        new.counts = Some(outcome.counts);
        new.doubts = outcome.doubts.clone();
        new.errors = outcome.errors.iter().take(20).cloned().collect();
    }
    new.system = system.map(str::to_owned).or(new.system);
    new.conditions.sort_by(|one, other| one.kind.cmp(&other.kind));
    let mut old = before.clone();
    old.conditions.sort_by(|one, other| one.kind.cmp(&other.kind));
    let is_success = matches!(ended, Ok(outcome) if outcome.doubts.is_none());
    let last = before.last_success.as_deref().and_then(|last| Moment::parse(last).ok());
    let is_stale = last.is_none_or(|last| last.seconds + STALE <= now.seconds);
    if is_success && (new != old || is_stale) {
        new.last_success = Some(time);
    }
    (new != old).then_some(new)
}

/// The reason of a fault, for logs.
pub fn reason(error: &CycleError) -> &'static str {
    match error {
        CycleError::Source(fault) => fault.kind.reason(),
        _ => FaultKind::Server.reason(),
    }
}
