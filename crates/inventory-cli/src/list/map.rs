//! `groundplane inventory ports --map`: each port with its cable and what is at the other end, and which are free.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use clap::{Arg, ArgAction};
use cli::{Client, Failure, Session};
use inventory::natural;
use serde_json::{Value, json};

use super::select::Selection;
use crate::change::name_of;
use crate::output::{self, Form};

/// The flag.
pub fn flag() -> Arg {
    Arg::new("map").long("map").action(ArgAction::SetTrue).help(
        "Show the cable or circuit in each port and what is at the other end, and which ports are free.",
    )
}

/// Orders ports by device and by their name on it, numbers as numbers.
pub fn compare(one: &Value, other: &Value) -> Ordering {
    let text = |port: &Value, path: &str| port.pointer(path).and_then(Value::as_str).unwrap_or("").to_owned();
    let by = |path: &str| natural::compare(&text(one, path), &text(other, path));
    let device = by("/spec/deviceRef/name").then_with(|| by("/spec/deviceRef/kind"));
    device.then_with(|| by("/spec/name")).then_with(|| by("/metadata/name"))
}

/// Prints the map of these ports.
pub async fn print(
    ports: &[Value],
    form: Form,
    as_of: Option<&str>,
    client: &Client,
    session: &mut Session,
) -> Result<(), Failure> {
    let all = |plural: &'static str| Selection { as_of: as_of.map(str::to_owned), ..Selection::all(plural) };
    let known: BTreeMap<String, Value> = all("ports")
        .every(client)
        .await?
        .items
        .into_iter()
        .map(|port| (name_of(&port).to_owned(), port))
        .collect();
    let mut uses: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for cable in all("cables").every(client).await?.items {
        let ends: Vec<&str> = cable["spec"]["endpoints"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|end| end["name"].as_str())
            .collect();
        for end in &ends {
            let far: Vec<String> =
                ends.iter().filter(|far| far != &end).map(|far| told(far, &known)).collect();
            let state = cable["spec"]["state"].as_str().unwrap_or("Connected");
            let cable = format!("cable/{}", name_of(&cable));
            uses.entry((*end).to_owned())
                .or_default()
                .push(json!({"by": cable, "state": state, "farEnds": far}));
        }
    }
    for circuit in all("circuits").every(client).await?.items {
        for (end, far) in [("aEnd", "zEnd"), ("zEnd", "aEnd")] {
            let (near, far) = (&circuit["spec"][end], &circuit["spec"][far]);
            if near["kind"] == "Port" {
                let name = far["name"].as_str().unwrap_or("");
                let far = if far["kind"] == "Port" { told(name, &known) } else { format!("Site/{name}") };
                let one = json!({"by": format!("circuit/{}", name_of(&circuit)), "state": "Connected", "farEnds": [far]});
                uses.entry(near["name"].as_str().unwrap_or("").to_owned()).or_default().push(one);
            }
        }
    }
    let rows: Vec<Value> = ports
        .iter()
        .map(|port| {
            let used = uses.get(name_of(port)).cloned().unwrap_or_default();
            json!({
                "port": name_of(port), "device": device(port), "name": port["spec"]["name"],
                "type": port["spec"]["type"], "speed": port["spec"]["speed"], "free": used.is_empty(), "uses": used,
            })
        })
        .collect();
    if matches!(form, Form::Json | Form::Yaml) {
        return output::value(form, &json!({"ports": rows}), session);
    }
    let mut table =
        vec![["DEVICE", "PORT", "TYPE", "SPEED", "CABLE", "STATE", "FAR-END"].map(str::to_owned).to_vec()];
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).unwrap_or("<none>").to_owned();
    for row in &rows {
        let begin = ["device", "name", "type", "speed"].map(|field| text(&row[field]));
        let uses = row["uses"].as_array().map(Vec::as_slice).unwrap_or_default();
        if uses.is_empty() {
            table
                .push(begin.iter().cloned().chain(["<none>", "free", "<none>"].map(str::to_owned)).collect());
        }
        for one in uses {
            let far: Vec<&str> =
                one["farEnds"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let by = text(&one["by"]);
            let by = by.strip_prefix("cable/").unwrap_or(&by).to_owned();
            table.push(begin.iter().cloned().chain([by, text(&one["state"]), far.join(", ")]).collect());
        }
    }
    output::table(&table, session)
}

fn device(port: &Value) -> String {
    let on = &port["spec"]["deviceRef"];
    format!("{}/{}", on["kind"].as_str().unwrap_or(""), on["name"].as_str().unwrap_or(""))
}

/// A port as `Kind/device name`, or its own name if it may not be read.
fn told(name: &str, known: &BTreeMap<String, Value>) -> String {
    match known.get(name) {
        Some(port) => format!("{} {}", device(port), port["spec"]["name"].as_str().unwrap_or("")),
        None => name.to_owned(),
    }
}
