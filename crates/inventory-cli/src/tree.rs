//! `groundplane inventory tree`: regions with their clusters, sites and nodes.

use cli::{Failure, Session};

use crate::as_if::AsIfFlag;
use crate::output::{self, Form};

/// Show the inventory as a tree: regions with their clusters, sites and nodes.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane inventory tree\n  groundplane inventory tree --region eu-central"
)]
pub struct Arguments {
    /// Show only this region.
    #[arg(long, value_name = "REGION")]
    region: Option<String>,

    #[command(flatten)]
    as_if: AsIfFlag,

    /// Read the state at a point in time: a timestamp (2026-11-10T09:00:00Z), a date (2026-11-10), an age (2h) or a revision.
    #[arg(long, value_name = "TIME|REVISION")]
    as_of: Option<String>,

    /// Output format: table (text), json, yaml.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

/// Prints the tree.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let form = Form::parse(arguments.output.as_deref(), &[Form::Table, Form::Json, Form::Yaml])?;
    let ask = output::question("regions", arguments.region.as_deref().unwrap_or("-"), "tree")
        .query_if("asOf", output::moment(arguments.as_of.as_deref())?);
    let ask = arguments.as_if.ask(ask)?;
    let client = session.client().await?;
    if form != Form::Table {
        let answer = output::answer(&client, ask).await?;
        return output::value(form, &answer, session);
    }
    let text = output::answer_text(&client, ask).await?;
    let text = if text.is_empty() { "No matching inventory found.\n".to_owned() } else { text };
    output::text(&text, session)
}
