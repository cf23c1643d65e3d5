//! Faults that can be switched on.

use serde::{Deserialize, Serialize};

/// What the service does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Accepts changes of power and makes none.
    PowerLies,
    /// Accepts boot overrides and makes none.
    BootLies,
    /// Accepts a new password and keeps the old one.
    PasswordLies,
    /// Changes the password, and answers 500.
    PasswordChangedUnsaid,
    /// Refuses every new password with 400.
    PasswordRefused,
    /// Answers 503 with Retry-After.
    Unavailable,
    /// Answers 401 to everything but the service root.
    Unauthorized,
    /// Never answers.
    Hang,
    /// Answers after this many milliseconds.
    Slow(u64),
    /// Sends one byte of the body every 100 milliseconds.
    SlowBytes,
    /// Sends a body that never ends.
    EndlessBody,
    /// Sends something that is not JSON.
    NotJson,
    /// Sends JSON of another shape.
    WrongShape,
    /// Redirects to the same path, always.
    RedirectLoop,
    /// Redirects to another host.
    RedirectElsewhere,
    /// Every task ends with an exception.
    TasksFail,
    /// The collection of systems has a next page without end.
    EndlessPages,
}

impl Fault {
    /// Whether the service root works although the fault is on.
    pub(super) fn spares_the_root(self) -> bool {
        matches!(self, Fault::Unauthorized)
    }
}
