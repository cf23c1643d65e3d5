//! `groundplane source diff`: what a source finds, and what is expected.

use cli::{Failure, Session};
use client::ListOptions;
use serde_json::json;
use sources::SourceFinding;

use crate::output::{self, Form, or_dash};

/// Show what a source finds and what is stored, field by field.
///
/// Lists everything that the source says and that was not written, because somebody else owns the host or has set the field. Settle
/// it with "groundplane source accept".
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane source diff ironic-fra1\n  groundplane source diff ironic-fra1 -o json"
)]
pub struct Arguments {
    /// Name of the source.
    #[arg(value_name = "NAME")]
    name: String,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// Shows findings.
pub async fn run(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?.inner().in_root();
    let source = client.kind::<sources::Source>().get(&arguments.name).await?;
    let own = ListOptions {
        field_selector: Some(format!("spec.source={}", source.metadata.name)),
        ..ListOptions::default()
    };
    let findings: Vec<SourceFinding> = client.kind::<SourceFinding>().list(own).all().await?;
    if arguments.output != Form::Table {
        return output::value(arguments.output, &json!(findings), session);
    }
    if findings.is_empty() {
        session.console.say("What the source says is what is stored.");
        return Ok(());
    }
    let headings = ["HOST", "REASON", "FIELD", "FOUND", "EXPECTED", "SET BY", "SINCE", "DECISION"];
    let mut rows = vec![headings.map(str::to_owned).to_vec()];
    for finding in &findings {
        let spec = &finding.spec;
        let decision = spec.decision.map(|decision| format!("{decision:?}")).unwrap_or_default();
        for field in &spec.fields {
            let short = |text: &str| or_dash(&text.chars().take(40).collect::<String>());
            let owner = spec.owner.as_deref().filter(|owner| *owner != spec.source);
            let set_by = field.set_by.as_deref().or(owner).unwrap_or_default();
            rows.push(vec![
                spec.host.clone(),
                format!("{:?}", spec.reason),
                field.field.clone(),
                short(&field.found),
                short(&field.expected),
                or_dash(set_by),
                or_dash(field.set_at.as_deref().unwrap_or_default()),
                or_dash(&decision),
            ]);
        }
        if spec.fields.is_empty() {
            let owner = spec.owner.clone().unwrap_or_else(|| "by hand".to_owned());
            let dash = || "-".to_owned();
            rows.push(vec![
                spec.host.clone(),
                format!("{:?}", spec.reason),
                dash(),
                dash(),
                dash(),
                owner,
                dash(),
                or_dash(&decision),
            ]);
        }
    }
    output::table(&rows, session)
}
