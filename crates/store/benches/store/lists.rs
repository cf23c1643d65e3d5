//! Lists: every byte of 10,000 and of 50,000 objects copied into one buffer.

use std::hint::black_box;
use std::time::Instant;

use crate::Outcome;
use crate::objects::{FIFTH, PREFIX};
use crate::options::Options;
use crate::stage::{OBJECTS, Stage};
use testbed::bench::percentile;
use testbed::bench::report::{Cell, Table};

pub async fn measure(stage: &Stage, options: &Options) -> Outcome<Table> {
    let mut table =
        Table::new("lists", "Lists, all bytes copied", &["objects", "engine", "p50 ms", "time: ours/bare"]);
    let store = &stage.ours.subject.store;
    let mut buffer = Vec::with_capacity(OBJECTS * 2 * stage.ours.bodies.len());
    for (prefix, expected) in [(FIFTH, OBJECTS / 5), (PREFIX, OBJECTS)] {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds() * 4 {
            buffer.clear();
            let start = Instant::now();
            let snapshot = store.current().await?;
            let found = snapshot.list(prefix).inspect(|(_, entry)| buffer.extend_from_slice(entry.bytes()));
            same(found.count(), expected)?;
            ours.push(start.elapsed().as_micros() as u32);
            black_box(&buffer);

            buffer.clear();
            let start = Instant::now();
            same(stage.bare.subject.list(prefix, &mut buffer)?, expected)?;
            bare.push(start.elapsed().as_micros() as u32);
            black_box(&buffer);
        }
        let (ours, bare) = (percentile(&mut ours, 0.5) / 1_000.0, percentile(&mut bare, 0.5) / 1_000.0);
        let load = format!("{expected}");
        let ratio = Cell::text(format!("{:.2}×", ours / bare));
        table.row(vec![Cell::text(&load), Cell::text("ours"), Cell::number(ours, 2), ratio]);
        table.row(vec![Cell::text(&load), Cell::text("bare redb"), Cell::number(bare, 2), Cell::Empty]);
    }
    Ok(table)
}

fn same(found: usize, expected: usize) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("listed {found} objects, not {expected}").into()) }
}
