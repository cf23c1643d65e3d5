//! Work that takes longer than an action may: it goes on in a task, and the action is asked for again until it has ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reconcile::reconciler::{Execution, Outcome};
use reconcile::target::Target;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// How long an action waits for its work before it is pending.
const WAIT: Duration = Duration::from_secs(6);
/// Pause before it is asked for again.
const PAUSE: Duration = Duration::from_secs(1);

/// The work of the actions of one controller in this process.
#[derive(Clone, Default)]
pub struct Ongoing(Arc<Mutex<HashMap<String, Task>>>);

struct Task {
    target: Target,
    /// The action that it is of.
    action: String,
    /// Gives the result; taken while an action waits for it.
    ended: Option<oneshot::Receiver<Value>>,
    cancel: CancellationToken,
}

impl Ongoing {
    /// Carries an operation on: begins it, unless it goes on in this process already, and waits for its end for a while.
    /// Without an entry, as after a restart, it begins again: the work must be such that this does no harm.
    ///
    /// The work is dropped when the lease of the controller is lost.
    pub async fn carry<F>(&self, action: &str, execution: &Execution, begin: impl FnOnce() -> F) -> Outcome
    where
        F: Future<Output = Value> + Send + 'static,
    {
        let id = &execution.operation;
        let known = self.tasks().get_mut(id).and_then(|task| task.ended.take());
        let mut ended = known.unwrap_or_else(|| {
            let (tell, ended) = oneshot::channel();
            let (work, cancel) = (begin(), execution.cancelled.clone());
            let (target, action) = (execution.target.clone(), action.to_owned());
            let task = Task { target, action, ended: None, cancel: cancel.clone() };
            self.tasks().insert(id.clone(), task);
            tokio::spawn(async move {
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => {}
                    result = work => drop(tell.send(result)),
                }
            });
            ended
        });
        match tokio::time::timeout(WAIT, &mut ended).await {
            Err(_) => {
                if let Some(task) = self.tasks().get_mut(id) {
                    task.ended = Some(ended);
                }
                Outcome::Pending(Value::Null, PAUSE)
            }
            Ok(result) => {
                self.tasks().remove(id);
                result.map_or(Outcome::Pending(Value::Null, PAUSE), Outcome::Done)
            }
        }
    }

    /// The action that goes on for an object in this process.
    pub fn doing(&self, target: &Target) -> Option<String> {
        self.tasks().values().find(|task| task.target == *target).map(|task| task.action.clone())
    }

    /// Ends what goes on for an object, where it is.
    pub fn cancel(&self, target: &Target) {
        let mut tasks = self.tasks();
        tasks.retain(|_, task| {
            if task.target == *target {
                task.cancel.cancel();
            }
            task.target != *target
        });
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<String, Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
