//! BMCLogin: the logins at a BMC that failed lately, shared by all processes.

use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, History, Metadata, Planes, Refusal, Resource, Verdict, View, allow};
use krm::time::Moment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::identity;

/// Logins that may fail at one BMC within [`WINDOW_SECONDS`]. BMCs lock an account after three to five.
pub const MOST_FAILED: usize = 2;
/// How long a failed login counts, in seconds.
pub const WINDOW_SECONDS: i64 = 600;

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
    /// Address of the BMC, as `host` or `host:port`. Immutable.
    #[schemars(length(min = 1, max = 253))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "address is immutable"}]))]
    pub address: String,
    /// Attempts that failed or have not ended, from the oldest to the newest. At most two within ten minutes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub attempts: Vec<LoginAttempt>,
}

/// An attempt to log in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoginAttempt {
    /// When it began, in RFC 3339 format.
    #[schemars(extend("format" = "date-time"))]
    pub time: String,
    /// Who tried: the process or controller.
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
    pub fn begin(&mut self, by: &str, now: Moment) -> Result<(), Moment> {
        self.spec.attempts.retain(|attempt| attempt.moment().seconds + WINDOW_SECONDS > now.seconds);
        if let Some(first) = self.spec.attempts.len().checked_sub(MOST_FAILED) {
            let until = self.spec.attempts[first].moment().seconds + WINDOW_SECONDS;
            return Err(Moment::of_seconds(until));
        }
        self.spec.attempts.push(LoginAttempt { time: now.to_string(), by: by.to_owned() });
        Ok(())
    }

    /// Takes away the last attempt of somebody whose login succeeded.
    pub fn succeeded(&mut self, by: &str) {
        if let Some(last) = self.spec.attempts.iter().rposition(|attempt| attempt.by == by) {
            self.spec.attempts.remove(last);
        }
    }
}

impl LoginAttempt {
    fn moment(&self) -> Moment {
        Moment::parse(&self.time).unwrap_or_default()
    }
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
    let times: Vec<i64> = login.spec.attempts.iter().map(|attempt| attempt.moment().seconds).collect();
    let most = times.windows(MOST_FAILED + 1).find(|window| window[MOST_FAILED] - window[0] < WINDOW_SECONDS);
    if !times.is_sorted() {
        return Err(Refusal::Conflict("the attempts are not in the order of their times".to_owned()));
    }
    match most {
        None => allow(),
        Some(window) => {
            let until = Moment::of_seconds(window[0] + WINDOW_SECONDS);
            Err(Refusal::Conflict(format!(
                "{MOST_FAILED} logins at {} failed lately, and another could lock the account; try again at {until}",
                login.spec.address
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_two_failures_nobody_logs_in_until_the_first_is_ten_minutes_old() {
        let mut login = BmcLogin::at("192.0.2.21:443");
        let at = Moment::of_seconds;
        assert_eq!(login.begin("a", at(1000)), Ok(()));
        login.succeeded("a");
        assert_eq!(login.begin("a", at(1001)), Ok(()));
        assert_eq!(login.begin("b", at(1100)), Ok(()));
        assert_eq!(login.begin("c", at(1200)), Err(at(1601)));
        assert_eq!(login.begin("c", at(1601)), Ok(()), "the first counts no longer");
        assert_eq!(login.spec.attempts.len(), 2);
    }
}
