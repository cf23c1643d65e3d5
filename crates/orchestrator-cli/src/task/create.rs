//! `groundplane task create`: begins a task.

use cli::{Ask, Failure, Session};
use http::Method;
use serde_json::{Value, json};

use super::{named, path, plan, watch};
use crate::arguments::About;
use crate::output::{self, Form, text};

/// Begin a task. With --plan, show first what it does and what is lost, and do exactly that.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane task create validate_design -n site --watch\n  \
    groundplane task create deploy_nodes -n site --node node1,node2 --plan\n  \
    groundplane task create deploy_nodes -n site --plan --yes --watch")]
pub struct Arguments {
    #[command(flatten)]
    about: About,

    /// Name of the task. Defaults to the action and a suffix that the server chooses.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Number of nodes that are worked on at the same time. Defaults to 64.
    #[arg(long, value_name = "NUMBER")]
    parallel: Option<i64>,

    /// Deploy nodes though their hardware differs from the design.
    #[arg(long)]
    allow_differences: bool,

    /// Show the plan, ask for confirmation, and create a task that does exactly this or nothing.
    #[arg(long)]
    plan: bool,

    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,

    /// Follow the task until it ends. The exit code is 3 if it fails.
    #[arg(long, short)]
    watch: bool,

    /// Reason for the task, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// Begins the task.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let about = &arguments.about;
    let design = plan::design(about, session).await?;
    let mut spec = json!({"action": about.action, "design": design});
    let mut set = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            spec[field] = value;
        }
    };
    set("revision", about.revision.map(Value::from));
    set("provisioner", about.provisioner.as_deref().map(Value::from));
    set("nodeFilter", about.filter()?);
    set("parallel", arguments.parallel.map(Value::from));
    set("allowDifferences", arguments.allow_differences.then_some(true.into()));
    if arguments.plan {
        let planned = plan::ask(about, &design, session).await?;
        plan::show(&planned, session)?;
        plan::refuse_problems(&planned)?;
        if !arguments.yes && !session.console.confirm("Create a task that does this?") {
            return Err(Failure::other("nothing was created").hint("--yes answers the question beforehand"));
        }
        spec["planDigest"] = planned["digest"].clone();
        spec["revision"] = planned["revision"].clone();
        spec["provisioner"] = planned["provisioner"].clone();
    }
    let mut metadata = json!({});
    match &arguments.name {
        Some(name) => metadata["name"] = name.as_str().into(),
        None => metadata["generateName"] = format!("{}-", about.action.replace('_', "-")).into(),
    }
    let task = json!({
        "apiVersion": "orchestration.groundplane.dev/v1alpha1", "kind": "Task", "metadata": metadata, "spec": spec,
    });
    let ask = Ask::new(Method::POST, path(session).await?)
        .query("fieldManager", "groundplane")
        .query("fieldValidation", "Strict")
        .json(&task)
        .message(arguments.message.as_deref());
    let made = session.client().await?.value(&ask).await?;
    match arguments.output {
        Form::Json | Form::Yaml => output::value(arguments.output, &made, session)?,
        Form::Name => output::line(&named(&made), session)?,
        Form::Table => output::line(&format!("{} created", named(&made)), session)?,
    }
    match arguments.watch {
        true => watch::follow(text(&made, "/metadata/name"), session).await,
        false => Ok(()),
    }
}
