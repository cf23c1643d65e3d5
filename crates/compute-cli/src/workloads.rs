//! `compute workloads`: lists workloads, and describes one.

mod describe;

use cli::{Failure, Session};
use compute::shown::{self, Health};
use serde_json::{Value, json};

use crate::api::{Compute, city, name};
use crate::output::{self, Flags, Form, line, row};
use crate::text::{age, at, counted, instance_type, list, number, short_images};

/// List workloads, or describe one.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    list: List,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// List workloads.
    #[command(after_help = "Examples:\n  groundplane compute workloads list --health degraded")]
    List(List),
    Describe(describe::Arguments),
}

#[derive(clap::Args, Debug)]
struct List {
    /// Only workloads of this health.
    #[arg(long, value_name = "HEALTH", value_parser = ["available", "degraded", "unavailable", "unknown"], ignore_case = true)]
    health: Option<String>,

    /// Only workloads with a placement in this city.
    #[arg(long, value_name = "CODE")]
    city: Option<String>,

    #[command(flatten)]
    output: Flags,
}

const EXAMPLES: &str = "\
Examples:
  groundplane compute workloads
  groundplane compute workloads --health degraded --city DFW
  groundplane compute workloads describe web";

/// Lists or describes.
pub async fn run(arguments: Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    match arguments.command {
        Some(Command::Describe(arguments)) => describe::run(&arguments, compute, session).await,
        Some(Command::List(list)) => list_all(&list, compute, session).await,
        None => list_all(&arguments.list, compute, session).await,
    }
}

async fn list_all(arguments: &List, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let all = compute.workloads().await?;
    let deployments = compute.deployments(None).await?;
    let there_are_some = !all.is_empty();
    let is_in_city = |workload: &Value, wanted: &str| {
        let uid = at(workload, "/metadata/uid");
        deployments.iter().any(|one| at(one, "/spec/workloadRef/uid") == uid && city(one) == wanted)
            || list_of_cities(workload).any(|code| code == wanted)
    };
    let wanted_city = arguments.city.as_ref().map(|city| city.to_uppercase());
    let workloads: Vec<&Value> = all
        .iter()
        .filter(|workload| wanted_city.as_deref().is_none_or(|city| is_in_city(workload, city)))
        .filter(|workload| {
            let health = shown::health(&workload["status"]).0.word();
            arguments.health.as_ref().is_none_or(|wanted| health.eq_ignore_ascii_case(wanted))
        })
        .collect();
    if !arguments.output.output.is_for_people() {
        let rows: Vec<Value> = workloads.iter().map(|workload| machine(workload)).collect();
        let names = workloads.iter().map(|workload| name(workload));
        return output::machine(arguments.output.output, &json!(rows), names, session);
    }
    if workloads.is_empty() {
        let project = &compute.project;
        return match (there_are_some, &arguments.health, &wanted_city) {
            (true, Some(health), _) => line(
                &format!("No workloads in project {project} match health={}.", health.to_lowercase()),
                session,
            ),
            (true, None, Some(city)) => {
                line(&format!("No workloads in project {project} have a placement in city {city}."), session)
            }
            _ => {
                line(&format!("No workloads found in project {project}.\nGet started:"), session)?;
                let example = compute.program.command("deploy web --image IMAGE --city CITY --port 8080");
                line(&format!("  {example}"), session)
            }
        };
    }
    let is_wide = arguments.output.output == Form::Wide;
    let mut head = row(["NAME", "HEALTH", "READY", "UP-TO-DATE", "PLACEMENTS", "IMAGE", "AGE"]);
    if is_wide {
        head.push("INSTANCE TYPE".to_owned());
    }
    let mut rows = vec![head];
    rows.extend(workloads.iter().map(|workload| cells(workload, is_wide)));
    output::table(&rows, arguments.output.no_headers, session)?;
    if arguments.output.no_headers {
        return Ok(());
    }
    line(&format!("\n{}", summary(&workloads)), session)
}

fn list_of_cities(workload: &Value) -> impl Iterator<Item = &str> {
    list_placements(workload).flat_map(|placement| list(placement, "/cityCodes")).filter_map(Value::as_str)
}

fn list_placements(workload: &Value) -> impl Iterator<Item = &Value> {
    list(workload, "/spec/placements")
}

fn cells(workload: &Value, is_wide: bool) -> Vec<String> {
    let status = &workload["status"];
    let desired = number(status, "/desiredReplicas");
    let names: Vec<&str> = list_placements(workload).map(|placement| at(placement, "/name")).collect();
    let spec = &workload["spec"]["template"]["spec"];
    let mut cells = vec![
        name(workload).to_owned(),
        shown::health(status).0.word().to_owned(),
        format!("{}/{desired}", number(status, "/readyReplicas")),
        format!("{}/{desired}", number(status, "/updatedReplicas")),
        if names.is_empty() { "(none)".to_owned() } else { names.join(",") },
        short_images(spec),
        age(at(workload, "/metadata/creationTimestamp")),
    ];
    if is_wide {
        cells.push(instance_type(spec).to_owned());
    }
    cells
}

fn machine(workload: &Value) -> Value {
    let status = &workload["status"];
    let spec = &workload["spec"]["template"]["spec"];
    json!({
        "name": name(workload),
        "health": shown::health(status).0.word(),
        "ready": number(status, "/readyReplicas"),
        "upToDate": number(status, "/updatedReplicas"),
        "desired": number(status, "/desiredReplicas"),
        "placements": list_placements(workload).map(|placement| at(placement, "/name")).collect::<Vec<_>>(),
        "image": crate::text::images(spec).first(),
        "instanceType": instance_type(spec),
        "age": age(at(workload, "/metadata/creationTimestamp")),
        "workload": workload,
    })
}

fn summary(workloads: &[&Value]) -> String {
    let of =
        |health: Health| workloads.iter().filter(|one| shown::health(&one["status"]).0 == health).count();
    let counts: Vec<String> = [Health::Available, Health::Degraded, Health::Unavailable, Health::Unknown]
        .iter()
        .map(|health| format!("{} {}", of(*health), health.word()))
        .collect();
    let all = i64::try_from(workloads.len()).unwrap_or(i64::MAX);
    format!("{} — {}", counted(all, "workload"), counts.join(", "))
}
