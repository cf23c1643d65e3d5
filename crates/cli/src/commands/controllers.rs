//! `groundplane controllers`: what the server's controllers do, and what is stuck.

use krm::time::Moment;
use serde_json::Value;

use crate::client::Ask;
use crate::failure::Failure;
use crate::print::{self, Output};
use crate::session::Session;

/// Show the controllers of the server: their queues, attempts, and the objects that fail.
///
/// A controller brings objects to their desired state: it collects garbage, empties namespaces and projects that are being deleted, and keeps status and labels up to date. With several servers one of them runs each controller; the table is that of the server that you ask.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane controllers\n  groundplane controllers inventory-controller\n  groundplane controllers -o json"
)]
pub struct Arguments {
    /// Only this controller.
    name: Option<String>,

    /// Output format: json, yaml, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,

    /// Print no headers.
    #[arg(long)]
    no_headers: bool,
}

/// Prints them.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let output = Output::parse(arguments.output.as_deref(), arguments.no_headers)?;
    let ask = Ask::get("/apis/groundplane.dev/v1alpha1/controllers".to_owned());
    let client = session.client().await?;
    let mut list = client.value(&ask).await.map_err(|failure| failure.without("a list of controllers"))?;
    if let (Some(name), Some(items)) = (&arguments.name, list["items"].as_array_mut()) {
        let all: Vec<String> = items.iter().map(|item| text(item, "/metadata/name").to_owned()).collect();
        items.retain(|item| text(item, "/metadata/name") == name);
        if items.is_empty() {
            return Err(Failure::other(format!(
                "the server runs no controller {name:?}; it runs {}",
                all.join(", ")
            )));
        }
    }
    if !output.is_table() {
        return output.print(&mut session.console.out, &list);
    }
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let width = session.console.table_width();
    let mut shown = print::fitted(&controllers(items, arguments.no_headers), width);
    let failing = failing(items);
    if !failing.is_empty() {
        shown += "\nFailing objects:\n";
        shown += &print::fitted(&failing, width);
    }
    session.console.out.write_all(shown.as_bytes())?;
    Ok(())
}

fn controllers(items: &[Value], no_headers: bool) -> String {
    let mut text_of = match no_headers {
        true => String::new(),
        false => "NAME\tACTIVE\tQUEUE\tDELAYED\tOLDEST\tATTEMPTS\tFAILED\n".to_owned(),
    };
    for item in items {
        let number = |path: &str| item.pointer(path).and_then(Value::as_u64).unwrap_or_default();
        let attempts = |name: &str| number(&format!("/status/attempts/{name}"));
        let failed = attempts("failed") + attempts("panicked") + attempts("timedOut");
        text_of += &format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{failed}\n",
            text(item, "/metadata/name"),
            item.pointer("/status/active").is_some_and(|active| active == true),
            number("/status/queue/ready"),
            number("/status/queue/delayed"),
            age(item.pointer("/status/queue/oldestSeconds")),
            attempts("succeeded") + failed,
        );
    }
    text_of
}

fn failing(items: &[Value]) -> String {
    let mut lines = String::new();
    for item in items {
        for stuck in item.pointer("/status/failing").and_then(Value::as_array).into_iter().flatten() {
            let part = |name: &str| stuck[name].as_str().unwrap_or_default();
            let place = [part("project"), part("namespace"), part("name")];
            let place: Vec<&str> = place.into_iter().filter(|part| !part.is_empty()).collect();
            lines += &format!(
                "{}\t{}/{}\t{}\t{}\t{}\n",
                text(item, "/metadata/name"),
                part("resource"),
                place.join("/"),
                stuck["attempts"],
                age(stuck.get("seconds")),
                part("error").replace(['\n', '\t'], " "),
            );
        }
    }
    match lines.is_empty() {
        true => lines,
        false => format!("CONTROLLER\tOBJECT\tATTEMPTS\tSINCE\tERROR\n{lines}"),
    }
}

fn age(seconds: Option<&Value>) -> String {
    let seconds = seconds.and_then(Value::as_f64).unwrap_or_default().max(0.0) as i64;
    krm::table::age(Moment { seconds: 0, nanoseconds: 0 }, Moment { seconds, nanoseconds: 0 })
}

fn text<'a>(item: &'a Value, path: &str) -> &'a str {
    item.pointer(path).and_then(Value::as_str).unwrap_or_default()
}
