//! `groundplane inventory summary`: how much there is of everything.

use cli::{Failure, Session};

use crate::output::{self, Form};

/// Count everything: by kind, by region, by provider.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane inventory summary\n  groundplane inventory summary --as-of 30d"
)]
pub struct Arguments {
    /// How it was then: a time (2026-11-10T09:00:00Z, 2026-11-10, 2h for two hours ago) or a revision.
    #[arg(long, value_name = "TIME|REVISION")]
    as_of: Option<String>,

    /// The form: table (text), json, yaml.
    #[arg(long, short, value_name = "FORM")]
    output: Option<String>,
}

/// Prints it.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let form = Form::parse(arguments.output.as_deref(), &[Form::Table, Form::Json, Form::Yaml])?;
    let ask = output::question("regions", "-", "summary")
        .query_if("asOf", output::moment(arguments.as_of.as_deref())?);
    let client = session.client().await?;
    if form != Form::Table {
        let answer = output::answer(&client, ask).await?;
        return output::value(form, &answer, session);
    }
    let text = output::answer_text(&client, ask).await?;
    output::text(&text, session)
}
