//! `groundplane quota`: what a project uses, what it may use, and what waits.

mod explain;
mod grant;
mod organization;

use cli::{Ask, Failure, Session};
use serde_json::{Value, json};

use crate::output::{self, Form, text};

/// API path of quota.
pub const API: &str = "/apis/quota.miloapis.com/v1alpha1";

/// Show the quota of a project or an organization: used, limit, and what is waiting.
///
/// Amounts are in the display unit of each resource. A claim waits when its limit is reached; it is granted in place when
/// the limit is raised or another claim is released.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Show only resources that are at their limit, or for which claims are waiting.
    #[arg(long)]
    constrained: bool,

    /// Show the quota of this organization instead of a project's. Takes permission to read its namespace in the root.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["city", "as_of"])]
    organization: Option<String>,

    /// Show usage in this city only, by its code.
    #[arg(long, value_name = "CODE")]
    city: Option<String>,

    /// Show what was used, and the limits, at a point in time: a timestamp (2026-11-10T09:00:00Z), a date (2026-11-10), an age (2h) or a revision.
    #[arg(long, value_name = "TIME|REVISION")]
    as_of: Option<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Grant(grant::Arguments),
    Explain(explain::Arguments),
}

const EXAMPLES: &str = "\
Examples:
  groundplane quota --project acme
  groundplane quota --project acme --constrained -o json
  groundplane quota --organization acme
  groundplane quota grant compute.datumapis.com/instances 5 --project acme
  groundplane quota explain compute.datumapis.com/instances --project acme";

/// Shows or changes quota.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    match arguments.command {
        Some(Command::Grant(arguments)) => return grant::run(arguments, session).await,
        Some(Command::Explain(arguments)) => return explain::run(arguments, session).await,
        None => {}
    }
    let (whose, name) = match &arguments.organization {
        Some(name) => ("organization", name.clone()),
        None => ("project", output::project(session)?),
    };
    let mut rows: Vec<Value> = match &arguments.organization {
        Some(name) => organization::rows(name, session).await?,
        None => {
            let as_of = arguments.as_of.as_deref().map(cli::moment).transpose()?;
            let ask = Ask::get(format!("{API}/namespaces/default/resourceclaims/-/usage"));
            let answer = session.client().await?.value(&ask.query_if("asOf", as_of)).await?;
            answer["items"].as_array().cloned().unwrap_or_default()
        }
    };
    if arguments.constrained {
        rows.retain(is_constrained);
    }
    rows.sort_by_key(|row| (order(short(row)), short(row).to_owned()));
    if arguments.output != Form::Table {
        let rows: Vec<Value> = rows.iter().map(|row| shown(row, arguments.city.as_deref())).collect();
        return output::value(arguments.output, &json!({ whose: name, "items": rows }), session);
    }
    if rows.is_empty() {
        let why = match arguments.constrained {
            true => "No resource types are at their limit.".to_owned(),
            false => format!("No quota configured for this {whose}."),
        };
        return output::line(&why, session);
    }
    output::line(&format!("Quota for {whose} {name}\n"), session)?;
    output::table(&table(&rows), session)?;
    let cities = by_city(&rows, arguments.city.as_deref());
    if cities.len() > 1 {
        output::line("", session)?;
        output::table(&cities, session)?;
    }
    Ok(())
}

fn is_constrained(row: &Value) -> bool {
    row["available"] == 0 || row["waiting"].as_i64().unwrap_or(0) > 0 || row["overcommitted"] == true
}

/// Resources that people look for first.
fn order(name: &str) -> usize {
    let known = ["workloads", "instances", "vcpus", "memory"];
    known.iter().position(|known| *known == name).unwrap_or(known.len())
}

fn short(row: &Value) -> &str {
    text(row, "/resourceType").rsplit('/').next().unwrap_or_default()
}

/// A row for programs, in display units.
fn shown(row: &Value, city: Option<&str>) -> Value {
    let mut shown = row.clone();
    for field in ["used", "limit", "available", "waitingAmount"] {
        if row.get(field).is_some() {
            shown[field] = in_display_units(row, field);
        }
    }
    shown["unit"] = unit(row).into();
    if let Some(map) = shown.as_object_mut() {
        map.remove("displayUnit");
        map.remove("unitConversionFactor");
    }
    if let Some(cities) = shown.get_mut("cities").and_then(Value::as_array_mut) {
        cities.retain(|found| city.is_none_or(|city| found["city"] == city));
        cities.iter_mut().for_each(|found| found["used"] = divided(found["used"].as_i64().unwrap_or(0), row));
    }
    shown
}

fn unit(row: &Value) -> &str {
    match text(row, "/displayUnit") {
        "" => short(row),
        unit => unit,
    }
}

fn in_display_units(row: &Value, field: &str) -> Value {
    divided(row[field].as_i64().unwrap_or(0), row)
}

fn divided(amount: i64, row: &Value) -> Value {
    let factor = row["unitConversionFactor"].as_i64().unwrap_or(1).max(1);
    match amount % factor {
        0 => json!(amount / factor),
        _ => json!(amount as f64 / factor as f64),
    }
}

fn table(rows: &[Value]) -> Vec<Vec<String>> {
    let headings = ["RESOURCE", "UNIT", "LIMIT", "USED", "AVAILABLE", "WAITING", "USAGE"];
    let mut table = vec![headings.map(str::to_owned).to_vec()];
    for row in rows {
        let number = |field: &str| match row.get(field) {
            Some(_) => in_display_units(row, field).to_string(),
            None => "—".to_owned(),
        };
        table.push(vec![
            text(row, "/resourceType").to_owned(),
            unit(row).to_owned(),
            number("limit"),
            number("used"),
            number("available"),
            row["waiting"].to_string(),
            bar(row),
        ]);
    }
    table
}

/// The share of the limit that is used, as twenty characters and a number.
fn bar(row: &Value) -> String {
    const WIDTH: i64 = 20;
    let (used, Some(limit)) = (row["used"].as_i64().unwrap_or(0), row["limit"].as_i64()) else {
        return "—".to_owned();
    };
    let percent = match limit {
        0 if used == 0 => 0,
        0 => 100,
        limit => used.saturating_mul(100) / limit,
    };
    let filled = usize::try_from((percent * WIDTH / 100).clamp(0, WIDTH)).unwrap_or(0);
    let note = if row["overcommitted"] == true { " overcommitted" } else { "" };
    format!("[{}{}] {percent:>3}%{note}", "#".repeat(filled), "-".repeat(20 - filled))
}

fn by_city(rows: &[Value], city: Option<&str>) -> Vec<Vec<String>> {
    let mut table = vec![["CITY", "RESOURCE", "IN USE", "WAITING"].map(str::to_owned).to_vec()];
    let mut found: Vec<(String, String, [String; 2])> = Vec::new();
    for row in rows {
        for of in row["cities"].as_array().into_iter().flatten() {
            let used = divided(of["used"].as_i64().unwrap_or(0), row).to_string();
            let waiting = of["waiting"].as_i64().unwrap_or(0).to_string();
            let city = text(of, "/city").to_owned();
            found.push((city, text(row, "/resourceType").to_owned(), [used, waiting]));
        }
    }
    found.sort();
    let meant = found.into_iter().filter(|(found, ..)| city.is_none_or(|city| city == found));
    let at_limit = |resource: &str| {
        rows.iter().any(|row| text(row, "/resourceType") == resource && row["available"] == 0)
    };
    table.extend(meant.map(|(city, resource, [used, waiting])| {
        let city = if at_limit(&resource) { format!("{city} [at limit]") } else { city };
        vec![city, resource, used, waiting]
    }));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_in_the_unit_that_people_know() {
        let row = json!({"resourceType": "compute.datumapis.com/vcpus", "used": 4500, "limit": 40000, "available": 35500,
            "waiting": 1, "displayUnit": "vCPU", "unitConversionFactor": 1000});
        let with_city =
            json!({"used": 4500, "unitConversionFactor": 1000, "cities": [{"city": "DFW", "used": 500}]});
        assert_eq!(shown(&with_city, None)["cities"][0]["used"], 0.5);
        let cells = table(std::slice::from_ref(&row)).pop().unwrap_or_default();
        assert_eq!(cells[1..6], ["vCPU", "40", "4.5", "35.5", "1"]);
        assert_eq!(cells[6], "[##------------------]  11%");
        assert_eq!(shown(&row, None)["used"], 4.5);
        assert_eq!(shown(&row, None).get("cities"), None, "where there are none");
        assert!(is_constrained(&row), "something waits");
    }

    #[test]
    fn a_limit_that_was_lowered_below_what_is_used_is_told() {
        let row = json!({"used": 8, "limit": 5, "available": 0, "overcommitted": true});
        assert_eq!(bar(&row), "[####################] 160% overcommitted");
        assert_eq!(bar(&json!({"used": 0, "limit": 0})), "[--------------------]   0%");
        assert_eq!(bar(&json!({"used": 3})), "—");
    }

    #[test]
    fn usage_is_told_by_city() {
        let row = json!({"resourceType": "g/instances", "used": 6, "limit": 6, "available": 0, "waiting": 0,
            "cities": [{"city": "DFW", "used": 2, "waiting": 1}, {"city": "IAD", "used": 4, "waiting": 0}]});
        let cells = by_city(std::slice::from_ref(&row), None);
        assert_eq!(cells[1], ["DFW [at limit]", "g/instances", "2", "1"]);
        assert_eq!(by_city(&[row], Some("IAD")).len(), 2);
    }
}
