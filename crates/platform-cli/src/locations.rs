//! `groundplane locations`: where a project can run workloads.

use cli::{Ask, Failure, Session};
use serde_json::{Value, json};

use crate::output::{self, Form, text};

const API: &str = "/apis/networking.datumapis.com/v1alpha";
const CITY: &str = "/spec/topology/topology.datum.net~1city-code";
const REGION: &str = "/spec/topology/topology.datum.net~1region";

/// List locations: those that a project can use, or all of them without --project.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane locations --project acme\n  groundplane locations -o json")]
pub struct Arguments {
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

/// Lists locations.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let of_project = output::project(session).ok();
    let (plural, condition) = match &of_project {
        Some(_) => ("locationbindings", "Available"),
        None => ("locations", "Ready"),
    };
    let list = session.client().await?.value(&Ask::get(format!("{API}/{plural}"))).await?;
    let locations: Vec<Value> =
        list["items"].as_array().into_iter().flatten().map(|location| row(location, condition)).collect();
    if arguments.output != Form::Table {
        return output::value(
            arguments.output,
            &json!({ "project": of_project, "items": locations }),
            session,
        );
    }
    if locations.is_empty() {
        let why = match of_project {
            Some(project) => format!(
                "No location is available to project {project}. See: groundplane access --project {project}"
            ),
            None => "No locations.".to_owned(),
        };
        return output::line(&why, session);
    }
    let mut rows =
        vec![["NAME", "CITY", "REGION", "CLASS", "STATE", "DISPLAY NAME"].map(str::to_owned).to_vec()];
    let fields = ["/name", "/city", "/region", "/class", "/state", "/displayName"];
    rows.extend(locations.iter().map(|location| fields.map(|field| or_dash(text(location, field))).to_vec()));
    output::table(&rows, session)
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "—".to_owned() } else { text.to_owned() }
}

fn row(location: &Value, condition: &str) -> Value {
    let conditions = location.pointer("/status/conditions").and_then(Value::as_array);
    let found = conditions.into_iter().flatten().find(|found| found["type"] == condition);
    let state = match found {
        Some(found) if found["status"] == "True" => condition.to_owned(),
        Some(found) => text(found, "/reason").to_owned(),
        None => "Pending".to_owned(),
    };
    json!({
        "name": text(location, "/metadata/name"), "city": text(location, CITY), "region": text(location, REGION),
        "class": text(location, "/spec/locationClassName"), "displayName": text(location, "/spec/displayName"),
        "state": state,
    })
}
