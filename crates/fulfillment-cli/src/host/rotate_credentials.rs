//! `groundplane host rotate-credentials`: a new password for the BMC of a host.

use cli::{Failure, Session};
use serde_json::json;

use super::operation::{self, Waiting};
use crate::find;
use crate::table::HOSTS;

/// Change the password of a host's BMC to a generated one.
///
/// The new password is set, proven by a login, and only then replaces the old one, which is kept until that has worked. An
/// interruption at any point locks nobody out. Nobody sees the password; who may get hosts/credentials can read it.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane host rotate-credentials node001 --message 'quarterly rotation'"
)]
pub struct Arguments {
    /// Name or identifier of the host.
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    waiting: Waiting,
}

/// Rotates it.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let host = find::one(&HOSTS, &arguments.name, session).await?;
    let spec = json!({"action": "RotateCredentials"});
    operation::run(&host, spec, "has a new BMC password", &arguments.waiting, session).await
}
