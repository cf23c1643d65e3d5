//! `groundplane api-versions`: which groups and versions there are.

use std::io::Write;

use crate::failure::Failure;
use crate::session::Session;

/// List the API groups and versions of the server.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane api-versions")]
pub struct Arguments {}

/// Prints them in order.
pub async fn run(_: Arguments, session: &mut Session) -> Result<(), Failure> {
    let discovery = session.discovery().await?;
    let mut versions: Vec<String> = Vec::new();
    for group in &discovery.groups {
        versions.extend(group.versions.iter().map(|version| match group.name.as_str() {
            "" => version.clone(),
            name => format!("{name}/{version}"),
        }));
    }
    versions.sort();
    for version in versions {
        writeln!(session.console.out, "{version}")?;
    }
    Ok(())
}
