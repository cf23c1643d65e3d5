//! List and watch of activities: those of the last hour, and new ones.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use apiserver::answer::{self, Answer};
use apiserver::api::store_failure;
use apiserver::call::Call;
use apiserver::keys;
use apiserver::pipeline::RequestContext;
use apiserver::request::accept::{Accept, Form, Media};
use apiserver::request::query::ListOptions;
use bytes::Bytes;
use http_body_util::{BodyExt, StreamBody};
use krm::Object;
use krm::selector::FieldSelector;
use krm::status::Status;
use serde_json::{Value, json};
use store::{DeedMark, Version};
use tokio::sync::mpsc;

use super::answers::Activities;
use super::api_version;
use super::asked::Asked;
use super::events;
use super::filter::Filter;
use super::ledger::{Passing, Span, Stopped, changes};
use super::page::{Ended, of_change, of_event, page};
use super::query::{VERBS, token, untoken, words};
use super::seek::Seek;
use super::window::{Window, micros};

/// How far back a list goes, in microseconds.
const LISTED: u64 = 3_600_000_000;
/// How many a list gives at once unless it says so.
const USUAL: usize = 500;
/// How long a watch lasts that does not say.
const LASTS: Duration = Duration::from_secs(1800);
/// How often a quiet watch says how far it has come.
const BOOKMARKS: Duration = Duration::from_secs(60);

/// What activities are selected by.
const SELECTABLE: [&str; 7] = [
    "metadata.name",
    "metadata.namespace",
    "spec.changeSource",
    "spec.resource.apiGroup",
    "spec.resource.kind",
    "spec.resource.uid",
    "spec.actor.name",
];

/// Answers a list.
pub async fn list(activities: &Activities, known: &RequestContext, call: &Call) -> Result<Answer, Status> {
    let options = ListOptions::read(&known.query)?;
    let accept = Accept::negotiate(&known.headers, true)?.with_query(&known.query)?;
    let ended: Option<Ended> =
        match options.resume.as_str() {
            "" => None,
            said => Some(untoken(said).ok_or_else(|| {
                Status::bad_request("continue: must be the continue token of an earlier page")
            })?),
        };
    let now = micros(call.api.now());
    let asked = selected(known, call, &options, Window { start: now.saturating_sub(LISTED), end: now + 1 })?;
    let limit = usize::try_from(options.limit).ok().filter(|limit| *limit > 0).unwrap_or(USUAL);
    let sight = activities.sight(call);
    let mut items = Vec::new();
    let mut ended = ended;
    loop {
        let page = page(activities, call, &sight, &asked, ended.as_ref(), limit - items.len()).await?;
        items.extend(page.items);
        ended = page.ended;
        // A short page is no end.
        if ended.is_none() || items.len() >= limit {
            break;
        }
    }
    let mut metadata = json!({ "resourceVersion": activities.ledger.version().to_string() });
    if let Some(ended) = ended {
        metadata["continue"] = token(&ended).into();
    }
    let whole = match accept.form {
        Form::Whole => {
            json!({ "apiVersion": api_version(), "kind": "ActivityList", "metadata": metadata, "items": items })
        }
        Form::Table => answer::table::of_many(call, &accept, objects(items), metadata),
        Form::Partial | Form::PartialList => {
            let partial =
                objects(items).into_iter().map(|item| krm::table::partial_metadata(item, accept.version));
            let metadata = metadata.as_object().cloned().unwrap_or_default();
            krm::table::partial_metadata_list(accept.version, metadata, partial.collect())
        }
    };
    Ok(answer::object::value(&accept, 200, &whole))
}

/// What a list or a watch selects.
fn selected(
    known: &RequestContext,
    call: &Call,
    options: &ListOptions,
    window: Window,
) -> Result<Asked, Status> {
    let selector = FieldSelector::parse(&options.field_selector).map_err(Status::bad_request)?;
    let mut equal = Vec::new();
    for requirement in selector.requirements() {
        if !SELECTABLE.contains(&requirement.field.as_str()) || !requirement.is_equal {
            let why = format!("field label not supported: {}", requirement.field);
            return Err(Status::bad_request(why));
        }
        equal.push((requirement.field.clone(), requirement.value.clone()));
    }
    if !options.label_selector.is_empty() {
        return Err(Status::bad_request(
            "activities have no labels: use a field selector, or create an ActivityQuery",
        ));
    }
    if !call.namespace.is_empty() {
        equal.push(("spec.resource.namespace".to_owned(), call.namespace.clone()));
    }
    // What a query can be asked for, a list and a watch can be asked for, too.
    let asked = |name: &str| known.query.get(name).unwrap_or_default();
    let filter = Filter::of_activities(asked("filter"))
        .map_err(|why| Status::bad_request(format!("filter: {:?}: {why}", asked("filter"))))?;
    equal.extend(filter.equal.clone());
    if !asked("verb").is_empty() && !VERBS.contains(&asked("verb")) {
        let why = format!("verb: {:?} must be one of {}", asked("verb"), VERBS.join(", "));
        return Err(Status::bad_request(why));
    }
    Ok(Asked { window, equal, filter, words: words(asked("search")), verb: asked("verb").to_owned() })
}

fn objects(items: Vec<Value>) -> Vec<Object> {
    items.into_iter().filter_map(Object::from_value).collect()
}

/// Answers a watch.
pub async fn watch(
    activities: &Arc<Activities>,
    known: &RequestContext,
    call: Call,
) -> Result<Answer, Status> {
    let options = ListOptions::read(&known.query)?;
    let accept = Accept::negotiate(&known.headers, true)?.with_query(&known.query)?;
    if accept.media == Media::Yaml {
        return Err(Status::not_acceptable("application/json"));
    }
    let now = micros(call.api.now());
    let recent =
        selected(known, &call, &options, Window { start: now.saturating_sub(LISTED), end: now + 1 })?;
    let asked = selected(known, &call, &options, Window { start: 0, end: u64::MAX })?;
    let failed = |error: store::Error| store_failure(&error);
    let snapshot = call.api.store().current().await.map_err(failed)?;
    let mut initial = Vec::new();
    let from = match options.resource_version.as_str() {
        "" | "0" => {
            let sight = activities.sight(&call);
            initial = page(activities, &call, &sight, &recent, None, USUAL).await?.items;
            initial.reverse();
            snapshot.version()
        }
        text => text.parse().map_err(|_| {
            Status::bad_request(format!("resourceVersion: {text:?} is not a valid resource version"))
        })?,
    };
    let watch = call.api.store().watch(b"", from);
    let (lines, read) = mpsc::channel(16);
    let lasts = options.timeout.filter(|seconds| *seconds > 0);
    let lasts = lasts.map_or(LASTS, |seconds| Duration::from_secs(seconds.unsigned_abs()));
    match watch {
        Ok(watch) => {
            let following = Following {
                activities: activities.clone(),
                call,
                accept,
                asked,
                from,
                bookmarks: options.bookmarks,
                with_columns: true,
                told: HashSet::new(),
            };
            tokio::spawn(following.run(watch, initial, lines, lasts));
        }
        Err(error) => {
            let line = apiserver::read::watch::error_line(&Status::expired(error.to_string()));
            let _ = lines.try_send(line);
        }
    }
    let frames =
        tokio_stream::StreamExt::map(tokio_stream::wrappers::ReceiverStream::new(read), |bytes: Bytes| {
            Ok(http_body::Frame::data(bytes))
        });
    Ok(answer::stream(200, "application/json", StreamBody::new(frames).boxed_unsync()))
}

/// A watch that goes on.
struct Following {
    activities: Arc<Activities>,
    call: Call,
    accept: Accept,
    asked: Asked,
    /// Everything up to here was told.
    from: Version,
    bookmarks: bool,
    with_columns: bool,
    /// The events that were told: one that happens again is told once.
    told: HashSet<String>,
}

impl Following {
    async fn run(
        mut self,
        mut watch: store::Watch,
        initial: Vec<Value>,
        lines: mpsc::Sender<Bytes>,
        lasts: Duration,
    ) {
        let ends = tokio::time::Instant::now() + lasts;
        for activity in initial {
            if self.send(activity, &lines).await.is_none() {
                return;
            }
        }
        let mut bookmark = tokio::time::interval_at(tokio::time::Instant::now() + BOOKMARKS, BOOKMARKS);
        let mut rights = self.call.api.followers().rights.changes();
        // Whoever lost them while it was opened is not followed either.
        rights.mark_changed();
        loop {
            let batch = tokio::select! {
                Ok(()) = rights.changed() => {
                    if let Err(refused) = self.call.may_watch() {
                        let _ = lines.send(apiserver::read::watch::error_line(&refused)).await;
                        return;
                    }
                    continue;
                }
                batch = watch.next() => batch,
                () = tokio::time::sleep_until(ends) => return,
                () = lines.closed() => return,
                _ = bookmark.tick(), if self.bookmarks => {
                    let object = json!({ "apiVersion": api_version(), "kind": "Activity",
                        "metadata": { "resourceVersion": self.from.to_string() }, "spec": null });
                    if lines.send(line("BOOKMARK", &object)).await.is_err() {
                        return;
                    }
                    continue;
                }
            };
            let events = match batch {
                Ok(events) => events,
                Err(store::Error::Closed) => return,
                Err(error) => {
                    let status = Status::expired(error.to_string());
                    let _ = lines.send(apiserver::read::watch::error_line(&status)).await;
                    return;
                }
            };
            let Some(activities) = self.told_by(&events).await else { return };
            self.from = watch.position();
            for activity in activities {
                if self.send(activity, &lines).await.is_none() {
                    return;
                }
            }
        }
    }

    /// The activities of a batch of changes, oldest first.
    async fn told_by(&mut self, batch: &[Arc<store::Event>]) -> Option<Vec<Value>> {
        let api = self.call.api.clone();
        let activities = self.activities.clone();
        activities.ledger.catch_up(api.store()).await.ok()?;
        let policies = activities.policies.in_force(&api);
        let through = batch.last()?.version();
        let sight = activities.sight(&self.call);
        let mut seek = Seek::new(&api, &sight, &self.asked, &policies).untiring();
        let below = DeedMark { version: Version::new(through.get().saturating_add(1)), time: u64::MAX };
        let mut span = Span { window: self.asked.window, below, above: self.from };
        let mut passing = Passing::default();
        let mut found = Vec::new();
        loop {
            let (more, stopped) = activities.ledger.look(&mut seek, span, usize::MAX, &passing);
            found.extend(more);
            match stopped {
                Stopped::At(mark) => span.below = mark,
                Stopped::Past => break,
                Stopped::Unread(_) if activities.ledger.reaches(self.from) => break,
                Stopped::Unread(mark) => {
                    span.below = mark;
                    if !activities.ledger.deepen(api.store(), span.below, &mut passing).await.ok()? {
                        break;
                    }
                }
            }
        }
        found.reverse();
        let mut told = Vec::new();
        let read = changes(api.store(), &found).await.ok()?;
        for (found, change) in found.iter().zip(read) {
            let activity = change.and_then(|change| of_change(&api, &policies, found, &change));
            told.extend(activity.filter(|activity| self.asked.fits(activity)));
        }
        for event in batch {
            let Some(at) = keys::parts(event.key()).filter(|at| at.group.is_empty() && at.plural == "events")
            else {
                continue;
            };
            let Some(entry) = event.after() else { continue };
            let Some(happened) = events::read(&api, event.key(), entry) else { continue };
            let is_here = self.call.plane.is_root() || at.plane == self.call.plane.as_str();
            if !is_here || !events::is_seen(&api, &sight, &happened) {
                continue;
            }
            let activity = of_event(&api, &policies, &happened).filter(|activity| self.asked.fits(activity));
            told.extend(activity.filter(|_| self.told.insert(event.key().to_string())));
        }
        Some(told)
    }

    async fn send(&mut self, activity: Value, lines: &mpsc::Sender<Bytes>) -> Option<()> {
        let shown = match self.accept.form {
            Form::Table => {
                let object = Object::from_value(activity)?;
                let first = std::mem::replace(&mut self.with_columns, false);
                answer::table::of_event(&self.call, &self.accept, object, first)
            }
            _ => activity,
        };
        lines.send(line("ADDED", &shown)).await.ok()
    }
}

fn line(what: &str, object: &Value) -> Bytes {
    let mut line = krm::encode::to_json(&json!({ "type": what, "object": object }));
    line.push(b'\n');
    line.into()
}
