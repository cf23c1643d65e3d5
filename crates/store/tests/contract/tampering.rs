//! Somebody changes the file behind the store's back: verification names what.

use redb::{Database, ReadableTable, TableDefinition};

use super::fixture::{Embedded, Ground, quiet};
use super::words::*;

const OBJECTS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("objects");
const RECORDS: TableDefinition<u64, &[u8]> = TableDefinition::new("records");
const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");

/// A row of a table whose keys are bytes.
type Row = (Vec<u8>, Vec<u8>);

/// A closed store with five changes of each of two objects, all covered by a checkpoint.
async fn closed() -> Embedded {
    let ground = Embedded::open(quiet()).await;
    let store = ground.store();
    for number in 0..5 {
        write(&store, "a", &format!("{} {number}", "the same ".repeat(10))).await;
        write(&store, "b", &format!("{} {number}", "the same ".repeat(10))).await;
    }
    settle(&store).await;
    verified(&store).await;
    ground.close().await;
    ground
}

/// Changes rows of a table by hand: `change` gets the rows that start with `prefix`, oldest first.
fn tamper(
    ground: &Embedded,
    table: TableDefinition<&[u8], &[u8]>,
    prefix: &[u8],
    change: impl FnOnce(&mut Vec<Row>),
) {
    let database = Database::open(ground.file()).unwrap();
    let write = database.begin_write().unwrap();
    {
        let mut table = write.open_table(table).unwrap();
        let rows = table.iter().unwrap().map(|row| row.unwrap());
        let mut rows: Vec<Row> =
            rows.map(|(key, value)| (key.value().to_vec(), value.value().to_vec())).collect();
        rows.retain(|(key, _)| key.starts_with(prefix));
        for (key, _) in &rows {
            table.remove(key.as_slice()).unwrap();
        }
        change(&mut rows);
        for (key, value) in &rows {
            table.insert(key.as_slice(), value.as_slice()).unwrap();
        }
    }
    write.commit().unwrap();
}

/// Changes records by hand: `change` gets those of one object, oldest first.
fn tamper_records(ground: &Embedded, object: &[u8], change: impl FnOnce(&mut Vec<Row>)) {
    let database = Database::open(ground.file()).unwrap();
    let write = database.begin_write().unwrap();
    {
        let mut table = write.open_table(RECORDS).unwrap();
        let rows = table.iter().unwrap().map(|row| row.unwrap());
        let mut rows: Vec<Row> =
            rows.map(|(at, value)| (at.value().to_be_bytes().to_vec(), value.value().to_vec())).collect();
        // Each starts with the key it belongs to.
        rows.retain(|(_, value)| {
            postcard::take_from_bytes::<&[u8]>(value).is_ok_and(|(key, _)| key == object)
        });
        let number = |at: &[u8]| u64::from_be_bytes(at.try_into().unwrap());
        for (at, _) in &rows {
            table.remove(number(at)).unwrap();
        }
        change(&mut rows);
        for (at, value) in &rows {
            table.insert(number(at), value.as_slice()).unwrap();
        }
    }
    write.commit().unwrap();
}

/// What verification says once the store is open again.
async fn findings(ground: &mut Embedded) -> Vec<String> {
    ground.open_again().await.unwrap();
    findings_of(ground).await
}

async fn findings_of(ground: &Embedded) -> Vec<String> {
    match ground.store().verify(&[]).await {
        Ok(report) => report.problems.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    }
}

fn replace(value: &mut [u8], old: &[u8], new: &[u8]) {
    let place = value.windows(old.len()).position(|window| window == old).expect("it is there");
    value[place..place + old.len()].copy_from_slice(new);
}

/// A record is kept behind its key and place; its first two fields are its version and its time.
fn retime(value: &[u8], by: i64) -> Vec<u8> {
    type Front<'a> = (&'a [u8], (u64, u32), u64, u64);
    let ((key, place, version, time), rest) = postcard::take_from_bytes::<Front>(value).unwrap();
    let mut changed = postcard::to_stdvec(&(key, place, version, time.saturating_add_signed(by))).unwrap();
    changed.extend_from_slice(rest);
    changed
}

async fn named(what: &str, object: &str, change: impl FnOnce(&Embedded)) {
    let mut ground = closed().await;
    change(&ground);
    let findings = findings(&mut ground).await;
    assert!(findings.iter().any(|finding| finding.contains(object)), "{what} was not named: {findings:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_with_another_author_is_named() {
    for number in 0..5 {
        named("the author", "a at version", |ground| {
            tamper_records(ground, b"a", |rows| replace(&mut rows[number].1, b"alice", b"mallo"));
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_was_removed_is_named() {
    for number in 0..5 {
        named("the removal", "a at version", |ground| {
            tamper_records(ground, b"a", |rows| drop(rows.remove(number)));
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_can_not_be_read_is_named() {
    named("the damage", "a change of a can't be decoded", |ground| {
        tamper_records(ground, b"a", |rows| rows[2].1.truncate(40));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_records_that_were_swapped_are_named() {
    named("the swap", "a at version", |ground| {
        tamper_records(ground, b"a", |rows| {
            let (one, other) = (rows[1].1.clone(), rows[2].1.clone());
            (rows[1].1, rows[2].1) = (other, one);
        });
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_moved_to_another_object_is_named() {
    named("the move", "b at version", |ground| {
        let mut taken = Vec::new();
        tamper_records(ground, b"a", |rows| taken = rows[2].1.clone());
        tamper_records(ground, b"b", |rows| rows[2].1 = taken);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_was_re_timed_is_named() {
    for by in [-60_000_000, 1] {
        named("the time", "a at version", |ground| {
            tamper_records(ground, b"a", |rows| rows[3].1 = retime(&rows[3].1, by));
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_was_changed_is_named() {
    named("the object", "a at version", |ground| {
        tamper(ground, OBJECTS, b"a", |rows| *rows[0].1.last_mut().unwrap() ^= 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_was_removed_or_taken_from_another_is_named() {
    named("the removal", "a at version", |ground| tamper(ground, OBJECTS, b"a", Vec::clear)).await;
    named("the other's bytes", "a at version", |ground| {
        let mut taken = Vec::new();
        tamper(ground, OBJECTS, b"b", |rows| taken = rows[0].1.clone());
        tamper(ground, OBJECTS, b"a", |rows| rows[0].1 = taken);
    })
    .await;
}

/// Flips bits of each byte of one row, and back, and looks each time whether anybody notices.
async fn nobody_notices(tamper: impl Fn(&Embedded, &mut dyn FnMut(&mut Vec<u8>))) -> Vec<usize> {
    let mut ground = closed().await;
    let mut length = 0;
    tamper(&ground, &mut |value| length = value.len());
    let mut unwatched = Vec::new();
    for (place, flip) in (0..length).flat_map(|place| [(place, 1), (place, 0x10)]) {
        tamper(&ground, &mut |value| value[place] ^= flip);
        let noticed = match ground.open_again().await {
            Ok(()) => {
                let noticed = !findings_of(&ground).await.is_empty();
                ground.close().await;
                noticed
            }
            Err(refused) => matches!(refused, store::Error::Damaged(_)),
        };
        if !noticed {
            unwatched.push(place);
        }
        tamper(&ground, &mut |value| value[place] ^= flip);
    }
    unwatched
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_byte_of_a_record_is_watched_over() {
    // By where it stands: a flip may change whose record it says it is.
    let third = |ground: &Embedded, change: &mut dyn FnMut(&mut Vec<u8>)| {
        let database = Database::open(ground.file()).unwrap();
        let write = database.begin_write().unwrap();
        {
            let mut table = write.open_table(RECORDS).unwrap();
            let row = table.iter().unwrap().nth(4).unwrap().unwrap();
            let (at, mut value) = (row.0.value(), row.1.value().to_vec());
            drop(row);
            change(&mut value);
            table.insert(at, value.as_slice()).unwrap();
        }
        write.commit().unwrap();
    };
    assert_eq!(nobody_notices(third).await, [0; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_byte_of_an_object_is_watched_over() {
    let object = |ground: &Embedded, change: &mut dyn FnMut(&mut Vec<u8>)| {
        tamper(ground, OBJECTS, b"a", |rows| change(&mut rows[0].1));
    };
    assert_eq!(nobody_notices(object).await, [0; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_past_of_an_object_removed_with_its_checkpoint_is_noticed() {
    named("the past", "", |ground| {
        tamper_records(ground, b"a", Vec::clear);
        let database = Database::open(ground.file()).unwrap();
        let write = database.begin_write().unwrap();
        {
            let mut meta = write.open_table(META).unwrap();
            let names: Vec<String> =
                meta.iter().unwrap().map(|row| row.unwrap().0.value().to_owned()).collect();
            for name in names.iter().filter(|name| name.starts_with("checkpoint/")) {
                meta.remove(name.as_str()).unwrap();
            }
        }
        write.commit().unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_that_was_changed_is_named() {
    named("the checkpoint", "checkpoint 1", |ground| {
        let database = Database::open(ground.file()).unwrap();
        let write = database.begin_write().unwrap();
        {
            let mut meta = write.open_table(META).unwrap();
            let name = "checkpoint/00000000000000000001";
            let mut value = meta.get(name).unwrap().unwrap().value().to_vec();
            let last = value.len() - 2;
            value[last] ^= 1;
            meta.insert(name, value.as_slice()).unwrap();
        }
        write.commit().unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_secrets_that_were_swapped_do_not_open_and_are_named() {
    let mut ground = Embedded::open(quiet()).await;
    let store = ground.store();
    store.commit(just(put("a", "swordfish").secret()).put(put("b", "trout").secret())).await.unwrap();
    settle(&store).await;
    ground.close().await;
    tamper(&ground, OBJECTS, b"", |rows| {
        // The bytes alone: each keeps its own head, so the thief is not betrayed by the uid.
        let length = "swordfish".len() + 1 + 8 + 24 + 16;
        let split = rows[0].1.len() - length;
        let short = rows[1].1.len() - (length - 4);
        let (one, other) = (rows[0].1.split_off(split), rows[1].1.split_off(short));
        rows[0].1.extend(other);
        rows[1].1.extend(one);
    });
    let findings = findings(&mut ground).await;
    let store = ground.store();
    let snapshot = store.current().await.unwrap();
    for name in ["a", "b"] {
        let opened = store.reveal(&key(name), snapshot.get(&key(name)).unwrap());
        assert!(matches!(opened, Err(store::Error::Seal(_))), "{opened:?}");
        assert!(findings.iter().any(|finding| finding.starts_with(name)), "{findings:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_retention_took_away_is_no_alarm() {
    let mut ground = Embedded::open(keeping(std::time::Duration::ZERO, 2)).await;
    let store = ground.store();
    for number in 0..6 {
        write(&store, "a", &number.to_string()).await;
    }
    assert_eq!(settle(&store).await.pruned, 4);
    ground.close().await;
    assert_eq!(findings(&mut ground).await, [""; 0]);
}
