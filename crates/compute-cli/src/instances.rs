//! `compute instances`: lists instances, and describes one.

mod describe;

use cli::{Failure, Session};
use compute::{names, shown};
use serde_json::{Value, json};

use crate::api::{Compute, city, label, name};
use crate::output::{self, Flags, Form, line, row};
use crate::text::{age, at, counted, instance_type, list, or_nothing, runtime};

/// List instances, or describe one.
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
    /// List instances.
    #[command(after_help = "Examples:\n  groundplane compute instances list --workload web")]
    List(List),
    Describe(describe::Arguments),
}

#[derive(clap::Args, Debug)]
struct List {
    /// Only instances of this workload.
    #[arg(long, short, value_name = "WORKLOAD")]
    workload: Option<String>,

    /// Only instances in this city.
    #[arg(long, value_name = "CODE")]
    city: Option<String>,

    #[command(flatten)]
    output: Flags,
}

const EXAMPLES: &str = "\
Examples:
  groundplane compute instances
  groundplane compute instances --workload web --city DFW -o wide
  groundplane compute instances describe web-default-dfw-0";

/// Lists or describes.
pub async fn run(arguments: Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    match arguments.command {
        Some(Command::Describe(arguments)) => describe::run(&arguments, compute, session).await,
        Some(Command::List(list)) => list_all(&list, compute, session).await,
        None => list_all(&arguments.list, compute, session).await,
    }
}

async fn list_all(arguments: &List, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let workload = match &arguments.workload {
        Some(name) => Some(compute.workload(name).await?),
        None => None,
    };
    let mut instances = compute.instances(workload.as_ref()).await?;
    if let Some(wanted) = &arguments.city {
        instances.retain(|instance| city(instance).eq_ignore_ascii_case(wanted));
    }
    if !arguments.output.output.is_for_people() {
        let rows: Vec<Value> = instances.iter().map(machine).collect();
        return output::machine(arguments.output.output, &json!(rows), instances.iter().map(name), session);
    }
    if instances.is_empty() {
        return line(&format!("No instances found in project {}.", compute.project), session);
    }
    let is_wide = arguments.output.output == Form::Wide;
    let mut head = row(["NAME", "WORKLOAD", "CITY", "INTERNAL IP", "TYPE", "AGE", "STATUS"]);
    if is_wide {
        head.insert(4, "EXTERNAL IP".to_owned());
        head.insert(6, "INSTANCE TYPE".to_owned());
    }
    let mut rows = vec![head];
    rows.extend(instances.iter().map(|instance| cells(instance, is_wide)));
    output::table(&rows, arguments.output.no_headers, session)?;
    if arguments.output.no_headers {
        return Ok(());
    }
    line(&format!("\n{}", summary(&instances)), session)
}

fn cells(instance: &Value, is_wide: bool) -> Vec<String> {
    let known =
        |text: &str, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text.to_owned() };
    let mut cells = vec![
        name(instance).to_owned(),
        known(label(instance, names::WORKLOAD_NAME), "orphaned"),
        known(city(instance), "unknown"),
        or_nothing(address(instance, "networkIP")),
        runtime(&instance["spec"]).to_owned(),
        age(at(instance, "/metadata/creationTimestamp")),
        status(instance).list,
    ];
    if is_wide {
        cells.insert(4, or_nothing(address(instance, "externalIP")));
        cells.insert(6, instance_type(&instance["spec"]).to_owned());
    }
    cells
}

fn machine(instance: &Value) -> Value {
    json!({
        "name": name(instance),
        "workload": label(instance, names::WORKLOAD_NAME),
        "placement": label(instance, names::PLACEMENT_NAME),
        "city": city(instance),
        "internalIP": address(instance, "networkIP"),
        "externalIP": address(instance, "externalIP"),
        "type": runtime(&instance["spec"]),
        "instanceType": instance_type(&instance["spec"]),
        "status": status(instance).list,
        "instance": instance,
    })
}

/// The state of an instance in words.
pub fn status(instance: &Value) -> shown::InstanceText {
    let conditions: Vec<Value> = list(instance, "/status/conditions").cloned().collect();
    shown::instance(&conditions)
}

/// The first address of a kind that an instance has; empty for none.
pub fn address<'a>(instance: &'a Value, kind: &str) -> &'a str {
    list(instance, "/status/networkInterfaces")
        .find_map(|interface| interface["assignments"][kind].as_str().filter(|address| !address.is_empty()))
        .unwrap_or_default()
}

fn summary(instances: &[Value]) -> String {
    let texts: Vec<shown::InstanceText> = instances.iter().map(status).collect();
    let available = texts.iter().filter(|text| text.is_available()).count();
    let failed = texts.iter().filter(|text| text.is_failed()).count();
    let all = i64::try_from(texts.len()).unwrap_or(i64::MAX);
    let pending = texts.len() - available - failed;
    format!("{} — {available} Available, {pending} Pending, {failed} Failed", counted(all, "instance"))
}
