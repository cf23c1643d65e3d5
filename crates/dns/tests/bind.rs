//! A real BIND 9 with a TSIG key: records are made, resolved, changed and removed, and every failure is told apart.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod server;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use dns::{Addresses, Algorithm, DnsName, Ensured, Error, Provider, Rfc2136, Settings, TsigKey, verify};
use server::Bind;

fn name(text: &str) -> DnsName {
    text.parse().unwrap()
}

fn addresses(of: &str, list: &[&str]) -> Addresses {
    Addresses::new(name(of), list.iter().map(|text| text.parse::<IpAddr>().unwrap()))
}

fn cluster(alias: &str, node: &str) -> Vec<Addresses> {
    vec![
        addresses(&format!("api.{alias}.example.test"), &["192.0.2.1", "2001:db8::1"]),
        addresses(&format!("api-int.{alias}.example.test"), &["192.0.2.1"]),
        addresses(&format!("*.apps.{alias}.example.test"), &[node, "192.0.2.20"]),
    ]
}

#[tokio::test]
async fn records_are_made_resolved_changed_and_removed() {
    let Some(bind) = Bind::start() else { return };
    let zone = bind.zone();
    zone.check().await.unwrap();
    let wanted = cluster("blue", "192.0.2.10");
    let names: Vec<DnsName> = wanted.iter().map(|wanted| wanted.name.clone()).collect();

    assert_eq!(verify(&zone, &wanted).await.unwrap().len(), 3);
    assert_eq!(zone.ensure(&wanted).await.unwrap(), Ensured::Changed);
    assert_eq!(verify(&zone, &wanted).await.unwrap(), []);
    let anything = zone.lookup(&name("shop.apps.blue.example.test")).await.unwrap();
    assert_eq!(anything.addresses, wanted[2].addresses);

    let moved = cluster("blue", "192.0.2.99");
    let mismatches = verify(&zone, &moved).await.unwrap();
    assert_eq!(mismatches.len(), 1);
    assert_eq!(mismatches[0].found.addresses, wanted[2].addresses);
    assert_eq!(zone.ensure(&moved).await.unwrap(), Ensured::Changed);
    assert_eq!(verify(&zone, &moved).await.unwrap(), []);

    assert_eq!(zone.remove(&names).await.unwrap(), Ensured::Changed);
    for gone in &names {
        assert!(zone.lookup(gone).await.unwrap().addresses.is_empty(), "{gone}");
    }
}

#[tokio::test]
async fn what_is_there_already_is_not_written_again() {
    let Some(bind) = Bind::start() else { return };
    let zone = bind.zone();
    let wanted = cluster("blue", "192.0.2.10");
    let names: Vec<DnsName> = wanted.iter().map(|wanted| wanted.name.clone()).collect();
    zone.ensure(&wanted).await.unwrap();
    let serial = bind.serial();
    assert_eq!(zone.ensure(&wanted).await.unwrap(), Ensured::Unchanged);
    zone.check().await.unwrap();
    assert_eq!(bind.serial(), serial);
    zone.remove(&names).await.unwrap();
    let serial = bind.serial();
    assert_eq!(zone.remove(&names).await.unwrap(), Ensured::Unchanged);
    assert_eq!(bind.serial(), serial);
}

#[tokio::test]
async fn records_of_others_stay_also_those_of_a_neighbour_with_a_common_ending() {
    let Some(bind) = Bind::start() else { return };
    let zone = bind.zone();
    let (ours, theirs) = (cluster("a", "192.0.2.10"), cluster("ba", "192.0.2.30"));
    zone.ensure(&theirs).await.unwrap();
    zone.ensure(&ours).await.unwrap();
    let names: Vec<DnsName> = ours.iter().map(|ours| ours.name.clone()).collect();
    zone.remove(&names).await.unwrap();
    assert_eq!(verify(&zone, &theirs).await.unwrap(), []);
}

#[tokio::test]
async fn a_wildcard_of_the_zone_is_not_taken_for_our_record() {
    let Some(bind) = Bind::start() else { return };
    let zone = bind.zone();
    let catch_all = addresses("*.example.test", &["192.0.2.66"]);
    zone.ensure(std::slice::from_ref(&catch_all)).await.unwrap();
    // Resolves through the wildcard, and yet there is no such record: removing it changes nothing.
    let ours = name("api.example.test");
    assert_eq!(zone.lookup(&ours).await.unwrap().addresses, catch_all.addresses);
    assert_eq!(zone.remove(&[ours]).await.unwrap(), Ensured::Unchanged);
}

#[tokio::test]
async fn a_name_outside_of_the_zone_is_refused_before_anything_is_sent() {
    let key = TsigKey::from_base64(name("k"), Algorithm::HmacSha256, server::OTHER_SECRET).unwrap();
    // Nothing listens on port 1.
    let zone = Rfc2136::new(Settings::new("127.0.0.1:1", name("example.test"), key));
    let outside = [addresses("api.example.org", &["192.0.2.1"])];
    let error = zone.ensure(&outside).await.unwrap_err();
    assert_eq!(error.to_string(), "api.example.org is not in zone example.test");
    assert!(!error.is_transient());
    let inside = [addresses("api.example.test", &["192.0.2.1"])];
    let error = zone.ensure(&inside).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }) && error.is_transient(), "{error}");
}

#[tokio::test]
async fn a_wrong_key_a_wrong_secret_and_a_wrong_clock_are_told_apart() {
    let Some(bind) = Bind::start() else { return };
    let wanted = cluster("blue", "192.0.2.10");

    let unknown = bind.zone_with("nobody", server::SECRET, || 0);
    let error = unknown.ensure(&wanted).await.unwrap_err().to_string();
    assert!(error.contains("does not accept TSIG key nobody: it knows no such key"), "{error}");

    let wrong = bind.zone_with("groundplane", server::OTHER_SECRET, || 0);
    let error = wrong.ensure(&wanted).await.unwrap_err().to_string();
    assert!(error.contains("its secret or algorithm is another"), "{error}");
    assert!(!error.contains(server::OTHER_SECRET), "{error}");

    let slow = bind.zone_with("groundplane", server::SECRET, || -3_600);
    let error = slow.check().await.unwrap_err();
    let Error::ClockSkew { difference: Some(ahead), .. } = error else { panic!("{error}") };
    assert!((3_590..3_620).contains(&ahead), "{ahead}");

    assert!(bind.zone().lookup(&wanted[0].name).await.unwrap().addresses.is_empty());
}

#[tokio::test]
async fn a_zone_that_the_server_lacks_and_a_key_without_rights_are_told_apart() {
    let Some(bind) = Bind::start() else { return };
    let elsewhere = bind.zone_named("example.invalid", "groundplane", server::SECRET);
    let error = elsewhere.check().await.unwrap_err();
    assert!(matches!(error, Error::NotAuthoritative { .. }), "{error}");

    let reader = bind.zone_named("example.test", "reader", server::SECRET);
    let error = reader.check().await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    let error = reader.ensure(&cluster("blue", "192.0.2.10")).await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }) && !error.is_transient(), "{error}");
}

#[tokio::test]
async fn a_server_that_is_dead_or_silent_costs_its_time_limit_at_most() {
    let Some(bind) = Bind::start() else { return };
    let zone = bind.zone();
    drop(bind);
    let error = zone.check().await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }) && error.is_transient(), "{error}");

    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let key = TsigKey::from_base64(name("groundplane"), Algorithm::HmacSha256, server::SECRET).unwrap();
    let mut settings = Settings::new(silent.local_addr().unwrap().to_string(), name("example.test"), key);
    settings.timeout = Duration::from_millis(100);
    let error = Rfc2136::new(settings).check().await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }) && error.is_transient(), "{error}");
}

#[tokio::test]
async fn many_clusters_at_once_do_not_disturb_each_other() {
    let Some(bind) = Bind::start() else { return };
    let zone = Arc::new(bind.zone());
    let clusters: Vec<Vec<Addresses>> =
        (0..16).map(|number| cluster(&format!("c{number}"), &format!("192.0.2.{}", 100 + number))).collect();
    let made: Vec<_> = clusters
        .iter()
        .cloned()
        .map(|wanted| {
            let zone = Arc::clone(&zone);
            tokio::spawn(async move { zone.ensure(&wanted).await.unwrap() })
        })
        .collect();
    for one in made {
        one.await.unwrap();
    }
    for wanted in &clusters {
        assert_eq!(verify(&*zone, wanted).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_key_of_sha512_works_too() {
    let Some(bind) = Bind::start() else { return };
    let key = TsigKey::from_base64(name("strong"), Algorithm::HmacSha512, server::SECRET).unwrap();
    let zone = Rfc2136::new(Settings::new(bind.address(), name("example.test"), key));
    zone.check().await.unwrap();
}
