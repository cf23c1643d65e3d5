//! `groundplane rotate-keys`: a new key for secrets, while the server runs.

use std::io::Write;

use serde_json::json;

use crate::client::Ask;
use crate::failure::Failure;
use crate::session::Session;

/// Rotate the key that encrypts Secrets, without downtime.
///
/// The server adds a new key to sealing.keys and wraps its data keys with it; stored Secrets are not rewritten. Afterwards, back
/// up sealing.keys, and copy it to all other servers of the same etcd before they restart.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane rotate-keys")]
pub struct Arguments {}

/// Rotates.
pub async fn run(_: Arguments, session: &mut Session) -> Result<(), Failure> {
    let ask = Ask::new(http::Method::POST, "/apis/groundplane.dev/v1alpha1/keyrotations").json(&json!({}));
    let rotated =
        session.client().await?.value(&ask).await.map_err(|failure| failure.without("keys to rotate"))?;
    let key = rotated["status"]["key"].as_str().unwrap_or_default();
    writeln!(session.console.out, "sealing key {key} is now the active one")?;
    session.console.say("Back up sealing.keys, and copy it to every other server of the same etcd.");
    Ok(())
}
