//! Lists: whole, in pages, as tables, selected by label and by field; one client.

use serde_json::Value;
use testbed::bench::Outcome;
use testbed::bench::report::Table;

use crate::connection::Connection;
use crate::crowd::{Until, crowd};
use crate::objects::{MACHINES, RACKS, Random, SITES, rack};
use crate::options::Options;
use crate::peer::{self, Peer};
use crate::subject::Subject;
use crate::table;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

pub fn measure(subject: &Subject, options: &Options) -> Outcome<Table> {
    let mut table = table::operations("lists", "Lists, by one client");
    let objects = options.objects();
    // That of 10,000 was taken when they were made.
    if objects != 10_000 {
        whole(subject, options, &mut table, objects)?;
    }
    let mut load = |operation: &str, peer: Peer, work: &Work| -> Outcome {
        let mut measured = crowd(subject, 1, Until::Passed(options.time()), |connection, _, random| {
            work(connection, random)
        })?;
        table.row(table::row(operation, &mut measured, peer, objects == 50_000));
        Ok(())
    };
    check(subject, &by_label("rack", &rack(7)), objects / RACKS)?;
    check(subject, &by_label("site", "site-7"), objects / SITES)?;
    check(subject, &by_field(&rack(7)), objects / RACKS)?;

    load("list limit=500", peer::PAGE_500, &|connection, _| {
        connection.get(&format!("{MACHINES}?limit=500")).map(drop)
    })?;
    load("walk of all by 500", peer::WALK_50K, &|connection, _| walk(connection))?;
    load("label selector, 100 of 50,000", peer::LABEL_100, &|connection, random| {
        connection.get(&by_label("rack", &rack(random.below(RACKS)))).map(drop)
    })?;
    load("label selector, 5,000 of 50,000", peer::LABEL_5000, &|connection, random| {
        connection.get(&by_label("site", &format!("site-{}", random.below(SITES)))).map(drop)
    })?;
    load("field selector, 100 of 50,000", peer::FIELD_100, &|connection, random| {
        connection.get(&by_field(&rack(random.below(RACKS)))).map(drop)
    })?;
    load("list limit=500 as Table", peer::TABLE_500, &|connection, _| {
        connection.accept = TABLE;
        connection.get(&format!("{MACHINES}?limit=500")).map(drop)
    })?;
    Ok(table)
}

fn by_label(label: &str, value: &str) -> String {
    format!("{MACHINES}?labelSelector={label}%3D{value}")
}

fn by_field(value: &str) -> String {
    format!("{MACHINES}?fieldSelector=spec.rack%3D{value}")
}

type Work = dyn Fn(&mut Connection, &mut Random) -> Outcome + Sync;

/// The list of everything that is there.
pub fn whole(subject: &Subject, options: &Options, table: &mut Table, objects: usize) -> Outcome {
    let bytes = check(subject, MACHINES, objects)?;
    let peer = if objects == 10_000 { peer::LIST_10K } else { peer::LIST_50K };
    let mut measured = crowd(subject, 1, Until::Passed(options.time()), |connection, _, _| {
        connection.get(MACHINES).map(drop)
    })?;
    let operation = format!("list of {objects} ({:.1} MB)", bytes as f64 / 1e6);
    table.row(table::row(&operation, &mut measured, peer, matches!(objects, 10_000 | 50_000)));
    Ok(())
}

/// Whether a list has as many items as it should; its size in bytes.
fn check(subject: &Subject, path: &str, items: usize) -> Outcome<usize> {
    let mut connection = Connection::open(&subject.at)?;
    let text = connection.send("GET", path, "", b"")?.text()?;
    let list: Value = serde_json::from_str(&text)?;
    let found = list["items"].as_array().map_or(0, Vec::len);
    match found == items {
        true => Ok(text.len()),
        false => Err(format!("{path} has {found} items, not {items}").into()),
    }
}

/// All pages, one after the other.
fn walk(connection: &mut Connection) -> Outcome {
    let mut path = format!("{MACHINES}?limit=500");
    loop {
        let mut head = Vec::new();
        let mut page = connection.send("GET", &path, "", b"")?;
        while page.piece(|piece| keep_head(&mut head, piece))? {}
        match token(&head) {
            Some(token) => path = format!("{MACHINES}?limit=500&continue={token}"),
            None => return Ok(()),
        }
    }
}

/// Keeps the beginning of a body: where a list goes on stands before its items.
fn keep_head(head: &mut Vec<u8>, piece: &[u8]) {
    const ENOUGH: usize = 2_048;
    let missing = ENOUGH.saturating_sub(head.len());
    head.extend_from_slice(&piece[..missing.min(piece.len())]);
}

fn token(head: &[u8]) -> Option<String> {
    const FIELD: &[u8] = b"\"continue\":\"";
    let at = head.windows(FIELD.len()).position(|window| window == FIELD)? + FIELD.len();
    let token: Vec<u8> = head[at..].iter().copied().take_while(|byte| *byte != b'"').collect();
    String::from_utf8(token).ok().filter(|token| !token.is_empty())
}
