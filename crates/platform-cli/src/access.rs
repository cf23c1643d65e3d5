//! `groundplane access`: what a project has of a service, and asking for it.

use std::time::{Duration, Instant};

use cli::{Ask, Client, Failure, Session};
use http::Method;
use serde_json::{Value, json};

use crate::output::{self, Form, text};
use crate::services::{API, catalog, describe, find};

/// Pause between two looks while waiting. A watch would need the service's own state too.
const PAUSE: Duration = Duration::from_millis(300);

/// Show what a project has of a service, or ask for access to it.
///
/// Exit codes of `access request`: 0 active, 11 denied or revoked, 12 still pending, 13 not available.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Name of the service. Defaults to all services.
    service: Option<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Ask for access to a service. Asking twice is no error.
    Request(Request),
}

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane access request compute\n  groundplane access request compute --message 'for the web shop' --wait"
)]
struct Request {
    /// Name of the service, such as compute.
    service: String,

    /// What the provider is told with the request.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,

    /// Ask again after the request was denied or access revoked.
    #[arg(long)]
    renew: bool,

    /// Wait until the service is active or the request is denied.
    #[arg(long)]
    wait: bool,

    /// How long to wait, such as 30s, 10m or 1h.
    #[arg(long, value_name = "TIME", default_value = "30m")]
    timeout: String,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

const EXAMPLES: &str = "\
Examples:
  groundplane access --project acme
  groundplane access compute --project acme -o json
  groundplane access request compute --project acme --message 'Team trial' --wait --timeout 10m";

/// Shows or asks for access.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let project = output::project(session)?;
    if let Some(Command::Request(arguments)) = arguments.command {
        return request(arguments, &project, session).await;
    }
    let client = session.client().await?;
    let services = match &arguments.service {
        Some(name) => vec![find(&client, name).await?],
        None => catalog(&client).await?,
    };
    if arguments.output != Form::Table {
        let answer = match arguments.service {
            Some(_) => services.into_iter().next().unwrap_or_default(),
            None => json!({ "project": project, "items": services }),
        };
        return output::value(arguments.output, &answer, session);
    }
    if services.is_empty() {
        return output::line("No services are offered.", session);
    }
    for (index, service) in services.iter().enumerate() {
        if index > 0 {
            output::line("", session)?;
        }
        describe(service, &project, session)?;
    }
    Ok(())
}

/// Asks for access to a service as `access request NAME` does.
pub async fn request_now(service: &str, session: &mut Session) -> Result<(), Failure> {
    let project = output::project(session)?;
    let arguments = Request {
        service: service.to_owned(),
        message: None,
        renew: false,
        wait: false,
        timeout: "30m".to_owned(),
        output: Form::Table,
    };
    request(arguments, &project, session).await
}

async fn request(arguments: Request, project: &str, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let mut service = find(&client, &arguments.service).await?;
    let name = text(&service, "/name").to_owned();
    let shown = text(&service, "/displayName").to_owned();
    let was_refused = matches!(text(&service, "/state"), "Denied" | "Revoked");
    if arguments.renew && was_refused {
        take_back(&client, &name).await?;
        service["state"] = "NotRequested".into();
    }
    if text(&service, "/state") == "NotRequested" {
        session.console.say(&format!("Requesting access to {shown} for project \"{project}\"..."));
        ask(&client, &name, arguments.message.as_deref()).await?;
    }
    let patience = if arguments.wait { duration(&arguments.timeout)? } else { Duration::from_secs(5) };
    let service = settle(&client, &name, patience, arguments.wait, session).await?;
    match arguments.output {
        Form::Table => tell(&service, project, &name, session),
        form => {
            output::value(form, &service, session)?;
            exit_code(text(&service, "/state")).map_or(Ok(()), |code| Err(Failure::Exit(code)))
        }
    }
}

/// Creates the request. That there is one already is what was wanted.
async fn ask(client: &Client, name: &str, message: Option<&str>) -> Result<(), Failure> {
    let mut spec = json!({ "serviceRef": { "name": name } });
    if let Some(message) = message {
        spec["requestMessage"] = message.into();
    }
    let entitlement = json!({
        "apiVersion": "services.miloapis.com/v1alpha1", "kind": "ServiceEntitlement",
        "metadata": { "name": name }, "spec": spec,
    });
    let made =
        client.value(&Ask::new(Method::POST, format!("{API}/serviceentitlements")).json(&entitlement)).await;
    match made {
        Err(failure) if failure.refusal().is_some_and(|refusal| refusal.reason() == "AlreadyExists") => {
            Ok(())
        }
        made => made.map(drop),
    }
}

async fn take_back(client: &Client, name: &str) -> Result<(), Failure> {
    let ask = Ask::new(Method::DELETE, format!("{API}/serviceentitlements/{}", cli::segment(name)));
    match client.value(&ask).await {
        Err(failure) if failure.refusal().is_some_and(|refusal| refusal.code() == 404) => Ok(()),
        gone => gone.map(drop),
    }
}

/// Looks until something is decided: for a moment, or for as long as the user waits.
async fn settle(
    client: &Client,
    name: &str,
    patience: Duration,
    waits: bool,
    session: &mut Session,
) -> Result<Value, Failure> {
    let begun = Instant::now();
    let mut told = String::new();
    loop {
        let service = find(client, name).await?;
        let state = text(&service, "/state").to_owned();
        let is_open = match state.as_str() {
            "Processing" | "NotRequested" => true,
            "PendingApproval" => waits,
            _ => false,
        };
        if !is_open || begun.elapsed() >= patience {
            return Ok(service);
        }
        if waits && told != state {
            let what = match state.as_str() {
                "PendingApproval" => "Waiting for the provider to approve the request...",
                _ => "Waiting for the platform to process the request...",
            };
            session.console.say(what);
            told = state;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// What a state means for scripts; nothing for success.
fn exit_code(state: &str) -> Option<u8> {
    match state {
        "Active" => None,
        "Denied" | "Revoked" | "Suspended" => Some(11),
        "Unavailable" => Some(13),
        _ => Some(12),
    }
}

/// Tells what came of a request, with one next command.
fn tell(service: &Value, project: &str, name: &str, session: &mut Session) -> Result<(), Failure> {
    let (shown, state, message) =
        (text(service, "/displayName"), text(service, "/state"), text(service, "/message"));
    let again = format!("groundplane access request {name} --project {project}");
    let submitted = format!("Your request to enable {shown} for project \"{project}\" has been submitted.\n");
    let next = format!(
        "\nCheck progress with:   groundplane access {name} --project {project}\nWait for activation:   {again} --wait"
    );
    let say =
        |session: &mut Session, lines: &[String]| lines.iter().for_each(|line| session.console.say(line));
    match state {
        "Active" => say(session, &[format!("{shown} is now enabled for project \"{project}\".")]),
        "PendingApproval" => say(
            session,
            &[
                submitted,
                format!("  Status:  Pending approval — {message}"),
                "           Approval is a manual step by the service provider and may take a while."
                    .to_owned(),
                next,
            ],
        ),
        "Processing" | "NotRequested" => say(
            session,
            &[
                submitted,
                "  Status:  Processing — the platform hasn't recorded a decision yet.".to_owned(),
                "           This normally takes only a few seconds.".to_owned(),
                next,
            ],
        ),
        "Suspended" => say(
            session,
            &[
                format!("Error: {shown} access for project \"{project}\" is suspended by the provider."),
                format!(
                    "Only the provider can lift it. See its state with: groundplane access {name} --project {project}"
                ),
            ],
        ),
        "Unavailable" => say(
            session,
            &[
                format!("Error: the {shown} service is not available on this platform environment."),
                format!("See what is offered with: groundplane services list --project {project}"),
            ],
        ),
        _ => {
            let what = if state == "Revoked" { "revoked" } else { "denied" };
            say(
                session,
                &[
                    format!("Error: {shown} access for project \"{project}\" was {what}."),
                    format!("  {message}"),
                    format!("Request access again with: {again} --renew"),
                ],
            );
        }
    }
    exit_code(state).map_or(Ok(()), |code| Err(Failure::Exit(code)))
}

/// A time such as 30s, 10m or 1h.
fn duration(text: &str) -> Result<Duration, Failure> {
    let (number, unit) = text.split_at(text.len() - text.chars().last().map_or(0, char::len_utf8));
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => 0,
    };
    let number: u64 = number.parse().unwrap_or(0);
    match number.checked_mul(seconds).filter(|seconds| *seconds > 0) {
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Err(Failure::usage(format!("--timeout: {text:?} must be a time such as 30s, 10m or 1h"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("90s").ok(), Some(Duration::from_secs(90)));
        assert_eq!(duration("30m").ok(), Some(Duration::from_secs(1800)));
        for wrong in ["", "s", "30", "0s", "1d", "-1m", "é"] {
            assert!(duration(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn every_state_has_an_exit_code() {
        let codes =
            ["Active", "Denied", "Revoked", "PendingApproval", "Processing", "Unavailable"].map(exit_code);
        assert_eq!(codes, [None, Some(11), Some(11), Some(12), Some(12), Some(13)]);
    }
}
