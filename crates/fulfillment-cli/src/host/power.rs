//! `groundplane host power`: the power state of a host.

use cli::{Ask, Failure, Session};
use http::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::operation::{self, EVERY, Holder, Waiting, progress};
use crate::find;
use crate::output::{self, Form, text};
use crate::table::{self, HOSTS};

/// Power a host on or off, cycle its power, or show its power state.
///
/// A host that is free is kept in the state that you ask for. A host that you hold is put into it once. What somebody else
/// holds is put into it when it is released.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane host power status node001\n  groundplane host power on node001\n  \
    groundplane host power cycle node001 --message 'hung'"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Power a host on.
    #[command(after_help = "Examples:\n  groundplane host power on node001\n  \
        groundplane host power on node001 --no-wait")]
    On(Switch),
    /// Power a host off. Power is cut, without a shutdown of the operating system.
    #[command(after_help = "Examples:\n  groundplane host power off node001 --message 'end of shift'")]
    Off(Switch),
    /// Power a host off, and on again. A host that is off is powered on.
    #[command(after_help = "Examples:\n  groundplane host power cycle node001\n  \
        groundplane host power cycle node001 --graceful --timeout 15m")]
    Cycle(Cycle),
    /// Show the power state that the BMC reported last, the desired one, and what keeps them apart.
    #[command(after_help = "Examples:\n  groundplane host power status node001\n  \
        groundplane host power status node001 -o json")]
    Status(Status),
}

#[derive(clap::Args, Debug)]
struct Switch {
    /// Name or identifier of the host.
    #[arg(value_name = "NAME")]
    name: String,

    #[command(flatten)]
    waiting: Waiting,
}

#[derive(clap::Args, Debug)]
struct Cycle {
    /// Name or identifier of the host.
    #[arg(value_name = "NAME")]
    name: String,

    /// Ask the operating system to shut down, instead of cutting the power.
    #[arg(long)]
    graceful: bool,

    #[command(flatten)]
    waiting: Waiting,
}

#[derive(clap::Args, Debug)]
struct Status {
    /// Name or identifier of the host.
    #[arg(value_name = "NAME")]
    name: String,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// Runs a subcommand.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    match arguments.command {
        Command::On(switch) => set(&switch, "ON", "PowerOn", session).await,
        Command::Off(switch) => set(&switch, "OFF", "PowerOff", session).await,
        Command::Cycle(cycle) => {
            let host = find::one(&HOSTS, &cycle.name, session).await?;
            let mut spec = json!({"action": "PowerCycle"});
            if cycle.graceful {
                spec["graceful"] = true.into();
            }
            operation::run(&host, spec, "was power-cycled", &cycle.waiting, session).await
        }
        Command::Status(status) => self::status(&status, session).await,
    }
}

async fn set(switch: &Switch, state: &str, action: &str, session: &mut Session) -> Result<(), Failure> {
    let host = find::one(&HOSTS, &switch.name, session).await?;
    let holder = Holder::of(&host, session).await?;
    if holder.own().is_some() {
        let done = format!("is {state}");
        return operation::run(&host, json!({ "action": action }), &done, &switch.waiting, session).await;
    }
    let wanted = format!("HOST_POWER_STATE_{state}");
    let patch = json!({"spec": {"powerState": wanted}}).to_string();
    let ask = Ask::new(Method::PATCH, find::path_of(&HOSTS, &host))
        .query("fieldManager", "groundplane")
        .message(switch.waiting.message.as_deref())
        .body("application/merge-patch+json", patch);
    let client = session.client().await?;
    let changed = client.value(&ask).await?;
    let named = HOSTS.named(&host);
    if let Some(other) = holder.other() {
        return output::line(&format!("{named} will be {state} once {other} releases it"), session);
    }
    let Some(limit) = switch.waiting.limit() else {
        return output::line(&format!("{named} is to be {state}"), session);
    };
    let generation = changed.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(0);
    let (until, mut told) = (Instant::now() + limit, String::new());
    loop {
        let found = client.value(&Ask::get(find::path_of(&HOSTS, &host))).await?;
        let reached = condition(&found, "PowerStateReached");
        let is_current = reached["observedGeneration"].as_i64().unwrap_or(0) >= generation;
        if text(&found, "/status/powerState") == wanted && reached["status"] == "True" && is_current {
            return output::line(&format!("{named} is {state}"), session);
        }
        let reachable = condition(&found, "BMCReachable");
        let waits_for = match (reachable["status"] == "False", is_current) {
            (true, _) => text(&reachable, "/message"),
            (false, true) => text(&reached, "/message"),
            (false, false) => "",
        };
        let has_failed = is_current && reached["reason"] == "Failed";
        if has_failed || Instant::now() >= until || text(&found, "/spec/bmc/url").is_empty() {
            let why = match waits_for {
                "" if text(&found, "/spec/bmc/url").is_empty() => "the host has no BMC; set spec.bmc.url",
                "" => "no controller has read its BMC yet",
                why => why,
            };
            return Err(Failure::other(format!("host {} is not {state}: {why}", switch.name)).hint(format!(
                "the desired state stays {state}; groundplane host power status {}",
                switch.name
            )));
        }
        progress(waits_for, &mut told, session);
        tokio::time::sleep(EVERY).await;
    }
}

async fn status(status: &Status, session: &mut Session) -> Result<(), Failure> {
    let host = find::one(&HOSTS, &status.name, session).await?;
    let state = |pointer: &str| table::word(&host, pointer, "HOST_POWER_STATE_");
    let (reachable, reached) = (condition(&host, "BMCReachable"), condition(&host, "PowerStateReached"));
    if matches!(status.output, Form::Json | Form::Yaml) {
        let told = json!({
            "name": text(&host, "/metadata/name"),
            "powerState": host.pointer("/status/powerState"),
            "desiredPowerState": host.pointer("/spec/powerState"),
            "bmcReachable": reachable,
            "powerStateReached": reached,
            "claim": host.pointer("/status/claim"),
        });
        return output::value(status.output, &told, session);
    }
    if status.output == Form::Name {
        return output::line(&state("/status/powerState"), session);
    }
    let said = |condition: &Value| match text(condition, "/status") {
        "" => String::new(),
        "True" => format!("yes, since {}", text(condition, "/lastTransitionTime")),
        _ => format!("no: {}", text(condition, "/message")),
    };
    output::fields(
        &[
            ("Power", state("/status/powerState")),
            ("Desired", state("/spec/powerState")),
            ("Reached", said(&reached)),
            ("BMC answers", said(&reachable)),
            ("Holder", text(&host, "/status/claim/holder").to_owned()),
        ],
        session,
    )
}

/// A condition of a host; null if it has none of this type.
fn condition(host: &Value, kind: &str) -> Value {
    let conditions = host.pointer("/status/conditions").and_then(Value::as_array);
    let found = conditions.and_then(|all| all.iter().find(|condition| condition["type"] == kind));
    found.cloned().unwrap_or_default()
}
