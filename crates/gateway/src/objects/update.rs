//! Update: a mask, applied to what is stored inside the transaction that writes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use apiserver::call::Call;
use apiserver::write::{self, Decided, Fate};
use krm::Object;
use krm::status::{Status, Subject};
use prost_reflect::{DynamicMessage, Value};
use store::{Entry, View as Transaction};

use super::applied;
use super::create::drop_reported_hosts;
use super::placement::Placing;
use super::{Found, Objects};
use crate::caller::Caller;
use crate::collection::{Face, GROUP};
use crate::failure::Failure;
use crate::mask::{Mask, MaskError};
use crate::view::{About, Names, View};

/// Fields that the server alone sets; a mask that names them changes nothing.
const SET_BY_SERVER: [&str; 6] = [
    "id",
    "metadata.creation_timestamp",
    "metadata.deletion_timestamp",
    "metadata.creators",
    "metadata.tenants",
    "metadata.version",
];

/// How an update is meant.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The paths of the mask, if there is one.
    pub mask: Option<Vec<String>>,
    /// Whether the version must be the one that the caller has seen.
    pub lock: bool,
}

impl Objects {
    /// Changes an object.
    pub async fn update(
        &self,
        message: DynamicMessage,
        changes: &Changes,
    ) -> Result<DynamicMessage, Failure> {
        self.write(message, changes).await.map(|(message, _)| message)
    }

    /// Changes an object, and says whether anything was written.
    pub(super) async fn write(
        &self,
        message: DynamicMessage,
        changes: &Changes,
    ) -> Result<(DynamicMessage, bool), Failure> {
        let id =
            message.get_field_by_name("id").and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default();
        let names = Names::at(self.caller.now().await?);
        let mut change = Change::read(&self.view, &self.caller, message, changes, names)?;
        let found = self.find(&id, &change.names)?;
        change.may_power =
            self.view.face == Face::Public && self.may_change_cluster_of(&found, &change.names);
        let kind = self.caller.kind(self.view.collection, &found.plane())?;
        let call = Arc::new(self.caller.call(&kind, &found.plane(), found.name()));
        let options = self.caller.options();
        change.placing = self.placing(&found)?;
        let change = Arc::new(change);
        let deciding = change.clone();
        let plane = found.plane();
        let written =
            write::run(&call, &options, move |call, view| deciding.decide(call, view, plane.as_str()))
                .await
                .map_err(|status| in_the_words_of_the_api(status, &id))?;
        // What the commit stored, whatever others have written since.
        let object = apiserver::encode::read(&written.bytes)?;
        let sequence = match &written.entry {
            Some(entry) => entry.sequence(),
            // The end of a deletion is its last change; a rehearsal is none.
            None => found.entry.sequence() + u32::from(written.gone),
        };
        let placement = change.placement.lock().unwrap_or_else(PoisonError::into_inner).take();
        let plane = found.plane();
        let about =
            About { plane: plane.as_str(), version: version_of(sequence), placement: placement.as_ref() };
        let mut shown = self.view.show(&object, &about, &change.names);
        if let Some(entry) = written.entry {
            self.reveal(&mut shown, &Found { entry, key: found.key })?;
        }
        Ok((shown, change.is_written.load(Ordering::Relaxed)))
    }
}

/// The version of an object, by the number of its changes.
fn version_of(sequence: u32) -> i32 {
    i32::try_from(sequence.saturating_sub(1)).unwrap_or(i32::MAX)
}

/// A change that was read, to be decided on what is stored.
pub(super) struct Change {
    view: View,
    caller: Caller,
    from: DynamicMessage,
    mask: Mask,
    /// Paths of secrets that are to be removed.
    removed_secrets: Vec<&'static str>,
    version: Option<i32>,
    /// Whether the caller may change the cluster that a host is assigned to, and with it the power of the host.
    may_power: bool,
    pub(super) names: Names,
    /// How the placement of a cluster is read and written, on the face that shows it.
    pub(super) placing: Option<Placing>,
    /// The placement as the last decision leaves it, if the caller may read it.
    placement: Mutex<Option<Object>>,
    /// Whether the last decision writes anything.
    is_written: AtomicBool,
}

impl Change {
    /// Reads a change, and refuses what its face does not let be changed.
    pub(super) fn read(
        view: &View,
        caller: &Caller,
        message: DynamicMessage,
        changes: &Changes,
        names: Names,
    ) -> Result<Change, Failure> {
        let of = view.message();
        let invalid = |error: MaskError| Failure::invalid(error.to_string());
        let mut mask = match &changes.mask {
            None => Mask::whole(),
            Some(paths) => {
                let mask = Mask::parse(of, paths.iter().map(String::as_str)).map_err(invalid)?;
                if view.face == Face::Public && mask.touches(of, "status") {
                    let path = paths.iter().find(|path| path.trim().starts_with("status"));
                    let path = path.cloned().unwrap_or_default();
                    return Err(invalid(MaskError::ReadOnly {
                        path,
                        why: "the status is set by the server",
                    }));
                }
                mask
            }
        };
        for path in SET_BY_SERVER {
            mask = mask.without(of, path);
        }
        if view.face == Face::Public {
            mask = mask.without(of, "status");
        }
        let named = |path: &str| changes.mask.iter().flatten().any(|named| named.trim() == path);
        let removed = [
            ("spec.bmc.password", "spec.bmc.passwordRef"),
            ("spec.kubeconfig", "spec.kubeconfigRef"),
            ("spec.pull_secret", "spec.pullSecretRef"),
        ];
        let removed = removed.into_iter().filter(|(path, _)| named(path) && !has(&message, path));
        let metadata = message.get_field_by_name("metadata").map(|metadata| metadata.into_owned());
        let version = metadata
            .as_ref()
            .and_then(|metadata| metadata.as_message()?.get_field_by_name("version")?.as_i32());
        Ok(Change {
            removed_secrets: removed.map(|(_, reference)| reference).collect(),
            version: changes.lock.then(|| version.unwrap_or(0)),
            may_power: false,
            view: view.clone(),
            caller: caller.clone(),
            from: message,
            mask,
            names,
            placing: None,
            placement: Mutex::new(None),
            is_written: AtomicBool::new(false),
        })
    }

    /// What becomes of the stored object.
    fn decide(&self, call: &Call, view: &mut Transaction, plane: &str) -> Result<Decided, Status> {
        let Some((entry, old)) = write::current(call, view)? else { return Err(call.not_found()) };
        let known = match &self.placing {
            Some(placing) => placing.current(view)?,
            None => None,
        };
        let before = self.placing.as_ref().and_then(|placing| placing.shown(known.as_ref()));
        let (new, shown, wanted) = self.changed_with(&old, &entry, plane, before)?;
        let decided = self.decide_change(call, view, (entry, old), new)?;
        let mut is_written = !matches!(decided.fate, Fate::Unchanged(..));
        // After the cluster itself, in the same commit.
        if let Some(placing) = &self.placing {
            let placed = placing.place(view, &self.caller.options(), known.clone(), (&shown, &wanted))?;
            is_written |= placed.is_some();
            let after = placed.as_ref().or(before);
            *self.placement.lock().unwrap_or_else(PoisonError::into_inner) = after.cloned();
        }
        self.is_written.store(is_written, Ordering::Relaxed);
        Ok(decided)
    }

    fn decide_change(
        &self,
        call: &Call,
        view: &mut Transaction,
        (entry, old): (Arc<Entry>, Object),
        new: Object,
    ) -> Result<Decided, Status> {
        let (spec, status) = (differs_beside_status(&old, &new), old.get("status") != new.get("status"));
        if !spec && !status {
            // What changes nothing is still not for those who may change nothing.
            let may_change = self.may_power || call.may_with("update", "status", &call.name).is_ok();
            if !may_change {
                call.may("update", &call.name)?;
            }
            return Ok(Decided { fate: Fate::Unchanged(call.key()?, entry), warnings: Vec::new() });
        }
        if spec && !(self.may_power && differs_in_power_alone(&old, &new)) {
            call.may("update", &call.name)?;
        }
        if status {
            call.may_with("update", "status", &call.name)?;
        }
        let options = self.caller.options();
        if spec && !status && self.caller.is_source() {
            let wanted = applied::wanted(&old, &new, &options.manager);
            let patch = write::patch::Patch::Apply(wanted, Vec::new());
            return write::patch::decide(call, view, &options, &patch);
        }
        let (new, dropped) = write::admit::shape(call, new).map_err(|why| write::admit::unfit(call, &why))?;
        match (spec, status) {
            (true, true) => {
                write::update::propose_whole(call, view, &options, new, dropped)?.settle(call, view)
            }
            (true, false) => write::update::decide(call, view, &options, new, dropped),
            _ => {
                let mut of_status = call.clone();
                "status".clone_into(&mut of_status.subresource);
                write::update::decide(&of_status, view, &options, new, dropped)
            }
        }
    }

    /// The object that the change makes of what is stored.
    pub(super) fn changed(&self, old: &Object, entry: &Entry, plane: &str) -> Result<Object, Status> {
        self.changed_with(old, entry, plane, None).map(|(new, ..)| new)
    }

    /// The same of a cluster with its placement, with the messages before and after.
    fn changed_with(
        &self,
        old: &Object,
        entry: &Entry,
        plane: &str,
        placement: Option<&Object>,
    ) -> Result<(Object, DynamicMessage, DynamicMessage), Status> {
        let version = version_of(entry.sequence());
        if let Some(seen) = self.version.filter(|seen| *seen != version) {
            let subject = Subject::new(GROUP, self.view.collection.plural);
            let why = format!("its version is {version}, not {seen}; get it again and repeat the change");
            return Err(Status::conflict(&subject, old.name(), why));
        }
        let shown = self.view.show(old, &About { plane, version, placement }, &self.names);
        let mut wanted = shown.clone();
        let bad = |error: MaskError| Status::bad_request(error.to_string());
        self.mask.apply(&mut wanted, &self.from).map_err(bad)?;
        let mut new = old.clone();
        let now = self.caller.api.now().to_string();
        let mut kept = (shown.clone(), wanted.clone());
        // Where a cluster is hosted is no part of its object.
        for message in [&mut kept.0, &mut kept.1] {
            without_placement(message);
        }
        self.view.change(&mut new, &kept.0, &kept.1, &self.names, &now)?;
        drop_reported_hosts(&mut new);
        for reference in &self.removed_secrets {
            remove(&mut new, reference);
        }
        Ok((new, shown, wanted))
    }
}

fn without_placement(message: &mut DynamicMessage) {
    if let Some(Value::Message(status)) = message.get_field_by_name_mut("status") {
        use prost_reflect::ReflectMessage;
        if status.descriptor().name() == "ClusterStatus" {
            for field in ["hub", "alias", "port"] {
                status.clear_field_by_name(field);
            }
        }
    }
}

fn differs_beside_status(old: &Object, new: &Object) -> bool {
    let beside = |object: &Object| {
        let mut map = object.0.clone();
        map.remove("status");
        map
    };
    beside(old) != beside(new)
}

fn differs_in_power_alone(old: &Object, new: &Object) -> bool {
    let mut same = new.clone();
    match old.at("spec.powerState") {
        Some(power) => same.set_at("spec.powerState", power.clone()),
        None => remove(&mut same, "spec.powerState"),
    }
    same == *old
}

fn has(message: &DynamicMessage, path: &str) -> bool {
    let mut names = path.split('.');
    let Some(last) = names.next_back() else { return false };
    let mut message = message.clone();
    for name in names {
        let inner = message.get_field_by_name(name).map(|inner| inner.into_owned());
        match inner {
            Some(Value::Message(inner)) => message = inner,
            _ => return false,
        }
    }
    message.has_field_by_name(last)
}

fn remove(object: &mut Object, path: &str) {
    let Some((parents, last)) = path.rsplit_once('.') else { return };
    let mut map = &mut object.0;
    for name in parents.split('.') {
        let Some(inner) = map.get_mut(name).and_then(|inner| inner.as_object_mut()) else { return };
        map = inner;
    }
    map.remove(last);
}

/// Errors of resources name the resource; callers of this API know the identifier.
fn in_the_words_of_the_api(status: Status, id: &str) -> Failure {
    match status.code {
        404 if status.message.contains("not found") && !status.message.contains("identifier or name") => {
            Failure::not_found(id)
        }
        _ => status.into(),
    }
}
