//! Queries that are posted: what they have in common, and the one for activities.

use std::sync::{Mutex, PoisonError};

use apiserver::api::store_failure;
use apiserver::call::Call;
use apiserver::keys::{self, Parts};
use apiserver::past::moment;
use krm::base64;
use krm::field::{FieldError, Path};
use krm::status::Status;
use krm::time::Moment;
use krm::{Object, kind::Kind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::{DeedMark, Key, Version};

use super::answers::Activities;
use super::compose::{self, Actor};
use super::events::{self, Happened, Unread};
use super::filter::Filter;
use super::ledger::{Found, Passing, Seeker, Span, Stopped};
use super::policies::InForce;
use super::policy::Origin;
use super::seek::{DEEPENING, Seek};
use super::sight::{Sight, plane};
use super::window::Window;

/// How many results a page has unless a query says so.
const USUAL: usize = 100;
/// How many it has at most.
const MOST: usize = 1000;
/// As many records are looked at for one page; where fewer fit, the page is short and the next one goes on from there.
const LOOKED_AT: usize = 500;

/// What can be done to an object.
pub const VERBS: [&str; 3] = ["create", "update", "delete"];

/// A query that was posted.
pub struct Posted<'a> {
    /// The request.
    pub call: &'a Call,
    /// What was posted.
    pub object: &'a Object,
    /// What the asker should know of the answer.
    pub warnings: Mutex<Vec<String>>,
}

impl Posted<'_> {
    /// Tells the asker something that the answer itself does not say.
    pub fn warn(&self, warning: String) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }

    /// What is asked.
    pub fn spec(&self) -> Value {
        self.object.get("spec").cloned().unwrap_or_else(|| json!({}))
    }

    /// What time it is.
    pub fn now(&self) -> Moment {
        self.call.api.now()
    }

    /// The refusal of what is wrong with it.
    pub fn invalid(&self, errors: &[FieldError]) -> Status {
        Status::invalid(&self.call.kind.subject(), self.object.name(), errors)
    }

    /// A status that says which window was looked at.
    pub fn window_status(&self, window: Window) -> Value {
        json!({
            "results": [],
            "effectiveStartTime": moment(window.start).to_string(),
            "effectiveEndTime": moment(window.end).to_string(),
        })
    }
}

/// How many results a page has.
pub fn limit_of(posted: &Posted<'_>, spec: &Value) -> Result<usize, Status> {
    let at = Path::of("spec");
    match spec.get("limit").filter(|limit| !limit.is_null()) {
        None => Ok(USUAL),
        Some(limit) => match limit.as_i64() {
            Some(0) => Ok(USUAL),
            Some(number) if number > 0 && number <= MOST as i64 => {
                Ok(usize::try_from(number).unwrap_or(USUAL))
            }
            Some(number) if number < 0 => {
                Err(posted.invalid(&[FieldError::invalid(&at.field("limit"), limit, "must not be negative")]))
            }
            _ => {
                let why = format!("must be at most {MOST}");
                Err(posted.invalid(&[FieldError::invalid(&at.field("limit"), limit, why)]))
            }
        },
    }
}

/// The words of a search, as they are compared.
pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_lowercase).collect()
}

/// Where a page ended, for the next one.
pub fn token(place: &impl Serialize) -> String {
    base64::url(&serde_json::to_vec(place).unwrap_or_default())
}

/// Reads where a page ended.
pub fn untoken<T: DeserializeOwned>(text: &str) -> Option<T> {
    base64::from_url(text).and_then(|json| serde_json::from_slice(&json).ok())
}

/// Which activities are asked for.
pub struct Asked {
    /// When they happened.
    pub window: Window,
    /// What their fields must be.
    pub equal: Vec<(String, String)>,
    /// What else must hold.
    pub filter: Filter,
    /// Words of the sentence, in small letters.
    pub words: Vec<String>,
    /// What was done: create, update or delete; nothing for whatever.
    pub verb: String,
}

/// Where a page of activities ended: the last change and the last event that were looked at.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ended {
    below: u64,
    time: u64,
    events: Option<(u64, String)>,
    start: u64,
    end: u64,
}

/// Activities, newest first.
pub struct Page {
    /// The activities.
    pub items: Vec<Value>,
    /// Where it ended, if there is more.
    pub ended: Option<Ended>,
}

/// Answers an ActivityQuery.
pub async fn answer(activities: &Activities, posted: &Posted<'_>) -> Result<Value, Status> {
    let spec = posted.spec();
    let at = Path::of("spec");
    let text = |field: &str| spec[field].as_str().unwrap_or_default();
    let ended: Option<Ended> = match text("continue") {
        "" => None,
        said => Some(untoken(said).ok_or_else(|| {
            posted.invalid(&[FieldError::invalid_text(
                &at.field("continue"),
                said,
                "it is not one that a query ended with",
            )])
        })?),
    };
    let window = match &ended {
        // Later pages look at the window of the first, also where that was told from now.
        Some(ended) => Window { start: ended.start, end: ended.end },
        None => Window::read(&spec, &at, posted.now(), None).map_err(|errors| posted.invalid(&errors))?,
    };
    let filter = Filter::of_activities(text("filter")).map_err(|why| {
        posted.invalid(&[FieldError::invalid_text(&at.field("filter"), text("filter"), why)])
    })?;
    if !matches!(text("changeSource"), "" | "human" | "system") {
        let why =
            FieldError::not_supported(&at.field("changeSource"), &spec["changeSource"], &["human", "system"]);
        return Err(posted.invalid(&[why]));
    }
    let limit = limit_of(posted, &spec)?;
    let mut equal = filter.equal.clone();
    for (field, name) in [
        ("changeSource", "spec.changeSource"),
        ("resourceKind", "spec.resource.kind"),
        ("resourceUID", "spec.resource.uid"),
        ("apiGroup", "spec.resource.apiGroup"),
        ("actorName", "spec.actor.name"),
        ("namespace", "spec.resource.namespace"),
    ] {
        if !text(field).is_empty() {
            equal.push((name.to_owned(), text(field).to_owned()));
        }
    }
    let words = words(text("search"));
    if !text("verb").is_empty() && !VERBS.contains(&text("verb")) {
        let why = FieldError::not_supported(&at.field("verb"), &spec["verb"], &VERBS);
        return Err(posted.invalid(&[why]));
    }
    let asked = Asked { window, equal, filter, words, verb: text("verb").to_owned() };
    let sight = activities.sight(posted.call);
    if ended.is_none() {
        warn_of_what_is_gone(posted, window).await?;
    }
    let page = page(activities, posted.call, &sight, &asked, ended.as_ref(), limit).await?;
    let mut status = posted.window_status(window);
    status["results"] = page.items.into();
    if let Some(ended) = page.ended {
        status["continue"] = token(&ended).into();
    }
    Ok(status)
}

/// Retention may have let go of some of what is asked for.
async fn warn_of_what_is_gone(posted: &Posted<'_>, window: Window) -> Result<(), Status> {
    let whole = posted.call.api.store().whole_since().await.map_err(|error| store_failure(&error))?;
    if let Some(whole) = whole.filter(|whole| whole.time > window.start) {
        posted.warn(format!("of changes before {} only some are still kept", moment(whole.time)));
    }
    Ok(())
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
    let mut told_events = ended.and_then(|ended| ended.events.clone());
    let mut events = match asked.may_be_an_event() {
        true => activities.events.in_window(api, &call.plane, asked.window),
        false => Vec::new(),
    };
    let is_any_told = policies.tell_of_events();
    events.retain(|event| {
        (event.is_of_inventory || is_any_told)
            && told_events
                .as_ref()
                .is_none_or(|(time, key)| (event.time, event.key.to_string()) < (*time, key.clone()))
    });
    let tell = |event: &Unread| {
        let event = events::read_seen(api, sight, event)?;
        of_event(api, &policies, &event).filter(|activity| asked.fits(activity))
    };
    let mut events = events.into_iter().peekable();
    let mut items = Vec::new();
    let mut looked_at = 0;
    let stop = |below: DeedMark, events: Option<(u64, String)>| {
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
        for (index, found) in found.into_iter().enumerate() {
            while let Some(event) = events.next_if(|event| event.time > found.at.time) {
                told_events = Some((event.time, event.key.to_string()));
                items.extend(tell(&event));
                looked_at += 1;
                if items.len() >= limit || looked_at >= LOOKED_AT.max(limit) {
                    return Ok(Page { items, ended: stop(below, told_events) });
                }
            }
            below = found.at;
            looked_at += 1;
            if sight.reaches(keys::parts(&found.key).map_or("", |at| at.plane), found.at.time) {
                let told = of_found(api, &policies, &found).await.map_err(failed)?;
                items.extend(told.filter(|activity| asked.fits(activity)));
            }
            let is_last = index + 1 == count && stopped == Stopped::Past && events.peek().is_none();
            if items.len() >= limit || looked_at >= LOOKED_AT.max(limit) {
                let ended = if is_last { None } else { stop(below, told_events) };
                return Ok(Page { items, ended });
            }
        }
        match stopped {
            Stopped::At(mark) => below = mark,
            Stopped::Past => break,
            Stopped::Unread => {
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
        told_events = Some((event.time, event.key.to_string()));
        items.extend(tell(&event));
        looked_at += 1;
        if items.len() >= limit || looked_at >= LOOKED_AT.max(limit) {
            return Ok(Page { items, ended: stop(DeedMark::default(), told_events) });
        }
    }
    Ok(Page { items, ended: None })
}

/// The activity of a change, if a policy tells one.
pub async fn of_found(
    api: &apiserver::api::Api,
    policies: &InForce<'_>,
    found: &Found,
) -> store::Result<Option<Value>> {
    let Some(kind) = kind_of(api, &found.key) else { return Ok(None) };
    // What no policy would tell need not be read.
    if !policies.is_written(&kind) && Actor::of(&found.user).kind == "system" {
        return Ok(None);
    }
    let Some(change) = found.change(api.store()).await? else { return Ok(None) };
    let Some(composed) = compose::of_change(api, &kind, &found.key, &change) else { return Ok(None) };
    let said = policies.tell(&kind, Origin::Audit, &composed.values);
    Ok(said.map(|said| composed.told.activity(&said)))
}

/// The activity of an event, if a policy tells one.
pub fn of_event(api: &apiserver::api::Api, policies: &InForce<'_>, event: &Happened) -> Option<Value> {
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
pub fn kind_of(api: &apiserver::api::Api, key: &Key) -> Option<std::sync::Arc<Kind>> {
    let at: Parts<'_> = keys::parts(key)?;
    api.kinds().of(&plane(at.plane)).resource(at.group, at.plural).cloned()
}

impl Asked {
    /// Whether an activity is one of those.
    pub fn fits(&self, activity: &Value) -> bool {
        let spec = &activity["spec"];
        let is_equal = |(field, value): &(String, String)| {
            let found =
                field.split('.').fold(activity, |value, step| &value[step]).as_str().unwrap_or_default();
            match field.as_str() {
                "spec.actor.name" => found == value || value.strip_prefix("system:") == Some(found),
                _ => found == value,
            }
        };
        let summary = || spec["summary"].as_str().unwrap_or_default().to_lowercase();
        let verb = &activity["metadata"]["labels"]["activity.miloapis.com/verb"];
        (self.verb.is_empty() || *verb == self.verb)
            && self.equal.iter().all(is_equal)
            && (self.words.is_empty() || {
                let summary = summary();
                self.words.iter().all(|word| summary.contains(word))
            })
            && self.filter.lets_through(activity)
    }

    /// What a field must be.
    pub fn of<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a str> {
        self.equal.iter().filter(move |(name, _)| name == field).map(|(_, value)| value.as_str())
    }

    /// Whether a user may have made such activities.
    pub fn may_be_by(&self, user: &str) -> bool {
        let actor = Actor::of(user);
        self.of("spec.actor.name").all(|name| actor.is_called(name))
            && self.of("spec.changeSource").all(|source| actor.change_source() == source)
    }

    /// Whether an event may be told of, and not a change alone.
    fn may_be_an_event(&self) -> bool {
        self.verb.is_empty() && self.of("spec.changeSource").all(|source| source == "system")
    }
}
