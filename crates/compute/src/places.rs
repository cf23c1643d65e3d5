//! Places: the locations that are available to a project, and which of them a placement means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm::Object;
use krm::kind::Bucket;
use krm::selector::LabelSelector;
use serde_json::{Value, json};

use crate::kinds::placement::{LocationSelector, Placement};
use crate::names::TOPOLOGY_CITY_CODE;

/// The bucket of the LocationBindings that are available, which `networking` declares.
pub const AVAILABLE: Bucket = Bucket::new("networking.datumapis.com/available-locations");
/// Its value.
pub const ALL: &str = "all";

/// A location that is available to a project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Name of the location.
    pub location: String,
    /// Its city code.
    pub city: String,
    /// Its topology.
    pub topology: BTreeMap<String, String>,
}

/// Where a placement has a deployment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// What the name of the deployment ends with: the city code or the location.
    pub key: String,
    /// City code.
    pub city: String,
    /// Name of the location.
    pub location: String,
}

/// The places of LocationBindings, by name.
pub fn places(bindings: &[Arc<Object>]) -> Vec<Place> {
    let mut found: Vec<Place> = bindings.iter().filter_map(|binding| place(binding)).collect();
    found.sort_unstable();
    found
}

fn place(binding: &Object) -> Option<Place> {
    let topology: BTreeMap<String, String> =
        serde_json::from_value(binding.at("spec.topology")?.clone()).ok()?;
    let services = binding.at("status.services").and_then(Value::as_array);
    let has_compute =
        services.is_none_or(|all| all.is_empty() || all.iter().any(|name| name == crate::SERVICE));
    let city = topology.get(TOPOLOGY_CITY_CODE)?.clone();
    (has_compute && !binding.is_deleting()).then(|| Place {
        location: binding.name().to_owned(),
        city,
        topology,
    })
}

/// The cities of places, each once.
pub fn cities(places: &[Place]) -> BTreeSet<&str> {
    places.iter().map(|place| place.city.as_str()).collect()
}

/// Where a placement has deployments, and what it names that is not available.
pub fn spots(placement: &Placement, places: &[Place]) -> (Vec<Spot>, Vec<String>) {
    let mut found: Vec<Spot> = Vec::new();
    let mut missing = Vec::new();
    let spot = |key: &str, place: &Place| Spot {
        key: key.to_owned(),
        city: place.city.clone(),
        location: place.location.clone(),
    };
    for city in &placement.city_codes {
        match places.iter().find(|place| place.city == *city) {
            Some(place) => found.push(spot(city, place)),
            None => missing.push(city.clone()),
        }
    }
    for location in &placement.locations {
        match places.iter().find(|place| place.location == location.name) {
            Some(place) => found.push(spot(&location.name, place)),
            None => missing.push(location.name.clone()),
        }
    }
    if let Some(selector) = &placement.location_selector {
        let selected = places.iter().filter(|place| selects(selector, place));
        found.extend(selected.map(|place| spot(&place.location, place)));
    }
    found.sort_unstable();
    found.dedup();
    (found, missing)
}

/// Whether a selector selects a place. One that can't be read selects nothing.
pub fn selects(selector: &LocationSelector, place: &Place) -> bool {
    LabelSelector::from_json(Some(&json!(selector)))
        .is_ok_and(|selector| selector.matches(|key| place.topology.get(key).map(String::as_str)))
}
