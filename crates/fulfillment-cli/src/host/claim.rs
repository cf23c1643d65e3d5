//! `groundplane host claim` and `host release`: an operator takes a host, and gives it back.

use cli::{Ask, Failure, Session, path_segment};
use http::Method;
use serde_json::{Value, json};

use crate::output::{self, text};
use crate::table::HOSTS;
use crate::{API, find, input};

/// Claim a host, so that nobody else drives its BMC.
///
/// The claim is refused while somebody else holds the host. It stays until it is released.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane host claim node001 --reason 'firmware update'\n  \
    groundplane host claim node001 --outside-driver Ironic")]
pub struct Claim {
    /// Name or identifier of the host.
    #[arg(value_name = "NAME")]
    name: String,

    /// Why the host is held, for people.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// System outside that drives the BMC, such as Metal3 or Ironic.
    #[arg(long, value_name = "NAME")]
    outside_driver: Option<String>,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

/// Release a host that you hold.
///
/// With --force, a host is released that somebody else holds: first make sure that they no longer drive its BMC.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane host release node001\n  \
    groundplane host release node001 --force --message 'left by a task that was lost'")]
pub struct Release {
    /// Name or identifier of the host.
    #[arg(value_name = "NAME")]
    name: String,

    /// Release the host even if somebody else holds it.
    #[arg(long)]
    force: bool,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

/// Takes a host.
pub async fn claim(arguments: Claim, session: &mut Session) -> Result<(), Failure> {
    let host = find::one(&HOSTS, &arguments.name, session).await?;
    let name = text(&host, "/metadata/name").to_owned();
    let holder = json!({"kind": "User", "name": user(session).await?});
    let wanted = input::given([
        ("holder", Some(holder)),
        ("reason", arguments.reason.map(Value::from)),
        ("outsideDriver", arguments.outside_driver.map(Value::from)),
    ]);
    let client = session.client().await?;
    let ask = match client.value(&Ask::get(path(&name))).await {
        Err(failure) if failure.is_not_found() => {
            let mut claim = input::object("HostClaim", &name);
            claim["spec"] = wanted;
            claim["spec"]["hostRef"] = json!({"name": name});
            Ask::new(Method::POST, format!("{API}/hostclaims")).json(&claim)
        }
        found => {
            found?;
            let patch = json!({"spec": wanted}).to_string();
            Ask::new(Method::PATCH, path(&name)).body("application/merge-patch+json", patch)
        }
    };
    let ask = ask.query("fieldManager", "groundplane").message(arguments.message.as_deref());
    let made = client.value(&ask).await?;
    output::line(&format!("{} claimed, in epoch {}", HOSTS.named(&host), made["status"]["epoch"]), session)
}

/// Gives a host back.
pub async fn release(arguments: &Release, session: &mut Session) -> Result<(), Failure> {
    let host = find::one(&HOSTS, &arguments.name, session).await?;
    let name = text(&host, "/metadata/name").to_owned();
    let user = user(session).await?;
    let client = session.client().await?;
    let found = match client.value(&Ask::get(path(&name))).await {
        Err(failure) if failure.is_not_found() => Value::Null,
        found => found?,
    };
    let Some(holder) = found.pointer("/spec/holder") else {
        return output::line(&format!("{} is free", HOSTS.named(&host)), session);
    };
    let is_mine = holder["kind"] == "User" && holder["name"] == user.as_str();
    if !is_mine && !arguments.force {
        let (kind, holder) = (text(holder, "/kind"), text(holder, "/name"));
        return Err(Failure::other(format!("{kind}/{holder} holds host {name}, and not you"))
            .hint("pass --force to release it all the same"));
    }
    let free = json!({
        "metadata": {"resourceVersion": found["metadata"]["resourceVersion"]},
        "spec": {"holder": null, "delegate": null, "outsideDriver": null, "nodeSet": null, "reason": null},
    });
    let ask = Ask::new(Method::PATCH, path(&name))
        .query("fieldManager", "groundplane")
        .message(arguments.message.as_deref())
        .body("application/merge-patch+json", free.to_string());
    client.value(&ask).await?;
    output::line(&format!("{} released", HOSTS.named(&host)), session)
}

fn path(name: &str) -> String {
    format!("{API}/hostclaims/{}", path_segment(name))
}

/// The name under which the server knows whoever runs the command.
pub async fn user(session: &mut Session) -> Result<String, Failure> {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let ask = Ask::new(Method::POST, "/apis/authentication.k8s.io/v1/selfsubjectreviews").json(&review);
    let told = session.client().await?.value(&ask).await?;
    Ok(text(&told, "/status/userInfo/username").to_owned())
}
