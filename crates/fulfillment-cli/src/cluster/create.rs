//! `groundplane cluster create`.

use std::collections::BTreeMap;

use cli::{Ask, Failure, Session};
use http::Method;
use serde_json::{Value, json};

use super::{follow, plan};
use crate::API;
use crate::output::{self, Form};
use crate::table::CLUSTERS;

/// Create a cluster from a template.
///
/// With --plan nothing is created: the command shows which node sets it would have, which hosts would be chosen now, and what
/// rules out the others, as far as you may see hosts.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane --project acme cluster create web --template small --plan\n  \
    groundplane --project acme cluster create web --template small --size workers=3 --spread workers=Rack --wait"
)]
pub struct Arguments {
    /// Name of the cluster, a DNS label.
    #[arg(value_name = "NAME")]
    name: String,

    /// Template of the cluster.
    #[arg(long, short, value_name = "TEMPLATE")]
    template: String,

    /// Number of hosts of a node set. Repeatable. Defaults to what the template says.
    #[arg(long, value_name = "NODESET=SIZE")]
    size: Vec<String>,

    /// What the hosts of a node set are spread over: Rack, Feed or both. Repeatable.
    #[arg(long, value_name = "NODESET=Rack,Feed")]
    spread: Vec<String>,

    /// Label that the hosts of a node set must have. Repeatable.
    #[arg(long, value_name = "NODESET:KEY=VALUE")]
    host_selector: Vec<String>,

    /// Value of a parameter of the template, as text. Repeatable.
    #[arg(long, short, value_name = "NAME=VALUE")]
    parameter: Vec<String>,

    /// Release of the template. Defaults to its first one.
    #[arg(long, value_name = "RELEASE")]
    release: Option<String>,

    /// Show what would be done, and create nothing.
    #[arg(long)]
    plan: bool,

    #[command(flatten)]
    waiting: follow::Waiting,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// Creates a cluster, or plans it.
pub async fn run(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let root = session.client().await?.inner().in_root();
    let name = fulfillment::identity::name_of(&arguments.template);
    let at = format!("{API}/clustertemplates/{}", cli::path_segment(&name));
    let template: Value = root.value(&Ask::get(at)).await.unwrap_or_default();
    let cluster = object(arguments, &name, &template)?;
    let mut ask = Ask::new(Method::POST, format!("{API}/clusters"))
        .query("fieldManager", "groundplane")
        .query("fieldValidation", "Strict")
        .json(&cluster)
        .message(arguments.message.as_deref());
    if arguments.plan {
        ask = ask.query("dryRun", "All");
    }
    let made = session.client().await?.value(&ask).await?;
    if arguments.plan {
        return plan::show(&made, &template, arguments.output, session).await;
    }
    match arguments.output {
        Form::Json | Form::Yaml => output::value(arguments.output, &made, session)?,
        Form::Name => output::line(&CLUSTERS.named(&made), session)?,
        Form::Table | Form::Wide => output::line(&format!("{} created", CLUSTERS.named(&made)), session)?,
    }
    follow::if_asked(&arguments.waiting, &made, session).await
}

fn object(arguments: &Arguments, template: &str, known: &Value) -> Result<Value, Failure> {
    let mut cluster = json!({
        "apiVersion": format!("{}/{}", fulfillment::GROUP, fulfillment::VERSION),
        "kind": "Cluster", "metadata": {"name": arguments.name}, "spec": {"template": template},
    });
    let spec = &mut cluster["spec"];
    for (set, of_template) in known["nodeSets"].as_object().into_iter().flatten() {
        spec["nodeSets"][set]["size"] = of_template["size"].clone();
    }
    for (set, size) in sizes(&arguments.size)? {
        spec["nodeSets"][set]["size"] = size.into();
    }
    let wrong = |flag: &str, text: &str| {
        Failure::usage(format!("--{flag} {text:?} is not of the form that --help shows"))
    };
    for text in &arguments.spread {
        let (set, over) = text.split_once('=').ok_or_else(|| wrong("spread", text))?;
        spec["nodeSets"][set]["spread"] = over.split(',').collect::<Vec<_>>().into();
    }
    for text in &arguments.host_selector {
        let parts = text.split_once(':').and_then(|(set, label)| Some((set, label.split_once('=')?)));
        let (set, (key, value)) = parts.ok_or_else(|| wrong("host-selector", text))?;
        spec["nodeSets"][set]["hostSelector"][key] = value.into();
    }
    for text in &arguments.parameter {
        let (name, value) = text.split_once('=').ok_or_else(|| wrong("parameter", text))?;
        spec["templateParameters"][name] = typed(name, value, known)?;
    }
    if let Some(release) = &arguments.release {
        spec["release"] = release.as_str().into();
    }
    Ok(cluster)
}

/// A value of the type that a parameter has.
fn typed(name: &str, text: &str, template: &Value) -> Result<Value, Failure> {
    let all = template["parameters"].as_array().into_iter().flatten();
    let kind = all.into_iter().find(|it| it["name"] == name).and_then(|it| it["type"].as_str());
    let kind = kind.unwrap_or("type.googleapis.com/google.protobuf.StringValue");
    let wrong = |what: &str| Failure::usage(format!("parameter {name} must be {what}, and {text:?} is not"));
    let value = match kind.rsplit('.').next().unwrap_or_default() {
        "BoolValue" => Value::from(text.parse::<bool>().map_err(|_| wrong("true or false"))?),
        "Int32Value" | "UInt32Value" => Value::from(text.parse::<i64>().map_err(|_| wrong("an integer"))?),
        "FloatValue" | "DoubleValue" => Value::from(text.parse::<f64>().map_err(|_| wrong("a number"))?),
        _ => Value::from(text),
    };
    Ok(json!({"@type": kind, "value": value}))
}

/// Sizes as `NODESET=SIZE`.
pub fn sizes(texts: &[String]) -> Result<BTreeMap<String, i32>, Failure> {
    let size = |text: &String| {
        let wrong = || Failure::usage(format!("{text:?} is not of the form NODESET=SIZE, such as workers=3"));
        let (set, size) = text.split_once('=').ok_or_else(wrong)?;
        let size = size.parse::<i32>().ok().filter(|size| *size >= 0).ok_or_else(wrong)?;
        Ok((set.to_owned(), size))
    };
    texts.iter().map(size).collect()
}
