//! `groundplane version`: that of this program, and that of the server.

use std::io::Write;

use serde_json::{Value, json};

use crate::client::Ask;
use crate::failure::Failure;
use crate::print::Output;
use crate::session::Session;

/// Print the client and server version.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane version\n  groundplane version --client\n  groundplane version -o json"
)]
pub struct Arguments {
    /// Print the client version only, without a request to the server.
    #[arg(long)]
    client: bool,

    /// Output format: json or yaml.
    #[arg(long, short, value_name = "FORMAT", value_parser = ["json", "yaml"])]
    output: Option<String>,
}

/// Prints both.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let ours = format!("v{}", env!("CARGO_PKG_VERSION"));
    let mut versions = json!({"clientVersion": {"gitVersion": ours}});
    let mut failure = None;
    if !arguments.client {
        match server(session).await {
            Ok(version) => versions["serverVersion"] = version,
            Err(failed) => failure = Some(failed),
        }
    }
    let out = &mut session.console.out;
    match arguments.output.as_deref() {
        Some(form) => Output::parse(Some(form), false)?.print(out, &versions)?,
        None => {
            writeln!(out, "Client Version: {ours}")?;
            if let Some(theirs) = versions["serverVersion"]["gitVersion"].as_str() {
                writeln!(out, "Server Version: {theirs}")?;
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

async fn server(session: &mut Session) -> Result<Value, Failure> {
    session.client().await?.value(&Ask::get("/version")).await
}
