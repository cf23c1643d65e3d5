//! List: all or selected objects of a kind, whole or in pages, at one revision.

use std::sync::Arc;

use krm::status::Status;
use store::{Entry, Key, Revision, Snapshot};

use super::all_planes;
use super::get::{no_older_than, not_both, parse_version, too_far_ahead};
use super::resume::Resume;
use crate::api::store_failure;
use crate::call::Call;
use crate::conversion;
use crate::past::as_of::AsOf;
use crate::request::query::ListOptions;
use crate::select::Selection;

/// What a list holds, before it is written out.
pub struct Listed {
    /// The objects in order.
    pub items: Vec<(Key, Arc<Entry>)>,
    /// The version of the list, for a watch that follows.
    pub version: String,
    /// Where the next page starts; empty when this is the last.
    pub resume: String,
    /// How many come after this page, where that is known.
    pub remaining: Option<usize>,
}

/// Finds what the options ask for.
pub async fn list(call: &Call, options: &ListOptions) -> Result<Listed, Status> {
    let selection =
        Selection::parse(&options.label_selector, &options.field_selector, &call.kind, call.version())?;
    let place = ListPosition::of(call, options).await?;
    let prefix = call.prefix();
    // What is asked for from memory is given whole.
    let is_from_memory = options.resource_version == "0";
    let limit = usize::try_from(options.limit).ok().filter(|limit| *limit > 0 && !is_from_memory);
    let everything = selection.is_everything() && call.only.is_none() && !call.all_planes;
    let (items, remaining) = match everything {
        false if call.all_planes => {
            let most = limit.map_or(usize::MAX, |limit| limit + 1);
            let mut items = all_planes::find(call, &selection, &place.snapshot, (place.after.as_ref(), most));
            let more = items.len().saturating_sub(limit.unwrap_or(usize::MAX));
            items.truncate(limit.unwrap_or(usize::MAX));
            (items, more)
        }
        true => page(&place, &prefix, limit),
        false if conversion::is_needed(call) => converted(call, &selection, &place, &prefix, limit).await?,
        false if call.only.is_some() => {
            // One more than asked for is looked up: that there are others is told only of what may be seen.
            let window = (place.after.as_ref(), limit.map_or(usize::MAX, |limit| limit + 1));
            let mut items = find_seen(call, &selection, &place.snapshot, &prefix, window);
            let more = items.len().saturating_sub(limit.unwrap_or(usize::MAX));
            items.truncate(limit.unwrap_or(usize::MAX));
            (items, more)
        }
        false => {
            let window = (place.after.as_ref(), limit.unwrap_or(usize::MAX));
            let items = find(call, &selection, &place.snapshot, &prefix, window);
            // Whether more will match is not known before they are looked at; that there are more is.
            let is_full = limit.is_some_and(|limit| items.len() >= limit);
            let more = items
                .last()
                .filter(|_| is_full)
                .and_then(|(last, _)| place.snapshot.list_after(prefix.as_bytes(), last).next());
            let remaining = usize::from(more.is_some());
            (items, remaining)
        }
    };
    let mut listed = Listed {
        items,
        version: place.asked.unwrap_or_else(|| place.snapshot.version().to_string()),
        resume: String::new(),
        remaining: None,
    };
    if let (true, Some((last, _))) = (remaining > 0, listed.items.last()) {
        let known = everything.then_some(remaining);
        let rest = String::from_utf8_lossy(&last.as_bytes()[prefix.len()..]);
        listed.resume = Resume::after(place.snapshot.revision(), &rest).leaving(known).token();
        listed.remaining = known;
    }
    Ok(listed)
}

/// How many objects are converted at a time.
const BATCH: usize = 200;

/// One page of what is meant where a webhook makes the version that is selected in: everything is converted until there
/// are enough; and whether there may be more.
async fn converted(
    call: &Call,
    selection: &Selection,
    place: &ListPosition,
    prefix: &str,
    limit: Option<usize>,
) -> Result<(Vec<(Key, Arc<Entry>)>, usize), Status> {
    // That there are others is told only of what may be seen.
    let most = limit.map_or(usize::MAX, |limit| limit + 1);
    let nothing = Selection::default();
    let mut after = place.after.clone();
    let mut meant = Vec::new();
    while meant.len() < most {
        let batch = match named(call, selection) {
            Some(key) => {
                let found = place.snapshot.get(&key).cloned().map(|entry| (key, entry));
                let later = |(key, _): &(Key, _)| after.as_ref().is_none_or(|after| key > after);
                found.into_iter().filter(later).filter(|(key, _)| call.sees(key)).collect()
            }
            None => find_seen(call, &nothing, &place.snapshot, prefix, (after.as_ref(), BATCH)),
        };
        let Some((last, _)) = batch.last() else { break };
        after = Some(last.clone());
        meant.extend(conversion::selected(call, selection, batch).await?);
    }
    let more = meant.len().saturating_sub(limit.unwrap_or(usize::MAX));
    meant.truncate(limit.unwrap_or(usize::MAX));
    Ok((meant, more))
}

/// One page of everything under `prefix`, and how many objects come after it. They are counted for the first page and
/// the count is handed on, so that walking all pages costs no more than one walk.
fn page(place: &ListPosition, prefix: &str, limit: Option<usize>) -> (Vec<(Key, Arc<Entry>)>, usize) {
    take(place.snapshot.list_from(prefix.as_bytes(), place.after.as_ref()), limit, place.left)
}

/// The first of these objects, and how many come after; `left` is how many there are, where that is known.
fn take<'a>(
    mut rest: impl Iterator<Item = (&'a Key, &'a Arc<Entry>)>,
    limit: Option<usize>,
    left: Option<usize>,
) -> (Vec<(Key, Arc<Entry>)>, usize) {
    let most = limit.unwrap_or(usize::MAX);
    let items: Vec<_> = rest.by_ref().take(most).map(|(key, entry)| (key.clone(), entry.clone())).collect();
    let remaining = match left {
        Some(left) => left.saturating_sub(items.len()),
        None => rest.count(),
    };
    (items, remaining)
}

/// The objects of the collection that the selection means: of those after a key, where there is one, the first so many.
pub fn find(
    call: &Call,
    selection: &Selection,
    snapshot: &Snapshot,
    prefix: &str,
    (after, limit): (Option<&Key>, usize),
) -> Vec<(Key, Arc<Entry>)> {
    if let Some(mut found) = by_name(call, selection, snapshot) {
        found.retain(|(key, _)| after.is_none_or(|after| key > after));
        found.truncate(limit);
        return found;
    }
    let reveal = |key: &Key, entry: &Entry| call.api.reveal(key, entry).ok();
    selection.find(snapshot, &call.parts(), prefix, (after, limit), reveal)
}

/// The same, of the part of the collection that may be seen.
pub fn find_seen(
    call: &Call,
    selection: &Selection,
    snapshot: &Snapshot,
    prefix: &str,
    (after, limit): (Option<&Key>, usize),
) -> Vec<(Key, Arc<Entry>)> {
    let singles = call.only.as_ref().filter(|only| only.is_of_single_objects() && selection.is_everything());
    if let Some(only) = singles {
        let here = |namespace: &str| call.namespace.is_empty() || namespace == call.namespace;
        let named = only.objects.iter().filter(|(namespace, _)| here(namespace));
        let keys = named.filter_map(|(namespace, name)| {
            let mut at = call.address_of(name);
            at.namespace = namespace.to_string();
            crate::keys::object(&call.plane, &at).ok()
        });
        let later = keys.filter(|key| after.is_none_or(|after| key > after));
        let found = later.filter_map(|key| snapshot.get(&key).cloned().map(|entry| (key, entry)));
        return found.take(limit).collect();
    }
    if selection.is_everything() {
        let all = snapshot.list_from(prefix.as_bytes(), after).filter(|(key, _)| call.sees(key));
        return all.take(limit).map(|(key, entry)| (key.clone(), entry.clone())).collect();
    }
    let found = find(call, selection, snapshot, prefix, (after, usize::MAX));
    found.into_iter().filter(|(key, _)| call.sees(key)).take(limit).collect()
}

/// The key of the one object that is meant, where its name and namespace are selected.
fn named(call: &Call, selection: &Selection) -> Option<Key> {
    let name = selection.name()?;
    let mut at = call.address_of(name);
    if call.kind.is_namespaced() && at.namespace.is_empty() {
        at.namespace = selection.namespace()?.to_owned();
    }
    crate::keys::object(&call.plane, &at).ok()
}

/// A selection of one name in one namespace is one lookup.
fn by_name(call: &Call, selection: &Selection, snapshot: &Snapshot) -> Option<Vec<(Key, Arc<Entry>)>> {
    let key = named(call, selection)?;
    let Some(entry) = snapshot.get(&key) else { return Some(Vec::new()) };
    let bytes = call.api.reveal(&key, entry).ok()?;
    let entry = entry.clone();
    Some(if selection.matches_bytes(&bytes) { vec![(key, entry)] } else { Vec::new() })
}

/// What to list, and from where on.
struct ListPosition {
    snapshot: Snapshot,
    /// The key to go on after.
    after: Option<Key>,
    /// How many objects come after that key, where an earlier page has counted them.
    left: Option<usize>,
    /// The version to give back where the client named one.
    asked: Option<String>,
}

impl ListPosition {
    async fn of(call: &Call, options: &ListOptions) -> Result<ListPosition, Status> {
        if let Some(text) = &options.as_of {
            return ListPosition::past(call, options, text).await;
        }
        if !options.resume.is_empty() {
            return ListPosition::resumed(call, options).await;
        }
        let store = call.api.store();
        let from = |snapshot| ListPosition { snapshot, after: None, left: None, asked: None };
        match options.resource_version.as_str() {
            "" => Ok(from(store.current().await.map_err(|error| store_failure(&error))?)),
            "0" => Ok(from(store.latest())),
            text => {
                let version = parse_version(text)
                    .map_err(|why| Status::bad_request(format!("invalid resource version: {why}")))?;
                let exact = options.version_match == "Exact"
                    || (options.version_match.is_empty() && options.limit > 0);
                if !exact {
                    return Ok(from(no_older_than(&call.api, version).await?));
                }
                let now = store.current().await.map_err(|error| store_failure(&error))?;
                if version > now.version() {
                    return Err(too_far_ahead(version, now.version()));
                }
                let snapshot = match version.revision() == now.revision() {
                    true => now,
                    false => at(store, version.revision())?,
                };
                Ok(ListPosition { asked: Some(text.to_owned()), ..from(snapshot) })
            }
        }
    }

    /// A list of the past; its further pages are at the revision of the first.
    async fn past(call: &Call, options: &ListOptions, text: &str) -> Result<ListPosition, Status> {
        not_both(&options.resource_version)?;
        let as_of = AsOf::parse(text, call.api.now())?;
        if options.resume.is_empty() {
            return Ok(ListPosition {
                snapshot: as_of.list(call).await?,
                after: None,
                left: None,
                asked: None,
            });
        }
        let resume = Resume::read(&options.resume, !call.kind.is_namespaced())?;
        let after = Key::new(format!("{}{}", call.prefix(), resume.start()))
            .map_err(|error| Status::bad_request(error.to_string()))?;
        let as_of = resume.revision().map_or(as_of, AsOf::revision);
        let snapshot = as_of.list(call).await?;
        Ok(ListPosition { snapshot, after: Some(after), left: resume.left(), asked: None })
    }

    async fn resumed(call: &Call, options: &ListOptions) -> Result<ListPosition, Status> {
        if !matches!(options.resource_version.as_str(), "" | "0") {
            return Err(Status::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        let resume = Resume::read(&options.resume, !call.kind.is_namespaced())?;
        let after = Key::new(format!("{}{}", call.prefix(), resume.start()))
            .map_err(|error| Status::bad_request(error.to_string()))?;
        let left = resume.left();
        let store = call.api.store();
        let snapshot = match resume.revision() {
            Some(revision) => store.at(revision).map_err(|error| expired(&error, resume))?,
            None => store.current().await.map_err(|error| store_failure(&error))?,
        };
        Ok(ListPosition { snapshot, after: Some(after), left, asked: None })
    }
}

fn at(store: &dyn store::Store, revision: Revision) -> Result<Snapshot, Status> {
    store.at(revision).map_err(|error| match error {
        store::Error::Gone { .. } => Status::expired("The resourceVersion for the provided list is too old."),
        other => store_failure(&other),
    })
}

fn expired(error: &store::Error, resume: Resume) -> Status {
    if !matches!(error, store::Error::Gone { .. }) {
        return store_failure(error);
    }
    Status::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list \
         without the continue parameter, or use the continue token in this response to retrieve the remainder of the \
         results. Continuing with the provided token results in an inconsistent list - objects that were created, \
         modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    )
    .resuming(resume.inconsistently().token())
}
