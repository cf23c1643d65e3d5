//! The server went away before it said what became of a transaction: it is asked again, by a rehearsal of the same.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{How, Outcome, together};
use crate::client::Ask;
use crate::failure::Failure;
use crate::session::Session;

/// How long a server that went away is waited for, unless --request-timeout says so.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often it is tried.
const PAUSE: Duration = Duration::from_millis(250);

/// Finds out whether all objects were committed or none of them was. A rehearsal that would change nothing says that
/// they were.
pub async fn find_out(
    lost: Failure,
    sent: Ask,
    how: &How<'_>,
    count: usize,
    session: &mut Session,
) -> Result<(Vec<Outcome>, String), Failure> {
    let Failure::Noted(lost, _) = lost else { return Err(lost) };
    session.console.say(&format!(
        "the server went away before it said what became of the {count} objects; it is asked again"
    ));
    let Some(answer) = asked_again(&sent.query("dryRun", "All"), session).await? else {
        return Err(unknown(*lost, how, count));
    };
    let status = &answer["status"];
    let mut outcomes = together::outcomes(status);
    let differing = outcomes.iter().filter(|outcome| outcome.result != "unchanged").count();
    if differing > 0 || outcomes.len() != count {
        let why = lost.text();
        let why = why.trim_start_matches("error: ").trim_end();
        return Err(Failure::other(format!("nothing was applied: {why}"))
            .note(format!("{differing} of {count} objects are not as the files say, so the commit was not made (or they were changed since)"))
            .hint("the server is back: apply again"));
    }
    for outcome in &mut outcomes {
        outcome.result = "applied".to_owned();
    }
    let summary = format!("it is back, and the commit was made: all {count} objects are as the files say");
    Ok((outcomes, summary))
}

/// The answer to a question that changes nothing, from a server that may still be starting; `None` if it does not come
/// back.
pub async fn asked_again(ask: &Ask, session: &mut Session) -> Result<Option<Value>, Failure> {
    let client = session.client().await?;
    let patience = session.global.timeout()?.unwrap_or(PATIENCE);
    let begun = Instant::now();
    loop {
        match client.value(ask).await {
            Ok(answer) => return Ok(Some(answer)),
            Err(failure) if failure.refusal().is_some_and(|refusal| refusal.code() < 500) => return Ok(None),
            Err(_) if begun.elapsed() >= patience => return Ok(None),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

fn unknown(lost: Failure, how: &How<'_>, count: usize) -> Failure {
    lost.note(format!(
        "all {count} objects were committed or none of them was; which of it is not known until the server is back"
    ))
    .hint(format!(
        "\"groundplane plan {}\" says then; applying again does no harm in either case",
        how.files.typed()
    ))
}
