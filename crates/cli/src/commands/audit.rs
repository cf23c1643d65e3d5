//! `groundplane audit`: whether the history is as it was written.

use std::io::Write;
use std::path::PathBuf;

use http::Method;
use serde_json::{Value, json};

use crate::client::Ask;
use crate::failure::Failure;
use crate::print::Output;
use crate::session::Session;

/// Verify the history, and print signed checkpoints of it.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Verify(Verify),
    Checkpoint(Checkpoint),
}

/// Verify that no record of the history was changed, removed or reordered.
///
/// Records that retention has pruned are no failure. With a checkpoint that was stored elsewhere, a history that was rewritten
/// as a whole is detected, too.
///
/// Exit code: 0 when the history is verified, 1 when not.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane audit verify\n  groundplane audit checkpoint > checkpoint.json\n  groundplane audit verify --checkpoint checkpoint.json"
)]
struct Verify {
    /// File with a checkpoint that "groundplane audit checkpoint" printed earlier.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Public key that checkpoints may be signed with, in hex. Can be repeated.
    #[arg(long = "trusted-key", value_name = "HEX")]
    trusted_keys: Vec<String>,

    /// Output format: json or yaml.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

/// Print the latest signed checkpoint, to be stored outside the server.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane audit checkpoint > checkpoint.json")]
struct Checkpoint {
    /// Output format: json or yaml.
    #[arg(long, short, value_name = "FORMAT", default_value = "json")]
    output: String,
}

/// Checks, or prints the checkpoint.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    match arguments.command {
        Command::Verify(verify) => self::verify(&verify, session).await,
        Command::Checkpoint(asked) => {
            let path = "/apis/groundplane.dev/v1alpha1/checkpoints/latest";
            let found = session.client().await?.value(&Ask::get(path)).await?;
            Output::parse(Some(&asked.output), false)?.print(&mut session.console.out, &found)
        }
    }
}

async fn verify(verify: &Verify, session: &mut Session) -> Result<(), Failure> {
    let mut spec = json!({});
    if !verify.trusted_keys.is_empty() {
        spec["trustedKeys"] = json!(verify.trusted_keys);
    }
    if let Some(file) = &verify.checkpoint {
        let failed = |why: &dyn std::fmt::Display| {
            Failure::other(format!("reading the checkpoint {}: {why}", file.display()))
        };
        let bytes = std::fs::read(file).map_err(|error| failed(&error))?;
        spec["checkpoint"] = krm::decode::read_yaml(&bytes).map_err(|error| failed(&error))?.value;
    }
    let body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Verification", "spec": spec});
    let ask = Ask::new(Method::POST, "/apis/groundplane.dev/v1alpha1/verifications").json(&body);
    let answer = session
        .client()
        .await?
        .value(&ask)
        .await
        .map_err(|failure| failure.without("history verification"))?;
    let status = &answer["status"];
    if let Some(form) = &verify.output {
        Output::parse(Some(form), false)?.print(&mut session.console.out, &answer)?;
    } else {
        tell(status, session)?;
    }
    if status["verified"] == true { Ok(()) } else { Err(Failure::Exit(1)) }
}

fn tell(status: &Value, session: &mut Session) -> Result<(), Failure> {
    let number = |field: &str| status[field].as_u64().unwrap_or(0);
    let problems = status["problems"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |problem: &Value, field: &str| problem[field].as_str().unwrap_or("").to_owned();
    // What can be looked at comes before what follows from it.
    let (records, others): (Vec<&Value>, Vec<&Value>) =
        problems.iter().partition(|problem| !text(problem, "object").is_empty());
    for problem in records {
        let revision = match text(problem, "revision").as_str() {
            "" => String::new(),
            revision => format!(" at revision {revision}"),
        };
        writeln!(session.console.out, "{}{revision}: {}", text(problem, "object"), text(problem, "what"))?;
    }
    for problem in others {
        writeln!(session.console.out, "{}", text(problem, "what"))?;
    }
    let verdict = if status["verified"] == true { "verified" } else { "NOT verified" };
    let through = status["coveredThrough"].as_str().filter(|through| !matches!(*through, "" | "0"));
    let through = through.map_or(String::new(), |through| format!(", signed through revision {through}"));
    writeln!(
        session.console.out,
        "{verdict}: {} records of {} objects, {} checkpoints{through}",
        number("records"),
        number("objects"),
        number("checkpoints")
    )?;
    for what in status["unproven"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        writeln!(session.console.out, "not proven: {what}")?;
    }
    Ok(())
}
