//! `groundplane controllers`: what the server's controllers do, what is stuck, and which run beside the server.
//!
//! The program has further commands under this name, which need its modules; this is the list.

use krm::time::Moment;
use serde_json::Value;

use crate::client::Ask;
use crate::failure::Failure;
use crate::print::{self, Output};
use crate::session::Session;

/// Which controllers are shown, and how.
#[derive(clap::Args, Debug)]
pub struct List {
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
pub async fn run(arguments: List, session: &mut Session) -> Result<(), Failure> {
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
    let waiting = waiting(items);
    if !waiting.is_empty() {
        shown += "\nWaiting objects:\n";
        shown += &print::fitted(&waiting, width);
    }
    session.console.out.write_all(shown.as_bytes())?;
    Ok(())
}

fn controllers(items: &[Value], no_headers: bool) -> String {
    let is_true = |item: &Value, path: &str| item.pointer(path).is_some_and(|flag| flag == true);
    let has_remote = items.iter().any(|item| item.pointer("/status/remote").is_some());
    let mut text_of = match no_headers {
        true => String::new(),
        false => format!(
            "NAME\tACTIVE\tQUEUE\tDELAYED\tOLDEST\tATTEMPTS\tFAILED{}\n",
            if has_remote { "\tHOLDER" } else { "" }
        ),
    };
    for item in items {
        let number = |path: &str| item.pointer(path).and_then(Value::as_u64).unwrap_or_default();
        let attempts = |name: &str| number(&format!("/status/attempts/{name}"));
        let failed = attempts("failed") + attempts("panicked") + attempts("timedOut");
        text_of += &format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{failed}{}\n",
            text(item, "/metadata/name"),
            is_true(item, "/status/active") || is_true(item, "/status/remote/active"),
            number("/status/queue/ready"),
            number("/status/queue/delayed"),
            age(item.pointer("/status/queue/oldestSeconds")),
            attempts("succeeded") + failed,
            match has_remote {
                true => format!("\t{}", text(item, "/status/remote/holder")),
                false => String::new(),
            },
        );
    }
    text_of
}

fn waiting(items: &[Value]) -> String {
    let mut lines = String::new();
    for item in items {
        for object in item.pointer("/status/waiting").and_then(Value::as_array).into_iter().flatten() {
            let what = object["waitingFor"].as_str().unwrap_or_default().replace(['\n', '\t'], " ");
            lines += &format!("{}\t{}\t{what}\n", text(item, "/metadata/name"), place(object));
        }
    }
    match lines.is_empty() {
        true => lines,
        false => format!("CONTROLLER\tOBJECT\tWAITING FOR\n{lines}"),
    }
}

/// `nodes/project/namespace/name`, without what it does not have.
fn place(object: &Value) -> String {
    let part = |name: &str| object[name].as_str().unwrap_or_default();
    let place = [part("project"), part("namespace"), part("name")];
    let place: Vec<&str> = place.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}/{}", part("resource"), place.join("/"))
}

fn failing(items: &[Value]) -> String {
    let mut lines = String::new();
    for item in items {
        for stuck in item.pointer("/status/failing").and_then(Value::as_array).into_iter().flatten() {
            let part = |name: &str| stuck[name].as_str().unwrap_or_default();
            lines += &format!(
                "{}\t{}\t{}\t{}\t{}\n",
                text(item, "/metadata/name"),
                place(stuck),
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
