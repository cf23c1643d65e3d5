//! Reading the past of one object with 1,000 changes.

use std::time::Instant;

use store::{At, Key, Level, Revision};

use crate::Outcome;
use crate::load::{Filled, Subject};
use crate::objects;
use crate::options::Options;
use crate::ours::{self, Ours};
use testbed::bench::percentile;
use testbed::bench::report::{Cell, Table};

const CHANGES: usize = 1_000;

pub async fn measure(options: &Options) -> Outcome<Table> {
    let folder = options.folder()?;
    let store = ours::embedded(folder.path(), options.cache()).await?;
    let filled = Filled::with(Ours::on(store.clone(), Level::Full), 100).await?;
    for turn in 1..CHANGES as u64 {
        filled.subject.write(0, filled.bodies.body(0, turn)).await?;
    }
    let key = Key::new(objects::key(0))?;
    let first = Revision::new(store.latest().revision().get() - CHANGES as u64 + 1);

    let (mut all, mut page, mut oldest) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.rounds() * 4 {
        let start = Instant::now();
        let changes = store.changes(&key, None, CHANGES).await?;
        all.push(start.elapsed().as_micros() as u32);
        if changes.items.len() != CHANGES {
            return Err(format!("{} changes, not {CHANGES}", changes.items.len()).into());
        }
        let start = Instant::now();
        store.changes(&key, None, 50).await?;
        page.push(start.elapsed().as_micros() as u32);
        let start = Instant::now();
        store.object_at(&key, At::Revision(first)).await?.ok_or("the object has no beginning")?;
        oldest.push(start.elapsed().as_micros() as u32);
    }
    let mut table =
        Table::new("history", "The past of one object with 1,000 changes", &["what", "engine", "p50 ms"]);
    let rows = [
        ("all 1,000 changes, each with the object before and after", &mut all),
        ("the newest 50", &mut page),
        ("the object as it was 999 changes ago", &mut oldest),
    ];
    for (what, times) in rows {
        table.row(vec![
            Cell::text(what),
            Cell::text("ours"),
            Cell::number(percentile(times, 0.5) / 1_000.0, 2),
        ]);
    }
    store.close().await?;
    Ok(table)
}
