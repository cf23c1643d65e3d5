//! `groundplane events`: what has happened lately.

mod lines;

use serde_json::{Value, json};

use crate::client::{Ask, Client};
use crate::commands::{found, selection};
use crate::failure::{Failure, Refusal};
use crate::print::Output;
use crate::session::Session;

use lines::Lines;

/// List events, the newest last.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Events of this object.
    #[arg(long = "for", value_name = "TYPE/NAME")]
    about: Option<String>,

    /// Events of these types: Normal, Warning.
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    types: Vec<String>,

    /// All namespaces.
    #[arg(long, short = 'A')]
    all_namespaces: bool,

    /// Watch for new events after listing the existing ones.
    #[arg(long, short)]
    watch: bool,

    /// Output format: json, yaml, name, jsonpath=TEMPLATE, go-template=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,

    /// Print no headers.
    #[arg(long)]
    no_headers: bool,

    /// Objects per request; 0 for all in one request.
    #[arg(long, value_name = "NUMBER", default_value_t = selection::CHUNK, hide_default_value = true)]
    chunk_size: u32,
}

const EXAMPLES: &str = "\
Examples:
  groundplane events
  groundplane events --types=Warning -A
  groundplane events --for namespace/default --watch";

/// Prints them.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let output = Output::parse(arguments.output.as_deref(), arguments.no_headers)?;
    let namespace = session.namespace().await?;
    let wanted = EventFilter::of(&arguments, session).await?;
    let path = match arguments.all_namespaces {
        true => "/api/v1/events".to_owned(),
        false => format!("/api/v1/namespaces/{}/events", crate::client::segment(&namespace)),
    };
    let ask = Ask::get(path).query_if("fieldSelector", wanted.selector.clone());
    let client = session.client().await?;
    let mut lines = Lines::new(arguments.all_namespaces, arguments.no_headers);
    if arguments.watch {
        return watch(&client, &ask, &wanted, &output, &mut lines, session).await;
    }
    let mut events = Vec::new();
    selection::pages(&client, &ask, arguments.chunk_size, |mut page| {
        events.extend(selection::items(&mut page).into_iter().filter(|event| wanted.is_met_by(event)));
        Ok(())
    })
    .await?;
    if events.is_empty() {
        session.console.say(&match arguments.all_namespaces {
            true => "No events found.".to_owned(),
            false => format!("No events found in {namespace} namespace."),
        });
        return Ok(());
    }
    events.sort_by_key(|event| last_seen(event).to_owned());
    if !output.is_table() {
        events.iter_mut().for_each(crate::print::without_managed_fields);
        let list = json!({"apiVersion": "v1", "kind": "EventList", "metadata": {}, "items": events});
        return output.print(&mut session.console.out, &list);
    }
    let width = session.console.table_width();
    lines.all(&events, width, &mut session.console.out)
}

/// Which events are shown.
struct EventFilter {
    selector: Option<String>,
    /// The group of the object they are about: another version of it is the same object.
    group: Option<String>,
    types: Vec<String>,
}

impl EventFilter {
    async fn of(arguments: &Arguments, session: &mut Session) -> Result<EventFilter, Failure> {
        let is_type =
            |text: &String| ["Normal", "Warning"].iter().any(|known| known.eq_ignore_ascii_case(text));
        if !arguments.types.iter().all(is_type) {
            return Err(Failure::usage("valid --types are Normal or Warning"));
        }
        let mut wanted = EventFilter { selector: None, group: None, types: arguments.types.clone() };
        let Some(about) = &arguments.about else { return Ok(wanted) };
        if !about.contains('/') {
            return Err(Failure::usage("--for must be in resource/name form"));
        }
        for place in found::named(std::slice::from_ref(about), session).await? {
            wanted.selector = Some(format!(
                "involvedObject.kind={},involvedObject.name={}",
                place.resource.kind, place.name
            ));
            wanted.group = Some(place.resource.group);
        }
        Ok(wanted)
    }

    fn is_met_by(&self, event: &Value) -> bool {
        let own = event["type"].as_str().unwrap_or("");
        let is_type =
            self.types.is_empty() || self.types.iter().any(|wanted| wanted.eq_ignore_ascii_case(own));
        let version = event["involvedObject"]["apiVersion"].as_str().unwrap_or("");
        let group = version.split_once('/').map_or("", |(group, _)| group);
        is_type && self.group.as_deref().is_none_or(|wanted| wanted == group)
    }
}

/// Shows what is there and what comes, until it is interrupted or the time is over.
async fn watch(
    client: &Client,
    ask: &Ask,
    wanted: &EventFilter,
    output: &Output,
    lines: &mut Lines,
    session: &mut Session,
) -> Result<(), Failure> {
    let limit = session.global.timeout()?;
    let mut version: Option<String> = None;
    loop {
        let ask = ask
            .clone()
            .query("watch", "true")
            .query("allowWatchBookmarks", "true")
            .query_if("resourceVersion", version.clone())
            .query_if("timeoutSeconds", limit.map(|limit| limit.as_secs().max(1).to_string()));
        let mut answer = client.lines(&ask).await?;
        session.console.flush()?;
        while let Some(mut change) = answer.next().await? {
            let object = change["object"].take();
            if change["type"] == "ERROR" {
                return Err(Failure::Server(Box::new(Refusal { status: object, during: None })));
            }
            if let Some(seen) = object["metadata"]["resourceVersion"].as_str() {
                version = Some(seen.to_owned());
            }
            // Events are forgotten after a while; that is no news.
            let is_news = change["type"] == "ADDED" || change["type"] == "MODIFIED";
            if is_news && wanted.is_met_by(&object) {
                lines.one(object, output, &mut session.console.out)?;
                session.console.flush()?;
            }
        }
        if limit.is_some() {
            return Ok(());
        }
    }
}

fn last_seen(event: &Value) -> &str {
    let times = [&event["series"]["lastObservedTime"], &event["lastTimestamp"], &event["eventTime"]];
    times.into_iter().find_map(Value::as_str).unwrap_or("")
}
