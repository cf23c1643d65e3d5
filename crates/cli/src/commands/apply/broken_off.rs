//! The connection broke before the server answered a transaction: a dry run of the same tells whether it was committed.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{How, Outcome, together};
use crate::client::Ask;
use crate::failure::Failure;
use crate::session::Session;

/// How long to wait for the server, unless --request-timeout is set.
const PATIENCE: Duration = Duration::from_secs(15);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// Finds out whether all objects were committed or none: after a commit, a dry run changes nothing.
pub async fn find_out(
    lost: Failure,
    sent: Ask,
    how: &How<'_>,
    count: usize,
    session: &mut Session,
) -> Result<(Vec<Outcome>, String), Failure> {
    let Failure::Noted(lost, _) = lost else { return Err(lost) };
    session.console.say(&format!(
        "the connection broke before the server answered; checking whether the {count} objects were applied"
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
            .note(format!("{differing} of {count} objects differ from the files: the transaction was not committed (or they were changed since)"))
            .hint("the server is available again: run the command again"));
    }
    for outcome in &mut outcomes {
        outcome.result = "applied".to_owned();
    }
    let summary = format!("the transaction was committed: all {count} objects match the files");
    Ok((outcomes, summary))
}

/// The response to a request that changes nothing, from a server that may still be starting; `None` if it does not come
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
        "either all {count} objects were applied or none; the server has to be available to tell"
    ))
    .hint(format!(
        "when it is, \"groundplane plan {}\" shows what is missing; applying again is safe",
        how.files.typed()
    ))
}
