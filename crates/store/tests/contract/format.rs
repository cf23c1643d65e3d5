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
    set_format(&ground, &2u32.to_be_bytes());
    let refused = ground.open_again().await.unwrap_err();
    assert!(matches!(refused, Error::Newer { found: 2, known: 1 }));
    let sentence =
        "this data was written in format 2, and this program reads up to 1; use a newer groundplane";
    assert_eq!(refused.to_string(), sentence);
    set_format(&ground, &1u32.to_be_bytes());
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
