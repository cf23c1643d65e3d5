//! Scanning addresses.

use std::time::Duration;

use bmc::scan::{Pace, Targets, scan};
use bmc::{Cause, Environment};
use sim::redfish::{Fault, Options, Simulator};

#[tokio::test]
async fn a_scan_finds_the_services_of_a_range_and_says_what_they_are() {
    let first = Simulator::start(Options { listen: "127.0.9.3:0".parse().unwrap(), ..Options::default() })
        .await
        .unwrap();
    let port = first.address().port();
    let listen = |ip: &str| format!("{ip}:{port}").parse().unwrap();
    let second = Simulator::start(Options {
        listen: listen("127.0.9.5"),
        vendor: "Fabrikam".to_owned(),
        ..Options::default()
    });
    let second = second.await.unwrap();
    let broken =
        Simulator::start(Options { listen: listen("127.0.9.6"), ..Options::default() }).await.unwrap();
    broken.fault(Fault::NotJson);
    let targets: Targets = "127.0.9.1-127.0.9.8".parse().unwrap();
    let pace = Pace { rate: 1000, concurrency: 3, deadline: Duration::from_secs(2), port };
    let mut scanning = scan(targets, pace, Environment::local());
    let (mut found, mut refused, mut wrong) = (Vec::new(), 0, 0);
    while let Some(scanned) = scanning.recv().await {
        match scanned.service {
            Ok(service) => found.push((scanned.host, service)),
            Err(error) if *error.cause() == Cause::Refused => refused += 1,
            Err(error) if matches!(error.cause(), Cause::WrongShape { .. }) => wrong += 1,
            Err(error) => panic!("{error}"),
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!((found.len(), refused, wrong), (2, 5, 1));
    assert_eq!((found[0].0.as_str(), found[0].1.vendor.as_deref()), ("127.0.9.3", Some("Contoso")));
    assert_eq!((found[1].0.as_str(), found[1].1.vendor.as_deref()), ("127.0.9.5", Some("Fabrikam")));
    assert!(found.iter().all(|(_, service)| service.fingerprint.is_some() && service.version.is_some()));
    assert_eq!((first.logins() + first.failed_logins(), second.logins() + second.failed_logins()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_scan_keeps_to_its_rate() {
    let begun = tokio::time::Instant::now();
    // Port 0 is refused at once; nothing leaves the machine.
    let pace = Pace { rate: 10, concurrency: 50, deadline: Duration::from_secs(1), port: 0 };
    let mut scanning = scan("127.0.9.1-127.0.9.50".parse().unwrap(), pace, Environment::local());
    let mut count = 0;
    while scanning.recv().await.is_some() {
        count += 1;
    }
    assert_eq!(count, 50);
    assert!(begun.elapsed() >= Duration::from_millis(4900), "{:?}", begun.elapsed());
}
