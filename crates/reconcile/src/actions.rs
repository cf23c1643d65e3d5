//! The actions of a plan: recorded before they begin, executed, and recorded again with what came of them.
//!
//! Where records are kept differs between hosts, so that is passed in as a [`Journal`].

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::gate::Gates;
use crate::lease::Later;
use crate::objects::Objects;
use crate::operation::Operations;
use crate::plan::{Action, Plan};
use crate::reconciler::{Execution, Outcome, Reconciler, execute};
use crate::target::Target;

/// Where a host keeps the operations of the object that it works on.
pub trait Journal: Sync {
    /// Why an attempt failed.
    type Error: Send;

    /// Keeps the operations as they are now.
    fn keep<'a>(&'a self, operations: &'a Operations) -> Later<'a, Result<(), Self::Error>>;
    /// Has the object planned again after a pause.
    fn again(&self, pause: Duration);
    /// Objects for actions to read and write.
    fn objects(&self) -> Arc<dyn Objects>;
    /// An action failed, for this reason.
    fn failed(&self, why: String) -> Self::Error;
}

/// The actions of one plan.
pub struct Actions {
    all: Vec<Action>,
    /// The operations as they were recorded when the object was planned.
    before: Operations,
    operations: Operations,
}

impl Actions {
    /// Those of a plan that was made with these operations on record. What begins gets a new id.
    pub fn of(plan: &mut Plan, before: Operations, new_id: impl FnMut() -> String) -> Actions {
        let all = std::mem::take(&mut plan.actions);
        let mut operations = before.clone();
        let external = all.iter().filter(|action| action.is_external);
        operations.want(external.map(|action| action.name.as_str()), new_id);
        Actions { all, before, operations }
    }

    /// What has to be recorded in the commit of the plan, before anything is executed; `None` if it is on record already.
    pub fn to_record(&self) -> Option<&Operations> {
        (self.operations != self.before).then_some(&self.operations)
    }

    /// The operations as they are to be on record.
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// Executes them one after the other. Those whose result is on record are not repeated.
    pub async fn execute<J: Journal>(
        mut self,
        reconciler: &dyn Reconciler,
        target: &Target,
        (gates, cancelled): (&Gates, &CancellationToken),
        journal: &J,
    ) -> Result<(), J::Error> {
        for action in &self.all {
            let known = self.operations.get(&action.name);
            if known.is_some_and(|known| known.result.is_some()) {
                continue;
            }
            let execution = Execution {
                target: target.clone(),
                operation: known.map(|known| known.id.clone()).unwrap_or_default(),
                was_begun: self.before.get(&action.name).is_some(),
                handle: known.and_then(|known| known.handle.clone()),
                objects: journal.objects(),
                gates: gates.clone(),
                cancelled: cancelled.child_token(),
            };
            let pause = match execute(reconciler, action, &execution).await {
                Outcome::Failed(why) => return Err(journal.failed(why)),
                Outcome::Done(_) if !action.is_external => continue,
                Outcome::Done(result) => {
                    self.operations.done(&action.name, result);
                    Duration::ZERO
                }
                Outcome::Pending(handle, pause) => {
                    self.operations.pending(&action.name, handle);
                    pause
                }
            };
            if action.is_external {
                journal.keep(&self.operations).await?;
            }
            journal.again(pause);
        }
        Ok(())
    }
}
