//! `groundplane auth machine-token`: a token that a machine account signs for itself.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use krm::time::Moment;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::signing::{self, CREDENTIALS};
use crate::failure::Failure;
use crate::flags;
use crate::session::Session;

/// The server believes no token for longer.
const LONGEST: Duration = Duration::from_secs(3600);
/// A client asks for the next token this much before one ends.
const EARLY: u64 = 60;

/// Print a token that is signed with the key of a machine account.
///
/// Reads the credentials from a file or from GROUNDPLANE_MACHINE_CREDENTIALS, and sends no request. Prints an ExecCredential when
/// it is run by a kubeconfig (exec), otherwise the token.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane auth machine-token --credentials ci.json\n  \
    groundplane auth machine-token --credentials ci.json --valid-for 5m")]
pub struct MachineToken {
    /// File with the credentials, or - for stdin.
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,

    /// Lifetime of the token, up to 1h.
    #[arg(long, value_name = "TIME", default_value = "15m")]
    valid_for: String,

    /// Audience of the token, if the credentials name none.
    #[arg(long, value_name = "NAME")]
    audience: Option<String>,
}

/// Signs and prints.
pub fn run(arguments: &MachineToken, session: &mut Session) -> Result<(), Failure> {
    let life = flags::duration(&arguments.valid_for).filter(|life| !life.is_zero() && *life <= LONGEST);
    let life = life.ok_or_else(|| {
        Failure::usage(format!("--valid-for {}: use a duration such as 15m, up to 1h", arguments.valid_for))
    })?;
    let credentials = read(arguments.credentials.as_deref())?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let end = now + life.as_secs();
    let token = signing::token(&credentials, arguments.audience.as_deref(), now, end)?;
    let Ok(asked) = std::env::var("KUBERNETES_EXEC_INFO") else {
        writeln!(session.console.out, "{}", *token)?;
        return Ok(());
    };
    let asked: Value = serde_json::from_str(&asked).unwrap_or_default();
    let version = asked["apiVersion"].as_str().filter(|version| !version.is_empty());
    let until = Moment::of_seconds(i64::try_from(end.saturating_sub(EARLY).max(now)).unwrap_or(i64::MAX));
    let credential = Zeroizing::new(
        json!({
            "apiVersion": version.unwrap_or("client.authentication.k8s.io/v1"),
            "kind": "ExecCredential",
            "status": { "token": &*token, "expirationTimestamp": until.to_string() },
        })
        .to_string(),
    );
    writeln!(session.console.out, "{}", *credential)?;
    Ok(())
}

fn read(file: Option<&std::path::Path>) -> Result<Value, Failure> {
    let (text, from) = match file {
        Some(path) if path.as_os_str() == "-" => {
            (std::io::read_to_string(std::io::stdin()), "stdin".to_owned())
        }
        Some(path) => (std::fs::read_to_string(path), path.display().to_string()),
        None => match std::env::var(CREDENTIALS) {
            Ok(text) => (Ok(text), CREDENTIALS.to_owned()),
            Err(_) => {
                return Err(Failure::usage("no credentials given")
                    .hint(format!("use --credentials FILE, or set {CREDENTIALS}")));
            }
        },
    };
    let text = Zeroizing::new(text.map_err(|error| Failure::other(format!("reading {from}: {error}")))?);
    let no_credentials = || {
        Failure::other(format!("{from}: not the credentials of a machine account"))
            .hint("\"groundplane auth machine-account NAME --to FILE\" creates a kubeconfig with credentials")
    };
    let value: Value = serde_json::from_str(&text).map_err(|_| no_credentials())?;
    let is_one =
        ["client_email", "private_key_id", "private_key"].iter().all(|field| value[field].is_string());
    is_one.then_some(value).ok_or_else(no_credentials)
}
