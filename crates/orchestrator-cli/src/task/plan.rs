//! `groundplane task plan`: what a task would do, and what would be lost.

use cli::{Ask, Failure, Session, path_segment};
use http::Method;
use serde_json::{Value, json};

use crate::arguments::About;
use crate::output::{self, Form, items, text};
use crate::{API, DESIGNS};

/// Show what a task would do on each node, and what would be lost, without creating it.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane task plan deploy_nodes -n site\n  \
    groundplane task plan destroy_nodes -n site --node node1 -o json")]
pub struct Arguments {
    #[command(flatten)]
    about: About,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// Shows the plan.
pub async fn run(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let design = design(&arguments.about, session).await?;
    let plan = ask(&arguments.about, &design, session).await?;
    match arguments.output {
        Form::Json | Form::Yaml => output::value(arguments.output, &plan, session),
        Form::Name => items(&plan, "/nodes").try_for_each(|node| output::line(text(node, "/node"), session)),
        Form::Table => {
            show(&plan, session)?;
            refuse_problems(&plan)
        }
    }
}

/// The design that is meant.
pub async fn design(about: &About, session: &mut Session) -> Result<String, Failure> {
    if let Some(design) = &about.design {
        return Ok(design.clone());
    }
    let namespace = session.namespace().await?;
    let ask = Ask::get(format!("{DESIGNS}/namespaces/{}/designs", path_segment(&namespace)));
    let list = session.client().await?.value(&ask).await?;
    let names: Vec<&str> = items(&list, "/items").map(|design| text(design, "/metadata/name")).collect();
    match names.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(Failure::other(format!("there is no design in the namespace {namespace:?}"))
            .hint("-n chooses another namespace; \"groundplane design import\" creates a design")),
        several => Err(Failure::usage(format!("there are several designs: {}", several.join(", ")))
            .hint("choose one with --design")),
    }
}

/// Asks the server for the plan.
pub async fn ask(about: &About, design: &str, session: &mut Session) -> Result<Value, Failure> {
    let namespace = session.namespace().await?;
    let mut body = json!({"namespace": namespace, "action": about.action, "design": design});
    if let Some(revision) = about.revision {
        body["revision"] = revision.into();
    }
    if let Some(provisioner) = &about.provisioner {
        body["provisioner"] = provisioner.as_str().into();
    }
    if let Some(filter) = about.filter()? {
        body["nodeFilter"] = filter;
    }
    let ask = Ask::new(Method::POST, format!("{API}/provisioners/-/task-plan")).json(&body);
    session.client().await?.value(&ask).await
}

/// Shows a plan to people.
pub fn show(plan: &Value, session: &mut Session) -> Result<(), Failure> {
    let heading = format!(
        "{} of design {}, revision {}, by provisioner {}",
        text(plan, "/action"),
        text(plan, "/design"),
        plan["revision"],
        text(plan, "/provisioner")
    );
    output::line(&heading, session)?;
    for step in items(plan, "/steps") {
        output::line(&format!("  {}", step.as_str().unwrap_or_default()), session)?;
    }
    let nodes: Vec<&Value> = items(plan, "/nodes").collect();
    for node in &nodes {
        output::line(&format!("\n{}", text(node, "/node")), session)?;
        for what in items(node, "/does") {
            output::line(&format!("  {}", what.as_str().unwrap_or_default()), session)?;
        }
        for what in items(node, "/loses") {
            let line =
                session.console.painted("31", &format!("  lost: {}", what.as_str().unwrap_or_default()));
            output::line(&line, session)?;
        }
    }
    if nodes.is_empty() && items(plan, "/steps").next().is_none() {
        output::line("\nNo node is selected: there is nothing to do.", session)?;
    }
    for problem in items(plan, "/problems") {
        output::line(&format!("\nproblem: {}", problem.as_str().unwrap_or_default()), session)?;
    }
    output::line(&format!("\nPlan {}", text(plan, "/digest")), session)
}

/// A plan with problems is not carried out.
pub fn refuse_problems(plan: &Value) -> Result<(), Failure> {
    match items(plan, "/problems").next() {
        None => Ok(()),
        Some(_) => Err(Failure::other("the task cannot begin: see the problems above")),
    }
}
