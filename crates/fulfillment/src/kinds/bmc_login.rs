//! BMCLogin: the logins at a BMC that failed lately, shared by all processes.

use std::time::Duration;

use bmc::ledger::{ATTEMPT_LIMIT, Denied, Ending, LIMIT, WINDOW};
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, History, Metadata, Planes, Refusal, Resource, Verdict, View, allow};
use krm::time::Moment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::identity;

/// The logins at a BMC that failed within the last ten minutes or have not ended yet. Who is about to log in adds an attempt
/// first and takes it away when the login succeeds. While there are two, nobody tries again, in whatever process: so no account
/// is locked by us.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BmcLogin {
    /// Standard object metadata. The name is made from the address of the BMC.
    pub metadata: Metadata,
    /// Address of the BMC and the attempts. Set by what logs in.
    pub spec: BmcLoginSpec,
}

/// Logins at a BMC.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BmcLoginSpec {
    /// Address of the BMC, as `host`, or as `host:port` if the port is not the usual one. Immutable.
    #[schemars(length(min = 1, max = 253))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "address is immutable"}]))]
    pub address: String,
    /// Attempts that failed or have not ended. At most two within ten minutes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub attempts: Vec<LoginAttempt>,
}

/// An attempt to log in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoginAttempt {
    /// Identifier of the attempt: 16 hexadecimal digits.
    #[schemars(regex(pattern = "^[0-9a-f]{16}$"))]
    pub id: String,
    /// When it began, in RFC 3339 format.
    #[schemars(extend("format" = "date-time"))]
    pub time: String,
    /// When it failed, in RFC 3339 format. Not set while it goes on, or if the process that made it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub failed: Option<String>,
    /// Who tried: the controller.
    #[schemars(length(min = 1, max = 253))]
    pub by: String,
}

impl Resource for BmcLogin {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "BMCLogin";
    const PLURAL: &'static str = "bmclogins";

    fn declare() -> Declaration<BmcLogin> {
        Declaration::cluster()
            .planes(Planes::Root)
            .history(History::None)
            .selects(&["spec.address"])
            .prints("Address", "string", ".spec.address")
            .prints("Attempt", "string", ".spec.attempts[-1:].time")
            .prints("By", "string", ".spec.attempts[-1:].by")
            .prints_age()
            .validate(is_named_after_its_address)
            .rule(leaves_the_account_unlocked)
    }
}

impl BmcLogin {
    /// The record of a BMC at which nobody has logged in yet.
    pub fn at(address: &str) -> BmcLogin {
        let metadata = Metadata { name: identity::name_of(address), ..Metadata::default() };
        BmcLogin { metadata, spec: BmcLoginSpec { address: address.to_owned(), attempts: Vec::new() } }
    }

    /// Adds an attempt. If too many failed lately, says until when to wait instead. The record has to be written before the
    /// login is tried: if somebody else was first, the write is refused, and this is decided again.
    pub fn reserve(&mut self, id: u64, by: &str, now: Duration) -> Result<(), Denied> {
        let attempts = &mut self.spec.attempts;
        attempts.retain(|attempt| attempt.counts_until() > now);
        if attempts.len() < LIMIT {
            attempts.push(LoginAttempt {
                id: hex(id),
                time: moment(now).to_string(),
                failed: None,
                by: by.to_owned(),
            });
            return Ok(());
        }
        let mut ends: Vec<Duration> = attempts.iter().map(LoginAttempt::counts_until).collect();
        ends.sort_unstable();
        let retry_at = ends.get(attempts.len() - LIMIT).copied().unwrap_or(now);
        Err(Denied { retry_at, is_pending: attempts.iter().any(|attempt| attempt.failed.is_none()) })
    }

    /// Records how an attempt ended. One that is no longer there took too long; it is recorded again if it failed.
    pub fn settle(&mut self, id: u64, by: &str, ending: Ending, now: Duration) {
        let (id, at) = (hex(id), moment(now).to_string());
        let attempts = &mut self.spec.attempts;
        match ending {
            Ending::Harmless => attempts.retain(|attempt| attempt.id != id),
            Ending::Failed => match attempts.iter_mut().find(|attempt| attempt.id == id) {
                Some(attempt) => attempt.failed = Some(at),
                None => {
                    attempts.push(LoginAttempt { id, time: at.clone(), failed: Some(at), by: by.to_owned() })
                }
            },
        }
    }
}

impl LoginAttempt {
    /// The BMC saw the attempt at some time before its end.
    fn counts_until(&self) -> Duration {
        match &self.failed {
            Some(failed) => duration(failed) + WINDOW,
            None => duration(&self.time) + ATTEMPT_LIMIT + WINDOW,
        }
    }
}

fn hex(id: u64) -> String {
    format!("{id:016x}")
}

/// Rounded up, so that nothing expires early.
fn moment(now: Duration) -> Moment {
    let seconds = now.as_secs() + u64::from(now.subsec_nanos() > 0);
    Moment::of_seconds(i64::try_from(seconds).unwrap_or(i64::MAX))
}

fn duration(text: &str) -> Duration {
    let seconds = Moment::parse(text).unwrap_or_default().seconds;
    Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
}

fn is_named_after_its_address(change: &Change<BmcLogin>) -> Vec<FieldError> {
    let Some(login) = change.after() else { return Vec::new() };
    let (address, name) = (&login.spec.address, identity::name_of(&login.spec.address));
    match name == login.metadata.name {
        true => Vec::new(),
        false => {
            let path = Path::of("spec");
            let why = format!("the record of this address is named {name}");
            vec![FieldError::invalid_text(&path.field("address"), address, why)]
        }
    }
}

/// No more attempts in ten minutes than BMCs put up with.
fn leaves_the_account_unlocked(change: &Change<BmcLogin>, _: &mut View<'_>) -> Verdict {
    let Some(login) = change.after() else { return allow() };
    let known = change.before().map(|before| before.spec.attempts.as_slice()).unwrap_or_default();
    let is_new = |attempt: &&LoginAttempt| known.iter().all(|known| known.id != attempt.id);
    for new in login.spec.attempts.iter().filter(is_new) {
        let others = || login.spec.attempts.iter().filter(|other| other.id != new.id);
        let counts = others().filter(|other| other.counts_until() > duration(&new.time)).count();
        if counts >= LIMIT && new.failed.is_none() {
            let until = others().map(LoginAttempt::counts_until).min().unwrap_or_default();
            return Err(Refusal::Conflict(format!(
                "{LIMIT} logins at {} failed lately, and another could lock the account; try again at {}",
                login.spec.address,
                moment(until)
            )));
        }
    }
    allow()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_two_failures_nobody_logs_in_until_the_first_is_ten_minutes_old() {
        let mut login = BmcLogin::at("192.0.2.21");
        let at = Duration::from_secs;
        assert_eq!(login.reserve(1, "a", at(1000)), Ok(()));
        login.settle(1, "a", Ending::Harmless, at(1000));
        assert_eq!(login.reserve(2, "a", at(1001)), Ok(()));
        login.settle(2, "a", Ending::Failed, at(1002));
        assert_eq!(login.reserve(3, "b", at(1100)), Ok(()));
        let denied = login.reserve(4, "c", at(1200)).unwrap_err();
        assert_eq!(denied, Denied { retry_at: at(1602), is_pending: true });
        assert_eq!(login.reserve(4, "c", at(1602)), Ok(()), "the first counts no longer");
        assert_eq!(login.spec.attempts.len(), 2, "the one that never ended counts for eleven minutes");
    }
}
