//! `groundplane inventory trace`: where the cable in a port goes.

use cli::{Ask, Failure, Session};
use serde_json::Value;

use crate::list;
use crate::output::{self, Form, ROOT};

/// Follow a port: cable by cable, through panels and circuits, and for power from feed to supply.
///
/// Where the way splits, at a breakout cable or a PDU, every branch is shown; the lengths of the cables are summed up.
/// A port is named by its own name, or by its device and what is written beside it.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The port; or the device that has it.
    #[arg(value_name = "PORT")]
    port: String,

    /// What is written beside the port on that device, as eth0.
    #[arg(value_name = "LABEL")]
    label: Option<String>,

    /// How it was then: a time (2026-11-10T09:00:00Z, 2026-11-10, 2h for two hours ago) or a revision.
    #[arg(long, value_name = "TIME|REVISION")]
    as_of: Option<String>,

    /// The form: table (text), json, yaml, name (the ports where it ends), svg.
    #[arg(long, short, value_name = "FORM")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory trace fra1-a01-node01-eth0
  groundplane inventory trace fra1-a01-node01 eth0           by device and label
  groundplane inventory trace fra1-a01-feed-a                power, from the feed to every supply
  groundplane inventory trace fra1-a01-leaf1-up1 -o svg > uplink.svg
  groundplane inventory trace fra1-a01-leaf1-up1 --as-of 2026-11-10";

/// Follows a port.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let all = [Form::Table, Form::Json, Form::Yaml, Form::Name, Form::Svg];
    let form = Form::parse(arguments.output.as_deref(), &all)?;
    let as_of = output::moment(arguments.as_of.as_deref())?;
    let client = session.client().await?;
    let port = match &arguments.label {
        None => arguments.port.clone(),
        Some(label) => {
            let ports = Ask::get(format!("{ROOT}/ports"))
                .query("fieldSelector", format!("spec.deviceRef.name={}", arguments.port))
                .query_if("asOf", as_of.clone());
            labelled(&list::every(&client, &ports).await?, &arguments.port, label)?
        }
    };
    let ask = output::question("ports", &port, "trace").query_if("asOf", as_of);
    match form {
        Form::Svg => {
            let drawing = output::answer_text(&client, ask, "image/svg+xml").await?;
            output::text(&drawing, session)
        }
        Form::Table | Form::Wide => {
            let text = output::answer_text(&client, ask, "text/plain").await?;
            output::text(&text, session)
        }
        Form::Json | Form::Yaml => {
            let answer = output::answer(&client, ask).await?;
            output::value(form, &answer, session)
        }
        Form::Name => {
            let answer = output::answer(&client, ask).await?;
            let ends = answer["ends"].as_array().into_iter().flatten().filter_map(Value::as_str);
            output::names(ends.map(|end| ("Port", end)), session)
        }
    }
}

/// The one port of a device that is labelled so.
fn labelled(ports: &[Value], device: &str, label: &str) -> Result<String, Failure> {
    let text = |port: &Value| port["spec"]["name"].as_str().unwrap_or("").to_owned();
    let found: Vec<&str> = ports
        .iter()
        .filter(|port| text(port) == label)
        .filter_map(|port| port["metadata"]["name"].as_str())
        .collect();
    match found.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => {
            let labels: Vec<String> = ports.iter().map(text).collect();
            let failure = Failure::other(format!("no port of {device} is labelled {label}"));
            Err(match labels.is_empty() {
                true => failure
                    .hint(format!("nothing called {device} has ports; \"groundplane search {device}\"")),
                false => failure.hint(format!("it has {}", labels.join(", "))),
            })
        }
        several => Err(Failure::other(format!("several ports of {device} are labelled {label}"))
            .hint(format!("name one of them: {}", several.join(", ")))),
    }
}
