//! Index of event times, so that a page reads only the events that it shows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use apiserver::api::Api;
use apiserver::keys;
use apiserver::plane::Plane;
use apiserver::read::all_planes;
use krm::kind::split_api_version;
use krm::time::Moment;
use serde::Deserialize;
use store::{Entry, Key, Version};

use crate::activity::window::{Window, micros};

/// The times of all events that are kept.
#[derive(Default)]
pub struct Times(Mutex<HashMap<Key, Noted>>);

#[derive(Clone, Copy)]
struct Noted {
    version: Version,
    time: u64,
    is_told_by_kind: bool,
}

/// An event that was not read yet.
pub struct Unread {
    /// When it happened, in microseconds since 1970.
    pub time: u64,
    /// Whose event it is.
    pub key: Key,
    /// As it is kept.
    pub entry: Arc<Entry>,
    /// Whether it is about an object of a kind whose Events are told by the policy that ships.
    pub is_told_by_kind: bool,
}

impl Unread {
    /// Where it stands among the others; tells nothing of whose it is.
    pub fn place(&self) -> (u64, u64) {
        (self.time, self.entry.version().get())
    }
}

impl Times {
    /// All events of the planes in sight, newest first.
    pub fn in_window(&self, api: &Api, from: &Plane, window: Window) -> Vec<Unread> {
        let snapshot = api.store().latest();
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        let mut count = 0;
        for plane in planes(api, from) {
            let prefix = keys::of_kind(&plane, "", "events");
            for (key, entry) in snapshot.list(prefix.as_bytes()) {
                count += 1;
                let known = noted.get(key).copied().filter(|known| known.version == entry.version());
                let known = known.or_else(|| {
                    let read = note(api, key, entry)?;
                    noted.insert(key.clone(), read);
                    Some(read)
                });
                if let Some(Noted { time, is_told_by_kind, .. }) =
                    known.filter(|known| window.has(known.time))
                {
                    found.push(Unread { time, key: key.clone(), entry: entry.clone(), is_told_by_kind });
                }
            }
        }
        if from.is_root() && noted.len() > 2 * count + 64 {
            noted.retain(|key, _| snapshot.get(key).is_some());
        }
        drop(noted);
        found.sort_unstable_by_key(|unread: &Unread| std::cmp::Reverse(unread.place()));
        found
    }
}

/// The planes whose events are seen from one: the root sees all.
fn planes(api: &Api, from: &Plane) -> Vec<Plane> {
    match from.is_root() {
        true => all_planes::all(api.kinds(), &api.store().latest()),
        false => vec![from.clone()],
    }
}

/// What of an event says when it happened.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Glimpse<'a> {
    #[serde(borrow, default)]
    series: Option<Series<'a>>,
    #[serde(borrow, default)]
    event_time: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    last_timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    first_timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    metadata: Metadata<'a>,
    #[serde(borrow, default)]
    involved_object: Option<Involved<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Series<'a> {
    #[serde(borrow, default)]
    last_observed_time: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    #[serde(borrow, default)]
    creation_timestamp: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Involved<'a> {
    #[serde(borrow, default)]
    api_version: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
}

fn note(api: &Api, key: &Key, entry: &Arc<Entry>) -> Option<Noted> {
    let bytes = api.reveal(key, entry).ok()?;
    let seen: Glimpse<'_> = serde_json::from_slice(&bytes).ok()?;
    let times = [
        seen.series.and_then(|series| series.last_observed_time),
        seen.event_time,
        seen.last_timestamp,
        seen.first_timestamp,
        seen.metadata.creation_timestamp,
    ];
    let time = times.iter().flatten().find_map(|text| Moment::parse(text).ok());
    let is_told_by_kind = seen.involved_object.is_some_and(|about| is_told(api, &about));
    Some(Noted { version: entry.version(), time: time.map_or(0, micros), is_told_by_kind })
}

fn is_told(api: &Api, about: &Involved<'_>) -> bool {
    let (Some(api_version), Some(kind)) = (&about.api_version, &about.kind) else { return false };
    let (group, _) = split_api_version(api_version);
    let catalog = api.kinds().of(&Plane::root());
    catalog.kind(group, kind).is_some_and(|kind| kind.activity.event_rules.is_some())
}
