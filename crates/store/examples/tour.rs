//! A tour of the store: run it with `cargo run --release --example tour -p store`.
#![allow(clippy::print_stdout, reason = "a story to be read at a terminal")]

use std::error::Error;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use store::{
    At, Author, Body, Embedded, Guard, Key, Model, Put, Refused, Settings, Store, Term, Transaction, Uid,
    View, Watch,
};

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome {
    let folder = tempfile::tempdir()?;
    let settings = Settings { model: Some(Arc::new(Racks)), ..Settings::default() };
    let store: Arc<dyn Store> = Embedded::open(&folder.path().join("store"), settings).await?;
    title("A store in one file");
    say(&format!("It lives in {}, with the keys that seal and sign.", folder.path().display()));

    title("Ada racks two machines: three objects, one commit");
    let mut watch = store.watch(b"devices/", store.latest().version())?;
    let delivery = Transaction::by(ada("first delivery, OPS-17"))
        .put(object("racks/r1", r#"{"height":42}"#)?)
        .put(device("node-1", 10, 2)?)
        .put(device("node-2", 12, 2)?);
    let delivered = store.commit(delivery).await?.revision;
    say(&format!("All of it is on disk, at revision {delivered}."));
    show(&mut watch, 2).await?;

    title("Bob decides on what he read a while ago");
    let node = Key::new("devices/node-1")?;
    let read = store.current().await?.get(&node).ok_or("node-1 is not there")?.version();
    store.commit(Transaction::by(ada("room for a cable tray")).put(device("node-1", 20, 2)?)).await?;
    let stale = Transaction::by(Author::new("bob", "portal"))
        .guard(Guard::At { key: node.clone(), version: read })
        .put(device("node-1", 30, 2)?);
    refused(&store.commit(stale).await.err().ok_or("a stale write landed")?.to_string());
    say("Nothing of his transaction was written. The watch heard of Ada's change only:");
    show(&mut watch, 1).await?;

    title("A rule: no two devices overlap in a rack");
    say("It reads the rack's bucket. If anybody touches the rack before the commit, it is decided anew.");
    match place(&*store, "node-3", 13).await {
        Err(Refused::Decision(why)) => refused(&why),
        _ => return Err("two devices overlap".into()),
    }
    place(&*store, "node-3", 14).await.map_err(|_| "unit 14 is free, and yet node-3 does not fit")?;
    say("At unit 14 it fits.");
    show(&mut watch, 1).await?;

    title("Who changed node-1, and why");
    for change in store.changes(&node, None, 10).await?.items {
        let unit = change.after.as_ref().map_or_else(|| "gone".into(), |entry| unit(entry.bytes()));
        let why = change.message.as_deref().unwrap_or("no reason given");
        let (user, manager, when) = (&change.user, &change.manager, time_of_day(change.time));
        say(&format!("{when}  {user} by way of {manager}: {why} → {unit}"));
    }

    title("The rack as it was after the delivery, and back to it");
    let before = store.list_at(b"devices/", At::Revision(delivered)).await?;
    for (key, entry) in before.list(b"devices/") {
        say(&format!("{key}: {}", unit(entry.bytes())));
    }
    let old = store.object_at(&node, At::Revision(delivered)).await?.ok_or("no such past")?;
    let undo = Put::new(node.clone(), old.uid(), Body::plain(old.bytes().clone())).verb("undo");
    store.commit(Transaction::by(ada("the cable tray went elsewhere")).put(undo)).await?;
    say("An undo is a write like any other: what it undid stays in the history.");
    show(&mut watch, 1).await?;

    title("Is all of that as it was written?");
    store.tidy(None).await?;
    let report = store.verify(&[]).await?;
    for problem in &report.problems {
        refused(&problem.to_string());
    }
    let (objects, records) = (report.objects, report.records);
    say(&format!("{objects} objects and {records} records checked: {} problems.", report.problems.len()));

    title("A backup, restored into another folder");
    let second = folder.path().join("second");
    let file = folder.path().join("backup");
    let summary = store.backup(&mut std::fs::File::create(&file)?).await?;
    say(&format!(
        "{} objects and {} records at revision {}.",
        summary.objects, summary.records, summary.revision
    ));
    restore(&folder.path().join("store"), &second, &file).await?;
    store.close().await?;
    Ok(())
}

/// The keys first, as sealed values and signatures need them, then the data.
async fn restore(first: &Path, second: &Path, backup: &Path) -> Outcome {
    std::fs::create_dir(second)?;
    for name in ["sealing.keys", "signing.key"] {
        std::fs::copy(first.join(name), second.join(name))?;
    }
    Embedded::restore(second, &mut std::fs::File::open(backup)?).await?;
    let restored: Arc<dyn Store> = Embedded::open(second, Settings::default()).await?;
    let now = restored.current().await?;
    let problems = restored.verify(&[]).await?.problems.len();
    say(&format!(
        "There again: {} objects, {problems} problems, from revision {} on:",
        now.len(),
        now.revision()
    ));
    say("far above the old one, so that no version ever means two things.");
    Ok(restored.close().await?)
}

/// Puts a device of two units into rack r1, unless something is there.
async fn place(store: &dyn Store, name: &'static str, at: u64) -> Result<(), Refused<String>> {
    let decide = move |view: &mut View| {
        let put = device(name, at, 2).map_err(|error| error.to_string())?;
        for (key, entry) in view.bucket(&"rack=r1".into()) {
            let (from, height) = span(entry.bytes());
            if key != put.key && at < from + height && from < at + 2 {
                return Err(format!("{name} at unit {at} would overlap {key} at {from}"));
            }
        }
        view.put(put);
        Ok(())
    };
    store.transact(ada("second delivery, OPS-21"), decide).await.map(|_| ())
}

/// Tells the store which rack a device is in; writes to the same rack are then seen by each other's rules.
struct Racks;

impl Model for Racks {
    fn terms(&self, _key: &Key, bytes: &[u8], terms: &mut Vec<Term>) {
        let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
        terms.extend(value["rack"].as_str().map(|rack| Term::bucket(format!("rack={rack}"))));
    }
}

fn ada(why: &'static str) -> Author {
    Author::new("ada", "gp apply").because(why)
}

fn device(name: &str, unit: u64, height: u64) -> Outcome<Put> {
    object(&format!("devices/{name}"), &format!(r#"{{"rack":"r1","unit":{unit},"height":{height}}}"#))
}

/// An object whose identity is its name: enough here, where nothing is deleted and made again.
fn object(key: &str, body: &str) -> Outcome<Put> {
    let mut uid = [0; 16];
    key.bytes().zip(&mut uid).for_each(|(byte, into)| *into = byte);
    Ok(Put::new(Key::new(key)?, Uid(uid), Body::plain(body.to_owned())).verb("apply"))
}

fn span(bytes: &[u8]) -> (u64, u64) {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    (value["unit"].as_u64().unwrap_or(0), value["height"].as_u64().unwrap_or(0))
}

fn unit(bytes: &[u8]) -> String {
    format!("unit {}", span(bytes).0)
}

/// Of microseconds since 1970, in UTC.
fn time_of_day(time: u64) -> String {
    let seconds = time / 1_000_000;
    format!("{:02}:{:02}:{:02} UTC", seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60)
}

/// Prints the next changes that the watch hears of.
async fn show(watch: &mut Watch, changes: usize) -> Outcome {
    let mut shown = 0;
    while shown < changes {
        for event in watch.next().await? {
            let line = format!("  watch: {} at version {}", event.key(), event.version());
            println!("{}", paint("36", &format!("{line}, {}", unit(event.shown().bytes()))));
            shown += 1;
        }
    }
    Ok(())
}

fn title(text: &str) {
    println!("\n{}", paint("1", text));
}

fn say(text: &str) {
    println!("  {text}");
}

fn refused(why: &str) {
    println!("{}", paint("33", &format!("  refused: {why}")));
}

fn paint(colour: &str, text: &str) -> String {
    let wanted =
        std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty());
    if wanted { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
}
