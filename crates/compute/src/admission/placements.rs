//! Admission of placements: names, places and numbers of instances.

use krm::field::{FieldError, Path};
use serde_json::json;

use super::dns_label;
use crate::kinds::Workload;
use crate::kinds::placement::{Metric, Placement, ScaleSettings};
use crate::kinds::quantity::quantity;
use crate::places::{self, Place};

/// Most instances of a placement in one place.
const MOST_REPLICAS: i32 = 1000;

/// Checks the placements of a workload.
pub fn check(workload: &Workload, before: Option<&Workload>, places: &[Place], errors: &mut Vec<FieldError>) {
    let spec = Path::of("spec");
    let all = spec.field("placements");
    let placements = &workload.spec.placements;
    if placements.is_empty() {
        errors.push(FieldError::required(&all, "must define at least one placement"));
    }
    for (index, placement) in placements.iter().enumerate() {
        let at = all.index(index);
        dns_label(&placement.name, &at.field("name"), errors);
        if placements[..index].iter().any(|other| other.name == placement.name) {
            errors.push(FieldError::duplicate(&at.field("name"), &json!(placement.name)));
        }
        let of_before = before.map(|before| before.spec.placements.as_slice()).unwrap_or_default();
        let before = of_before.iter().find(|other| other.name == placement.name);
        place(placement, before, places, &at, errors);
        scale(&placement.scale_settings, &at.field("scaleSettings"), errors);
    }
}

/// A placement says in one way where it is, and names only what the project can use.
fn place(
    placement: &Placement,
    before: Option<&Placement>,
    places: &[Place],
    at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    let ways = [
        !placement.city_codes.is_empty(),
        !placement.locations.is_empty(),
        placement.location_selector.is_some(),
    ];
    match ways.into_iter().filter(|is_used| *is_used).count() {
        0 => return errors.push(FieldError::required(&at.field("cityCodes"), "must name at least one city")),
        1 => {}
        _ => {
            let why = "only one of cityCodes, locations and locationSelector may be set";
            errors.push(FieldError::forbidden(at, why));
        }
    }
    let available = places::cities(places);
    let cities = at.field("cityCodes");
    for (index, city) in placement.city_codes.iter().enumerate() {
        let at = cities.index(index);
        let was_there = before.is_some_and(|before| before.city_codes.contains(city));
        if !available.contains(city.as_str()) && !was_there {
            let allowed: Vec<&str> = available.iter().copied().collect();
            errors.push(FieldError::not_supported(&at, &json!(city), &allowed));
        } else if placement.city_codes[..index].contains(city) {
            errors.push(FieldError::duplicate(&at, &json!(city)));
        }
    }
    let locations = at.field("locations");
    for (index, location) in placement.locations.iter().enumerate() {
        let item = locations.index(index);
        let at = item.field("name");
        let was_there = before.is_some_and(|before| before.locations.contains(location));
        if !places.iter().any(|place| place.location == location.name) && !was_there {
            let allowed: Vec<&str> = places.iter().map(|place| place.location.as_str()).collect();
            errors.push(FieldError::not_supported(&at, &json!(location.name), &allowed));
        } else if placement.locations[..index].iter().any(|other| other.name == location.name) {
            errors.push(FieldError::duplicate(&at, &json!(location.name)));
        }
    }
    if let Some(selector) = &placement.location_selector {
        let at = at.field("locationSelector");
        let is_kept = before.is_some_and(|before| before.location_selector.as_ref() == Some(selector));
        if selector.is_empty() {
            errors.push(FieldError::required(&at, "must select by at least one key of the topology"));
        } else {
            errors.extend(krm::selector::validate_label_selector(&json!(selector), &at));
            if !is_kept && !places.iter().any(|place| places::selects(selector, place)) {
                let why = "selects none of the locations that are available to the project";
                errors.push(FieldError::invalid(&at, &json!(selector), why));
            }
        }
    }
}

fn scale(settings: &ScaleSettings, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let least = settings.min_replicas;
    let at_least = at.field("minReplicas");
    if least <= 0 {
        errors.push(FieldError::invalid(&at_least, &json!(least), "must be greater than 0"));
    } else if least > MOST_REPLICAS {
        let why = format!("must be less than or equal to {MOST_REPLICAS}");
        errors.push(FieldError::invalid(&at_least, &json!(least), why));
    }
    let at_metrics = at.field("metrics");
    match settings.max_replicas {
        Some(most) => {
            let at_most = at.field("maxReplicas");
            if most < least {
                let why = format!("must be greater than or equal to minReplicas ({least})");
                errors.push(FieldError::invalid(&at_most, &json!(most), why));
            } else if most > MOST_REPLICAS {
                let why = format!("must be less than or equal to {MOST_REPLICAS}");
                errors.push(FieldError::invalid(&at_most, &json!(most), why));
            }
            if settings.metrics.is_empty() {
                let why = "must provide scaling metrics when maxReplicas is provided";
                errors.push(FieldError::required(&at_metrics, why));
            }
        }
        None if !settings.metrics.is_empty() => {
            let why = "must not provide scaling metrics without maxReplicas";
            errors.push(FieldError::forbidden(&at_metrics, why));
        }
        None => {}
    }
    for (index, metric) in settings.metrics.iter().enumerate() {
        scaling_metric(metric, &at_metrics.index(index), errors);
    }
}

fn scaling_metric(metric: &Metric, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let at_resource = at.field("resource");
    let Some(resource) = &metric.resource else {
        return errors.push(FieldError::required(&at_resource, ""));
    };
    if resource.name != "cpu" {
        errors.push(FieldError::not_supported(&at_resource.field("name"), &json!(resource.name), &["cpu"]));
    }
    let at_target = at_resource.field("target");
    let target = &resource.target;
    let given =
        [target.value.is_some(), target.average_value.is_some(), target.average_utilization.is_some()];
    match given.into_iter().filter(|is_given| *is_given).count() {
        0 => errors.push(FieldError::required(&at_target, "must specify a target value")),
        1 => {}
        _ => errors.push(FieldError::forbidden(&at_target, "may not specify more than 1 target value")),
    }
    for (field, value) in [("value", &target.value), ("averageValue", &target.average_value)] {
        let Some(value) = value else { continue };
        if quantity(value).is_none_or(|amount| amount <= 0.0) {
            errors.push(FieldError::invalid(&at_target.field(field), value, "must be positive"));
        }
    }
    if let Some(percent) = target.average_utilization.filter(|percent| *percent < 1) {
        let at = at_target.field("averageUtilization");
        errors.push(FieldError::invalid(&at, &json!(percent), "must be greater than 0"));
    }
}
