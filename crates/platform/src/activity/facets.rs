//! Facets: distinct values of a field and their counts, for filter menus.

use std::collections::HashMap;

use apiserver::api::store_failure;
use krm::field::{FieldError, Path};
use krm::status::Status;
use serde_json::{Value, json};
use store::{DeedMark, Version};

use super::answers::Activities;
use super::asked::Asked;
use super::compose::Actor;
use super::events;
use super::filter::Filter;
use super::ledger::{Passing, Span, Stopped};
use super::page::{of_event, page};
use super::query::Posted;
use super::seek::{Seek, parts};
use super::sight::{Sight, plane};
use super::window::Window;

/// How many values a facet has unless it says so.
const USUAL: usize = 20;
/// How many it has at most.
const MOST: usize = 100;
/// Activities that have to be read one by one are counted up to this many, the newest.
const READ: usize = 1000;

/// What values of activities are counted by.
const OF_ACTIVITIES: [&str; 6] = [
    "spec.actor.name",
    "spec.actor.type",
    "spec.resource.apiGroup",
    "spec.resource.kind",
    "spec.resource.namespace",
    "spec.changeSource",
];

/// One facet that is asked for, and what was counted.
pub struct Facet {
    /// The field.
    pub field: String,
    limit: usize,
    counts: HashMap<String, u64>,
}

impl Facet {
    /// Counts a value; an empty one is none.
    pub fn count(&mut self, value: &str) {
        self.add(value, 1);
    }

    /// Counts a value several times.
    fn add(&mut self, value: &str, number: u64) {
        if value.is_empty() {
            return;
        }
        match self.counts.get_mut(value) {
            Some(count) => *count += number,
            None => drop(self.counts.insert(value.to_owned(), number)),
        }
    }

    /// The values that were counted, the most frequent first.
    pub fn told(self) -> Value {
        let mut values: Vec<(String, u64)> = self.counts.into_iter().collect();
        values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        values.truncate(self.limit);
        let values: Vec<Value> =
            values.into_iter().map(|(value, count)| json!({ "value": value, "count": count })).collect();
        json!({ "field": self.field, "values": values })
    }
}

/// The facets that a query asks for.
pub fn asked(posted: &Posted<'_>, known: &[&str]) -> Result<Vec<Facet>, Status> {
    let spec = posted.spec();
    let at = Path::of("spec");
    let list = at.field("facets");
    let mut facets = Vec::new();
    let mut errors = Vec::new();
    for (index, facet) in spec["facets"].as_array().into_iter().flatten().enumerate() {
        let place = list.index(index);
        let field = facet["field"].as_str().unwrap_or_default();
        if !known.contains(&field) {
            errors.push(FieldError::not_supported(&place.field("field"), &facet["field"], known));
        }
        let limit = facet["limit"].as_i64().unwrap_or(0);
        if !(0..=MOST as i64).contains(&limit) {
            errors.push(FieldError::invalid(
                &place.field("limit"),
                &facet["limit"],
                format!("must be from 1 to {MOST}"),
            ));
        }
        let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(USUAL);
        facets.push(Facet { field: field.to_owned(), limit, counts: HashMap::new() });
    }
    if facets.is_empty() {
        errors.push(FieldError::required(&list, "at least one facet must be given"));
    }
    if errors.is_empty() { Ok(facets) } else { Err(posted.invalid(&errors)) }
}

/// Answers an ActivityFacetQuery.
pub async fn of_activities(activities: &Activities, posted: &Posted<'_>) -> Result<Value, Status> {
    let mut facets = asked(posted, &OF_ACTIVITIES)?;
    let spec = posted.spec();
    let at = Path::of("spec");
    let window = Window::of_range(spec.get("timeRange"), &at.field("timeRange"), posted.now())
        .map_err(|errors| posted.invalid(&errors))?;
    let source = spec["filter"].as_str().unwrap_or_default();
    let filter = Filter::of_activities(source)
        .map_err(|why| posted.invalid(&[FieldError::invalid_text(&at.field("filter"), source, why)]))?;
    let asked = Asked { window, equal: filter.equal.clone(), filter, words: Vec::new(), verb: String::new() };
    let sight = activities.sight(posted.call);
    if is_told_by_the_ledger(&asked) {
        count_in_ledger(activities, posted, &asked, &sight, &mut facets).await?;
        for activity in told_events(activities, posted, &asked, &sight) {
            count(&mut facets, &activity);
        }
    } else {
        let mut counted = 0;
        let mut ended = None;
        while counted < READ {
            let page = page(activities, posted.call, &sight, &asked, ended.as_ref(), READ - counted).await?;
            counted += page.items.len();
            page.items.iter().for_each(|activity| count(&mut facets, activity));
            ended = page.ended;
            if ended.is_none() {
                break;
            }
        }
        if ended.is_some() {
            posted.warn(format!(
                "only the newest {READ} activities were counted; narrow the time range or the filter"
            ));
        }
    }
    let told: Vec<Value> = facets.into_iter().map(Facet::told).collect();
    Ok(json!({ "facets": told }))
}

/// Whether no change has to be read to know if it is one of those.
fn is_told_by_the_ledger(asked: &Asked) -> bool {
    let asks = &asked.filter.asks;
    let is_known = asked.filter.is_equalities || !(asks.summary || asks.what_is_unknown);
    is_known && asked.of("spec.resource.uid").next().is_none()
}

/// Counts the values of an activity.
fn count(facets: &mut [Facet], activity: &Value) {
    for facet in facets {
        let value = facet.field.split('.').fold(activity, |value, step| &value[step]);
        facet.count(value.as_str().unwrap_or_default());
    }
}

/// The activities that are told of events.
fn told_events(activities: &Activities, posted: &Posted<'_>, asked: &Asked, sight: &Sight) -> Vec<Value> {
    let api = &posted.call.api;
    let policies = activities.policies.in_force(api);
    let is_any_told = policies.tell_of_events();
    let unread = activities.events.in_window(api, &posted.call.plane, asked.window);
    let unread = unread.iter().filter(|unread| unread.is_told_by_kind || is_any_told);
    let happened = unread.filter_map(|unread| events::read_seen(api, sight, unread));
    let told = happened.filter_map(|happened| of_event(api, &policies, &happened));
    told.filter(|activity| asked.fits(activity)).collect()
}

/// Counts changes without reading them, where all that is asked for stands in the ledger.
async fn count_in_ledger(
    activities: &Activities,
    posted: &Posted<'_>,
    asked: &Asked,
    sight: &Sight,
    facets: &mut [Facet],
) -> Result<(), Status> {
    let api = &posted.call.api;
    let failed = |error: store::Error| store_failure(&error);
    activities.ledger.catch_up(api.store()).await.map_err(failed)?;
    let policies = activities.policies.in_force(api);
    let mut seek = Seek::new(api, sight, asked, &policies).untiring();
    let mut passing = Passing::default();
    let mut counts = HashMap::new();
    let mut span = Span { window: asked.window, below: DeedMark::END, above: Version::ZERO };
    loop {
        match activities.ledger.count(&mut seek, span, &passing, &mut counts) {
            Stopped::At(mark) => span.below = mark,
            Stopped::Past => break,
            Stopped::Unread(mark) => {
                span.below = mark;
                let deepened = activities.ledger.deepen(api.store(), span.below, &mut passing).await;
                if !deepened.map_err(failed)? {
                    break;
                }
            }
        }
        tokio::task::yield_now().await;
    }
    for ((shelf, user), number) in counts {
        let Some(of) = parts(&shelf) else { continue };
        let actor = Actor::of(&user);
        let catalog = api.kinds().of(&plane(of.plane));
        let kind = catalog.resource(of.group, of.plural).map_or("", |kind| &kind.names.kind);
        for facet in facets.iter_mut() {
            let value = match facet.field.as_str() {
                "spec.actor.name" => &actor.name,
                "spec.actor.type" => actor.kind,
                "spec.changeSource" => actor.change_source(),
                "spec.resource.apiGroup" => of.group,
                "spec.resource.namespace" => of.namespace,
                _ => kind,
            };
            facet.add(value, number);
        }
    }
    Ok(())
}

/// Answers an EventFacetQuery.
pub async fn of_events(activities: &Activities, posted: &Posted<'_>) -> Result<Value, Status> {
    let mut facets = asked(posted, &events::FACETS)?;
    let window = events::effective(posted, events::facet_window(posted)?);
    events::settle(&posted.call.api).await?;
    let sight = activities.sight(posted.call);
    let api = &posted.call.api;
    let unread = activities.events.in_window(api, &posted.call.plane, window);
    for happened in unread.iter().filter_map(|unread| events::read_seen(api, &sight, unread)) {
        for facet in &mut facets {
            facet.count(&events::facet(&happened, &facet.field));
        }
    }
    let told: Vec<Value> = facets.into_iter().map(Facet::told).collect();
    Ok(json!({ "facets": told }))
}
