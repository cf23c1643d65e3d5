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

/// Sign a token with the key of a machine account. Asks nobody anything.
///
/// The credentials are in a file, or in the variable GROUNDPLANE_MACHINE_CREDENTIALS. Where a kubeconfig runs it, it prints an ExecCredential; else the token alone.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane auth machine-token --credentials ci.json\n  \
    groundplane get secret ci-key -o 'jsonpath={.data.credentials\\.json}' | base64 -d | groundplane auth machine-token --credentials -")]
pub struct MachineToken {
    /// A file with the credentials; - for what is read in.
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,

    /// For how long the token is good; an hour at most.
    #[arg(long, value_name = "TIME", default_value = "15m")]
    valid_for: String,

    /// For whom it is, where the credentials do not say it.
    #[arg(long, value_name = "NAME")]
    audience: Option<String>,
}

/// Signs and prints.
pub fn run(arguments: &MachineToken, session: &mut Session) -> Result<(), Failure> {
    let life = flags::duration(&arguments.valid_for).filter(|life| !life.is_zero() && *life <= LONGEST);
    let life = life.ok_or_else(|| {
        Failure::usage(format!(
            "--valid-for {}: write a time such as 15m, an hour at most",
            arguments.valid_for
        ))
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
                return Err(Failure::usage("no credentials are given")
                    .hint(format!("--credentials FILE, or the variable {CREDENTIALS}")));
            }
        },
    };
    let text = Zeroizing::new(text.map_err(|error| Failure::other(format!("reading {from}: {error}")))?);
    let no_credentials = || {
        Failure::other(format!("{from} holds no credentials of a machine account"))
            .hint("groundplane auth machine-account NAME --to FILE makes a kubeconfig that has them")
    };
    let value: Value = serde_json::from_str(&text).map_err(|_| no_credentials())?;
    let is_one =
        ["client_email", "private_key_id", "private_key"].iter().all(|field| value[field].is_string());
    is_one.then_some(value).ok_or_else(no_credentials)
}
