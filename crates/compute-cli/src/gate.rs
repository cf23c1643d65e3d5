//! The gate in front of all commands: whether compute is enabled for the project, and asking for it.

use std::io::Write as _;
use std::time::{Duration, Instant};

use cli::{Failure, Session};
use platform_cli::services;
use serde_json::Value;

use crate::api::Compute;
use crate::text::{age, at};

/// Name of the service.
const SERVICE: &str = "compute";

/// How long a request may be in processing before that is reported.
const FIRST_DECISION: Duration = Duration::from_secs(30);

/// Exit code when somebody declined to ask for access.
const DECLINED: u8 = 9;
/// Exit code when compute is not enabled, and nobody can be asked.
const NOT_ENABLED: u8 = 10;

/// Lets commands pass where compute is enabled. Otherwise says why it is not, with one next command.
pub async fn pass(compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let Some(service) = decided(compute, session).await? else {
        return told(
            session,
            13,
            &["Error: the compute service is not available on this platform environment.".to_owned()],
        );
    };
    let project = &compute.project;
    let message = at(&service, "/message");
    let since = age(at(&service, "/requestedAt"));
    let renew = compute.program.command("access request compute --renew");
    match at(&service, "/state") {
        "Active" => Ok(()),
        "NotRequested" => ask(compute, session).await,
        "Denied" | "Revoked" => {
            let what = if at(&service, "/state") == "Revoked" { "revoked" } else { "denied" };
            let mut lines = vec![format!("Error: compute access for project {project:?} was {what}.")];
            if !message.is_empty() {
                lines.push(format!("  {message}"));
            }
            lines.push(format!("Request access again with: {renew}"));
            told(session, 11, &lines)
        }
        "Suspended" => {
            let line = format!("Error: compute access for project {project:?} is suspended by the provider.");
            told(session, 11, &[line, format!("  {message}")])
        }
        "PendingApproval" => {
            let line = format!(
                "Error: compute access for project {project:?} is awaiting provider approval (requested {since} ago)."
            );
            told(session, 12, &[line, wait(compute)])
        }
        "Unavailable" => told(
            session,
            13,
            &["Error: the compute service is not available on this platform environment.".to_owned()],
        ),
        _ => {
            let line = format!(
                "Error: compute access for project {project:?} is still being processed (requested {since} ago)."
            );
            told(session, 12, &[line, wait(compute)])
        }
    }
}

/// The service, if the platform offers it. A request that was made just now is given a moment to be processed.
async fn decided(compute: &Compute, session: &mut Session) -> Result<Option<Value>, Failure> {
    let begun = Instant::now();
    let mut was_told = false;
    loop {
        let service = find(compute).await?;
        let is_open = service.as_ref().is_some_and(|service| at(service, "/state") == "Processing");
        if !is_open || begun.elapsed() > FIRST_DECISION {
            return Ok(service);
        }
        if !was_told && begun.elapsed() > Duration::from_secs(1) {
            session.console.say("Waiting for the platform to process the request...");
            was_told = true;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// The service, if the platform offers it.
async fn find(compute: &Compute) -> Result<Option<Value>, Failure> {
    let offered = match services::catalog(compute.client()).await {
        Ok(offered) => offered,
        Err(failure) if failure.refusal().is_some_and(|refusal| refusal.code() == 404) => {
            return missing_project(compute, failure).await;
        }
        Err(failure) => return Err(failure),
    };
    Ok(offered.into_iter().find(|service| at(service, "/name") == SERVICE))
}

/// A server without services has no catalog; a project that does not exist has none either, and that is said.
async fn missing_project(compute: &Compute, failure: Failure) -> Result<Option<Value>, Failure> {
    let is_project = failure.refusal().is_some_and(|refusal| refusal.message().contains("projects"));
    if !is_project {
        return Ok(None);
    }
    Err(Failure::other(format!("project {:?} does not exist", compute.project))
        .hint("name another with --project NAME, or set GROUNDPLANE_PROJECT"))
}

fn wait(compute: &Compute) -> String {
    format!("Wait for activation with: {}", compute.program.command("access request compute --wait"))
}

async fn ask(compute: &Compute, session: &mut Session) -> Result<(), Failure> {
    let project = &compute.project;
    let later = compute.program.command("access request compute");
    if !session.console.can_ask {
        return told(
            session,
            NOT_ENABLED,
            &[
                format!("Error: compute is not enabled for project {project:?}."),
                format!("Request access with: {later}"),
            ],
        );
    }
    session.console.say(&format!("Compute is not enabled for project {project:?}."));
    session
        .console
        .say("Requesting access sends an enablement request to the service provider for approval.");
    if !confirmed("Would you like to request access? [y/N]: ", false, session) {
        return told(
            session,
            DECLINED,
            &["No request was made.".to_owned(), format!("Request access later with: {later}")],
        );
    }
    platform_cli::access::request_now(SERVICE, session).await
}

/// Asks a person. Enter alone means the default.
pub fn confirmed(question: &str, by_default: bool, session: &mut Session) -> bool {
    let answer = answer(question, session);
    match answer.trim() {
        "" => by_default,
        "y" | "Y" | "yes" | "Yes" => true,
        _ => false,
    }
}

/// Asks a person for a line of text.
pub fn answer(question: &str, session: &mut Session) -> String {
    let console = &mut session.console;
    let _ = console.out.flush();
    let _ = write!(console.err, "{question}");
    let _ = console.err.flush();
    let mut answer = String::new();
    let _ = std::io::stdin().read_line(&mut answer);
    answer.trim().to_owned()
}

fn told(session: &mut Session, code: u8, lines: &[String]) -> Result<(), Failure> {
    lines.iter().filter(|line| !line.trim().is_empty()).for_each(|line| session.console.say(line));
    Err(Failure::Exit(code))
}
