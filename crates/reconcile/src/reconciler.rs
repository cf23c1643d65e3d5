//! The reconciler trait: plan purely, execute plainly.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::kind::{Planes, QueryContext, Resource};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::gate::Gates;
use crate::objects::Objects;
use crate::plan::{Action, Plan};
use crate::role::Rule;
use crate::target::Target;
use crate::workers::Settings;

/// Brings objects to their desired state.
///
/// A host (the API server, a remote process or a simulation) calls [`Reconciler::plan`] whenever an object or something that
/// its last plan has read changes, commits what the plan writes, and executes its actions.
pub trait Reconciler: Send + Sync + 'static {
    /// Name in leases, logs and metrics.
    fn name(&self) -> &'static str;

    /// What it does, in a sentence, for the documentation.
    fn description(&self) -> &'static str {
        ""
    }

    /// Whether clients wait for what it does before they go on, as they do for a definition to be served. It then works on
    /// the threads that answer requests, and not on those of the other controllers, which give way to them.
    fn is_awaited(&self) -> bool {
        false
    }

    /// The objects that it reconciles.
    fn scope(&self) -> Scope;

    /// What it may write, in every plane. Whatever else it tries to write is refused.
    fn role(&self) -> Vec<Rule>;

    /// The user that history and audit show.
    fn user(&self) -> String {
        format!("system:{}", self.name())
    }

    /// Its field manager.
    fn manager(&self) -> &'static str {
        self.name()
    }

    /// The reporting controller of its Events.
    fn reporter(&self) -> &'static str {
        self.name()
    }

    /// Number of workers, deadline and pauses.
    fn settings(&self) -> Settings {
        Settings::new(self.name())
    }

    /// Which changes of the objects that it reads, its own objects included, queue an object again.
    fn depends_on(&self) -> DependsOn {
        DependsOn::Spec
    }

    /// Whether its objects may wait in line for objects of a bucket. Then the status of objects counts for buckets.
    fn waits_in_line(&self) -> bool {
        false
    }

    /// How current the objects are that a plan sees.
    fn freshness(&self) -> Freshness {
        Freshness::Latest
    }

    /// Whether an object of its scope needs a plan because of a change. For generic controllers, which are shown every
    /// object: they see its metadata alone.
    fn concerns(&self, change: &Changed<'_>) -> bool {
        let _ = change;
        true
    }

    /// The objects whose changes [`Reconciler::affected`] is shown.
    fn observes(&self) -> Scope {
        Scope::Nothing
    }

    /// What its plans read besides the objects of [`Reconciler::scope`] and [`Reconciler::observes`]. A host beside the
    /// server follows these from the start, and the role that it needs allows to read them. Other kinds are followed once a
    /// plan reads one, if the host may.
    fn reads(&self) -> Scope {
        Scope::Nothing
    }

    /// Queues objects that a change affects though their plans have not read what changed. For controllers with an index of
    /// their own.
    fn affected(&self, change: &Changed<'_>, queue: &mut dyn FnMut(Target)) {
        let _ = (change, queue);
    }

    /// Takes a bell when a host begins to run it. Who follows something outside of the store, such as containers of this
    /// machine, rings it to have an object planned again. It may be called again, with another bell.
    fn attach(&self, bell: Bell) {
        let _ = bell;
    }

    /// What has to be written and done. Depends on nothing but its arguments.
    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan;

    /// The same for an object that is gone.
    fn plan_absent(&self, target: &Target, context: &Context<'_>) -> Plan {
        let _ = (target, context);
        Plan::nothing()
    }

    /// Executes one action of a plan.
    fn execute<'a>(&'a self, action: &'a Action, execution: &'a Execution) -> Executing<'a> {
        let _ = execution;
        let why = format!("{} can't execute the action {:?}", self.name(), action.name);
        Box::pin(std::future::ready(Outcome::Failed(why)))
    }
}

/// Queues an object of a controller, because of something that is not in the store.
pub type Bell = Arc<dyn Fn(&Target) + Send + Sync>;

/// A future of an action.
pub type Executing<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// How long an action may hold a worker. What takes longer says [`Outcome::Pending`] and is asked for again.
pub const LONGEST: Duration = Duration::from_secs(10);

/// Executes an action as hosts do: one that takes too long is cancelled and has failed. Whether it had an effect is looked up
/// when it is tried again, as after a restart.
pub async fn execute(reconciler: &dyn Reconciler, action: &Action, execution: &Execution) -> Outcome {
    match tokio::time::timeout(LONGEST, reconciler.execute(action, execution)).await {
        Ok(outcome) => outcome,
        Err(_) => Outcome::Failed(format!("the action {:?} took longer than {LONGEST:?}", action.name)),
    }
}

/// How an action ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It is done, with this result, which the next plan sees if the action is external.
    Done(Value),
    /// It failed, for this reason; the object is planned again after a pause that grows.
    Failed(String),
    /// It goes on elsewhere: the handle says where, and it is to be asked for again after the pause.
    Pending(Value, Duration),
}

/// What an action is executed with.
pub struct Execution {
    /// The object.
    pub target: Target,
    /// Identifies the operation towards the outside: the same after a restart.
    pub operation: String,
    /// Whether it was begun before, by this process or another one: its outcome must be looked up first.
    pub was_begun: bool,
    /// What the last attempt said when it was pending.
    pub handle: Option<Value>,
    /// Objects as they are now, and writes that can't wait for the next plan.
    pub objects: Arc<dyn Objects>,
    /// Gates in front of endpoints, shared by all controllers of the process.
    pub gates: Gates,
    /// Cancelled when the lease is lost or the process stops.
    pub cancelled: CancellationToken,
}

/// The objects that a controller works on.
#[derive(Debug, Clone)]
pub enum Scope {
    /// None.
    Nothing,
    /// The objects of these resources, given as group and plural, in these planes.
    Resources(Vec<(Cow<'static, str>, Cow<'static, str>)>, Planes),
    /// The objects of all kinds of these groups, in these planes.
    Groups(Vec<&'static str>, Planes),
    /// All objects of all planes.
    Everything,
}

impl Scope {
    /// The objects of one resource.
    pub fn resource(group: &'static str, plural: &'static str, planes: Planes) -> Scope {
        Scope::Resources(vec![(group.into(), plural.into())], planes)
    }

    /// The objects of a Rust kind.
    pub fn of<T: Resource>(planes: Planes) -> Scope {
        Scope::resource(T::GROUP, T::PLURAL, planes)
    }

    /// Whether it includes the objects of a resource in a plane; the root's name is empty.
    pub fn includes(&self, plane: &str, group: &str, plural: &str) -> bool {
        let is_in = |planes: Planes| match planes {
            Planes::Both => true,
            Planes::Root => plane.is_empty(),
            Planes::Project => !plane.is_empty(),
        };
        match self {
            Scope::Nothing => false,
            Scope::Everything => true,
            Scope::Groups(groups, planes) => is_in(*planes) && groups.contains(&group),
            Scope::Resources(resources, planes) => {
                is_in(*planes) && resources.iter().any(|found| found.0 == group && found.1 == plural)
            }
        }
    }
}

/// Which changes of an object others depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependsOn {
    /// Changes of anything except the status.
    Spec,
    /// All changes.
    Everything,
}

/// How current the objects are that a plan sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// As this process knows them. What it misses comes as a change.
    Latest,
    /// As they are on all servers when the plan begins: for plans that delete because something is absent.
    Current,
}

/// A change of an object.
pub struct Changed<'a> {
    /// The object.
    pub target: &'a Target,
    /// Its metadata before; `None` if it is new.
    pub before: Option<&'a Object>,
    /// Its metadata after; `None` if it is gone.
    pub after: Option<&'a Object>,
    /// Whether nothing but its status has changed.
    pub is_status_only: bool,
    /// The plane of the object, now.
    pub look: &'a dyn QueryContext,
    /// What its owner references refer to, and what refers to it as an owner.
    pub world: &'a dyn crate::context::World,
}

impl Changed<'_> {
    /// Whether the object is new or gone.
    pub fn comes_or_goes(&self) -> bool {
        self.before.is_none() || self.after.is_none()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    /// Takes an hour for everything.
    struct Slow;

    impl Reconciler for Slow {
        fn name(&self) -> &'static str {
            "slow"
        }

        fn scope(&self) -> Scope {
            Scope::Nothing
        }

        fn role(&self) -> Vec<Rule> {
            Vec::new()
        }

        fn plan(&self, _: &Target, _: &Arc<Object>, _: &Context<'_>) -> Plan {
            Plan::nothing()
        }

        fn execute<'a>(&'a self, _: &'a Action, _: &'a Execution) -> Executing<'a> {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                Outcome::Done(Value::Null)
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_action_holds_a_worker_for_longer_than_ten_seconds() {
        let at = krm::kind::Address {
            group: String::new(),
            plural: "hosts".into(),
            namespace: String::new(),
            name: "h1".into(),
        };
        let execution = Execution {
            target: Target::new("", at),
            operation: String::new(),
            was_begun: false,
            handle: None,
            objects: Arc::new(crate::objects::NoObjects),
            gates: Gates::default(),
            cancelled: CancellationToken::new(),
        };
        let action = Action { name: "install".into(), parameters: Value::Null, is_external: true };
        let begun = Instant::now();
        let outcome = execute(&Slow, &action, &execution).await;
        assert_eq!(begun.elapsed(), LONGEST);
        assert!(matches!(outcome, Outcome::Failed(why) if why.contains("\"install\" took longer than 10s")));
    }
}
