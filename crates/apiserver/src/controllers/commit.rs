//! Commits what plans write: all writes of a plan in one commit, authorized by the controller's role.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use krm::Object;
use krm::body::FieldValidation;
use krm::kind::{Kind, Reader, split_api_version};
use krm::patch::merge;
use krm::status::Status;
use reconcile::context::Refused;
use reconcile::plan::{Deletion, Event, Guard, Propagation, Subject, Write};
use reconcile::target::Target;
use reconcile::writes::{Part, Writes};
use store::{Key, Revision, Snapshot, View};
use tokio::time::Instant;

use super::events;
use super::records::Record;
use super::world::{key_of, plane_of};
use crate::api::store_failure;
use crate::call::Call;
use crate::client::Client;
use crate::encode;
use crate::planes;
use crate::request::query::WriteOptions;
use crate::write::guarded::Guarded;
use crate::write::patch::Patch;
use crate::write::{self, create, delete, patch, update};

/// How long a commit is tried while others keep changing what it depends on.
const PATIENCE: Duration = Duration::from_secs(20);

/// Independent writes in one commit, at most.
const BATCH: usize = 256;

/// Writes for one controller.
#[derive(Clone)]
pub struct Committer {
    client: Client,
    controller: &'static str,
    reporter: &'static str,
    writes: Arc<Writes>,
}

/// A write that is ready to be decided.
struct Step {
    target: Target,
    call: Call,
    what: What,
}

enum What {
    Replace(Object),
    Whole(Object),
    Create(Object),
    Apply(Patch),
    Patch(Patch),
    Delete(delete::DeleteOptions),
    Purge(Key, Box<Client>),
    Event(Target, Event, &'static str),
}

impl Committer {
    /// For the controller with this client, which reports events under this name.
    pub fn new(
        client: Client,
        controller: &'static str,
        reporter: &'static str,
        writes: Arc<Writes>,
    ) -> Committer {
        Committer { client, controller, reporter, writes }
    }

    /// Lands all writes in one commit, or none of them. `None` if there was nothing to change. They were planned on this
    /// snapshot: in a project that was created again since, nothing lands.
    pub async fn together(
        &self,
        writes: Vec<Write>,
        guards: Vec<Guard>,
        record: Option<Record>,
        planned_on: &Snapshot,
    ) -> Result<Option<Revision>, Status> {
        let step = |write| self.step(write, planned_on);
        let steps: Vec<Step> = writes.into_iter().map(step).collect::<Result<_, _>>()?;
        let groups = groups(&steps);
        let steps = Arc::new(steps);
        let extra = Arc::new((guards, record));
        let done = self.transact(steps.clone(), extra, None).await?;
        self.note(&steps, &done).await;
        self.settle(done.revision, &groups).await;
        Ok(done.revision)
    }

    /// Lands each write by itself, as many in one commit as fit into a transaction of the store. Tells which were refused.
    pub async fn one_by_one(
        &self,
        writes: Vec<Write>,
        planned_on: &Snapshot,
    ) -> Result<(Option<Revision>, Vec<Refused>), Status> {
        let (mut refused, mut steps) = (Vec::new(), Vec::new());
        for write in writes {
            let target = target_of(&write, &self.client);
            match self.step(write, planned_on) {
                Ok(step) => steps.push(step),
                Err(status) => refused.extend(target.map(|target| Refused { target, status })),
            }
        }
        let (groups, steps, none) = (groups(&steps), Arc::new(steps), Arc::new((Vec::new(), None)));
        let (mut last, mut from) = (None, 0);
        while from < steps.len() {
            let done = self.transact(steps.clone(), none.clone(), Some(from)).await?;
            last = done.revision.or(last);
            let until = (from + done.count).min(steps.len());
            self.note(steps.get(from..until).unwrap_or_default(), &done).await;
            from = until;
            refused.extend(done.refused);
        }
        self.settle(last, &groups).await;
        Ok((last, refused))
    }

    /// Counts what was committed, and audits all of it but statuses and events, of which history tells.
    async fn note(&self, steps: &[Step], done: &Done) {
        if done.revision.is_some() {
            self.writes.committed(steps.iter().map(Step::part));
        }
        let Some(audit) = self.client.api().controllers().audit() else { return };
        for step in steps {
            let refused = done.refused.iter().find(|refused| refused.target == step.target);
            let is_change = done.revision.is_some() || refused.is_some();
            if let Some(verb) = step.audited().filter(|_| is_change) {
                audit.log(&step.call, verb, refused.map(|refused| &refused.status)).await;
            }
        }
    }

    async fn settle(&self, revision: Option<Revision>, groups: &[String]) {
        let Some(revision) = revision else { return };
        for group in groups {
            self.client.api().settle(group, revision).await;
        }
    }

    /// Decides and commits: all steps or none of them, or as many from a place on as fit into a transaction, each by itself.
    async fn transact(
        &self,
        steps: Arc<Vec<Step>>,
        extra: Arc<(Vec<Guard>, Option<Record>)>,
        one_by_one: Option<usize>,
    ) -> Result<Done, Status> {
        let store = self.client.api().store();
        let author = self.client.author();
        let fence = self.client.fence().cloned();
        let options = WriteOptions { manager: self.client.agent().to_owned(), ..WriteOptions::default() };
        let limits = store.limits();
        let decide = Arc::new(move |view: &mut View| -> Result<Done, Status> {
            let begin = |view: &mut View| {
                fence.iter().for_each(|fence| view.guard(fence.guard()));
                extra.0.iter().try_for_each(|guard| holds(guard, view))
            };
            begin(view)?;
            let mut done = Done::default();
            let Some(from) = one_by_one else {
                steps.iter().try_for_each(|step| step.decide(view, &options))?;
                extra.1.iter().for_each(|record| {
                    record.put(view);
                });
                done.has_written = view.written_keys().next().is_some();
                return Ok(done);
            };
            let rest = steps.get(from..).unwrap_or_default();
            for step in rest.iter().take(BATCH) {
                done.add(step, view, &options);
                if done.count > 1 && !limits.take(view) {
                    // The last one was too much: without it, from the beginning.
                    view.restart();
                    begin(view)?;
                    let fitting = done.count - 1;
                    done = Done::default();
                    rest.iter().take(fitting).for_each(|step| done.add(step, view, &options));
                    break;
                }
            }
            done.has_written = view.written_keys().next().is_some();
            Ok(done)
        });
        let begun = Instant::now();
        loop {
            let decide = decide.clone();
            match store.transact(author.clone(), move |view: &mut View| decide(view)).await {
                Ok((done, committed)) => {
                    let revision = done.has_written.then_some(committed.revision);
                    return Ok(Done { revision, ..done });
                }
                Err(store::Refused::Store(store::Error::Contended { .. })) if begun.elapsed() < PATIENCE => {}
                Err(store::Refused::Store(error)) => return Err(store_failure(&error)),
                Err(store::Refused::Decision(status)) => return Err(status),
            }
        }
    }

    fn step(&self, write: Write, planned_on: &Snapshot) -> Result<Step, Status> {
        let mut step = self.prepare(write)?;
        let key = planes::key(step.call.api.kinds(), &step.call.plane);
        step.call.project = key.and_then(|key| planned_on.get(&key).map(|it| it.uid()));
        Ok(step)
    }

    fn prepare(&self, write: Write) -> Result<Step, Status> {
        let (verb, subresource) = write.verb();
        if let Write::Purge(target) = &write {
            // Of what is removed with its plane, the kind need not be served any more.
            self.allows(verb, &target.at.group, &target.at.plural)?;
            let key = key_of(target).ok_or_else(|| Status::internal("an object without a key"))?;
            let kind = self.kind(&target.plane, &target.at.group, &target.at.plural);
            let kind = kind.or_else(|_| self.kind("", "", "namespaces"))?;
            let call = self.call(&target.plane, &kind, &target.at.namespace, &target.at.name, "");
            let inside = Box::new(self.client.in_plane(&plane_of(&target.plane)));
            return Ok(Step { target: target.clone(), call, what: What::Purge(key, inside) });
        }
        let (plane, kind, namespace, name) = match (&write, write.subject()) {
            (Write::Event(_, event), Subject::Target(target)) => {
                let object = self.stored(target)?;
                let at = events::address(target, &object, event, self.reporter);
                (target.plane.clone(), self.kind(&target.plane, "", "events")?, at.namespace, at.name)
            }
            (_, Subject::Object(plane, object)) => {
                let kind = self.kind_of(plane, object)?;
                (plane.to_owned(), kind, object.namespace().to_owned(), object.name().to_owned())
            }
            (_, Subject::Target(target)) => {
                let kind = self.kind(&target.plane, &target.at.group, &target.at.plural)?;
                (target.plane.clone(), kind, target.at.namespace.clone(), target.at.name.clone())
            }
        };
        // Events are counted, not granted one by one: every controller may report what it does.
        if !matches!(write, Write::Event(..)) {
            let resource = match subresource {
                "" => kind.names.plural.clone(),
                subresource => format!("{}/{subresource}", kind.names.plural),
            };
            self.allows(verb, &kind.group, &resource)?;
            if matches!(write, Write::Whole(..)) {
                self.allows(verb, &kind.group, &format!("{}/status", kind.names.plural))?;
            }
        }
        let call = self.call(&plane, &kind, &namespace, &name, subresource);
        let target = Target::new(plane, call.address());
        let what = match write {
            Write::Status(_, object) | Write::Update(_, object) | Write::Subresource(_, object, _) => {
                What::Replace(object)
            }
            Write::Whole(_, object) => What::Whole(object),
            Write::Create(_, object) => What::Create(object),
            Write::Apply(_, object) => What::Apply(Patch::Apply(object, Vec::new())),
            Write::Patch(_, value) => {
                let body = Bytes::from(value.to_string());
                What::Patch(Patch::Merge(merge::Patch::read(&body, FieldValidation::Ignore)))
            }
            Write::Delete(_, deletion) => What::Delete(options(deletion)),
            Write::Event(about, event) => What::Event(about, event, self.reporter),
            Write::Purge(_) => return Err(Status::internal("a purge is prepared above")),
        };
        Ok(Step { target, call, what })
    }

    fn allows(&self, verb: &str, group: &str, resource: &str) -> Result<(), Status> {
        let role = self.client.who().compiled_role.as_deref().unwrap_or_default();
        if role.iter().any(|rule| rule.allows(verb, group, resource)) {
            return Ok(());
        }
        let subject = krm::status::Subject::new(group, resource);
        let why =
            format!("the role of the controller {:?} does not allow {verb:?} on {subject}", self.controller);
        Err(Status::forbidden(&subject, "", why))
    }

    fn call(&self, plane: &str, kind: &Arc<Kind>, namespace: &str, name: &str, subresource: &str) -> Call {
        self.client.in_plane(&plane_of(plane)).call(kind, namespace, name, subresource)
    }

    fn kind_of(&self, plane: &str, object: &Object) -> Result<Arc<Kind>, Status> {
        let (group, _) = split_api_version(object.api_version());
        let catalog = self.client.api().kinds().of(&plane_of(plane));
        catalog.kind(group, object.kind()).cloned().ok_or_else(Status::no_such_resource)
    }

    fn kind(&self, plane: &str, group: &str, plural: &str) -> Result<Arc<Kind>, Status> {
        let catalog = self.client.api().kinds().of(&plane_of(plane));
        catalog.resource(group, plural).cloned().ok_or_else(Status::no_such_resource)
    }

    /// An object as it is stored, for an event about it.
    fn stored(&self, target: &Target) -> Result<Object, Status> {
        let api = self.client.api();
        let key = key_of(target).ok_or_else(|| Status::internal("an object without a key"))?;
        let snapshot = api.store().latest();
        let Some(entry) = snapshot.get(&key) else {
            let subject = krm::status::Subject::new(target.at.group.clone(), target.at.plural.clone());
            return Err(Status::not_found(&subject, &target.at.name));
        };
        encode::read(&api.reveal(&key, entry)?)
    }
}

/// What a transaction has done.
#[derive(Default)]
struct Done {
    /// How many steps.
    count: usize,
    /// Those that were refused.
    refused: Vec<Refused>,
    /// Whether anything was to be changed.
    has_written: bool,
    /// Its revision, if anything was changed.
    revision: Option<Revision>,
}

impl Done {
    fn add(&mut self, step: &Step, view: &mut View, options: &WriteOptions) {
        self.count += 1;
        if let Err(status) = view.attempt(|view| step.decide(view, options)) {
            self.refused.push(Refused { target: step.target.clone(), status });
        }
    }
}

impl Step {
    fn part(&self) -> Part {
        match &self.what {
            What::Event(..) => Part::Event,
            What::Replace(_) if self.call.subresource == "status" => Part::Status,
            _ => Part::Spec,
        }
    }

    /// The verb under which it is audited. What goes with its whole plane is not: the deletion of the project is.
    fn audited(&self) -> Option<&'static str> {
        match &self.what {
            What::Replace(_) if self.call.subresource == "status" => None,
            What::Event(..) | What::Purge(..) => None,
            What::Replace(_) | What::Whole(_) => Some("update"),
            What::Create(_) => Some("create"),
            What::Apply(_) | What::Patch(_) => Some("patch"),
            What::Delete(_) => Some("delete"),
        }
    }

    fn decide(&self, view: &mut View, options: &WriteOptions) -> Result<(), Status> {
        let call = &self.call;
        planes::guard(call, view)?;
        match &self.what {
            What::Replace(object) => {
                update::decide(call, view, options, object.clone(), Vec::new()).map(drop)
            }
            What::Whole(object) => {
                let proposal = update::propose_whole(call, view, options, object.clone(), Vec::new())?;
                proposal.settle(call, view).map(drop)
            }
            What::Create(object) => create::decide(call, view, options, object.clone(), Vec::new()).map(drop),
            What::Apply(patch) => {
                let options = WriteOptions { force: Some(true), ..options.clone() };
                patch::decide(call, view, &options, patch).map(drop)
            }
            What::Patch(patch) => patch::decide(call, view, options, patch).map(drop),
            What::Delete(how) => match delete::decide(call, view, how) {
                // What is to go is gone.
                Err(status) if status.code == 404 => Ok(()),
                decided => decided.map(drop),
            },
            What::Purge(key, inside) => delete::take_away(inside, view, key),
            What::Event(about, event, reporter) => {
                let Some(key) = key_of(about) else { return Ok(()) };
                let stored = Guarded::new(view, &call.plane).entry(&key)?;
                let Some((_, object)) = stored else { return Ok(()) };
                events::record(call, view, &object, event, reporter)
            }
        }
    }
}

fn holds(guard: &Guard, view: &mut View) -> Result<(), Status> {
    // Each read is a guard of the commit.
    match guard {
        Guard::Absent(target, uid) => {
            let Some(key) = key_of(target) else { return Ok(()) };
            if view.get(&key).is_none_or(|entry| entry.uid() != write::uid_of(uid)) {
                return Ok(());
            }
            let subject = krm::status::Subject::new(target.at.group.clone(), target.at.plural.clone());
            Err(Status::conflict(&subject, &target.at.name, "the object exists after all"))
        }
        Guard::Bucket { plane, bucket, value, members } => {
            let found = Guarded::new(view, &plane_of(plane)).bucket(*bucket, value);
            if Guard::bucket(plane, *bucket, value, &found) == *guard {
                return Ok(());
            }
            tracing::debug!(
                ?bucket,
                value,
                planned_on = members.len(),
                "planned on a bucket that has changed"
            );
            Err(Status::failure(409, "Conflict", "what this was planned on has changed; it is planned again"))
        }
    }
}

fn options(deletion: Deletion) -> delete::DeleteOptions {
    delete::DeleteOptions {
        uid: deletion.uid,
        resource_version: deletion.version,
        propagation: match deletion.propagation {
            Propagation::Unset => None,
            Propagation::Background => Some(delete::Propagation::Background),
            Propagation::Foreground => Some(delete::Propagation::Foreground),
            Propagation::Orphan => Some(delete::Propagation::Orphan),
        },
        dry_run: false,
    }
}

fn target_of(write: &Write, client: &Client) -> Option<Target> {
    match write.subject() {
        Subject::Target(target) => Some(target.clone()),
        Subject::Object(plane, object) => {
            let (group, _) = split_api_version(object.api_version());
            let catalog = client.api().kinds().of(&plane_of(plane));
            let kind = catalog.kind(group, object.kind())?;
            Some(Target::of_object(plane.to_owned(), kind, object))
        }
    }
}

fn groups(steps: &[Step]) -> Vec<String> {
    let mut groups: Vec<String> = steps.iter().map(|step| step.call.kind.group.clone()).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}
