//! `groundplane quota explain`: who holds a resource.

use cli::{Ask, Failure, Session};
use serde_json::{Value, json};

use super::API;
use crate::output::{self, Form, age, text};

/// List what holds a resource in a project or an organization, the largest first, and what waits for it.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Type of the resource, or the part of it after the slash.
    resource: String,

    /// List what holds the quota of this organization instead of a project's.
    #[arg(long, value_name = "NAME")]
    organization: Option<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

const EXAMPLES: &str = "\
Examples:
  groundplane quota explain compute.datumapis.com/instances --project acme
  groundplane quota explain instances --project acme -o json
  groundplane quota explain projects --organization acme";

/// Lists the holders.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let (whose, name, claims) = match &arguments.organization {
        Some(name) => {
            let client = session.client().await?.inner().in_root();
            let namespace = cli::segment(&format!("organization-{name}"));
            let ask = Ask::get(format!("{API}/namespaces/{namespace}/resourceclaims"));
            ("organization", name.clone(), client.value(&ask).await?)
        }
        None => {
            let project = output::project(session)?;
            let ask = Ask::get(format!("{API}/resourceclaims"));
            ("project", project, session.client().await?.value(&ask).await?)
        }
    };
    let mut holders: Vec<Value> = claims["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|claim| holder(claim, &arguments.resource))
        .collect();
    let key = |holder: &Value| {
        (
            holder["granted"] != true,
            -holder["amount"].as_i64().unwrap_or(0),
            text(holder, "/since").to_owned(),
        )
    };
    holders.sort_by_key(key);
    if arguments.output != Form::Table {
        let answer = json!({ whose: name, "resource": arguments.resource, "items": holders });
        return output::value(arguments.output, &answer, session);
    }
    if holders.is_empty() {
        return output::line(&format!("Nothing in {whose} {name} holds {}.", arguments.resource), session);
    }
    let mut rows =
        vec![["AMOUNT", "HOLDER", "CLAIM", "STATE", "NAMESPACE", "AGE"].map(str::to_owned).to_vec()];
    rows.extend(holders.iter().map(|holder| {
        let state = if holder["granted"] == true { "granted" } else { "waiting" };
        vec![
            holder["amount"].to_string(),
            text(holder, "/holder").to_owned(),
            text(holder, "/claim").to_owned(),
            state.to_owned(),
            text(holder, "/namespace").to_owned(),
            age(text(holder, "/since")),
        ]
    }));
    output::table(&rows, session)
}

fn holder(claim: &Value, resource: &str) -> Option<Value> {
    let requests = claim.pointer("/spec/requests")?.as_array()?;
    let is_meant = |request: &&Value| {
        let found = text(request, "/resourceType");
        found == resource || found.rsplit('/').next() == Some(resource)
    };
    let request = requests.iter().find(is_meant)?;
    let conditions = claim.pointer("/status/conditions").and_then(Value::as_array);
    let granted =
        conditions.into_iter().flatten().any(|found| found["type"] == "Granted" && found["status"] == "True");
    Some(json!({
        "amount": request["amount"],
        "holder": format!("{}/{}", text(claim, "/spec/resourceRef/kind"), text(claim, "/spec/resourceRef/name")),
        "claim": text(claim, "/metadata/name"),
        "namespace": text(claim, "/metadata/namespace"),
        "granted": granted,
        "since": text(claim, "/metadata/creationTimestamp"),
    }))
}
