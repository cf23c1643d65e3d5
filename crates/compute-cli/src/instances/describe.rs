//! `compute instances describe`: all of one instance.

use cli::{Failure, Session};
use compute::names;
use serde_json::Value;

use super::{address, status};
use crate::api::{Compute, city, label, name};
use crate::output::{self, Flags, line};
use crate::text::{age, at, environment, list, or_nothing, ports, runtime};

/// Describe an instance: its state and why, what it runs, its addresses, and its last lines if it failed.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane compute instances describe web-default-dfw-0")]
pub struct Arguments {
    /// Name of the instance.
    #[arg(value_name = "INSTANCE")]
    name: String,

    #[command(flatten)]
    output: Flags,
}

/// Describes an instance.
pub async fn run(arguments: &Arguments, compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let instance = compute.instance(&arguments.name).await?;
    if !arguments.output.output.is_for_people() {
        return output::machine(arguments.output.output, &instance, [name(&instance)].into_iter(), session);
    }
    let text = status(&instance);
    let fields = [
        ("Instance", name(&instance).to_owned()),
        ("Workload", or_nothing(label(&instance, names::WORKLOAD_NAME))),
        ("Placement", or_nothing(label(&instance, names::PLACEMENT_NAME))),
        ("City", or_nothing(city(&instance))),
        ("Age", age(at(&instance, "/metadata/creationTimestamp"))),
        ("Status", text.describe.clone()),
    ];
    for (field, value) in fields {
        line(&format!("{field:<14}{value}"), session)?;
    }
    if let Some(detail) = &text.detail {
        line(&format!("{:<14}{detail}", ""), session)?;
    }
    if let Some(restarts) = instance["status"]["restarts"].as_i64().filter(|restarts| *restarts > 0) {
        line(&format!("{:<14}{restarts}", "Restarts"), session)?;
    }
    describe_runtime(&instance, session)?;
    describe_network(&instance, session)?;
    let lines: Vec<&str> = list(&instance, "/status/lastLines").filter_map(Value::as_str).collect();
    if !lines.is_empty() {
        line("\nLast lines before it failed", session)?;
        for text in lines {
            line(&format!("  {text}"), session)?;
        }
    }
    if text.list.contains("quota") {
        line("\nNext steps", session)?;
        line(&format!("  Check quota:   {}", compute.program.command("quota")), session)?;
    }
    Ok(())
}

fn describe_runtime(instance: &Value, session: &mut Session) -> Result<(), Failure> {
    let spec = &instance["spec"];
    line("\nRuntime", session)?;
    if runtime(spec) == "vm" {
        line("  Type:  virtual-machine", session)?;
    }
    for container in list(spec, "/runtime/sandbox/containers") {
        line(&format!("  Image: {}", at(container, "/image")), session)?;
        for (name, value) in environment(container) {
            line(&format!("  Env:   {name}={value}"), session)?;
        }
    }
    let ports = ports(spec);
    if !ports.is_empty() {
        line(&format!("  Ports: {}", ports.join(", ")), session)?;
    }
    line(&format!("  Type:  {}", at(spec, "/runtime/resources/instanceType")), session)
}

fn describe_network(instance: &Value, session: &mut Session) -> Result<(), Failure> {
    line("\nNetwork", session)?;
    if list(instance, "/status/networkInterfaces").next().is_none() {
        return line("  Waiting for addresses (not yet scheduled)", session);
    }
    let shown = |kind: &str| match address(instance, kind) {
        "" => "not assigned".to_owned(),
        address => address.to_owned(),
    };
    line(&format!("  External: {}  Internal: {}", shown("externalIP"), shown("networkIP")), session)
}
