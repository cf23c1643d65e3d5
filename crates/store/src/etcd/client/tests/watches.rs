//! Watches on one member that is well.

use super::*;

#[tokio::test]
async fn a_watch_tells_changes_in_order_and_another_goes_on_where_it_ended() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::start(1)?;
    let client = client_of(&cluster)?;
    let first = write(&client, "a", "1").await?;
    let mut watcher = client.watch(all_from(first)).await?;
    let both = client.txn(changes(vec![put("b", "1"), put("c", "1")])).await?;
    assert_eq!(revision(&both), first + 1);
    let expected = [("a", first), ("b", first + 1), ("c", first + 1)].map(|(key, at)| (key.to_owned(), at));
    assert_eq!(next_changes(&mut watcher, 3).await?, expected);
    drop(watcher);

    for number in 0..20 {
        write(&client, &format!("d{number:02}"), "1").await?;
    }
    let mut resumed = client.watch(all_from(first + 2)).await?;
    let rest = next_changes(&mut resumed, 20).await?;
    let expected: Vec<_> = (0..20).map(|number| (format!("d{number:02}"), first + 2 + number)).collect();
    assert_eq!(rest, expected);
    Ok(())
}

#[tokio::test]
async fn a_large_backlog_comes_in_pieces_that_never_cut_a_revision() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::start(1)?;
    let client = client_of(&cluster)?;
    let large = Bytes::from(vec![b'x'; 300_000]);
    let first = write(&client, "start", "1").await?;
    for _ in 0..8 {
        let keys = ["a", "b", "c", "d"].map(|key| put(key, large.clone()));
        client.txn(changes(keys.to_vec())).await?;
    }
    let mut watcher = client.watch(all_from(first + 1)).await?;
    let mut responses = 0;
    let mut seen = Vec::new();
    while seen.len() < 32 {
        let response = watcher.next().await?.ok_or("the watch ended")?;
        let revisions: Vec<i64> =
            response.events.iter().filter_map(|event| event.kv.as_ref()).map(|kv| kv.mod_revision).collect();
        assert_eq!(revisions.len() % 4, 0, "a part of a revision: {revisions:?}");
        seen.extend(revisions);
        responses += 1;
    }
    assert!(responses > 1, "etcd sent all at once, the test shows nothing");
    assert!(seen.is_sorted());
    Ok(())
}

/// etcd drops connections that ping too often; ours has to stay.
#[tokio::test]
async fn a_quiet_watch_stays_open() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::start(1)?;
    let client = client_of(&cluster)?;
    let mut watcher = client.watch(all_from(0)).await?;
    let quiet = tokio::time::timeout(Duration::from_secs(15), watcher.next()).await;
    assert!(quiet.is_err(), "{quiet:?}");
    write(&client, "a", "1").await?;
    assert_eq!(next_changes(&mut watcher, 1).await?.len(), 1);
    Ok(())
}
