//! A plan that was kept, applied.

use std::io::Write;

use http::Method;
use serde_json::json;

use super::PLANS;
use crate::client::{Ask, segment};
use crate::commands::apply::asked_again;
use crate::failure::Failure;
use crate::names;
use crate::session::Session;

/// Applies a plan that was kept.
pub async fn apply(name: &str, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let path = format!("{PLANS}/{}", segment(name));
    let answer = match client.value(&Ask::new(Method::POST, format!("{path}/apply"))).await {
        Err(failure) if failure.is_unanswered() => return find_out(failure, name, &path, session).await,
        Err(failure) if is_stale(&failure) => {
            return Err(failure.hint("make a new plan from the same files, and look at it again"));
        }
        answered => answered?,
    };
    let status = &answer["status"];
    for item in status["items"].as_array().into_iter().flatten() {
        let object = json!({"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": {"name": item["name"]}});
        writeln!(
            session.console.out,
            "{} {}",
            names::of_object(&object),
            item["result"].as_str().unwrap_or("")
        )?;
    }
    let revision = status["revision"].as_str().unwrap_or("");
    session.console.say(&format!("plan {name} applied in one commit (revision {revision})"));
    Ok(())
}

fn is_stale(failure: &Failure) -> bool {
    failure.refusal().is_some_and(|refusal| refusal.causes().any(|cause| cause["reason"] == "Stale"))
}

/// The server went away before it answered: a plan says itself, in the commit that applies it, that it was applied.
async fn find_out(lost: Failure, name: &str, path: &str, session: &mut Session) -> Result<(), Failure> {
    let Failure::Noted(lost, _) = lost else { return Err(lost) };
    session.console.say("the server went away before it said what became of the plan; it is asked again");
    let Some(plan) = asked_again(&Ask::get(path), session).await? else {
        return Err(lost
            .note("all of the plan was committed or nothing of it; which of it is not known until the server is back")
            .hint(format!("\"groundplane get plan {name}\" says then; applying it again does no harm")));
    };
    if plan["status"]["applied"].is_object() {
        session.console.say(&format!("it is back, and the commit was made: plan {name} is applied"));
        return Ok(());
    }
    let why = lost.text();
    Err(Failure::other(format!("nothing was applied: {}", why.trim_start_matches("error: ").trim_end()))
        .hint(format!("the server is back: groundplane apply --plan {name}")))
}
