//! Taking back a change of many objects: what one commit did, or what came after a time.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm::Object;
use krm::selector::LabelSelector;
use krm::status::Status;
use serde_json::Value;
use store::{Change, Key, Revision, Snapshot, Version};

use super::item::{Doing, Item, Named, Operation};
use crate::call::Call;
use crate::handle::past::text;
use crate::keys::{self, Parts};
use crate::past::as_of::{AsOf, present};
use crate::past::history;
use crate::past::revision::read;
use crate::past::undo::TakenBack;
use crate::request::query::WriteOptions;
use crate::write::delete::DeleteOptions;
use krm::kind::{History, Kind};

/// Changes of one object read at a time.
const PAGE: usize = 50;

/// What is taken back.
struct Which {
    since: Since,
    user: Option<String>,
    manager: Option<String>,
    namespace: Option<String>,
    resources: Vec<(String, String)>,
    labels: LabelSelector,
    force: bool,
    options: WriteOptions,
}

enum Since {
    /// What this commit did.
    In(Revision),
    /// What came after it.
    After(AsOf),
}

/// The items that take it back.
pub async fn items(call: &Arc<Call>, undo: &Value, options: &WriteOptions) -> Result<Vec<Item>, Status> {
    let which = Which::read(call, undo, options)?;
    let prefix = format!("{}/", call.plane.as_str());
    let (before, after) = match &which.since {
        Since::In(revision) => {
            let earlier = AsOf::revision(Revision::new(revision.get().saturating_sub(1)));
            let before = earlier.under(call, prefix.as_bytes()).await?;
            (before, AsOf::revision(*revision).under(call, prefix.as_bytes()).await?)
        }
        Since::After(point) => (point.under(call, prefix.as_bytes()).await?, present(call).await?),
    };
    let range = match &which.since {
        Since::In(revision) => (Version::of(*revision, 0), revision.end()),
        Since::After(_) => (Version::of(before.revision().next(), 0), Version::new(u64::MAX)),
    };
    let mut items = Vec::new();
    for key in differing(&before, &after, prefix.as_bytes()) {
        if let Some(item) = which.item(call, &key, range, items.len()).await? {
            items.push(item);
        }
    }
    Ok(items)
}

/// The keys whose objects differ between two states.
fn differing(before: &Snapshot, after: &Snapshot, prefix: &[u8]) -> BTreeSet<Key> {
    let differs = |one: &Snapshot, other: &Snapshot| -> Vec<Key> {
        let changed = one.list(prefix).filter(|(key, entry)| {
            other
                .get(key)
                .is_none_or(|found| found.version() != entry.version() || found.uid() != entry.uid())
        });
        changed.map(|(key, _)| key.clone()).collect()
    };
    let mut keys: BTreeSet<Key> = differs(before, after).into_iter().collect();
    keys.extend(differs(after, before));
    keys
}

impl Which {
    fn read(call: &Call, undo: &Value, options: &WriteOptions) -> Result<Which, Status> {
        let since = match (text(undo, "revision")?, text(undo, "after")?) {
            (Some(revision), None) => {
                let version: Version = revision.parse().map_err(|_| {
                    Status::bad_request(format!("undo.revision: {revision:?} is no revision"))
                })?;
                Since::In(version.revision())
            }
            (None, Some(after)) => Since::After(AsOf::parse(&after, call.api.now())?),
            _ => return Err(Status::bad_request("undo: either revision or after is needed")),
        };
        let mut resources = Vec::new();
        for one in undo.get("resources").and_then(Value::as_array).into_iter().flatten() {
            resources
                .push((text(one, "group")?.unwrap_or_default(), text(one, "resource")?.unwrap_or_default()));
        }
        let labels = text(undo, "labelSelector")?.unwrap_or_default();
        Ok(Which {
            since,
            user: text(undo, "user")?,
            manager: text(undo, "manager")?,
            namespace: text(undo, "namespace")?,
            resources,
            labels: LabelSelector::parse(&labels).map_err(Status::bad_request)?,
            force: undo.get("force").and_then(Value::as_bool).unwrap_or(false),
            options: options.clone(),
        })
    }

    fn is_about(&self, parts: &Parts<'_>) -> bool {
        let named = |(group, resource): &(String, String)| {
            (group == "*" || group == parts.group) && (resource == "*" || resource == parts.plural)
        };
        let namespace = self.namespace.as_deref();
        (self.resources.is_empty() || self.resources.iter().any(named))
            && namespace.is_none_or(|namespace| namespace == parts.namespace)
    }

    fn is_by(&self, change: &Change) -> bool {
        self.user.as_deref().is_none_or(|user| user == &*change.user)
            && self.manager.as_deref().is_none_or(|manager| manager == &*change.manager)
    }

    /// What takes back the changes of one object, if there is something to take back.
    async fn item(
        &self,
        call: &Arc<Call>,
        key: &Key,
        range: (Version, Version),
        index: usize,
    ) -> Result<Option<Item>, Status> {
        let Some(parts) = keys::parts(key).filter(|parts| self.is_about(parts)) else { return Ok(None) };
        let Some(kind) = call.catalog.resource(parts.group, parts.plural).filter(|kind| is_kept(kind)) else {
            return Ok(None);
        };
        let one = Call {
            kind: kind.clone(),
            version: kind.storage,
            namespace: parts.namespace.to_owned(),
            name: parts.name.to_owned(),
            subresource: String::new(),
            ..Call::clone(call)
        };
        let changes: Vec<Change> = self.changes(&one, range).await?;
        let Some((operation, doing)) = self.doing(&one, key, &changes)? else { return Ok(None) };
        let named = Named {
            api_version: one.api_version(),
            kind: kind.names.kind.clone(),
            resource: kind.names.plural.clone(),
            namespace: one.namespace.clone(),
            name: one.name.clone(),
        };
        let (verb, at) = match operation {
            Operation::Delete => ("delete", one.name.as_str()),
            Operation::Restore => ("create", ""),
            _ => ("update", one.name.as_str()),
        };
        let doing =
            one.may("get", &one.name).and_then(|()| one.may(verb, at)).map(|()| (Arc::new(one), doing));
        Ok(Some(Item { index, named, operation, doing, options: self.options.clone() }))
    }

    /// The changes of an object that are taken back, newest first.
    async fn changes(&self, call: &Call, range: (Version, Version)) -> Result<Vec<Change>, Status> {
        let (mut found, mut beyond) = (Vec::new(), None);
        loop {
            let page = history::changes(call, beyond, PAGE).await?;
            for change in page.items {
                if change.version < range.0 {
                    return Ok(found);
                }
                if change.version <= range.1 && self.is_by(&change) {
                    found.push(change);
                }
            }
            let Some(next) = page.next else { return Ok(found) };
            beyond = Some(next);
        }
    }

    fn doing(
        &self,
        call: &Call,
        key: &Key,
        changes: &[Change],
    ) -> Result<Option<(Operation, Doing)>, Status> {
        let (Some(newest), Some(oldest)) = (changes.first(), changes.last()) else { return Ok(None) };
        let now = call.api.store().latest();
        let live = now.get(key);
        let was_made = oldest.before.is_none() && !oldest.pruned_before;
        let labelled = oldest.before.as_ref().or(newest.after.as_ref());
        if !self.labels.selects_everything()
            && let Some(entry) = labelled
        {
            let object = Object::from_value(read(call, key, entry)?).unwrap_or_default();
            if !self.labels.matches(|label| object.label(label)) {
                return Ok(None);
            }
        }
        match (live, &oldest.before) {
            // Made and gone again: there is nothing to take back.
            (None, None) => Ok(None),
            (None, Some(before)) if newest.after.is_none() => {
                let state = Object::from_value(read(call, key, before)?).unwrap_or_default();
                Ok(Some((Operation::Restore, Doing::Restore(state))))
            }
            (None, Some(_)) => Ok(None),
            (Some(live), None) if was_made && live.uid() == oldest.uid => {
                let uid = Object::from_value(read(call, key, live)?).unwrap_or_default().uid().to_owned();
                let options = DeleteOptions { uid: Some(uid), ..DeleteOptions::default() };
                Ok(Some((Operation::Delete, Doing::Delete(options))))
            }
            (Some(_), _) => {
                let mut taken = Vec::new();
                for change in changes {
                    let (Some(before), Some(after)) = (&change.before, &change.after) else { continue };
                    let one =
                        TakenBack::between(&read(call, key, before)?, &read(call, key, after)?, self.force);
                    if !one.is_nothing() {
                        taken.push(one);
                    }
                }
                Ok((!taken.is_empty()).then_some((Operation::Undo, Doing::TakeBack(taken))))
            }
        }
    }
}

fn is_kept(kind: &Kind) -> bool {
    kind.history != History::None && kind.mirror.is_none() && kind.takes("update")
}
