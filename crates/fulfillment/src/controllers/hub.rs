//! The hub controller: keeps a connection to each hub, and in it what clusters need.

use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::condition::Finding;
use krm::kind::Planes;
use krm::time::Moment;
use reconcile::context::Context;
use reconcile::plan::{Action, Plan};
use reconcile::reconciler::{Bell, Executing, Execution, Outcome, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};

use super::reach::{self, Reached};
use crate::hubs::Hubs;
use crate::kinds::Hub;
use crate::states::HubState;

/// Keeps hubs until what was made in them is removed.
const FINALIZER: &str = "fulfillment.groundplane.dev/hub";
const FORGET: &str = "forget";
/// How long a deleted hub that does not answer is waited for.
const PATIENCE: i64 = 60;

/// Reconciles hubs.
pub struct HubController {
    hubs: Arc<Hubs>,
}

impl HubController {
    /// A controller with these connections.
    pub fn new(hubs: Arc<Hubs>) -> HubController {
        HubController { hubs }
    }
}

impl Reconciler for HubController {
    fn name(&self) -> &'static str {
        "hub-controller"
    }

    fn description(&self) -> &'static str {
        "Connects to hubs, keeps there what clusters need, and says whether clusters can be placed on them."
    }

    fn scope(&self) -> Scope {
        Scope::of::<Hub>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(crate::GROUP, &["hubs", "hubs/status"], &["update"])]
    }

    fn attach(&self, bell: Bell) {
        self.hubs.attach("hubs", bell);
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let root = context.root();
        let reached = reach::reach(&self.hubs, object.name(), target, &root);
        if object.is_deleting() {
            return self.end(target, object, reached, context.now());
        }
        let mut new = Object::clone(object);
        if !object.finalizers().contains(&FINALIZER) {
            let mut all: Vec<String> = object.finalizers().into_iter().map(str::to_owned).collect();
            all.push(FINALIZER.to_owned());
            new.set_finalizers(all);
        }
        let now = context.now().to_string();
        let (reachable, ready, state) = match reached {
            Ok(Reached { link, facts, provisioner }) => {
                let calls = provisioner.prepare(&facts, &link);
                let is_prepared = calls.is_empty();
                plan.actions.extend(reach::calls(object.name(), link.version(), &calls));
                let reachable = Finding::holds("Reachable", "Answers", "");
                match is_prepared {
                    true => (reachable, Finding::holds("Ready", "Prepared", ""), HubState::Ready),
                    false => {
                        let what = "what clusters need is being made in the hub";
                        (reachable, Finding::fails("Ready", "Preparing", what), HubState::Progressing)
                    }
                }
            }
            Err(unreached) => {
                plan.actions.extend(unreached.action);
                let state = match unreached.reason {
                    "Connecting" => HubState::Progressing,
                    _ => HubState::Failed,
                };
                let is_known = krm::condition::find(object, "Reachable").is_some();
                let (reason, message) = (unreached.reason, unreached.message);
                if reason == "Connecting" && is_known {
                    // After a restart, nothing is said before something is known.
                    plan.change(&target.plane, object, new);
                    return plan.waiting_for("the connection to the hub");
                }
                let answers = reason == "HubRefuses";
                let reachable =
                    Finding { kind: "Reachable", holds: answers, reason, message: message.clone() };
                (reachable, Finding::fails("Ready", reason, message), state)
            }
        };
        let waiting = (!ready.holds).then(|| ready.message.clone());
        reachable.tell(&mut new, &now);
        ready.tell(&mut new, &now);
        let mut status = new.get("status").cloned().unwrap_or_else(|| json!({}));
        status["state"] = json!(state);
        new.set("status", Some(status));
        plan.change(&target.plane, object, new);
        match waiting {
            Some(what) => plan.waiting_for(what),
            None => plan,
        }
    }

    fn plan_absent(&self, target: &Target, _: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let parameters = json!({"hub": target.at.name});
        plan.actions.push(Action { name: FORGET.to_owned(), parameters, is_external: false });
        plan
    }

    fn execute<'a>(&'a self, action: &'a Action, execution: &'a Execution) -> Executing<'a> {
        Box::pin(async move {
            if action.name == FORGET {
                self.hubs.forget(action.parameters["hub"].as_str().unwrap_or_default());
                return Outcome::Done(Value::Null);
            }
            let done = reach::execute(&self.hubs, action, &execution.target).await;
            done.unwrap_or_else(|| Outcome::Failed(format!("unknown action {:?}", action.name)))
        })
    }
}

impl HubController {
    /// Removes what was made in a hub. One that does not answer is given up after a while.
    fn end(
        &self,
        target: &Target,
        object: &Arc<Object>,
        reached: Result<Reached, reach::Unreached>,
        now: Moment,
    ) -> Plan {
        let mut plan = Plan::nothing();
        if !object.finalizers().contains(&FINALIZER) {
            return plan;
        }
        match reached {
            Ok(Reached { link, facts, provisioner }) => {
                let calls = provisioner.dismantle(&facts, &link);
                if !calls.is_empty() {
                    plan.actions.extend(reach::calls(object.name(), link.version(), &calls));
                    return plan.waiting_for("what was made in the hub is being removed");
                }
            }
            Err(unreached) => {
                plan.actions.extend(unreached.action);
                let since = Moment::parse(object.meta_text("deletionTimestamp")).unwrap_or(now);
                let waited = now.seconds - since.seconds;
                let can_wait = !matches!(unreached.reason, "HubGone" | "HubIncomplete");
                if can_wait && waited < PATIENCE {
                    let left = u64::try_from(PATIENCE - waited).unwrap_or(1);
                    plan.again_after(Duration::from_secs(left.max(1)));
                    return plan.waiting_for(format!("the hub: {}", unreached.message));
                }
                tracing::warn!(
                    hub = object.name(),
                    why = unreached.message,
                    "a hub is deleted that does not answer"
                );
            }
        }
        let mut new = Object::clone(object);
        let left = object.finalizers().into_iter().filter(|name| *name != FINALIZER);
        new.set_finalizers(left.map(str::to_owned).collect());
        plan.change(&target.plane, object, new);
        plan
    }
}
