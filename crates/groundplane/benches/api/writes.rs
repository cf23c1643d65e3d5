//! Changes of single objects: merge patches, patches of the status, and server-side applies.

use testbed::bench::Outcome;
use testbed::bench::report::Table;

use crate::connection::Connection;
use crate::crowd::{Until, crowd};
use crate::objects::{machine, patch, path, status};
use crate::options::Options;
use crate::peer::{self, Peer};
use crate::subject::Subject;
use crate::table;

const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

pub fn measure(subject: &Subject, options: &Options) -> Outcome<Table> {
    let mut table = table::operations("writes", "Changes of random objects");
    let objects = options.objects();
    let mut load = |operation: &str, clients: usize, peer: Peer, work: &Work| -> Outcome {
        let mut measured =
            crowd(subject, clients, Until::Passed(options.time()), |connection, number, random| {
                // Never what is there already: such a write would be none.
                work(connection, random.below(objects), number as u64 + 1)
            })?;
        table.row(table::row(operation, &mut measured, peer, objects >= 50_000));
        Ok(())
    };
    load("merge patch, 1 client", 1, peer::PATCH_1, &merge)?;
    load("merge patch, 16 clients", 16, peer::PATCH_16, &merge)?;
    load("status patch, 16 clients", 16, peer::STATUS_16, &of_status)?;
    load("server-side apply, 16 clients", 16, peer::APPLY_16, &apply)?;
    table.note(
        "a server-side apply is one of the whole object of 1,024 bytes, by another manager than its maker's",
    );
    Ok(table)
}

type Work = dyn Fn(&mut Connection, usize, u64) -> Outcome + Sync;

/// A merge patch of one object.
pub fn merge(connection: &mut Connection, number: usize, turn: u64) -> Outcome {
    connection.expect(200, ("PATCH", &path(number), MERGE), &patch(turn)).map(drop)
}

fn of_status(connection: &mut Connection, number: usize, turn: u64) -> Outcome {
    let path = format!("{}/status", path(number));
    connection.expect(200, ("PATCH", &path, MERGE), &status(turn)).map(drop)
}

fn apply(connection: &mut Connection, number: usize, turn: u64) -> Outcome {
    let path = format!("{}?fieldManager=applier&force=true", path(number));
    connection.expect(200, ("PATCH", &path, APPLY), &machine(number, turn)).map(drop)
}
