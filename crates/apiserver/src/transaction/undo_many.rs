//! Undo of many objects: everything in one commit, or everything after a time.

use std::collections::BTreeSet;
use std::sync::Arc;

use krm::Object;
use krm::selector::LabelSelector;
use krm::status::Status;
use serde_json::{Value, json};
use store::{Change, Key, Revision, Version};

use super::item::{Doing, Item, Named, Operation};
use crate::call::Call;
use crate::handle::past::text;
use crate::keys::{self, Parts};
use crate::past::as_of::{AsOf, present};
use crate::past::revision::read;
use crate::past::undo::TakenBack;
use crate::past::{failure, history, moment};
use crate::request::query::WriteOptions;
use crate::write::delete::DeleteOptions;
use krm::kind::{History, Kind};

/// Any group or resource.
const ANY: &str = "*";
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
    skips_forgotten: bool,
    options: WriteOptions,
}

enum Since {
    /// What this commit did.
    In(Revision),
    /// What came after it.
    After(AsOf),
}

/// The items that take it back, and what could not be covered.
pub async fn items(
    call: &Arc<Call>,
    undo: &Value,
    options: &WriteOptions,
) -> Result<(Vec<Item>, Vec<Skipped>), Status> {
    let which = Which::read(call, undo, options)?;
    let prefix = format!("{}/", call.plane.as_str());
    let (point, commit) = match &which.since {
        Since::In(revision) => {
            has_happened(call, *revision).await?;
            (AsOf::revision(Revision::new(revision.get().saturating_sub(1))), Some(*revision))
        }
        Since::After(point) => (point.clone(), None),
    };
    let touched = point.touched(call, prefix.as_bytes()).await?;
    let skipped = Skipped::all(&touched.forgotten, |skipped| which.is_concerned(call, skipped));
    if !skipped.is_empty() && !which.skips_forgotten {
        return Err(forgotten(&point, &skipped));
    }
    let range = match commit {
        Some(revision) => (Version::of(revision, 0), revision.end()),
        None => (Version::of(touched.version.revision().next(), 0), Version::new(u64::MAX)),
    };
    let in_range = touched.keys.iter().filter(|(_, at)| (range.0..=range.1).contains(at));
    let keys: BTreeSet<&Key> = in_range.map(|(key, _)| key).collect();
    let mut items = Vec::new();
    for key in keys {
        let is_skipped = |parts: Parts<'_>| skipped.iter().any(|skipped| skipped.is_of(&parts));
        if keys::parts(key).is_some_and(is_skipped) {
            continue;
        }
        if let Some(item) = which.item(call, key, range, items.len()).await? {
            items.push(item);
        }
    }
    Ok((items, skipped))
}

async fn has_happened(call: &Call, revision: Revision) -> Result<(), Status> {
    let now = present(call).await?.revision();
    match revision > now {
        true => Err(failure(&revision.end().to_string(), &store::Error::Future { asked: revision, now })),
        false => Ok(()),
    }
}

/// What can't be taken back in part is not taken back at all, unless that is asked for.
fn forgotten(point: &AsOf, skipped: &[Skipped]) -> Status {
    let kinds: Vec<String> = skipped.iter().map(Skipped::to_string).collect();
    Status::expired(format!(
        "history since {} is incomplete: {}; choose a later time or other resources, or set skipForgotten to leave these \
         out",
        point.said(),
        kinds.join(", ")
    ))
}

/// A kind of which too little is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    group: String,
    resource: String,
    kept_from: u64,
}

impl Skipped {
    /// The kinds among groups of keys that are wanted, each once.
    fn all(forgotten: &[(String, u64)], is_wanted: impl Fn(&Skipped) -> bool) -> Vec<Skipped> {
        let read = |(group_of_keys, kept_from): &(String, u64)| {
            let mut parts = group_of_keys.split('/').skip(1);
            // What names no kind is about all of them.
            let mut part = || parts.next().filter(|_| group_of_keys.contains('/')).unwrap_or(ANY).to_owned();
            Skipped { group: part(), resource: part(), kept_from: *kept_from }
        };
        forgotten.iter().map(read).filter(is_wanted).collect()
    }

    fn is_of(&self, parts: &Parts<'_>) -> bool {
        self.resource == ANY || (self.group == parts.group && self.resource == parts.plural)
    }

    /// As answers have it.
    pub fn to_json(&self) -> Value {
        let kept_from = moment(self.kept_from).to_micros();
        json!({ "group": self.group, "resource": self.resource, "keptFrom": kept_from })
    }
}

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match (self.resource.as_str(), self.group.as_str()) {
            (ANY, _) => "everything".to_owned(),
            (resource, "") => resource.to_owned(),
            (resource, group) => format!("{resource}.{group}"),
        };
        write!(f, "{name} (kept since {})", moment(self.kept_from).to_micros())
    }
}

impl Which {
    fn read(call: &Call, undo: &Value, options: &WriteOptions) -> Result<Which, Status> {
        let since = match (text(undo, "revision")?, text(undo, "after")?) {
            (Some(revision), None) => {
                let version: Version = revision.parse().map_err(|_| {
                    Status::bad_request(format!("undo.revision: {revision:?} is not a valid revision"))
                })?;
                Since::In(version.revision())
            }
            (None, Some(after)) => Since::After(AsOf::parse(&after, call.api.now())?),
            _ => return Err(Status::bad_request("undo: exactly one of revision and after must be set")),
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
            skips_forgotten: undo.get("skipForgotten").and_then(Value::as_bool).unwrap_or(false),
            options: options.clone(),
        })
    }

    fn is_about(&self, parts: &Parts<'_>) -> bool {
        let namespace = self.namespace.as_deref();
        self.is_of_kind(parts.group, parts.plural)
            && namespace.is_none_or(|namespace| namespace == parts.namespace)
    }

    fn is_of_kind(&self, group: &str, plural: &str) -> bool {
        let named = |(of_group, resource): &(String, String)| {
            (of_group == ANY || of_group == group) && (resource == ANY || resource == plural)
        };
        self.resources.is_empty() || self.resources.iter().any(named)
    }

    /// Whether something would be taken back of a kind of which too little is known.
    fn is_concerned(&self, call: &Call, skipped: &Skipped) -> bool {
        let kind = || call.catalog.resource(&skipped.group, &skipped.resource);
        skipped.resource == ANY
            || (self.is_of_kind(&skipped.group, &skipped.resource)
                && kind().is_some_and(|kind| is_kept(kind)))
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
        let one = call.about(kind.clone(), kind.storage, parts.namespace.to_owned(), parts.name.to_owned());
        // What whoever asks may not see is not there: neither its name nor that there is something is told.
        if one.may_get().is_err() {
            return Ok(None);
        }
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
        let doing = one.may(verb, at).map(|()| (Arc::new(one), doing));
        Ok(Some(Item {
            index,
            named,
            operation,
            doing,
            options: self.options.clone(),
            ignores_not_found: false,
        }))
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
                    let (before, after) = (read(call, key, before)?, read(call, key, after)?);
                    let mut one = TakenBack::between(&before, &after, self.force);
                    if call.hides(key) {
                        one.retain_claimed(change, &after);
                    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_the_groups_of_their_keys() {
        let forgotten = [
            ("p//configmaps/".to_owned(), 1_794_814_859_500_000),
            ("p/inventory.miloapis.com/racks/".to_owned(), 0),
            ("p/example.com/pots/".to_owned(), 0),
            (String::new(), 0),
        ];
        let skipped = Skipped::all(&forgotten, |skipped| skipped.group != "example.com");
        let told: Vec<String> = skipped.iter().map(Skipped::to_string).collect();
        assert_eq!(
            told,
            [
                "configmaps (kept since 2026-11-16T07:40:59.500000Z)",
                "racks.inventory.miloapis.com (kept since 1970-01-01T00:00:00.000000Z)",
                "everything (kept since 1970-01-01T00:00:00.000000Z)",
            ]
        );
        let key = Key::new("p//configmaps/default/a").unwrap();
        assert!(
            skipped[0].is_of(&keys::parts(&key).unwrap()) && !skipped[1].is_of(&keys::parts(&key).unwrap())
        );
        assert!(skipped[2].is_of(&keys::parts(&key).unwrap()));
    }
}
