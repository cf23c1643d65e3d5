//! `groundplane portal`: a link that signs in to the web pages of the server, once.

use std::io::Write;
use std::process::Stdio;

use clap::{ArgMatches, Args as _, FromArgMatches as _};
use cli::{Ask, CommandModule, Console, Failure, Global, Session};
use http::Method;
use serde_json::json;

/// Where links are made.
const LINKS: &str = "/ui/links";

/// `groundplane portal`.
pub struct Commands;

/// Print a link that signs you in to the portal, the web pages of the server.
///
/// The link works once, for ten minutes, and signs in as the user of the kubeconfig. A session lasts twelve hours, or until the
/// credentials of the kubeconfig expire.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane portal\n  groundplane portal --open\n  groundplane portal -o json"
)]
struct Arguments {
    /// Open the link in a browser.
    #[arg(long)]
    open: bool,

    /// Output format: json.
    #[arg(long, short, value_name = "FORMAT", value_parser = ["json"])]
    output: Option<String>,
}

impl CommandModule for Commands {
    fn command(&self) -> clap::Command {
        Arguments::augment_args(clap::Command::new("portal"))
    }

    fn run(&self, typed: &ArgMatches, global: Global, root: clap::Command) -> u8 {
        let arguments = Arguments::from_arg_matches(typed).unwrap_or_else(|error| error.exit());
        cli::run_with(global, Console::of_process(), root, async move |session| {
            run(&arguments, session).await
        })
    }
}

async fn run(arguments: &Arguments, session: &mut Session) -> Result<(), Failure> {
    // The portal is the server's: it shows every project that its user belongs to.
    session.global.project = None;
    let client = session.client().await?;
    let made = client.value(&Ask::new(Method::POST, LINKS).json(&json!({}))).await?;
    let address = client.address().trim_end_matches('/');
    let scheme = if address.contains("://") { "" } else { "https://" };
    let link = format!("{scheme}{address}{}", made["path"].as_str().unwrap_or_default());
    if arguments.output.is_some() {
        let answer =
            json!({"link": link, "user": made["user"], "expiresInSeconds": made["expiresInSeconds"]});
        writeln!(session.console.out, "{answer}")?;
        return Ok(());
    }
    writeln!(session.console.out, "{link}")?;
    let user = made["user"].as_str().unwrap_or_default();
    session.console.say(&format!("Signs in as {user}, once, within ten minutes."));
    if arguments.open {
        open(&link);
    }
    Ok(())
}

/// Opens a page, where there is something to open it with.
fn open(page: &str) {
    for program in ["xdg-open", "open"] {
        let mut command = std::process::Command::new(program);
        command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if command.spawn().is_ok() {
            return;
        }
    }
}
