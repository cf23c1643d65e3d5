//! A page of activities, merged from the ledger and from events, newest first.

use apiserver::api::{Api, store_failure};
use apiserver::call::Call;
use apiserver::keys::{self, Parts};
use krm::kind::Kind;
use krm::status::Status;
use serde_json::Value;
use store::{Change, DeedMark, Key, Version};

use super::answers::Activities;
use super::asked::Asked;
use super::compose;
use super::events::{self, Happened, Unread};
use super::ledger::{Found, Passing, Seeker, Span, Stopped, changes};
use super::policies::InForce;
use super::policy::Origin;
use super::seek::{DEEPENING, Seek};
use super::sight::{Sight, plane};
use super::window::Window;

/// As many records are looked at for one page; where fewer fit, the page is short and the next one goes on from there.
const LOOKED_AT: usize = 500;
/// As many changes are read together.
const READ_AT_ONCE: usize = 64;

/// Where a page of activities ended: the last change and the last event that were looked at.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ended {
    below: u64,
    time: u64,
    events: Option<(u64, u64)>,
    start: u64,
    end: u64,
}

impl Ended {
    /// The window of the first page, which later ones look at, too.
    pub fn window(&self) -> Window {
        Window { start: self.start, end: self.end }
    }
}

/// Activities, newest first.
pub struct Page {
    /// The activities.
    pub items: Vec<Value>,
    /// Where it ended, if there is more.
    pub ended: Option<Ended>,
}

/// One page of what is asked for.
pub async fn page(
    activities: &Activities,
    call: &Call,
    sight: &Sight,
    asked: &Asked,
    ended: Option<&Ended>,
    limit: usize,
) -> Result<Page, Status> {
    let api = &call.api;
    let failed = |error: store::Error| store_failure(&error);
    activities.ledger.catch_up(api.store()).await.map_err(failed)?;
    let policies = activities.policies.in_force(api);
    let mut told_events = ended.and_then(|ended| ended.events);
    let mut events = match asked.may_be_an_event() {
        true => activities.events.in_window(api, &call.plane, asked.window),
        false => Vec::new(),
    };
    let is_any_told = policies.tell_of_events();
    events.retain(|event| {
        (event.is_told_by_kind || is_any_told) && told_events.is_none_or(|told| event.place() < told)
    });
    let tell = |event: &Unread| {
        let event = events::read_seen(api, sight, event)?;
        of_event(api, &policies, &event).filter(|activity| asked.fits(activity))
    };
    let mut events = events.into_iter().peekable();
    let mut items = Vec::new();
    let mut looked_at = 0;
    let stop = |below: DeedMark, events: Option<(u64, u64)>| {
        let (below, time) = (below.version.get(), below.time);
        Some(Ended { below, time, events, start: asked.window.start, end: asked.window.end })
    };
    let mut below = ended
        .map_or(DeedMark::END, |ended| DeedMark { version: Version::new(ended.below), time: ended.time });
    let mut seek = Seek::new(api, sight, asked, &policies);
    let mut passing = Passing::default();
    while below.version > Version::ZERO {
        let enough = (limit - items.len()).saturating_add(8).min(256);
        let span = Span { window: asked.window, below, above: Version::ZERO };
        let (found, stopped) = activities.ledger.look(&mut seek, span, enough, &passing);
        let count = found.len();
        for (step, some) in found.chunks(READ_AT_ONCE).enumerate() {
            let changes = changes(api.store(), some).await.map_err(failed)?;
            for (index, (found, change)) in some.iter().zip(changes).enumerate() {
                while let Some(event) = events.next_if(|event| event.time > found.at.time) {
                    told_events = Some(event.place());
                    items.extend(tell(&event));
                    looked_at += 1;
                    if items.len() >= limit || looked_at >= LOOKED_AT.max(limit) {
                        return Ok(Page { items, ended: stop(below, told_events) });
                    }
                }
                below = found.at;
                looked_at += 1;
                if sight.reaches(keys::parts(&found.key).map_or("", |at| at.plane), found.at.time) {
                    let told = change.and_then(|change| of_change(api, &policies, found, &change));
                    items.extend(told.filter(|activity| asked.fits(activity)));
                }
                let is_last = step * READ_AT_ONCE + index + 1 == count
                    && stopped == Stopped::Past
                    && events.peek().is_none();
                if items.len() >= limit || looked_at >= LOOKED_AT.max(limit) {
                    let ended = if is_last { None } else { stop(below, told_events) };
                    return Ok(Page { items, ended });
                }
            }
        }
        match stopped {
            Stopped::At(mark) => below = mark,
            Stopped::Past => break,
            Stopped::Unread(mark) => {
                below = mark;
                seek.work(DEEPENING);
                if !activities.ledger.deepen(api.store(), below, &mut passing).await.map_err(failed)? {
                    break;
                }
            }
        }
        if seek.is_tired(0) {
            // Much was looked through, and little was there: the next page goes on.
            return Ok(Page { items, ended: stop(below, told_events) });
        }
        // Others have questions, too.
        tokio::task::yield_now().await;
    }
    for event in events {
        told_events = Some(event.place());
        items.extend(tell(&event));
        looked_at += 1;
        if items.len() >= limit || looked_at >= LOOKED_AT.max(limit) {
            return Ok(Page { items, ended: stop(DeedMark::default(), told_events) });
        }
    }
    Ok(Page { items, ended: None })
}

/// The activity of a change, if a policy tells one.
pub fn of_change(api: &Api, policies: &InForce<'_>, found: &Found, change: &Change) -> Option<Value> {
    let kind = kind_of(api, &found.key)?;
    let composed = compose::of_change(api, &kind, &found.key, change)?;
    let said = policies.tell(&kind, Origin::Audit, &composed.values)?;
    Some(composed.told.activity(&said))
}

/// The activity of an event, if a policy tells one.
pub fn of_event(api: &Api, policies: &InForce<'_>, event: &Happened) -> Option<Value> {
    let at = keys::parts(&event.key)?;
    let regarding = &event.event["regarding"];
    let text = |field: &str| regarding[field].as_str().unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    let kind = api.kinds().of(&plane(at.plane)).kind(group, text("kind"))?.clone();
    let composed = compose::of_event(&event.event, at.plane);
    let said = policies.tell(&kind, Origin::Event, &composed.values)?;
    Some(composed.told.activity(&said))
}

/// The kind of an object by its key.
pub fn kind_of(api: &Api, key: &Key) -> Option<std::sync::Arc<Kind>> {
    let at: Parts<'_> = keys::parts(key)?;
    api.kinds().of(&plane(at.plane)).resource(at.group, at.plural).cloned()
}
