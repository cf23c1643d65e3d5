//! One attempt at an object: plan, commit, execute.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use krm::Object;
use krm::status::{Status, Subject};
use krm::time::Moment;
use reconcile::actions::{Actions, Journal};
use reconcile::backoff::{Randomness, system_randomness};
use reconcile::context::{Context, Refused, World};
use reconcile::lease::Later;
use reconcile::member::Member;
use reconcile::objects::Objects;
use reconcile::operation::Operations;
use reconcile::plan::{Plan, Write};
use reconcile::read::Read;
use reconcile::reconciler::Reconciler;
use reconcile::target::Target;
use reconcile::workers::Next;
use tokio_util::sync::CancellationToken;

use crate::cache::Snapshot;
use crate::commit::{Commit, Committer, Failed, Landed};
use crate::feed::Informers;
use crate::place::Place;
use crate::records::Records;
use crate::role;
use crate::running::Running;
use crate::world::{CacheWorld, Missing};

/// How often a plan may follow another within one attempt, because independent writes were refused.
const ROUNDS: usize = 3;
/// How often a plan may be made again within one attempt, because it has read something that was not followed.
const SUPPLIES: usize = 8;
/// How long an attempt waits for something that it has read for the first time.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause before an object is planned again because something changed while it was planned.
const BEHIND: Duration = Duration::from_millis(5);

/// Plans, commits and executes for one controller, while it holds its lease.
pub(super) struct Planner {
    informers: Informers,
    member: Arc<Member<Place>>,
    committer: Committer,
    records: Records,
    running: Arc<Running>,
    in_all_planes: bool,
    creates: Vec<(String, String)>,
    /// Own writes that the caches do not show yet: no plan is made before they do.
    written: Mutex<Vec<(Landed, u64)>>,
    /// The ids of attempts whose commit may have landed or not.
    unknown: Mutex<HashMap<Place, String>>,
    randomness: Randomness,
    stop: CancellationToken,
}

impl Planner {
    pub fn new(
        informers: Informers,
        (member, committer, records): (Arc<Member<Place>>, Committer, Records),
        running: Arc<Running>,
        in_all_planes: bool,
        stop: CancellationToken,
    ) -> Planner {
        Planner {
            creates: role::creates(&*member.reconciler),
            informers,
            member,
            committer,
            records,
            running,
            in_all_planes,
            written: Mutex::default(),
            unknown: Mutex::default(),
            randomness: system_randomness(),
            stop,
        }
    }

    pub async fn attempt(self: &Arc<Self>, place: &Place) -> Result<Next, String> {
        let id = self.unknown.lock().unwrap_or_else(PoisonError::into_inner).remove(place);
        let id = id.unwrap_or_else(|| self.new_id());
        let ended = self.rounds(place, &id).await;
        if let Err(Trouble::Commit(failed)) = &ended
            && failed.is_unknown()
        {
            self.unknown.lock().unwrap_or_else(PoisonError::into_inner).insert(place.clone(), id);
        }
        ended.map_err(|trouble| trouble.to_string())
    }

    async fn rounds(self: &Arc<Self>, place: &Place, id: &str) -> Result<Next, Trouble> {
        let mut refused: Vec<Refused> = Vec::new();
        for _ in 0..ROUNDS {
            let planned = self.planned(place, std::mem::take(&mut refused)).await?;
            let Planned { plan, reads, snapshot } = planned;
            let is_current = self.informers.register(&self.member, place, reads, snapshot.sequence);
            let again = plan.again;
            self.running.wait_for(place, plan.waiting.clone());
            refused = self.carry_out(place, plan, &snapshot, id).await?;
            if refused.is_empty() {
                return Ok(match (is_current, again) {
                    (false, _) => Next::After(BEHIND),
                    (true, Some(pause)) => Next::After(pause),
                    (true, None) => Next::Done,
                });
            }
        }
        match refused.into_iter().next() {
            Some(first) => Err(Trouble::Other(first.status.to_string())),
            None => Ok(Next::Done),
        }
    }

    /// A plan that has read nothing but what is followed.
    async fn planned(self: &Arc<Self>, place: &Place, refused: Vec<Refused>) -> Result<Planned, Trouble> {
        let refused = Arc::new(refused);
        for _ in 0..SUPPLIES {
            let snapshot = self.view().await?;
            let (planned, missing) = self.plan(place, snapshot, &refused).await?;
            if missing.is_empty() {
                return Ok(planned);
            }
            self.informers.supply(&missing, PATIENCE).await?;
        }
        Err(Trouble::Other("every plan reads further kinds that were not followed before".to_owned()))
    }

    /// The caches, once they show the controller's own last writes.
    async fn view(&self) -> Result<Snapshot, Trouble> {
        let pending = self.written.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let shows = |snapshot: &Snapshot| pending.iter().all(|(landed, at)| landed.is_in(snapshot, *at));
        let Ok(snapshot) = tokio::time::timeout(PATIENCE, self.informers.until(shows)).await else {
            let why = "the caches do not show the controller's own last write yet";
            return Err(Trouble::Other(why.to_owned()));
        };
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.retain(|(landed, at)| !landed.is_in(&snapshot, *at));
        Ok(snapshot)
    }

    async fn plan(
        self: &Arc<Self>,
        place: &Place,
        snapshot: Snapshot,
        refused: &Arc<Vec<Refused>>,
    ) -> Result<(Planned, Missing), Trouble> {
        if !self.reconciler().settings().is_heavy {
            return Ok(self.plan_now(place, snapshot, refused));
        }
        let (planner, place, refused) = (self.clone(), place.clone(), refused.clone());
        let planning = tokio::task::spawn_blocking(move || planner.plan_now(&place, snapshot, &refused));
        planning.await.map_err(|error| Trouble::Other(error.to_string()))
    }

    fn plan_now(&self, place: &Place, snapshot: Snapshot, refused: &[Refused]) -> (Planned, Missing) {
        let target = place.target();
        let catalog = self.informers.catalog();
        let world = CacheWorld::new(catalog, snapshot.clone(), self.in_all_planes, &self.creates);
        let object = world.look(&target.plane).get(&target.at);
        let operations = self.records.of(place);
        let now = now();
        let context = Context::new(&world, &target.plane, now).after(refused).with_operations(operations);
        let mut plan = match &object {
            Some(object) => self.reconciler().plan(&target, object, &context),
            None => self.reconciler().plan_absent(&target, &context),
        };
        let is_overdue = object.as_ref().is_some_and(|object| plan.judge_state(&target, object, now));
        self.running.set_overdue(place, is_overdue);
        let mut reads = context.into_reads();
        reads.remove(&Read::object(&target.plane, &target.at));
        (Planned { plan, reads, snapshot }, world.into_missing())
    }

    /// Commits and executes a plan; returns the independent writes that were refused.
    async fn carry_out(
        self: &Arc<Self>,
        place: &Place,
        mut plan: Plan,
        snapshot: &Snapshot,
        id: &str,
    ) -> Result<Vec<Refused>, Trouble> {
        let target = place.target();
        let commit = Commit { target: &target, planned_on: snapshot, id };
        let actions = Actions::of(&mut plan, self.records.of(place), || self.new_id());
        let record = actions.to_record();
        if !plan.writes.is_empty() || record.is_some() {
            let landed = self.committer.together(&plan.writes, &plan.guards, record, &commit).await?;
            self.note(landed, snapshot);
            self.records.set(place, actions.operations().clone());
        }
        let mut refused = Vec::new();
        for write in &plan.independent {
            match self.committer.alone(write, &commit).await {
                Ok(landed) => self.note(landed, snapshot),
                Err((target, failed)) => {
                    refused.push(Refused { status: status_of(&target, failed)?, target })
                }
            }
        }
        let journal = ServerJournal { planner: self, place, commit: &commit };
        let around = (self.informers.gates(), &self.stop);
        actions.execute(&**self.reconciler(), &target, around, &journal).await?;
        Ok(refused)
    }

    fn note(&self, landed: Vec<Landed>, planned_on: &Snapshot) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        for one in landed {
            let at = planned_on.get(&one.place).map_or(0, |entry| entry.version);
            written.push((one, at));
        }
    }

    fn reconciler(&self) -> &Arc<dyn Reconciler> {
        &self.member.reconciler
    }

    /// An identity that nothing else has.
    fn new_id(&self) -> String {
        let (one, other) = ((self.randomness)(), (self.randomness)());
        let mut digits = format!("{one:016x}{other:016x}");
        [20, 16, 12, 8].iter().for_each(|at| digits.insert(*at, '-'));
        digits
    }
}

/// Keeps operations where the server does.
struct ServerJournal<'a> {
    planner: &'a Arc<Planner>,
    place: &'a Place,
    commit: &'a Commit<'a>,
}

impl Journal for ServerJournal<'_> {
    type Error = Trouble;

    fn keep<'a>(&'a self, operations: &'a Operations) -> Later<'a, Result<(), Trouble>> {
        Box::pin(async move {
            self.planner.committer.together(&[], &[], Some(operations), self.commit).await?;
            self.planner.records.set(self.place, operations.clone());
            Ok(())
        })
    }

    fn again(&self, pause: Duration) {
        self.planner.member.queue.add_after(self.place.clone(), pause);
    }

    fn objects(&self) -> Arc<dyn Objects> {
        Arc::new(RemoteObjects { planner: self.planner.clone(), target: self.commit.target.clone() })
    }

    fn failed(&self, why: String) -> Trouble {
        Trouble::Other(why)
    }
}

/// The objects of the server, for the actions of a controller.
struct RemoteObjects {
    planner: Arc<Planner>,
    /// The object whose actions they are.
    target: Target,
}

impl Objects for RemoteObjects {
    fn get<'a>(&'a self, target: &'a Target) -> Later<'a, Result<Option<Arc<Object>>, Status>> {
        Box::pin(async move {
            let found = self.planner.committer.find(target).await;
            found.map(|found| found.map(Arc::new)).map_err(|failed| refusal(target, &failed))
        })
    }

    fn commit(&self, writes: Vec<Write>) -> Later<'_, Result<(), Status>> {
        Box::pin(async move {
            let (planner, id) = (&self.planner, self.planner.new_id());
            let snapshot =
                planner.view().await.map_err(|trouble| Status::unavailable(trouble.to_string()))?;
            let commit = Commit { target: &self.target, planned_on: &snapshot, id: &id };
            let landed = planner.committer.together(&writes, &[], None, &commit).await;
            planner.note(landed.map_err(|failed| refusal(&self.target, &failed))?, &snapshot);
            Ok(())
        })
    }
}

/// A plan, what it has read, and the snapshot that it was made on.
struct Planned {
    plan: Plan,
    reads: BTreeSet<Read>,
    snapshot: Snapshot,
}

/// Why an attempt failed.
enum Trouble {
    Commit(Failed),
    Other(String),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::Commit(failed) => failed.fmt(f),
            Trouble::Other(why) => f.write_str(why),
        }
    }
}

impl From<Failed> for Trouble {
    fn from(failed: Failed) -> Trouble {
        Trouble::Commit(failed)
    }
}

impl From<String> for Trouble {
    fn from(why: String) -> Trouble {
        Trouble::Other(why)
    }
}

/// The refusal of an independent write, for the next plan. What the server has not refused fails the attempt.
fn status_of(target: &Target, failed: Failed) -> Result<Status, Trouble> {
    let Failed::Refused(error) = &failed else { return Err(failed.into()) };
    if error.refusal().is_none() || error.is_fenced_off() || error.is_passing() {
        return Err(failed.into());
    }
    Ok(refusal(target, &failed))
}

/// The same as a status, whatever failed.
fn refusal(target: &Target, failed: &Failed) -> Status {
    let Failed::Refused(error) = failed else { return Status::internal(failed) };
    let subject = Subject::new(target.at.group.clone(), target.at.plural.clone());
    let message = error.to_string();
    match error.code() {
        403 => Status::forbidden(&subject, &target.at.name, message),
        404 => Status::not_found(&subject, &target.at.name),
        409 => Status::conflict(&subject, &target.at.name, message),
        0 => Status::unavailable(message),
        code => Status::failure(code, "Invalid", message),
    }
}

fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    Moment { seconds, nanoseconds: since.subsec_nanos() }
}
