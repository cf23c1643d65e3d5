//! What a cluster does not take.

use super::*;

#[tokio::test]
async fn what_passes_a_limit_is_told_apart_and_not_applied() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::with(1).flag("--max-txn-ops=4").flag("--max-request-bytes=100000").start()?;
    let client = client_of(&cluster)?;

    let many: Vec<_> = (0..5).map(|number| put(&format!("k{number}"), "v")).collect();
    let error = client.txn(changes(many)).await.err().ok_or("five operations were taken")?;
    assert!(matches!(error, Error::TooLarge { .. }) && !error.may_have_applied(), "{error}");

    // Above the limit of etcd, then above the limit of its gRPC, which lies half a megabyte higher.
    for size in [120_000, 5_000_000] {
        let error = write(&client, "large", vec![0; size]).await.err().ok_or("a large value was taken")?;
        assert!(matches!(error, Error::TooLarge { .. }) && !error.may_have_applied(), "{size}: {error:?}");
    }

    let twice = client.txn(changes(vec![put("k", "1"), put("k", "2")])).await;
    assert!(matches!(&twice, Err(Error::Refused { .. })), "{twice:?}");
    assert_eq!(read(&client, "k").await?, None);
    Ok(())
}

#[tokio::test]
async fn a_full_database_says_so_until_someone_makes_room() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::with(1).flag("--quota-backend-bytes=2000000").start()?;
    let client = client_of(&cluster)?;
    let value = Bytes::from(vec![b'x'; 100_000]);
    let mut full = None;
    for _ in 0..100 {
        match write(&client, "filler", value.clone()).await {
            Ok(_) => {}
            Err(error) => {
                full = Some(error);
                break;
            }
        }
    }
    let error = full.ok_or("ten megabytes fit into two")?;
    assert!(matches!(error, Error::NoSpace { .. }), "{error:?}");
    assert!(read(&client, "filler").await?.is_some(), "reads go on");

    let now = client.range(get("filler")).await?.header.unwrap_or_default().revision;
    client.compact(now, true).await?;
    cluster.etcdctl(&["defrag"])?;
    cluster.etcdctl(&["alarm", "disarm"])?;
    write(&client, "filler", "small").await?;
    Ok(())
}
