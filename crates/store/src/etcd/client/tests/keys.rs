//! Keys, history and leases on one healthy member.

use std::time::Duration;

use super::super::wire::ResponseHeader;
use super::*;

#[tokio::test]
async fn a_change_is_read_back_and_a_stale_one_is_not_made() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::start(1)?;
    let client = client_of(&cluster)?;
    client.probe().await?;

    let created = client.txn(put_at_revision("rack/1", "a", 0)).await?;
    assert!(created.succeeded);
    let stale = client.txn(put_at_revision("rack/1", "b", 0)).await?;
    assert!(!stale.succeeded);
    assert_eq!(revision(&stale), revision(&created), "a failed comparison makes no revision");
    assert_eq!(read(&client, "rack/1").await?.as_deref(), Some(&b"a"[..]));

    let next = client.txn(put_at_revision("rack/1", "b", revision(&created))).await?;
    assert!(next.succeeded);
    let past = RangeRequest { revision: revision(&created), ..get("rack/1") };
    assert_eq!(client.range(past).await?.kvs[0].value, "a");

    let status = client.status(0).await?;
    let ResponseHeader { member_id, .. } = status.header.unwrap_or_default();
    assert_eq!(status.leader, member_id);
    assert!(matches!(client.status(1).await, Err(Error::Misconfigured { .. })));
    Ok(())
}

#[tokio::test]
async fn history_that_was_compacted_says_so() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::start(1)?;
    let client = client_of(&cluster)?;
    let first = write(&client, "rack", "a").await?;
    let second = write(&client, "rack", "b").await?;
    client.compact(second, true).await?;

    let past = RangeRequest { revision: first, ..get("rack") };
    assert!(matches!(client.range(past).await, Err(Error::Compacted { revision: None })));
    assert!(matches!(client.compact(first, false).await, Err(Error::Compacted { .. })));
    let watched = match client.watch(all_from(first)).await {
        Ok(mut watcher) => watcher.next().await.map(drop),
        Err(error) => Err(error),
    };
    assert!(matches!(watched, Err(Error::Compacted { revision: Some(at) }) if at == second), "{watched:?}");
    Ok(())
}

#[tokio::test]
async fn a_lease_lives_while_it_is_kept_and_takes_its_keys_along() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::start(1)?;
    let client = client_of(&cluster)?;
    let lease = client.lease_grant(Duration::from_millis(1500)).await?;
    assert!(lease.ttl >= Duration::from_secs(2), "seconds are rounded up: {lease:?}");
    let bound = PutRequest { key: "leader".into(), value: "me".into(), lease: lease.id };
    client.txn(changes(vec![RequestOp { request: Some(Request::RequestPut(bound)) }])).await?;

    let twice_its_life = tokio::time::Instant::now() + 2 * lease.ttl;
    while tokio::time::Instant::now() < twice_its_life {
        assert_eq!(client.lease_keep_alive_once(lease.id).await?, Some(lease.ttl));
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert!(client.lease_ttl(lease.id).await?.is_some());
    assert!(read(&client, "leader").await?.is_some());

    // etcd ends leases every half second, and asks the other members first.
    tokio::time::sleep(lease.ttl + Duration::from_secs(2)).await;
    assert!(read(&client, "leader").await?.is_none());
    assert_eq!(client.lease_keep_alive_once(lease.id).await?, None);
    assert_eq!(client.lease_ttl(lease.id).await?, None);
    let revoked = client.lease_revoke(lease.id).await;
    assert!(matches!(revoked, Err(Error::Refused { code: tonic::Code::NotFound, .. })), "{revoked:?}");

    let other = client.lease_grant(Duration::from_secs(60)).await?;
    client.lease_revoke(other.id).await?;
    assert_eq!(client.lease_ttl(other.id).await?, None);
    Ok(())
}
