//! `groundplane inventory trace`: follows a port to where its path ends.

use cli::{Ask, Client, Failure, Session};
use serde_json::Value;

use crate::as_if::AsIfFlag;
use crate::list::select::Selection;
use crate::output::{self, Form};

/// Trace a port through cables, patch panels, circuits and PDUs.
///
/// All branches of breakout cables and PDUs are shown, with the total cable length. Name the port object, or the device
/// and the name of the port on it.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Name of the Port object, or of the device.
    #[arg(value_name = "PORT")]
    port: String,

    /// Name of the port on that device (spec.name), such as eth0.
    #[arg(value_name = "PORT-NAME")]
    label: Option<String>,

    #[command(flatten)]
    as_if: AsIfFlag,

    /// Read the state at a point in time: a timestamp (2026-11-10T09:00:00Z), a date (2026-11-10), an age (2h) or a revision.
    #[arg(long, value_name = "TIME|REVISION")]
    as_of: Option<String>,

    /// Output format: table (text), json, yaml, name (the ports at the end of the path), svg.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory trace fra1-a01-node01-eth0
  groundplane inventory trace fra1-a01-node01 eth0           # device and port name
  groundplane inventory trace fra1-a01-feed-a                # power, from the feed to every device
  groundplane inventory trace fra1-a01-leaf1-up1 -o svg > uplink.svg
  groundplane inventory trace fra1-a01-leaf1-up1 --as-of 2026-11-10";

/// Traces a port.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let all = [Form::Table, Form::Json, Form::Yaml, Form::Name, Form::Svg];
    let form = Form::parse(arguments.output.as_deref(), &all)?;
    let as_of = output::moment(arguments.as_of.as_deref())?;
    let client = session.client().await?;
    let port = match &arguments.label {
        None => arguments.port.clone(),
        Some(label) => {
            let ports = ports_of(&arguments.port, as_of.clone()).every(&client).await?.items;
            labelled(&ports, &arguments.port, label)?
        }
    };
    let ask = output::question("ports", &port, "trace").query_if("asOf", as_of.clone());
    let ask = arguments.as_if.ask(ask)?;
    let followed = follow(form, &client, ask, session).await;
    match followed {
        Err(failure) if failure.is_not_found() && arguments.label.is_none() => {
            let ports = ports_of(&port, as_of).every(&client).await?.items;
            Err(which_port(failure, &ports, &port))
        }
        followed => followed,
    }
}

/// The ports of a device.
fn ports_of(device: &str, as_of: Option<String>) -> Selection {
    let fields = Some(format!("spec.deviceRef.name={device}"));
    Selection { fields, as_of, ..Selection::all("ports") }
}

/// Suggests the ports of a device that was named instead of a port.
fn which_port(failure: Failure, ports: &[Value], device: &str) -> Failure {
    let labels: Vec<&str> = ports.iter().filter_map(|port| port["spec"]["name"].as_str()).collect();
    match labels.first() {
        None => failure,
        Some(first) => Failure::other(format!("{device} is a device; name one of its ports")).hint(format!(
            "run \"groundplane inventory trace {device} {}\"; its ports are {}",
            shell_word(first),
            labels.join(", ")
        )),
    }
}

/// A word quoted for the shell.
fn shell_word(word: &str) -> String {
    if word.contains(char::is_whitespace) { format!("\"{word}\"") } else { word.to_owned() }
}

async fn follow(form: Form, client: &Client, ask: Ask, session: &mut Session) -> Result<(), Failure> {
    match form {
        Form::Svg => {
            let drawing = output::answer_drawing(client, ask).await?;
            output::text(&drawing, session)
        }
        Form::Table | Form::Wide => {
            let text = output::answer_text(client, ask).await?;
            output::text(&text, session)
        }
        Form::Json | Form::Yaml => {
            let answer = output::answer(client, ask).await?;
            output::value(form, &answer, session)
        }
        Form::Name => {
            let answer = output::answer(client, ask).await?;
            output::say_incomplete(&answer, session);
            let ends = answer["ends"].as_array().into_iter().flatten().filter_map(Value::as_str);
            output::names(ends.map(|end| ("Port", end)), session)
        }
    }
}

/// The only port of a device with this name.
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
            let failure = Failure::other(format!("{device} has no port named {label}"));
            Err(match labels.is_empty() {
                true => failure.hint(format!(
                    "no device named {device} has ports; find it with \"groundplane search {device}\""
                )),
                false => failure.hint(format!("its ports are {}", labels.join(", "))),
            })
        }
        several => Err(Failure::other(format!("{device} has several ports named {label}"))
            .hint(format!("name the Port object: {}", several.join(", ")))),
    }
}
