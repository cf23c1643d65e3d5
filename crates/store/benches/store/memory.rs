//! Memory for each object, size of the file, and time to open it, each in a process of its own.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use store::{Embedded, Level, Settings, Store};

use crate::load::Filled;
use crate::objects::Bodies;
use crate::options::{Options, Step};
use crate::ours::Ours;
use crate::{Outcome, machine};
use testbed::bench::report::{Cell, Table};

/// Memory of an object, in its own bytes.
const FLOOR: f64 = 1.6;

pub fn measure(options: &Options) -> Outcome<Table> {
    let mut table = Table::new(
        "memory",
        "Memory, file and reopening",
        &[
            "objects",
            "after",
            "MiB resident",
            "bytes/object",
            "memory/object's bytes",
            "file MiB",
            "file/object's bytes",
            "open ms",
        ],
    );
    let sizes: &[usize] = if options.quick { &[50_000] } else { &[50_000, 200_000, 1_000_000] };
    for objects in sizes {
        let folder = options.folder()?;
        let filled = run(Step::Fill, *objects, folder.path(), options)?;
        table.row(row(*objects, "writing them", &filled));
        let crashed = run(Step::Open, *objects, folder.path(), options)?;
        table.row(row(*objects, "reopening, not closed before", &crashed));
        let closed = run(Step::Open, *objects, folder.path(), options)?;
        table.row(row(*objects, "reopening", &closed));
    }
    table.note("memory: growth of the process from before the store was opened, with the default settings");
    Ok(table)
}

/// The part of a child process.
pub async fn child(step: Step, options: &Options) -> Outcome<bool> {
    let before = machine::resident()?;
    let start = Instant::now();
    let store: Arc<dyn Store> =
        Embedded::open(&options.dir, Settings { cache: options.cache(), ..Settings::default() }).await?;
    let opened = start.elapsed();
    let found = match step {
        Step::Fill => {
            let filled = Filled::with(Ours::on(store.clone(), Level::Full), options.objects).await?;
            // A moment for what writers and watchers let go of.
            tokio::time::sleep(Duration::from_millis(200)).await;
            filled.subject.store.latest().len()
        }
        Step::Open => store.latest().len(),
    };
    if found != options.objects {
        return Err(format!("{found} objects, not {}", options.objects).into());
    }
    let grown = machine::resident()?.saturating_sub(before);
    let file = machine::file_size(&options.dir.join("store.redb"))?;
    println!("{}", json!({ "grown": grown, "file": file, "opened_us": opened.as_micros() as u64 }));
    if step == Step::Fill {
        // Without a word to the store: the next one to open it has something to repair.
        std::process::exit(0);
    }
    store.close().await?;
    Ok(true)
}

fn run(step: Step, objects: usize, folder: &Path, options: &Options) -> Outcome<Value> {
    let name = if step == Step::Fill { "fill" } else { "open" };
    let mut command = Command::new(std::env::current_exe()?);
    let cache = (options.cache() >> 20).to_string();
    command
        .args(["--child", name, "--objects", &objects.to_string(), "--cache", &cache, "--dir"])
        .arg(folder);
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn row(objects: usize, after: &str, measured: &Value) -> Vec<Cell> {
    let number = |name: &str| measured[name].as_f64().unwrap_or(0.0);
    let object = Bodies::new().len() as f64;
    let (memory, file) = (number("grown") / objects as f64, number("file") / objects as f64);
    let opened = Cell::number(number("opened_us") / 1_000.0, 0);
    vec![
        Cell::text(objects.to_string()),
        Cell::text(after),
        Cell::number(number("grown") / f64::from(1 << 20), 0),
        Cell::number(memory, 0),
        Cell::at_most(memory / object, FLOOR),
        Cell::number(number("file") / f64::from(1 << 20), 0),
        Cell::text(format!("{:.2}×", file / object)),
        if after == "writing them" { Cell::Empty } else { opened },
    ]
}
