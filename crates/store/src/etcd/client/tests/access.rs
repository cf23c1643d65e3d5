//! Passwords and certificates.

use testbed::etcd::Certificates;
use zeroize::Zeroizing;

use super::super::{Login, Tls};
use super::*;

fn with_login(cluster: &Cluster, user: &str, password: &str) -> Result<Client, Error> {
    let mut config = Config::new(cluster.endpoints());
    config.login = Some(Login { user: user.to_owned(), password: Zeroizing::new(password.to_owned()) });
    Client::new(config)
}

#[tokio::test]
async fn a_user_logs_in_and_again_when_the_token_has_expired() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::with(1).root_password("correct horse").flag("--auth-token-ttl=1").start()?;
    let client = with_login(&cluster, "root", "correct horse")?;
    let until_the_token_expires = || tokio::time::sleep(Duration::from_secs(3));
    write(&client, "rack", "1").await?;
    until_the_token_expires().await;
    write(&client, "rack", "2").await?;
    until_the_token_expires().await;
    assert_eq!(read(&client, "rack").await?.as_deref(), Some(&b"2"[..]));
    until_the_token_expires().await;
    let mut watcher = client.watch(all_from(0)).await?;
    write(&client, "rack", "3").await?;
    assert_eq!(next_changes(&mut watcher, 1).await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn who_may_not_is_told_so() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::with(1).root_password("correct horse").start()?;
    cluster.etcdctl(&["user", "add", "guest:guest"])?;
    let strangers = [
        client_of(&cluster)?,
        with_login(&cluster, "root", "wrong")?,
        with_login(&cluster, "guest", "guest")?,
    ];
    for stranger in strangers {
        let error = write(&stranger, "rack", "1").await.err().ok_or("a stranger wrote")?;
        assert!(matches!(error, Error::Denied { .. }) && !error.may_have_applied(), "{error:?}");
        let watched = stranger.watch(all_from(0)).await.map(drop);
        assert!(matches!(watched, Err(Error::Denied { .. })), "{watched:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_login_is_no_hindrance_where_passwords_are_off() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::start(1)?;
    let client = with_login(&cluster, "root", "correct horse")?;
    write(&client, "rack", "1").await?;
    // Switched on later: the client notices and logs in.
    cluster.etcdctl(&["user", "add", "root:correct horse"])?;
    cluster.etcdctl(&["auth", "enable"])?;
    write(&client, "rack", "2").await?;
    Ok(())
}

#[tokio::test]
async fn tls_asks_both_sides_for_a_certificate() -> Outcome {
    if without_etcd() {
        return Ok(());
    }
    let cluster = Cluster::with(1).tls().start()?;
    let Certificates { authority, client, client_key, .. } =
        cluster.certificates().cloned().ok_or("no certificates")?;
    let identity = Some((client, Zeroizing::new(client_key)));
    let with = |ca_pem: &str, identity| {
        let mut config = Config::new(cluster.endpoints());
        config.request_timeout = Duration::from_secs(2);
        config.tls = Some(Tls { ca_pem: ca_pem.to_owned(), identity, domain: None });
        Client::new(config)
    };
    let known = with(&authority, identity.clone())?;
    write(&known, "rack", "1").await?;
    known.probe().await?;

    let anonymous = with(&authority, None)?;
    assert!(write(&anonymous, "rack", "2").await.is_err());

    let other = Cluster::with(1).tls().start()?;
    let other_authority = &other.certificates().ok_or("no certificates")?.authority;
    let distrusting = write(&with(other_authority, identity)?, "rack", "3").await;
    assert!(matches!(&distrusting, Err(Error::Unreachable { .. })), "{distrusting:?}");
    assert_eq!(read(&known, "rack").await?.as_deref(), Some(&b"1"[..]));

    let without_tls = Client::new(Config::new(cluster.endpoints())).map(drop);
    assert!(matches!(without_tls, Err(Error::Misconfigured { .. })));
    Ok(())
}
