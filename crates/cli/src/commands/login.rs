//! `groundplane login`, `logout` and `credential`: people who prove who they are at an OpenID Connect issuer.

mod code_flow;
mod device_flow;
mod kubeconfig;

use std::io::Write;
use std::path::PathBuf;

use client::login::{Issuer, StoredLogin, Tokens};
use serde_json::json;

use crate::failure::Failure;
use crate::session::Session;

/// Log in with OpenID Connect, for groundplane and kubectl.
///
/// Opens the login page in a browser, or with --device shows a code to enter on another device. Tokens are stored in a file with
/// mode 0600 and refreshed before they expire. Adds a user with an exec credential to the kubeconfig.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    at: At,

    /// Use the device flow: show a code to enter on another device.
    #[arg(long)]
    device: bool,

    /// Scopes to request, besides openid.
    #[arg(
        long = "scope",
        value_name = "SCOPE",
        value_delimiter = ',',
        default_value = "email,groups,offline_access"
    )]
    scopes: Vec<String>,

    /// File with the client secret, for a confidential client.
    #[arg(long, value_name = "FILE")]
    client_secret_file: Option<PathBuf>,

    /// Print the address of the login page instead of opening a browser.
    #[arg(long)]
    no_browser: bool,
}

/// Which issuer, and as which client.
#[derive(clap::Args, Debug, Clone)]
pub struct At {
    /// Issuer URL, as in the iss claim of its tokens.
    #[arg(long, value_name = "URL")]
    issuer: String,

    /// OAuth client ID.
    #[arg(long, value_name = "ID", default_value = "groundplane")]
    client_id: String,

    /// File with CA certificates for the issuer. By default the system's.
    #[arg(long, value_name = "FILE")]
    issuer_ca: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane login --issuer https://id.example.com
  groundplane login --issuer https://id.example.com --client-id groundplane --device
  groundplane auth whoami
  groundplane logout";

/// Log out: revoke and delete the stored tokens.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane logout\n  groundplane logout --issuer https://id.example.com"
)]
pub struct LogoutArguments {
    /// Log out at this issuer only. By default at all of them.
    #[arg(long, value_name = "URL")]
    issuer: Option<String>,
}

/// Print the stored login as an ExecCredential.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane credential --issuer https://id.example.com --client-id groundplane"
)]
pub struct CredentialArguments {
    #[command(flatten)]
    at: At,
}

/// Logs in.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    if !session.console.can_ask {
        return Err(Failure::other("login needs a terminal")
            .hint("in scripts, use a service account: \"groundplane create token NAME\", and --token"));
    }
    let secret = match &arguments.client_secret_file {
        None => None,
        Some(file) => {
            let text = std::fs::read_to_string(file);
            let text =
                text.map_err(|error| Failure::other(format!("reading {}: {error}", file.display())))?;
            Some(text.trim().to_owned())
        }
    };
    let issuer = Issuer::discover(
        &arguments.at.issuer,
        &arguments.at.client_id,
        secret,
        arguments.at.issuer_ca.as_deref(),
    )
    .await?;
    let mut scopes = vec!["openid".to_owned()];
    scopes.extend(arguments.scopes.iter().filter(|scope| *scope != "openid").cloned());
    let scope = scopes.join(" ");
    let tokens = match arguments.device {
        true => device_flow::run(&issuer, &scope, session).await?,
        false => code_flow::run(&issuer, &scope, !arguments.no_browser, session).await?,
    };
    let name = tokens.name();
    StoredLogin::new(&issuer, tokens, arguments.at.issuer_ca.as_deref()).write()?;
    let context = kubeconfig::add(&arguments.at, &session.global)?;
    session.console.say(&format!("Logged in as {name} at {}.", arguments.at.issuer));
    if let Some(context) = context {
        session.console.say(&format!("Switched to context {context:?}."));
    }
    Ok(())
}

/// Ends logins.
pub async fn logout(arguments: LogoutArguments, session: &mut Session) -> Result<(), Failure> {
    let mut ended = 0;
    for kept in StoredLogin::all()? {
        if arguments.issuer.as_ref().is_some_and(|issuer| *issuer != kept.issuer) {
            continue;
        }
        // The file goes whatever the issuer says: it may be gone itself.
        if let Err(error) = kept.revoke().await {
            session.console.warn(&format!(
                "{} did not take the login back: {}",
                kept.issuer,
                Failure::from(error).text().trim_end()
            ));
        }
        kept.delete()?;
        session.console.say(&format!("Logged out at {}.", kept.issuer));
        ended += 1;
    }
    if ended == 0 {
        session.console.say("No login is stored.");
    }
    Ok(())
}

/// Prints a credential.
pub async fn credential(arguments: CredentialArguments, session: &mut Session) -> Result<(), Failure> {
    let at = &arguments.at;
    let kept = StoredLogin::current(&at.issuer, &at.client_id).await?;
    let asked = std::env::var("KUBERNETES_EXEC_INFO").unwrap_or_default();
    let asked: serde_json::Value = serde_json::from_str(&asked).unwrap_or_default();
    let version = asked["apiVersion"].as_str().filter(|version| !version.is_empty());
    let credential = json!({
        "apiVersion": version.unwrap_or("client.authentication.k8s.io/v1"),
        "kind": "ExecCredential",
        "status": { "token": kept.tokens.id.as_str(), "expirationTimestamp": kept.expiry() },
    });
    writeln!(session.console.out, "{credential}")?;
    Ok(())
}

/// What was asked of an issuer, and what it gave.
type Given = Result<Tokens, Failure>;
