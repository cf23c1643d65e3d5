//! `compute cities` and `compute instance-types`: where instances can run, and how large they can be.

use std::collections::{BTreeMap, BTreeSet};

use cli::{Failure, Session};
use compute::names;
use serde_json::{Value, json};

use crate::api::{Compute, name};
use crate::output::{self, Flags, line, row};
use crate::text::list;

/// List the cities that the project can deploy to.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane compute cities\n  groundplane compute cities -o name")]
pub struct Cities {
    #[command(flatten)]
    output: Flags,
}

/// List the sizes that instances can have.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane compute instance-types")]
pub struct InstanceTypes {
    #[command(flatten)]
    output: Flags,
}

/// Lists cities.
pub async fn cities(arguments: &Cities, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let bindings = bindings(compute).await?;
    let mut found: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for binding in &bindings {
        found.entry(city_of(binding).to_owned()).or_default().push(binding);
    }
    found.remove("");
    if !arguments.output.output.is_for_people() {
        let rows: Vec<Value> = found
            .iter()
            .map(|(city, all)| json!({"city": city, "locations": all.iter().map(|one| name(one)).collect::<Vec<_>>()}))
            .collect();
        return output::machine(
            arguments.output.output,
            &json!(rows),
            found.keys().map(String::as_str),
            session,
        );
    }
    if found.is_empty() {
        return line(&format!("No city is available to project {}.", compute.project), session);
    }
    let mut rows = vec![row(["CITY", "LOCATIONS"])];
    for (city, all) in &found {
        let names: Vec<&str> = all.iter().map(|one| name(one)).collect();
        rows.push(row([city, &names.join(",")]));
    }
    output::table(&rows, arguments.output.no_headers, session)
}

/// The codes of the cities that the project can deploy to, sorted.
pub async fn city_codes(compute: &Compute) -> Result<Vec<String>, Failure> {
    let bindings = bindings(compute).await?;
    let codes: BTreeSet<&str> = bindings.iter().map(city_of).filter(|city| !city.is_empty()).collect();
    Ok(codes.into_iter().map(str::to_owned).collect())
}

/// Lists instance types, with the cities that have them.
pub async fn instance_types(
    arguments: &InstanceTypes,
    compute: &Compute,
    session: &mut Session,
) -> Result<(), Failure> {
    let bindings = bindings(compute).await?;
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for binding in &bindings {
        for one in list(binding, "/status/instanceTypes").filter_map(Value::as_str) {
            found.entry(one).or_default().insert(city_of(binding));
        }
    }
    if !arguments.output.output.is_for_people() {
        let rows: Vec<Value> =
            found.iter().map(|(name, cities)| json!({"name": name, "cities": cities})).collect();
        return output::machine(arguments.output.output, &json!(rows), found.keys().copied(), session);
    }
    if found.is_empty() {
        return line(&format!("No instance types are offered to project {}.", compute.project), session);
    }
    let mut rows = vec![row(["NAME", "CITIES"])];
    for (name, cities) in &found {
        let cities: Vec<&str> = cities.iter().copied().collect();
        rows.push(row([name, &cities.join(",")]));
    }
    output::table(&rows, arguments.output.no_headers, session)
}

/// The locations that workloads can be placed at now.
async fn bindings(compute: &Compute) -> Result<Vec<Value>, Failure> {
    let mut found = compute.list_at("/apis/networking.datumapis.com/v1alpha/locationbindings", None).await?;
    found.retain(|binding| {
        list(binding, "/status/conditions").any(|one| one["type"] == "Available" && one["status"] == "True")
    });
    Ok(found)
}

fn city_of(binding: &Value) -> &str {
    binding["spec"]["topology"][names::TOPOLOGY_CITY_CODE].as_str().unwrap_or_default()
}
