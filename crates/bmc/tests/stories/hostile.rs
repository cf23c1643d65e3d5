//! BMCs that are broken or hostile: each way is an error of its own, within the limits.

use std::time::Duration;

use bmc::redfish::{Options as Given, Redfish};
use bmc::trust::{Fingerprint, Trust};
use bmc::{Bmc, Cause, Credentials, Environment, Error};
use sim::redfish::{Fault, Options, Simulator};

use crate::{address, driver, options};

/// A password that must not be seen anywhere.
const MARKER: &str = "marker-5eb1c0de";

async fn error_with(fault: Fault) -> Error {
    let simulator =
        Simulator::start(Options { password: MARKER.to_owned(), ..Options::default() }).await.unwrap();
    let mut options = options(&simulator, "admin", MARKER);
    options.limits.request = Duration::from_millis(300);
    options.limits.body = 1 << 20;
    let bmc = Redfish::new(&address(&simulator, 1), options, &Environment::local()).unwrap();
    simulator.fault(fault);
    bmc.power().await.unwrap_err()
}

#[tokio::test]
async fn every_misbehaviour_is_an_error_of_its_own() {
    for (fault, is_it) in [
        (Fault::Hang, (|cause| matches!(cause, Cause::TimedOut { .. })) as fn(&Cause) -> bool),
        (Fault::Slow(1000), |cause| matches!(cause, Cause::TimedOut { .. })),
        (Fault::SlowBytes, |cause| matches!(cause, Cause::TimedOut { .. })),
        (Fault::EndlessBody, |cause| matches!(cause, Cause::TooLarge { limit: 1_048_576 })),
        (Fault::NotJson, |cause| matches!(cause, Cause::WrongShape { .. })),
        (Fault::WrongShape, |cause| matches!(cause, Cause::WrongShape { .. })),
        (Fault::RedirectLoop, |cause| matches!(cause, Cause::Redirected { .. })),
        (
            Fault::RedirectElsewhere,
            |cause| matches!(cause, Cause::Redirected { to } if to.contains("192.0.2.1")),
        ),
        (Fault::Unavailable, |cause| matches!(cause, Cause::Busy { retry_after: Some(_), .. })),
        (Fault::Unauthorized, |cause| matches!(cause, Cause::Unauthorized { user } if user == "admin")),
    ] {
        let error = error_with(fault).await;
        assert!(is_it(error.cause()), "{fault:?}: {error}");
        assert!(!format!("{error} {error:?}").contains(MARKER), "{error}");
    }
}

#[tokio::test]
async fn a_bmc_is_asked_no_more_than_allowed_at_a_time() {
    let simulator = Simulator::start(Options { systems: 8, ..Options::default() }).await.unwrap();
    let bmc = driver(&simulator, &Environment::local());
    bmc.power().await.unwrap();
    simulator.fault(Fault::Slow(20));
    let asked = [bmc.power(), bmc.power(), bmc.power(), bmc.power(), bmc.power(), bmc.power()];
    let asked: Vec<_> = asked.into_iter().collect();
    for answer in futures(asked).await {
        answer.unwrap();
    }
    assert_eq!(simulator.most_at_once(), 2);
}

/// All answers, asked for at once.
async fn futures<T>(asked: Vec<bmc::Answer<'_, T>>) -> Vec<bmc::Result<T>> {
    let mut asked: Vec<_> = asked.into_iter().map(|future| (future, None)).collect();
    std::future::poll_fn(|context| {
        for (future, answer) in asked.iter_mut().filter(|(_, answer)| answer.is_none()) {
            if let std::task::Poll::Ready(ready) = future.as_mut().poll(context) {
                *answer = Some(ready);
            }
        }
        match asked.iter().all(|(_, answer)| answer.is_some()) {
            true => {
                std::task::Poll::Ready(asked.iter_mut().filter_map(|(_, answer)| answer.take()).collect())
            }
            false => std::task::Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn a_list_without_end_is_given_up() {
    let simulator = Simulator::start(Options { systems: 5, ..Options::default() }).await.unwrap();
    let mut options = options(&simulator, "admin", "password");
    options.limits.members = 50;
    let bmc = Redfish::new(&simulator.url().parse().unwrap(), options, &Environment::local()).unwrap();
    simulator.fault(Fault::EndlessPages);
    let error = bmc.inventory().await.unwrap_err();
    assert!(error.to_string().contains("more than 50 members"), "{error}");
}

#[tokio::test]
async fn certificates_are_trusted_by_authority_by_pin_or_on_first_use() {
    let simulator = Simulator::start(Options::default()).await.unwrap();
    let environment = Environment::local();
    let with = |trust: Trust| {
        let given = Given::new(trust, Some(Credentials::new("admin", "password")));
        Redfish::new(&address(&simulator, 1), given, &environment).unwrap()
    };
    driver(&simulator, &environment).power().await.unwrap();
    let first_use = with(Trust::FirstUse);
    assert_eq!(first_use.pin(), None);
    first_use.power().await.unwrap();
    let pin = first_use.pin().unwrap();
    with(Trust::Pinned(pin)).power().await.unwrap();

    let other = Simulator::start(Options::default()).await.unwrap();
    let strangers = with(Trust::Authorities(other.certificate().into_bytes()));
    let error = strangers.power().await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Untrusted { .. }), "{error}");
    let error = with(Trust::Pinned(Fingerprint::of(b"another"))).power().await.unwrap_err();
    assert!(matches!(error.cause(), Cause::PinChanged { found, .. } if *found == pin), "{error}");
    assert_eq!(simulator.failed_logins(), 0, "no password is sent to a stranger");

    simulator.change_certificate().unwrap();
    let requests = simulator.requests();
    let changed = with(Trust::Pinned(pin));
    let error = changed.power().await.unwrap_err();
    assert!(matches!(error.cause(), Cause::PinChanged { expected, .. } if *expected == pin), "{error}");
    assert_eq!(simulator.requests(), requests);
}

#[tokio::test]
async fn a_certificate_that_changes_between_two_connections_of_first_use_is_noticed() {
    // Without keep-alive each request would connect again; a fault that ends the connection does the same.
    let simulator = Simulator::start(Options::default()).await.unwrap();
    let mut given = Given::new(Trust::FirstUse, Some(Credentials::new("admin", "password")));
    given.limits.request = Duration::from_millis(300);
    let bmc = Redfish::new(&address(&simulator, 1), given, &Environment::local()).unwrap();
    bmc.power().await.unwrap();
    let pin = bmc.pin();
    simulator.change_certificate().unwrap();
    simulator.fault(Fault::Hang);
    // The connection that hangs is given up, and the next request makes another.
    bmc.power().await.unwrap_err();
    simulator.clear_faults();
    let error = bmc.power().await.unwrap_err();
    assert!(matches!(error.cause(), Cause::PinChanged { .. }), "{error}");
    assert_eq!(bmc.pin(), pin);
}

#[tokio::test]
async fn what_keeps_from_connecting_is_told_apart() {
    let environment = Environment::local();
    let cause = |url: String| {
        let environment = environment.clone();
        async move {
            let given = Given::new(Trust::FirstUse, Some(Credentials::new("admin", "password")));
            let bmc = Redfish::new(&url.parse().unwrap(), given, &environment).unwrap();
            let error = bmc.power().await.unwrap_err();
            assert!(error.is_unsent(), "{error}");
            error.cause().clone()
        }
    };
    let name = cause("redfish://no-such-host.invalid".to_owned()).await;
    assert!(matches!(name, Cause::NameResolution { .. }), "{name}");
    let port = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    assert_eq!(cause(format!("redfish://{port}")).await, Cause::Refused);
    let plain = Simulator::start(Options { tls: false, ..Options::default() }).await.unwrap();
    let tls = cause(format!("redfish://{}", plain.address())).await;
    assert!(matches!(tls, Cause::Tls { .. }), "{tls}");
}
