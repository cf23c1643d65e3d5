//! The question `usage`: what a project uses of each resource, what it may use, and what waits.

use std::collections::BTreeMap;

use krm::Object;
use krm::kind::{Answered, QueryContext, Questioned, Resource};
use krm::status::Status;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::kinds::claim_creation_policy::CITY_CODE;
use crate::kinds::{AllowanceBucket, ResourceClaim, ResourceRegistration};

/// What is used of one resource.
#[derive(Default)]
struct Used {
    granted: i64,
    claims: i64,
    waiting: i64,
    waiting_amount: i64,
    cities: BTreeMap<String, InCity>,
}

/// What is used of a resource in one city.
#[derive(Default)]
struct InCity {
    granted: i64,
    waiting: i64,
}

/// Answers the question, also as of a past time.
pub fn usage(_: &Questioned<'_>, context: &dyn QueryContext) -> Result<Answered, Status> {
    let mut used: BTreeMap<String, Used> = BTreeMap::new();
    let claims = context.all(ResourceClaim::GROUP, ResourceClaim::PLURAL);
    for claim in claims.iter().filter_map(|object| read::<ResourceClaim>(object)) {
        let city = claim.metadata.labels.get(CITY_CODE);
        for request in &claim.spec.requests {
            let of = used.entry(request.resource_type.clone()).or_default();
            let mut in_city = city.map(|city| of.cities.entry(city.clone()).or_default());
            if claim.is_granted() {
                of.granted += request.amount;
                of.claims += 1;
                in_city.iter_mut().for_each(|city| city.granted += request.amount);
            } else if claim.is_waiting() {
                of.waiting += 1;
                of.waiting_amount += request.amount;
                in_city.iter_mut().for_each(|city| city.waiting += 1);
            }
        }
    }
    let buckets = context.shown_in_root(AllowanceBucket::GROUP, AllowanceBucket::PLURAL);
    let buckets: Vec<AllowanceBucket> = buckets.iter().filter_map(|object| read(object)).collect();
    for bucket in &buckets {
        used.entry(bucket.spec.resource_type.clone()).or_default();
    }
    let registrations = context.shown_in_root(ResourceRegistration::GROUP, ResourceRegistration::PLURAL);
    let registrations: Vec<ResourceRegistration> =
        registrations.iter().filter_map(|object| read(object)).collect();
    let items = used.iter().map(|(resource_type, used)| {
        let bucket = buckets.iter().find(|bucket| bucket.spec.resource_type == *resource_type);
        let registration = registrations.iter().find(|found| found.spec.resource_type == *resource_type);
        row(resource_type, used, bucket, registration)
    });
    Ok(Answered::Json(json!({ "items": items.collect::<Vec<Value>>() })))
}

fn row(
    resource_type: &str,
    used: &Used,
    bucket: Option<&AllowanceBucket>,
    registration: Option<&ResourceRegistration>,
) -> Value {
    let mut row = json!({
        "resourceType": resource_type,
        "used": used.granted,
        "claims": used.claims,
        "waiting": used.waiting,
        "waitingAmount": used.waiting_amount,
    });
    if let Some(AllowanceBucket { status, .. }) = bucket {
        row["limit"] = status.limit.into();
        row["available"] = status.available.into();
        row["overcommitted"] = (status.allocated > status.limit).into();
    }
    if let Some(registration) = registration {
        row["unit"] = registration.spec.base_unit.as_str().into();
        row["displayUnit"] = registration.spec.display_unit.as_str().into();
        row["unitConversionFactor"] = registration.spec.unit_conversion_factor.into();
    }
    if !used.cities.is_empty() {
        let cities = used
            .cities
            .iter()
            .map(|(city, used)| json!({ "city": city, "used": used.granted, "waiting": used.waiting }));
        row["cities"] = cities.collect();
    }
    row
}

fn read<T: DeserializeOwned>(object: &Object) -> Option<T> {
    T::deserialize(&object.0).ok()
}
