//! Applying a saved plan.

use std::io::Write;

use http::Method;
use serde_json::json;

use crate::client::Ask;
use crate::commands::apply::asked_again;
use crate::failure::Failure;
use crate::names;
use crate::session::Session;

/// Applies a saved plan.
pub async fn apply(name: &str, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let path = client::plan_path(name);
    let answer = match client.value(&Ask::new(Method::POST, format!("{path}/apply"))).await {
        Err(failure) if failure.is_unanswered() => return find_out(failure, name, &path, session).await,
        Err(failure) if is_stale(&failure) => {
            return Err(failure.hint("make a new plan from the same files, and review it"));
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

/// The connection broke before the server answered. The transaction that applies a plan also marks it as applied.
async fn find_out(lost: Failure, name: &str, path: &str, session: &mut Session) -> Result<(), Failure> {
    let Failure::Noted(lost, _) = lost else { return Err(lost) };
    session
        .console
        .say("the connection broke before the server answered; checking whether the plan was applied");
    let Some(plan) = asked_again(&Ask::get(path), session).await? else {
        return Err(lost
            .note("the plan was applied as a whole or not at all; the server has to be available to tell")
            .hint(format!(
                "when it is, \"groundplane get plan {name}\" shows it; applying the plan again is safe"
            )));
    };
    if plan["status"]["applied"].is_object() {
        session.console.say(&format!("plan {name} was applied"));
        return Ok(());
    }
    let why = lost.text();
    Err(Failure::other(format!("nothing was applied: {}", why.trim_start_matches("error: ").trim_end()))
        .hint(format!("the server is available again: groundplane apply --plan {name}")))
}
