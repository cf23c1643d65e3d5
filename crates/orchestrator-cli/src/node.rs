//! `groundplane node`: a node of a design, joined with everything that is known of it.

use cli::{Ask, Failure, Session, path_segment};
use serde_json::{Value, json};

use crate::output::{self, Form, items, or_dash, text};
use crate::task_path;
use crate::{DESIGNS, HOSTS, INVENTORY};

/// Look at nodes of a design.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane node describe node1 -n site")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Describe(Describe),
}

/// Show a node: its design, its place in the inventory, its host and BMC, and the last task about it.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane node describe node1 -n site\n  groundplane node describe node1 -n site -o json"
)]
struct Describe {
    /// Name of the node in the design.
    #[arg(value_name = "NAME")]
    name: String,

    /// Name of the design. Defaults to the only one in the namespace.
    #[arg(long, value_name = "NAME")]
    design: Option<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// Runs a subcommand.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let Command::Describe(describe) = arguments.command;
    let namespace = session.namespace().await?;
    let client = session.client().await?;
    let about = crate::arguments::About {
        action: String::new(),
        design: describe.design.clone(),
        revision: None,
        provisioner: None,
        node: Vec::new(),
        tag: Vec::new(),
        rack: Vec::new(),
        label: Vec::new(),
    };
    let design = crate::task::design(&about, session).await?;
    let path = format!(
        "{DESIGNS}/namespaces/{}/designs/{}/effective",
        path_segment(&namespace),
        path_segment(&design)
    );
    let effective = client.value(&Ask::get(path).query("node", describe.name.as_str())).await?;
    let maybe = async |path: String| match client.value(&Ask::get(path)).await {
        Ok(found) => Ok(found),
        Err(failure) if failure.refusal().is_some() => Ok(Value::Null),
        Err(failure) => Err(failure),
    };
    let host = maybe(format!("{HOSTS}/hosts/{}", path_segment(&describe.name.to_lowercase()))).await?;
    let node = match text(&host, "/status/node/name") {
        "" => maybe(format!("{INVENTORY}/nodes/{}", path_segment(&describe.name))).await?,
        name => maybe(format!("{INVENTORY}/nodes/{}", path_segment(name))).await?,
    };
    let ask = Ask::get(task_path(&namespace)).query("fieldSelector", format!("spec.node={}", describe.name));
    let tasks = match client.value(&ask).await {
        Ok(list) => list["items"].as_array().cloned().unwrap_or_default(),
        Err(failure) if failure.refusal().is_some() => Vec::new(),
        Err(failure) => return Err(failure),
    };
    let changed = |task: &Value| text(task, "/metadata/resourceVersion").parse::<u64>().unwrap_or(0);
    let last = tasks.into_iter().max_by_key(changed).unwrap_or(Value::Null);
    if matches!(describe.output, Form::Json | Form::Yaml) {
        let all = json!({"name": describe.name, "design": design, "effective": effective, "host": host, "node": node, "lastTask": last});
        return output::value(describe.output, &all, session);
    }
    show(&describe.name, &design, &effective, (&host, &node, &last), session)
}

fn show(
    name: &str,
    design: &str,
    effective: &Value,
    (host, node, task): (&Value, &Value, &Value),
    session: &mut Session,
) -> Result<(), Failure> {
    output::line(&format!("Node {name} of design {design}"), session)?;
    output::line("\nDesign", session)?;
    let values = items(effective, "/values");
    for value in values {
        output::line(&format!("  {}: {}", text(value, "/path"), shown(&value["value"])), session)?;
    }
    output::line("\nInventory", session)?;
    match node.is_null() {
        true => output::line("  no Node of this name, or you may not read it", session)?,
        false => {
            output::line(&format!("  node {}", text(node, "/metadata/name")), session)?;
            output::line(&format!("  rack {}", or_dash(text(node, "/spec/rackRef/name"))), session)?;
            output::line(&format!("  serial {}", or_dash(text(node, "/spec/serialNumber"))), session)?;
        }
    }
    output::line("\nHost", session)?;
    match host.is_null() {
        true => output::line("  no Host of this name, or you may not read it", session)?,
        false => {
            output::line(&format!("  BMC {}", or_dash(text(host, "/spec/bmc/url"))), session)?;
            output::line(&format!("  power {}", or_dash(text(host, "/status/powerState"))), session)?;
            output::line(&format!("  held by {}", or_dash(text(host, "/status/claim/holder"))), session)?;
        }
    }
    output::line("\nLast task", session)?;
    match task.is_null() {
        true => output::line("  none", session),
        false => crate::task::lines_of(task)
            .iter()
            .try_for_each(|line| output::line(&format!("  {line}"), session)),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
