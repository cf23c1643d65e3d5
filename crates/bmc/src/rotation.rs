//! Rotation of a password, as a state machine whose record is saved before and after every step.
//!
//! At every moment the BMC's password is one of the two in the record. A process that dies anywhere leaves a record from
//! which another one goes on; it never needs more than one failed login to find out where the BMC stands.
//!
//! ```text
//!  Staged ──► Setting ──► Set ──► Verified ──► Switched ──► Done
//!    ▲           │         │
//!    │        (unknown)    ├──► Refused      the BMC kept the old password
//!    └───────── Unsure ────┴──► Quarantined  neither works: a person must look
//! ```

use serde::{Deserialize, Serialize};

use crate::credentials::{Credentials, Password};
use crate::error::{Cause, Error, Result};
use crate::{Answer, Bmc};

/// How far a rotation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// The new password is recorded; the BMC has the old one.
    Staged,
    /// The change is about to be sent: the BMC has either password.
    Setting,
    /// The result of the change is not known: the BMC has either password.
    Unsure,
    /// The BMC said that it has the new password.
    Set,
    /// A login with the new password succeeded.
    Verified,
    /// The new password is the one that everybody uses. The old one is still recorded.
    Switched,
    /// A login with the stored password succeeded; the old one may be forgotten.
    Done,
    /// The BMC did not take the new password. The old one works and stays.
    Refused,
    /// Neither password works, or that cannot be found out. Both are kept until a person has looked.
    Quarantined,
}

/// The record of a rotation. The caller saves it, with both passwords sealed beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// The account whose password changes.
    pub user: String,
    /// How far it is.
    pub phase: Phase,
    /// How often the change was sent.
    pub attempts: u32,
    /// Why it ended as refused or quarantined; for people, without secrets.
    pub reason: Option<String>,
}

/// How often a change whose result is unknown, and which did not happen, is sent again.
const ATTEMPTS: u32 = 3;

/// What to do next. After each, and before [`Step::SetPassword`], the record is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Save the record: the change is about to be sent.
    Announce,
    /// Log in with the old password and set the new one.
    SetPassword,
    /// Log in with the new password.
    TryNew,
    /// Make the new password the one that everybody uses, and keep the old one.
    Switch,
    /// Log in with the password that everybody uses.
    Prove,
    /// Nothing: the rotation has ended.
    End,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// As it should.
    Done,
    /// The new password was refused, and the old one works.
    OldWorks,
    /// Both passwords were refused.
    NoneWorks,
    /// The BMC refused the change itself; it has the old password.
    ChangeRefused,
    /// Not known: the BMC may or may not have done it.
    Unknown,
}

impl Rotation {
    /// A rotation that has not begun. The caller has stored the new password beside the old one.
    pub fn new(user: impl Into<String>) -> Rotation {
        Rotation { user: user.into(), phase: Phase::Staged, attempts: 0, reason: None }
    }

    /// What to do next, after a start or a restart as well.
    pub fn next(&self) -> Step {
        match self.phase {
            Phase::Staged => Step::Announce,
            Phase::Setting => Step::SetPassword,
            Phase::Unsure | Phase::Set => Step::TryNew,
            Phase::Verified => Step::Switch,
            Phase::Switched => Step::Prove,
            Phase::Done | Phase::Refused | Phase::Quarantined => Step::End,
        }
    }

    /// The record as a process must take it that did not write it itself: a change that was about to be sent may have
    /// been.
    pub fn resumed(mut self) -> Rotation {
        if self.phase == Phase::Setting {
            self.phase = Phase::Unsure;
        }
        self
    }

    /// The record after a step.
    pub fn after(mut self, ended: Ended) -> Rotation {
        let (phase, reason) = match (self.phase, ended) {
            (Phase::Staged, Ended::Done) => {
                self.attempts += 1;
                (Phase::Setting, None)
            }
            (Phase::Setting, Ended::Done) => (Phase::Set, None),
            (Phase::Setting, Ended::ChangeRefused) => {
                (Phase::Refused, Some("the BMC refused the new password; the old one is unchanged"))
            }
            (Phase::Setting, Ended::NoneWorks) => {
                (Phase::Quarantined, Some("the BMC refused the old password before the change was made"))
            }
            (Phase::Setting, _) => (Phase::Unsure, None),
            (Phase::Unsure | Phase::Set, Ended::Done) => (Phase::Verified, None),
            (Phase::Unsure, Ended::OldWorks) if self.attempts < ATTEMPTS => (Phase::Staged, None),
            (Phase::Unsure | Phase::Set, Ended::OldWorks) => {
                (Phase::Refused, Some("the BMC did not make the change; the old password is unchanged"))
            }
            (Phase::Unsure | Phase::Set, Ended::NoneWorks) => {
                (Phase::Quarantined, Some("the BMC refuses both the old and the new password"))
            }
            (Phase::Verified, Ended::Done) => (Phase::Switched, None),
            (Phase::Switched, Ended::Done) => (Phase::Done, None),
            (Phase::Switched, Ended::NoneWorks | Ended::OldWorks) => {
                (Phase::Quarantined, Some("the BMC refuses the password that it accepted before"))
            }
            (phase, _) => (phase, None),
        };
        self.phase = phase;
        self.reason = reason.map(str::to_owned).or(self.reason);
        self
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.next() == Step::End
    }
}

/// Opens drivers to one BMC with given credentials; what a rotation runs on.
pub trait Dial: Send + Sync {
    /// A driver that has not logged in yet.
    fn dial(&self, credentials: &Credentials) -> Result<Box<dyn Bmc>>;
}

/// Where the record and the passwords of a rotation are kept.
pub trait Safe: Send {
    /// Saves the record durably.
    fn save<'a>(&'a mut self, rotation: &'a Rotation) -> Answer<'a, ()>;

    /// Makes the new password the one that everybody uses, durably, and keeps the old one. Idempotent.
    fn switch(&mut self) -> Answer<'_, ()>;

    /// The password that everybody uses.
    fn stored(&self) -> Password;
}

/// Carries a rotation on until it ends, or until a step fails in a way that is worth another try later.
///
/// `Err` leaves the record where it is: BMC not reachable, lockout guard, or the safe failed. Call again with the saved
/// record, [`Rotation::resumed`].
pub async fn run(
    mut rotation: Rotation,
    old: &Password,
    new: &Password,
    dial: &dyn Dial,
    safe: &mut dyn Safe,
) -> Result<Rotation> {
    while !rotation.has_ended() {
        let ended = match rotation.next() {
            Step::Announce => Ended::Done,
            Step::SetPassword => set(&rotation, old, new, dial).await?,
            Step::TryNew => try_new(&rotation, old, new, dial).await?,
            Step::Switch => {
                safe.switch().await?;
                Ended::Done
            }
            Step::Prove => match works(&rotation, &safe.stored(), dial).await? {
                true => Ended::Done,
                false => Ended::NoneWorks,
            },
            Step::End => return Ok(rotation),
        };
        rotation = rotation.after(ended);
        safe.save(&rotation).await?;
    }
    Ok(rotation)
}

/// The change was announced and not sent before: whatever happens now is known or recorded as unknown.
async fn set(rotation: &Rotation, old: &Password, new: &Password, dial: &dyn Dial) -> Result<Ended> {
    let bmc = dial.dial(&credentials(rotation, old))?;
    // The login is apart from the change, so that a refused login is told from a refused change.
    if let Err(error) = bmc.power().await {
        return match error.cause() {
            Cause::Unauthorized { .. } => Ok(Ended::NoneWorks),
            _ => Err(error),
        };
    }
    let changed = bmc.set_password(&rotation.user, new).await;
    // The session may have ended with the old password.
    let _ = bmc.close().await;
    Ok(match changed {
        Ok(()) => Ended::Done,
        Err(error) if is_refusal(&error) => Ended::ChangeRefused,
        Err(_) => Ended::Unknown,
    })
}

fn is_refusal(error: &Error) -> bool {
    match error.cause() {
        Cause::Forbidden { .. }
        | Cause::Unsupported { .. }
        | Cause::NotFound { .. }
        | Cause::Invalid { .. } => true,
        Cause::Refusal { code, .. } => !code.starts_with("HTTP 5"),
        _ => false,
    }
}

async fn try_new(rotation: &Rotation, old: &Password, new: &Password, dial: &dyn Dial) -> Result<Ended> {
    if works(rotation, new, dial).await? {
        return Ok(Ended::Done);
    }
    Ok(match works(rotation, old, dial).await? {
        true => Ended::OldWorks,
        false => Ended::NoneWorks,
    })
}

/// Whether a login with the password succeeds; `Err` when that can't be told.
async fn works(rotation: &Rotation, password: &Password, dial: &dyn Dial) -> Result<bool> {
    let bmc = dial.dial(&credentials(rotation, password))?;
    let answer = match bmc.power().await {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.cause(), Cause::Unauthorized { .. }) => Ok(false),
        Err(error) => Err(error),
    };
    let _ = bmc.close().await;
    answer
}

fn credentials(rotation: &Rotation, password: &Password) -> Credentials {
    Credentials { user: rotation.user.clone(), password: password.clone() }
}
