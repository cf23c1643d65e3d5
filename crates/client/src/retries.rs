//! When a request is sent again: only when that can't make a change twice.

use std::time::Duration;

use reconcile::backoff::{Backoff, system_randomness};

use crate::error::Error;
use crate::request::Request;
use crate::sending::Answer;

/// The longest pause that a server may ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(30);

/// How often a request is sent again.
///
/// A read, a dry run and a repeatable change are sent again whenever the connection failed or the server is
/// unavailable. Any other change is sent again only when the server can't have handled it: no connection was made, the
/// request was not sent, or the server answered 429.
#[derive(Clone)]
pub struct Retries {
    /// Attempts after the server has said when to ask again (429, 503).
    pub busy: u32,
    /// Attempts after a connection that failed.
    pub lost: u32,
    backoff: Backoff,
}

impl Default for Retries {
    fn default() -> Retries {
        Retries { busy: 10, lost: 6, backoff: Backoff::with_jitter(system_randomness()) }
    }
}

impl Retries {
    /// The first failed connection is the last. A server that says when to ask again is asked again.
    pub fn when_busy() -> Retries {
        Retries { lost: 0, ..Retries::default() }
    }

    /// The pause before a request is sent again; `None` when it is not.
    pub(crate) fn pause(
        &self,
        request: &Request,
        ended: &std::result::Result<Answer, Error>,
        attempts: u32,
    ) -> Option<Duration> {
        let is_harmless = request.changes_nothing() || request.is_repeatable;
        match ended {
            Ok(answer) => {
                let may = answer.code == 429 || (answer.code == 503 && is_harmless);
                let after = answer.headers.get("retry-after")?.to_str().ok()?.parse().ok()?;
                (may && attempts <= self.busy).then(|| Duration::from_secs(after).min(LONGEST_ASKED))
            }
            Err(error) => {
                let is_lost = matches!(error, Error::Lost { .. });
                let may = error.is_unhandled() || (is_lost && is_harmless);
                // The first pauses of the back-off are made for events in one process; the network needs longer ones.
                (may && attempts <= self.lost).then(|| self.backoff.pause(attempts + 4))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderMap, Method};

    fn answer(code: u16) -> std::result::Result<Answer, Error> {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", "1".parse().unwrap());
        Ok(Answer { code, headers, body: bytes::Bytes::new() })
    }

    fn lost(is_unhandled: bool) -> std::result::Result<Answer, Error> {
        let (address, why) = ("a:1".to_owned(), "reset".to_owned());
        Err(Error::Lost { address, why, is_unhandled, is_change: true, hint: None })
    }

    #[test]
    fn a_change_is_sent_again_only_if_it_can_not_have_been_made() {
        let retries = Retries::default();
        let (read, change) = (Request::get("/a"), Request::new(Method::POST, "/a"));
        let again = |request: &Request, ended| retries.pause(request, &ended, 1).is_some();
        assert!(again(&read, lost(false)) && again(&read, answer(503)) && again(&read, answer(429)));
        assert!(!again(&change, lost(false)), "it may have been made");
        assert!(!again(&change, answer(503)), "it may have been made");
        assert!(again(&change, lost(true)) && again(&change, answer(429)));
        assert!(again(&change, Err(Error::ConnectionRefused("a:1".to_owned()))));
        assert!(again(&change.clone().query("dryRun", "All"), lost(false)), "a dry run changes nothing");
        assert!(again(&change.repeatable(), lost(false)), "the outcome is the same");
        assert!(!again(&read, answer(200)) && !again(&read, answer(500)));
        assert!(retries.pause(&read, &lost(false), 7).is_none(), "not for ever");
    }
}
