//! Which values there are, and how often: what drop-down lists of filters are made of.

use std::cell::Cell;
use std::collections::HashMap;

use apiserver::api::store_failure;
use apiserver::keys;
use krm::field::{FieldError, Path};
use krm::status::Status;
use serde_json::{Value, json};
use store::Version;

use super::answers::Activities;
use super::compose::Actor;
use super::events;
use super::filter::Filter;
use super::ledger::Wanted;
use super::query::{Asked, Posted, page};
use super::sight::plane;
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
        errors.push(FieldError::required(&list, "at least one field whose values are counted"));
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
    if asked.filter.is_equalities {
        count_in_ledger(activities, posted, &asked, &sight, &mut facets).await?;
    } else {
        let page = page(activities, posted.call, &sight, &asked, None, READ).await?;
        for activity in &page.items {
            for facet in &mut facets {
                let value = facet.field.split('.').fold(activity, |value, step| &value[step]);
                let value = value.as_str().unwrap_or_default().to_owned();
                facet.count(&value);
            }
        }
    }
    let told: Vec<Value> = facets.into_iter().map(Facet::told).collect();
    Ok(json!({ "facets": told }))
}

/// Counts changes without reading them, where all that is asked for stands in the ledger.
async fn count_in_ledger(
    activities: &Activities,
    posted: &Posted<'_>,
    asked: &Asked,
    sight: &super::sight::Sight,
    facets: &mut [Facet],
) -> Result<(), Status> {
    let api = &posted.call.api;
    activities.ledger.catch_up(api.store()).await.map_err(|error| store_failure(&error))?;
    let tired = Cell::new(false);
    let mut wanted = Wanted {
        start: asked.window.start,
        end: asked.window.end,
        below: Version::new(u64::MAX),
        kind: &mut |of| asked.of_kind(api, sight, of),
        // What parts of the system do is told by no policy that ships.
        user: &mut |user| asked.may_be_by(user) && Actor::of(user).kind == "user",
        object: &mut |key, life, by_name| {
            asked.may_be_about(key, life) && (!by_name || keys::parts(key).is_some_and(|at| sight.sees(&at)))
        },
        is_tired: &tired,
    };
    let by_namespace = facets.iter().any(|facet| facet.field == "spec.resource.namespace");
    activities.ledger.count(&mut wanted, by_namespace, |of, user, namespace, number| {
        let actor = Actor::of(user);
        let catalog = api.kinds().of(&plane(&of.plane));
        let kind = catalog.resource(&of.group, &of.plural).map_or("", |kind| &kind.names.kind);
        for facet in facets.iter_mut() {
            let value = match facet.field.as_str() {
                "spec.actor.name" => &actor.name,
                "spec.actor.type" => actor.kind,
                "spec.changeSource" => actor.change_source(),
                "spec.resource.apiGroup" => &of.group,
                "spec.resource.namespace" => namespace,
                _ => kind,
            };
            facet.add(value, number);
        }
    });
    Ok(())
}

/// Answers an EventFacetQuery.
pub async fn of_events(activities: &Activities, posted: &Posted<'_>) -> Result<Value, Status> {
    let mut facets = asked(posted, &events::FACETS)?;
    let window = events::facet_window(posted)?;
    events::settle(&posted.call.api).await?;
    let sight = activities.sight(posted.call);
    for happened in events::in_window(&posted.call.api, &sight, &posted.call.plane, window) {
        for facet in &mut facets {
            let value = events::facet(&happened, &facet.field);
            facet.count(&value);
        }
    }
    let told: Vec<Value> = facets.into_iter().map(Facet::told).collect();
    Ok(json!({ "facets": told }))
}
