//! Watch: the changes of a collection, as JSON lines.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use krm::Object;
use krm::status::Status;
use serde_json::{Value, json};
use store::{Entry, Event, Key, Snapshot, Version, Watch};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::all_planes;
use super::get::{no_older_than, parse_version};
use super::list::find_seen;
use super::shown::Which;
use crate::api::store_failure;
use crate::call::Call;
use crate::conversion;
use crate::present::{Presenter, whole};
use crate::request::accept::{Accept, Form};
use crate::request::query::ListOptions;
use crate::select::Selection;

/// How many bytes are sent at a time, give or take an event.
const PIECE: usize = 64 << 10;
/// How often a quiet watch says how far it has come.
const BOOKMARKS: Duration = Duration::from_secs(60);
/// How long before its end it says so once more.
const BEFORE_THE_END: Duration = Duration::from_secs(2);
/// Watches that don't say how long they last end after this, and at most twice it.
const LASTS: Duration = Duration::from_secs(1800);

/// A watch that was opened and is yet to be followed.
pub struct Opened {
    call: Call,
    accept: Accept,
    selection: Selection,
    watch: Watch,
    /// What is there already, to be told first.
    initial: Option<Snapshot>,
    /// Whether the end of what was there is told.
    marks_initial: bool,
    bookmarks: bool,
    /// Where it began. Who has come no further need not be told.
    from: Version,
    ends: Instant,
    with_columns: bool,
}

/// Opens a watch; the error of one that starts too far back is told in the stream, as clients expect.
pub async fn open(
    call: &Call,
    accept: &Accept,
    options: &ListOptions,
) -> Result<Result<Opened, Status>, Status> {
    let selection =
        Selection::parse(&options.label_selector, &options.field_selector, &call.kind, call.version())?;
    let (from, initial) = start(call, options).await?;
    let watch = match call.api.store().watch(call.prefix().as_bytes(), from) {
        Ok(watch) => watch,
        Err(error) => return Ok(Err(gone(&error, from))),
    };
    let lasts = match options.timeout {
        Some(seconds) if seconds > 0 => Duration::from_secs(seconds.unsigned_abs()),
        // A time before now: it is over before it begins.
        Some(seconds) if seconds < 0 => Duration::ZERO,
        _ => LASTS + LASTS.mul_f64(f64::from(call.api.random::<1>()[0]) / 256.0),
    };
    Ok(Ok(Opened {
        call: call.clone(),
        accept: *accept,
        selection,
        watch,
        initial,
        marks_initial: options.bookmarks && begins_with_all(options),
        bookmarks: options.bookmarks,
        from,
        ends: Instant::now() + lasts,
        with_columns: true,
    }))
}

/// Whether what is there is told first, and its end with it: as asked, or as ever where no version is named.
fn begins_with_all(options: &ListOptions) -> bool {
    let names_none = matches!(options.resource_version.as_str(), "" | "0");
    options.initial_events.unwrap_or(names_none && options.version_match.is_empty())
}

/// When the next bookmark is due: after a while, but before the watch ends.
fn next_bookmark(ends: Instant) -> Option<Instant> {
    let now = Instant::now();
    let last = ends.checked_sub(BEFORE_THE_END)?;
    (last > now).then(|| last.min(now + BOOKMARKS))
}

/// The version to follow from, and what is told before.
async fn start(call: &Call, options: &ListOptions) -> Result<(Version, Option<Snapshot>), Status> {
    let store = call.api.store();
    let current = async || store.current().await.map_err(|error| store_failure(&error));
    let version = match options.resource_version.as_str() {
        "" | "0" => None,
        text => Some(parse_version(text).map_err(|why| Status::failure(500, "", why))?),
    };
    match (options.initial_events, version) {
        (Some(true), Some(version)) => {
            let snapshot = no_older_than(&call.api, version).await?;
            Ok((snapshot.version(), Some(snapshot)))
        }
        (Some(false), None) => Ok((current().await?.version(), None)),
        (_, None) => {
            let snapshot = current().await?;
            Ok((snapshot.version(), Some(snapshot)))
        }
        (_, Some(version)) => Ok((version, None)),
    }
}

fn gone(error: &store::Error, asked: Version) -> Status {
    match error {
        store::Error::Gone { earliest, .. } => {
            Status::expired(format!("too old resource version: {asked} ({})", earliest.end()))
        }
        other => store_failure(other),
    }
}

impl Opened {
    /// Follows the watch until it ends, its reader goes or the server stops; every message is a whole number of lines.
    pub async fn follow(mut self, lines: mpsc::Sender<Bytes>) {
        if self.tell_initial(&lines).await.is_none() {
            return;
        }
        let mut rights = self.call.api.followers().rights.changes();
        // Whoever lost them while it was opened is not followed either.
        rights.mark_changed();
        let mut bookmark = next_bookmark(self.ends).filter(|_| self.bookmarks);
        loop {
            let (batch, is_bookmark) = tokio::select! {
                biased;
                Ok(()) = rights.changed() => {
                    if let Err(refused) = self.call.may_watch() {
                        let _ = lines.send(error_line(&refused)).await;
                        return;
                    }
                    continue;
                }
                batch = self.watch.next() => (batch, false),
                () = tokio::time::sleep_until(self.ends) => return,
                () = lines.closed() => return,
                () = tokio::time::sleep_until(bookmark.unwrap_or(self.ends)), if bookmark.is_some() => {
                    bookmark = next_bookmark(self.ends);
                    // Others' changes have gone by since it last looked: it says how far it has come by now.
                    (self.watch.ready(), true)
                }
            };
            let events = match batch {
                Ok(events) => events,
                // The server stops: the stream just ends, and the client goes on elsewhere from where it was.
                Err(store::Error::Closed) => return,
                Err(error) => {
                    let status = gone(&error, self.watch.position());
                    let _ = lines.send(error_line(&status)).await;
                    return;
                }
            };
            if self.tell(&events, &lines).await.is_none() {
                return;
            }
            let version = self.watch.position();
            if is_bookmark && version > self.from && lines.send(self.bookmark(version, false)).await.is_err()
            {
                return;
            }
        }
    }

    /// Sends events piece by piece, so that one who was away for long costs no more than the others.
    async fn tell(&mut self, events: &[Arc<Event>], lines: &mpsc::Sender<Bytes>) -> Option<()> {
        if self.call.conversions.is_some() {
            let states = events.iter().flat_map(|event| {
                let states = [event.before(), Some(event.shown())].into_iter().flatten();
                states.map(|state| (event.key().clone(), state.clone()))
            });
            let states: Vec<_> = states.collect();
            self.convert(&states, lines).await?;
        }
        let mut chunk = BytesMut::new();
        for event in events {
            self.encode(event, &mut chunk);
            if chunk.len() > PIECE {
                self.send(chunk.split().freeze(), lines).await?;
            }
        }
        match chunk.is_empty() {
            true => Some(()),
            false => self.send(chunk.freeze(), lines).await,
        }
    }

    /// Has what is to be told next converted, where a webhook does that. If it can't, the watch ends, and says why.
    async fn convert(&self, states: &[(Key, Arc<Entry>)], lines: &mpsc::Sender<Bytes>) -> Option<()> {
        let Some(conversions) = &self.call.conversions else { return Some(()) };
        conversions.clear();
        match conversion::prepare(&self.call, states).await {
            Ok(()) => Some(()),
            Err(status) => {
                let _ = lines.send(error_line(&status)).await;
                None
            }
        }
    }

    /// Waits for room in the stream, no longer than the watch lasts.
    async fn send(&self, chunk: Bytes, lines: &mpsc::Sender<Bytes>) -> Option<()> {
        tokio::select! {
            biased;
            sent = lines.send(chunk) => sent.ok(),
            () = tokio::time::sleep_until(self.ends) => None,
        }
    }

    async fn tell_initial(&mut self, lines: &mpsc::Sender<Bytes>) -> Option<()> {
        let Some(snapshot) = self.initial.take() else { return Some(()) };
        let (everything, is_converted) = (Selection::default(), conversion::is_needed(&self.call));
        // What is stored does not tell whether an object is meant that a webhook makes another of.
        let narrowed = if is_converted { &everything } else { &self.selection };
        let mut found = match self.call.all_planes {
            true => all_planes::find(&self.call, narrowed, &snapshot, (None, usize::MAX)),
            false => find_seen(&self.call, narrowed, &snapshot, &self.call.prefix(), (None, usize::MAX)),
        };
        self.convert(&found, lines).await?;
        if is_converted {
            found.retain(|(key, entry)| self.means(key, entry));
        }
        let mut chunk = BytesMut::new();
        for (key, entry) in found {
            let call = self.call.clone();
            let presenter = Presenter::of(&call);
            if let Ok(bytes) = presenter.bytes(&key, &entry) {
                self.line(&mut chunk, "ADDED", &bytes, None);
            }
            if chunk.len() > PIECE {
                self.send(chunk.split().freeze(), lines).await?;
            }
        }
        if self.marks_initial {
            chunk.extend_from_slice(&self.bookmark(snapshot.version(), true));
        }
        match chunk.is_empty() {
            true => Some(()),
            false => self.send(chunk.freeze(), lines).await,
        }
    }

    /// Whether the watch is about an object.
    fn means(&self, key: &Key, entry: &Entry) -> bool {
        if self.selection.is_everything() {
            return true;
        }
        if conversion::is_needed(&self.call) {
            let object = Presenter::of(&self.call).object(key, entry);
            return object.is_ok_and(|object| self.selection.matches(&object));
        }
        let bytes = self.call.api.reveal(key, entry);
        bytes.is_ok_and(|bytes| self.selection.matches_bytes(&bytes))
    }

    fn encode(&mut self, event: &Event, chunk: &mut BytesMut) {
        let call = self.call.clone();
        let presenter = Presenter::of(&call);
        let key = event.key();
        if !call.sees_now(key) || (call.all_planes && !all_planes::has(&call, key)) {
            return;
        }
        let meant = |entry: Option<&Arc<Entry>>| entry.is_some_and(|entry| self.means(key, entry));
        let (was, is) = (meant(event.before()), meant(event.after()));
        let what = match (was, is) {
            (false, false) => return,
            (false, true) => "ADDED",
            (true, true) => "MODIFIED",
            (true, false) => "DELETED",
        };
        let bytes = match (event.after(), event.before()) {
            // It left the selection: told as it was, at the version of the change.
            (Some(after), Some(before)) if what == "DELETED" => presenter
                .object(key, before)
                .map(|object| Bytes::from(whole(&restamped(object, after.version())))),
            _ => {
                let shown = event.shown();
                match call.redacts || call.all_planes || presenter.is_as_stored(shown.version().get()) {
                    true => presenter.bytes(key, shown),
                    false => {
                        let which = Which::converted(&call, shown.version());
                        call.api.shown().get(which, || presenter.bytes(key, shown))
                    }
                }
            }
        };
        // One that left the selection is told as it was, which is not what its version has.
        let left = what == "DELETED" && event.after().is_some();
        // What says which plane it is in is not what others are shown.
        let object = (!left && !call.all_planes).then(|| event.shown().version());
        match bytes {
            Ok(bytes) => self.line(chunk, what, &bytes, object),
            Err(error) => tracing::error!(%key, %error, "failed to encode a watch event; it is not sent"),
        }
    }

    /// One line. `object` is the version of the write that `bytes` are of; others who are shown the same share it.
    fn line(&mut self, chunk: &mut BytesMut, what: &str, bytes: &[u8], object: Option<Version>) {
        chunk.extend_from_slice(b"{\"type\":\"");
        chunk.extend_from_slice(what.as_bytes());
        chunk.extend_from_slice(b"\",\"object\":");
        if self.accept.form == Form::Whole {
            chunk.extend_from_slice(bytes);
        } else {
            let with_columns = self.accept.form == Form::Table && std::mem::take(&mut self.with_columns);
            let made = match object.filter(|_| !with_columns) {
                Some(object) => {
                    let which = Which::formed(&self.call, object, &self.accept);
                    let make = || Ok::<_, Infallible>(self.formed(bytes, false));
                    self.call.api.shown().get(which, make).unwrap_or_else(|never| match never {})
                }
                None => self.formed(bytes, with_columns),
            };
            chunk.extend_from_slice(&made);
        }
        chunk.extend_from_slice(b"}\n");
    }

    /// An object as a table of one row, or its metadata alone.
    fn formed(&self, bytes: &[u8], with_columns: bool) -> Bytes {
        let made = match crate::encode::read(bytes) {
            Ok(object) if self.accept.form == Form::Table => {
                crate::answer::table::of_event(&self.call, &self.accept, object, with_columns)
            }
            Ok(object) => krm::table::partial_metadata(object, self.accept.version),
            Err(status) => serde_json::to_value(status).unwrap_or_default(),
        };
        made.to_string().into()
    }

    fn bookmark(&mut self, version: Version, ends_initial: bool) -> Bytes {
        let mut metadata = json!({ "resourceVersion": version.to_string() });
        if ends_initial {
            metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        let mut object = Object::new(&self.call.api_version(), &self.call.kind.names.kind);
        object.set("metadata", Some(metadata));
        let mut chunk = BytesMut::new();
        self.line(&mut chunk, "BOOKMARK", &whole(&object), None);
        chunk.freeze()
    }
}

fn restamped(mut object: Object, version: Version) -> Object {
    object.set_meta("resourceVersion", Some(Value::from(version.to_string())));
    object
}

/// Why a watch ends, as its last line.
pub fn error_line(status: &Status) -> Bytes {
    let mut line = b"{\"type\":\"ERROR\",\"object\":".to_vec();
    line.extend_from_slice(&status.to_json());
    line.extend_from_slice(b"}\n");
    line.into()
}
