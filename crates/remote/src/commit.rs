//! Commits what plans write: all writes of a plan in one transaction of the public API, fenced by the lease.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use client::{Client, Report, Transaction};
use krm::Object;
use krm::kind::{Kind, split_api_version};
use reconcile::operation::Operations;
use reconcile::plan::{Deletion, Event, Guard, Propagation, Write};
use reconcile::reconciler::Reconciler;
use reconcile::target::Target;
use reconcile::writes::{Part, Writes};
use serde_json::{Value, json};

use crate::cache::Snapshot;
use crate::catalog::Catalog;
use crate::place::Place;
use crate::source::Source;

/// Writes for one controller.
pub(crate) struct Committer {
    /// Fenced by the lease.
    pub client: Client,
    pub catalog: Arc<Catalog>,
    pub reconciler: Arc<dyn Reconciler>,
    /// Who reports its events.
    pub instance: String,
    pub writes: Arc<Writes>,
}

/// What belongs to one commit.
pub(crate) struct Commit<'a> {
    /// The object that was planned.
    pub target: &'a Target,
    /// What the plan saw.
    pub planned_on: &'a Snapshot,
    /// Names the attempt: what it repeats because nobody knows what came of it, has the same id.
    pub id: &'a str,
}

/// A write that has landed, or was not needed, and is to be seen in the cache before the next plan.
#[derive(Debug, Clone)]
pub(crate) struct Landed {
    /// The object.
    pub place: Place,
    /// Its resource version; `None` if it is gone.
    pub version: Option<u64>,
}

/// Why a commit failed.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The plan can't be committed from outside of the server.
    Unfit(String),
    /// The server refused it, or could not be reached.
    Refused(client::Error),
}

impl Failed {
    /// Whether nobody knows what came of it.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Failed::Refused(error) if error.is_unanswered() || error.code() == 504)
    }
}

impl std::fmt::Display for Failed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failed::Unfit(why) => out.write_str(why),
            Failed::Refused(error) => error.fmt(out),
        }
    }
}

/// One item of a transaction.
struct Item {
    value: Value,
    target: Target,
    part: Part,
}

impl Committer {
    /// Lands all writes in one commit, or none of them.
    pub async fn together(
        &self,
        writes: &[Write],
        guards: &[Guard],
        record: Option<&Operations>,
        commit: &Commit<'_>,
    ) -> Result<Vec<Landed>, Failed> {
        let numbered = writes.iter().enumerate();
        let items: Vec<Item> =
            numbered.map(|(number, write)| self.item(write, number, commit)).collect::<Result<_, _>>()?;
        let mut planes: BTreeSet<&str> = items.iter().map(|item| item.target.plane.as_str()).collect();
        planes.extend(guards.iter().map(|guard| match guard {
            Guard::Absent(target, _) => target.plane.as_str(),
            Guard::Bucket { plane, .. } => plane,
        }));
        if record.is_some() {
            planes.insert(&commit.target.plane);
        }
        let [plane] = planes.into_iter().collect::<Vec<_>>()[..] else {
            return Err(Failed::Unfit(
                "a plan that is committed over the API must write to one control plane: a transaction does not \
                 reach further; run this controller in the server"
                    .to_owned(),
            ));
        };
        let mut transaction = self.transaction(plane, commit)?;
        for item in &items {
            transaction = transaction.item(item.value.clone());
        }
        if let Some(operations) = record {
            transaction = transaction.item(json!({
                "operation": "recordOperations",
                "controller": self.reconciler.name(),
                "target": self.named(commit.target)?,
                "operations": operations.record(),
            }));
        }
        for guard in guards {
            let Guard::Absent(target, uid) = guard else {
                return Err(unfit(self.reconciler.name(), "a plan depends on all objects of a bucket"));
            };
            let precondition = json!({"target": self.named(target)?, "absent": true, "uid": uid});
            transaction = transaction.precondition(precondition);
        }
        let report = self.send(plane, &transaction).await.map_err(Failed::Refused)?;
        if report.items().any(|item| item["result"] != "unchanged") {
            self.writes.committed(items.iter().map(|item| item.part));
        }
        Ok(landed(&items, &report))
    }

    /// An object as it is now.
    pub async fn find(&self, target: &Target) -> Result<Option<Object>, Failed> {
        let at = &target.at;
        let kind = self.catalog.resource(&target.plane, &at.group, &at.plural);
        let kind = kind.ok_or_else(|| unfit(&at.plural, "the resource is not known"))?;
        let client = match target.plane.as_str() {
            "" => self.client.in_root(),
            plane => self.client.in_plane(plane),
        };
        let objects = client.resource(&kind.api_version(&kind.stored().name), &at.plural);
        objects.in_namespace(&at.namespace).find(&at.name).await.map_err(Failed::Refused)
    }

    /// Lands a write by itself.
    pub async fn alone(&self, write: &Write, commit: &Commit<'_>) -> Result<Vec<Landed>, (Target, Failed)> {
        let item = self.item(write, 0, commit).map_err(|failed| (commit.target.clone(), failed))?;
        let target = item.target.clone();
        let landed = self.together(std::slice::from_ref(write), &[], None, commit).await;
        landed.map_err(|failed| (target, failed))
    }

    /// Nothing of it is done twice: objects carry versions or names, and events the id of the attempt. So the client may send
    /// it again when the connection was lost; what has landed is then a conflict, and the next plan sees it.
    async fn send(&self, plane: &str, transaction: &Transaction) -> client::Result<Report> {
        let client = if plane.is_empty() { self.client.in_root() } else { self.client.in_plane(plane) };
        client.transact_repeatably(transaction).await
    }

    /// An empty transaction in the life of the project that was planned on.
    fn transaction(&self, plane: &str, commit: &Commit<'_>) -> Result<Transaction, Failed> {
        let transaction = Transaction::new().managed_by(self.reconciler.manager()).force(true);
        if plane.is_empty() {
            return Ok(transaction);
        }
        let (group, plural) = client::PROJECTS;
        let mut at = commit.target.at.clone();
        (at.group, at.plural, at.namespace, at.name) =
            (group.to_owned(), plural.to_owned(), String::new(), plane.to_owned());
        let project = commit.planned_on.get(&Place::of(&Target::new("", at))).and_then(|it| it.object());
        match project {
            Some(project) => Ok(transaction.in_project_life(project.uid())),
            None => Err(Failed::Unfit(format!("the project {plane:?} no longer exists"))),
        }
    }

    fn item(&self, write: &Write, number: usize, commit: &Commit<'_>) -> Result<Item, Failed> {
        let of_object = |operation: &str, plane: &str, object: &Object| {
            let kind = self.kind_of(plane, object)?;
            let value = json!({"operation": operation, "object": object});
            Ok::<_, Failed>(Item { value, target: Target::of_object(plane, &kind, object), part: Part::Spec })
        };
        Ok(match write {
            Write::Status(plane, object) => {
                let mut item = of_object("update", plane, object)?;
                item.value["subresource"] = "status".into();
                Item { part: Part::Status, ..item }
            }
            Write::Subresource(plane, object, "status") => {
                return self.item(&Write::Status(plane.clone(), object.clone()), number, commit);
            }
            Write::Subresource(_, object, subresource) => {
                return Err(unfit(object.kind(), &format!("the subresource {subresource:?} is written")));
            }
            Write::Update(plane, object) => of_object("update", plane, object)?,
            Write::Whole(plane, object) => {
                let mut item = of_object("update", plane, object)?;
                item.value["withStatus"] = true.into();
                item
            }
            Write::Create(plane, object) => {
                of_object("create", plane, &named_by_plan(object, number, commit))?
            }
            Write::Apply(plane, object) => of_object("apply", plane, object)?,
            Write::Patch(target, patch) => {
                let value = json!({"operation": "patch", "target": self.named(target)?, "patch": patch});
                Item { value, target: target.clone(), part: Part::Spec }
            }
            Write::Delete(target, deletion) => {
                let value = self.deletion(target, deletion)?;
                Item { value, target: target.clone(), part: Part::Spec }
            }
            Write::Event(target, event) => {
                let value = self.event(target, event, number, commit)?;
                Item { value, target: target.clone(), part: Part::Event }
            }
            Write::Purge(target) => return Err(unfit(&target.at.plural, "an object is purged")),
        })
    }

    fn deletion(&self, target: &Target, deletion: &Deletion) -> Result<Value, Failed> {
        let mut value = json!({"operation": "delete", "target": self.named(target)?, "ignoreNotFound": true});
        for (field, text) in [("uid", &deletion.uid), ("resourceVersion", &deletion.version)] {
            if let Some(text) = text {
                value["preconditions"][field] = text.as_str().into();
            }
        }
        let policy = match deletion.propagation {
            Propagation::Unset => return Ok(value),
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        };
        value["propagationPolicy"] = policy.into();
        Ok(value)
    }

    fn event(
        &self,
        target: &Target,
        event: &Event,
        number: usize,
        commit: &Commit<'_>,
    ) -> Result<Value, Failed> {
        Ok(json!({
            "operation": "event",
            "target": self.named(target)?,
            "event": {
                "type": if event.is_warning { "Warning" } else { "Normal" },
                "reason": event.reason,
                "message": event.note,
                "annotations": event.annotations,
                "reportingController": self.reconciler.reporter(),
                "reportingInstance": self.instance,
                "occurrence": format!("{}-{number}", commit.id),
            },
        }))
    }

    /// How a transaction names an object.
    fn named(&self, target: &Target) -> Result<Value, Failed> {
        let at = &target.at;
        let kind = self.catalog.resource(&target.plane, &at.group, &at.plural);
        let kind = kind.ok_or_else(|| unfit(&at.plural, "the resource is not known"))?;
        let api_version = kind.api_version(&kind.stored().name);
        Ok(json!({
            "apiVersion": api_version, "kind": kind.names.kind, "namespace": at.namespace, "name": at.name,
        }))
    }

    fn kind_of(&self, plane: &str, object: &Object) -> Result<Arc<Kind>, Failed> {
        let (group, _) = split_api_version(object.api_version());
        let kind = self.catalog.kind(plane, group, object.kind());
        kind.ok_or_else(|| unfit(object.kind(), "the kind is not known"))
    }
}

fn unfit(what: &str, why: &str) -> Failed {
    Failed::Unfit(format!("{what}: {why}, which can't be done over the API"))
}

/// An object whose name is to be generated gets one that the same plan on the same state gives it again: if the first attempt
/// has landed unnoticed, the second is a conflict, not a second object.
fn named_by_plan(object: &Object, number: usize, commit: &Commit<'_>) -> Object {
    let mut object = object.clone();
    let prefix = object.meta_text("generateName").to_owned();
    if object.name().is_empty() && !prefix.is_empty() {
        let version = commit.planned_on.get(&Place::of(commit.target)).map(|entry| entry.version);
        let mut hasher = DefaultHasher::new();
        (commit.target, version, number).hash(&mut hasher);
        object.set_meta("name", Some(format!("{prefix}{:08x}", hasher.finish() as u32).into()));
        object.set_meta("generateName", None);
    }
    object
}

/// What a report says of the objects that were written.
fn landed(items: &[Item], report: &Report) -> Vec<Landed> {
    let written = items.iter().zip(report.items()).filter(|(item, _)| item.part != Part::Event);
    let landed = written.filter_map(|(item, told)| {
        let place = Place::of(&item.target);
        let version = || told["resourceVersion"].as_str()?.parse().ok();
        match told["result"].as_str()? {
            "created" | "configured" | "deleting" => Some(Landed { place, version: Some(version()?) }),
            "deleted" => Some(Landed { place, version: None }),
            _ => None,
        }
    });
    landed.collect()
}

impl Landed {
    /// Whether a snapshot shows it. What is not followed is not waited for.
    pub fn is_in(&self, snapshot: &Snapshot, planned_at: u64) -> bool {
        let target = self.place.target();
        let everywhere = Source::everywhere(&target.at.group, &target.at.plural);
        let here = Source::in_plane(&target.plane, &target.at.group, &target.at.plural);
        let Some(followed) = [here, everywhere].iter().find_map(|source| snapshot.followed.get(source))
        else {
            return true;
        };
        match self.version {
            Some(version) => followed.version >= version,
            None => snapshot.get(&self.place).is_none_or(|entry| entry.version > planned_at),
        }
    }
}
