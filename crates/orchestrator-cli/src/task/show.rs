//! `groundplane task show`: a task with its nodes and steps.

use cli::{Failure, Session};
use serde_json::json;

use super::{children, named, one, tree};
use crate::output::{self, Form, items, text};

/// Show a task with its nodes, or the task of a node with its steps and messages.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane task show deploy-nodes-7f3a -n site\n  \
    groundplane task show deploy-nodes-7f3a-node1 -n site\n  groundplane task show deploy-nodes-7f3a -n site -o json")]
pub struct Arguments {
    /// Name of the task.
    #[arg(value_name = "NAME")]
    name: String,

    /// Number of nodes to show.
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    nodes: usize,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// Shows the task.
pub async fn run(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let task = one(&arguments.name, session).await?;
    let children = children(&arguments.name, session).await?;
    match arguments.output {
        Form::Json | Form::Yaml => {
            output::value(arguments.output, &json!({"task": task, "nodes": children}), session)
        }
        Form::Name => output::line(&named(&task), session),
        Form::Table => {
            for line in tree::lines(&task, &children, arguments.nodes) {
                output::line(&line, session)?;
            }
            for message in items(&task, "/status/messages") {
                output::line(&format!("{}  {}", text(message, "/time"), text(message, "/message")), session)?;
            }
            Ok(())
        }
    }
}
