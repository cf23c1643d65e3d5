//! Members that are killed, paused or cut off.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use super::*;

/// Calls have five seconds, and the machine may be busy.
const BOUND: Duration = Duration::from_secs(7);

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_or_done_twice_when_members_are_killed() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let mut cluster = Cluster::start(3)?;
    let client = client_of(&cluster)?;
    let stop = Arc::new(AtomicBool::new(false));

    let reader = tokio::spawn({
        let (client, stop) = (client.clone(), Arc::clone(&stop));
        async move {
            while !stop.load(Ordering::Relaxed) {
                read(&client, "counter").await?;
            }
            Ok::<_, Error>(())
        }
    });
    let writer = tokio::spawn({
        let (client, stop) = (client.clone(), Arc::clone(&stop));
        async move {
            let (mut made, mut open, mut not_made) = (0, 0, 0);
            while !stop.load(Ordering::Relaxed) {
                match write(&client, "counter", "x").await {
                    Ok(_) => made += 1,
                    Err(error) if error.may_have_applied() => open += 1,
                    Err(_) => not_made += 1,
                }
            }
            (made, open, not_made)
        }
    });

    for member in [0, 1, 2] {
        tokio::time::sleep(Duration::from_millis(500)).await;
        cluster.kill(member)?;
        tokio::time::sleep(Duration::from_millis(2500)).await;
        cluster.restart(member)?;
    }
    stop.store(true, Ordering::Relaxed);
    reader.await??;
    let (made, open, not_made) = writer.await?;
    eprintln!("changes: {made} made, {open} without verdict, {not_made} surely not made");

    // The version of the key counts its changes.
    let version = client.range(get("counter")).await?.kvs[0].version;
    assert!(made > 0);
    assert!((made..=made + open).contains(&version), "{version} changes, {made} made and {open} open");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_leader_holds_nobody_up_for_long() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::start(3)?;
    let leader = cluster.leader()?;
    let mut endpoints = cluster.endpoints();
    endpoints.rotate_left(leader);
    let client = Client::new(Config::new(endpoints.clone()))?;
    let other = Client::new(Config::new(endpoints))?;
    write(&client, "rack", "1").await?;
    read(&other, "rack").await?;
    let mut watcher = client.watch(all_from(0)).await?;

    cluster.pause(leader)?;
    let paused = Instant::now();
    let watched = async {
        let result = tokio::time::timeout(BOUND, watcher.next()).await;
        (result, paused.elapsed())
    };
    let wrote = async {
        let result = write(&client, "rack", "2").await;
        (result, paused.elapsed())
    };
    let has_read = async {
        let result = read(&other, "rack").await;
        (result, paused.elapsed())
    };
    let ((watched, watched_after), (wrote, wrote_after), (has_read, read_after)) =
        tokio::join!(watched, wrote, has_read);
    eprintln!("watch {watched_after:?}, change {wrote_after:?}, read {read_after:?}");
    let error = watched?.err().ok_or("the watch of a paused member went on")?;
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    assert!(matches!(wrote, Err(Error::Ambiguous { .. })), "{wrote:?}");
    assert!(wrote_after < BOUND && watched_after < BOUND);
    has_read?;
    assert!(read_after < BOUND);

    // The others have a leader by now, and the client uses them.
    let later = Instant::now();
    write(&client, "rack", "3").await?;
    let mut watcher = client.watch(all_from(0)).await?;
    write(&client, "rack", "4").await?;
    next_changes(&mut watcher, 1).await?;
    assert!(later.elapsed() < BOUND);
    cluster.resume(leader)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_without_a_majority_refuses_at_once_and_ends_watches() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let mut cluster = Cluster::start(3)?;
    let leader = cluster.leader()?;
    let survivor = (leader + 1) % 3;
    let lone = Client::new(Config::new([&cluster.endpoints()[survivor]]))?;
    write(&lone, "rack", "1").await?;
    let mut watcher = lone.watch(all_from(0)).await?;
    for member in (0..3).filter(|&member| member != survivor) {
        cluster.kill(member)?;
    }
    let ended = tokio::time::timeout(Duration::from_secs(15), watcher.next()).await?;
    assert!(matches!(ended, Err(Error::Unreachable { .. })), "{ended:?}");
    assert!(watcher.next().await?.is_none());

    let error = write(&lone, "rack", "2").await.err().ok_or("a change without a majority")?;
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    assert!(lone.probe().await.is_err());
    let local = RangeRequest { serializable: true, ..get("rack") };
    assert_eq!(lone.range(local).await?.kvs[0].value, "1");

    cluster.start_all()?;
    assert_eq!(read(&lone, "rack").await?.as_deref(), Some(&b"1"[..]));
    Ok(())
}

#[tokio::test]
async fn a_cluster_that_is_down_can_be_waited_for() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let mut cluster = Cluster::start(1)?;
    cluster.stop_all()?;
    let client = client_of(&cluster)?;
    let error = client.probe().await.err().ok_or("a dead cluster answered")?;
    assert!(error.to_string().contains(&cluster.endpoints()[0]), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
    let error = write(&client, "rack", "1").await.err().ok_or("a dead cluster took a change")?;
    assert!(matches!(error, Error::Unreachable { .. }) && !error.may_have_applied(), "{error:?}");
    cluster.start_all()?;
    client.probe().await?;
    write(&client, "rack", "1").await?;
    Ok(())
}
