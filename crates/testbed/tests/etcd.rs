//! The etcd of the testbed does what tests ask of it.

use testbed::etcd::{Cluster, Error};

#[test]
fn three_members_survive_one_that_is_killed_and_one_that_is_paused() -> Result<(), Error> {
    if !Cluster::available() {
        eprintln!("skipped: no etcd and etcdctl here");
        return Ok(());
    }
    let mut cluster = Cluster::start(3)?;
    let first = cluster.leader()?;
    cluster.etcdctl(&["put", "rack", "one"])?;

    cluster.kill(first)?;
    let second = cluster.leader()?;
    assert_ne!(first, second);
    assert_eq!(cluster.etcdctl(&["get", "rack", "--print-value-only"])?.trim(), "one");
    cluster.restart(first)?;

    cluster.pause(second)?;
    let third = cluster.leader()?;
    assert_ne!(second, third);
    cluster.resume(second)?;
    cluster.stop_all()?;
    cluster.start_all()?;
    assert_eq!(cluster.etcdctl(&["get", "rack", "--print-value-only"])?.trim(), "one");
    Ok(())
}

#[test]
fn a_cluster_may_ask_for_certificates_and_passwords() -> Result<(), Error> {
    if !Cluster::available() {
        eprintln!("skipped: no etcd and etcdctl here");
        return Ok(());
    }
    let cluster = Cluster::with(1).tls().root_password("correct horse").flag("--max-txn-ops=5").start()?;
    assert!(cluster.endpoints()[0].starts_with("https://"));
    assert!(cluster.certificates().is_some());
    cluster.etcdctl(&["put", "rack", "one"])?;
    assert!(cluster.etcdctl(&["user", "list"])?.contains("root"));
    Ok(())
}
