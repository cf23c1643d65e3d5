//! A person as the driver: for machines without a BMC. A call asks, and waits until a person has answered.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::Address;
use crate::boot::BootOverride;
use crate::contract::{Answer, Bmc, Outcome};
use crate::error::{Cause, Error, Result};
use crate::power::{PowerAction, PowerState};

/// Something that a person is asked to do, or to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Number, by which it is answered.
    pub id: u64,
    /// The machine.
    pub address: String,
    /// What to do.
    pub what: What,
}

/// What a person is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// To say whether the machine is on.
    TellPower,
    /// To change its power.
    Power(PowerAction),
    /// To choose the boot device in the firmware's menu.
    Boot(BootOverride),
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The machine is in this state: to [`What::TellPower`].
    Power(PowerState),
    /// It is done.
    Done,
    /// It will not be done, for a reason.
    Declined(String),
}

/// Where requests wait for a person. Requests and the drivers that made them share one.
#[derive(Default)]
pub struct Desk {
    state: Mutex<State>,
    answered: Notify,
}

#[derive(Default)]
struct State {
    last: u64,
    open: Vec<Request>,
    replies: Vec<(u64, Reply)>,
}

impl State {
    fn reply(&mut self, id: u64) -> Option<Reply> {
        let at = self.replies.iter().position(|(known, _)| *known == id)?;
        Some(self.replies.swap_remove(at).1)
    }
}

impl Desk {
    /// Requests that wait for an answer, oldest first.
    pub fn pending(&self) -> Vec<Request> {
        self.state().open.clone()
    }

    /// Answers a request; `false` when it is not pending.
    pub fn answer(&self, id: u64, reply: Reply) -> bool {
        let mut state = self.state();
        let Some(at) = state.open.iter().position(|request| request.id == id) else { return false };
        state.open.remove(at);
        state.replies.push((id, reply));
        drop(state);
        self.answered.notify_waiters();
        true
    }

    /// Asks, unless the same is asked already: a call that was given up and repeated waits for the same answer.
    fn ask(&self, address: &Address, what: What) -> u64 {
        let address = address.to_string();
        let mut state = self.state();
        let same = state.open.iter().find(|request| request.address == address && request.what == what);
        if let Some(request) = same {
            return request.id;
        }
        state.last += 1;
        let id = state.last;
        state.open.push(Request { id, address, what });
        id
    }

    async fn wait(&self, id: u64, end: Instant) -> Option<Reply> {
        loop {
            let answered = self.answered.notified();
            tokio::pin!(answered);
            // Registered before looking, so that no answer is missed in between.
            answered.as_mut().enable();
            if let Some(reply) = self.state().reply(id) {
                return Some(reply);
            }
            timeout_at(end, answered).await.ok()?;
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A machine that a person operates.
pub struct Manual {
    address: Address,
    desk: Arc<Desk>,
    /// How long one call waits. The request stays pending afterwards.
    wait: Duration,
}

impl Manual {
    /// With the desk where requests are shown.
    pub fn new(address: &Address, desk: Arc<Desk>, wait: Duration) -> Manual {
        Manual { address: address.clone(), desk, wait }
    }

    async fn ask(&self, action: &str, what: What) -> Result<Reply> {
        let id = self.desk.ask(&self.address, what);
        let failed = |why: String| Err(Error::new(&self.address, action, Cause::Person { why }));
        match self.desk.wait(id, Instant::now() + self.wait).await {
            Some(Reply::Declined(reason)) => failed(format!("declined: {reason}")),
            Some(reply) => Ok(reply),
            None => failed(format!("request {id} waits for a person")),
        }
    }

    async fn do_it(&self, action: &str, what: What) -> Result<Outcome> {
        self.ask(action, what).await.map(|_| Outcome::Changed)
    }
}

impl Bmc for Manual {
    fn address(&self) -> &Address {
        &self.address
    }

    fn power(&self) -> Answer<'_, PowerState> {
        Box::pin(async {
            match self.ask("read the power state", What::TellPower).await? {
                Reply::Power(state) => Ok(state),
                _ => {
                    let why = "the answer must be a power state".to_owned();
                    Err(Error::new(&self.address, "read the power state", Cause::Person { why }))
                }
            }
        })
    }

    /// Nothing but the person's word says that it was done.
    fn set_power(&self, action: PowerAction) -> Answer<'_, Outcome> {
        Box::pin(async move { self.do_it(&action.to_string(), What::Power(action)).await })
    }

    fn set_boot(&self, wanted: BootOverride) -> Answer<'_, Outcome> {
        Box::pin(async move { self.do_it(&format!("set boot device to {wanted}"), What::Boot(wanted)).await })
    }
}
