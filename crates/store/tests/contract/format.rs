//! The format of what is kept, and what is done with one that is not known.

use redb::{Database, TableDefinition};
use store::Error;

use super::fixture::{Embedded, Ground, quiet};
use super::words::*;

const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");

fn set_format(ground: &Embedded, format: &[u8]) {
    let database = Database::open(ground.file()).unwrap();
    let write = database.begin_write().unwrap();
    write.open_table(META).unwrap().insert("engine/format", format).unwrap();
    write.commit().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_of_a_newer_format_is_refused_and_left_alone() {
    let mut ground = Embedded::open(quiet()).await;
    write(&ground.store(), "a", "1").await;
    ground.close().await;
    set_format(&ground, &3u32.to_be_bytes());
    let refused = ground.open_again().await.unwrap_err();
    assert!(matches!(refused, Error::Newer { found: 3, known: 2 }));
    let sentence =
        "this data was written in format 3, and this program reads up to 2; use a newer groundplane";
    assert_eq!(refused.to_string(), sentence);
    set_format(&ground, &2u32.to_be_bytes());
    ground.open_again().await.unwrap();
    assert_eq!(read(&ground.store().current().await.unwrap(), "a").as_deref(), Some("1"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_of_a_format_that_is_no_longer_read_is_refused_and_left_alone() {
    let mut ground = Embedded::open(quiet()).await;
    write(&ground.store(), "a", "1").await;
    ground.close().await;
    set_format(&ground, &1u32.to_be_bytes());
    let refused = ground.open_again().await.unwrap_err();
    assert!(matches!(refused, Error::Older { found: 1, known: 2 }));
    let sentence = "this data was written in format 1, and this program reads from 2 on; back it up with the \
                    groundplane that wrote it, and restore that with this one";
    assert_eq!(refused.to_string(), sentence);
    set_format(&ground, &2u32.to_be_bytes());
    ground.open_again().await.unwrap();
    assert_eq!(read(&ground.store().current().await.unwrap(), "a").as_deref(), Some("1"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_format_that_is_no_number_is_damage() {
    let mut ground = Embedded::open(quiet()).await;
    ground.close().await;
    set_format(&ground, b"one");
    assert!(matches!(ground.open_again().await, Err(Error::Damaged(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_of_a_newer_format_is_refused() {
    let ground = Embedded::open(quiet()).await;
    let mut backup = Vec::new();
    ground.store().backup(&mut backup).await.unwrap();
    let place = backup.windows(8).position(|window| window == b"00000001").unwrap();
    backup[place + 7] = b'2';
    let refused = Embedded::restored(&backup, ground.keys()).await.map(|_| ()).unwrap_err();
    assert!(matches!(refused, Error::Newer { found: 2, known: 1 }), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_in_use_is_not_opened_twice() {
    let ground = Embedded::open(quiet()).await;
    let refused = store::Embedded::open(ground.keys(), quiet()).await.map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("in use by another process"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_process_left_that_was_killed_while_it_made_the_file_is_removed() {
    let mut ground = Embedded::open(quiet()).await;
    let beside = |name: &str| ground.file().with_file_name(name);
    let left = ["store.redb.0123456789abcdef.new", "store.redb.ffffffffffffffff.new"].map(beside);
    let others =
        ["store.redb.new", "store.redb.0123.new", "store.redb.0123456789abcdef.new.old", "other.new"];
    let others = others.map(beside);
    for file in left.iter().chain(&others) {
        std::fs::write(file, "half of a database").unwrap();
    }

    // Who does not have the store open has no business there.
    assert!(store::Embedded::open(ground.keys(), quiet()).await.is_err());
    assert!(left.iter().all(|file| file.exists()));

    ground.close().await;
    ground.open_again().await.unwrap();
    assert!(left.iter().all(|file| !file.exists()));
    assert!(others.iter().all(|file| file.exists()));
}
