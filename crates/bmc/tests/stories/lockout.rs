//! The lockout guard: whatever happens, a BMC sees at most two failed logins in ten minutes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bmc::ledger::{Attempts, Ending, LoginLedger, MemoryLedger, WINDOW};
use bmc::login::LoginGuard;
use bmc::redfish::Redfish;
use bmc::{Address, Bmc, Cause, Clock, Environment, Error, Random};
use proptest::prelude::*;
use sim::redfish::{Options, Simulator};
use tokio::time::{Instant, sleep};

use crate::{address, options};

/// Tokio's time, which is paused.
struct Simulated(Instant);

impl Clock for Simulated {
    fn now(&self) -> Duration {
        Duration::from_secs(1_700_000_000) + self.0.elapsed()
    }
}

struct Counter(Mutex<u64>);

impl Random for Counter {
    fn fill(&self, bytes: &mut [u8]) {
        let mut next = self.0.lock().unwrap();
        *next += 1;
        let number = next.to_le_bytes();
        bytes.iter_mut().zip(number).for_each(|(byte, number)| *byte = number);
    }
}

/// What one process does, again and again.
#[derive(Debug, Clone)]
struct Login {
    /// Milliseconds before it.
    pause: u64,
    /// How long the BMC takes to look at the password, and then to answer.
    looks_after: u64,
    answers_after: u64,
    is_right: bool,
    /// Whether the process dies, and when.
    dies_after: Option<u64>,
}

fn logins() -> impl Strategy<Value = Vec<Vec<Login>>> {
    let times = (0..400_000_u64, 0..30_000_u64, 0..20_000_u64);
    let login = (times, any::<bool>(), prop::option::weighted(0.3, 0..50_000_u64));
    let login = login.prop_map(|((pause, looks_after, answers_after), is_right, dies_after)| Login {
        pause,
        looks_after,
        answers_after,
        is_right,
        dies_after,
    });
    prop::collection::vec(prop::collection::vec(login, 1..12), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn a_bmc_never_sees_three_failed_logins_in_ten_minutes(processes in logins()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let mut failures = runtime.block_on(run(processes));
        failures.sort_unstable();
        for three in failures.windows(3) {
            prop_assert!(three[2] - three[0] >= WINDOW, "{failures:?}");
        }
    }
}

/// When the BMC saw a wrong password.
async fn run(processes: Vec<Vec<Login>>) -> Vec<Duration> {
    let start = Instant::now();
    let ledger: Arc<dyn LoginLedger> = Arc::new(MemoryLedger::default());
    let random = Arc::new(Counter(Mutex::new(0)));
    let failures = Arc::new(Mutex::new(Vec::new()));
    let mut running = Vec::new();
    for logins in processes {
        let environment =
            Environment { clock: Arc::new(Simulated(start)), random: random.clone(), ledger: ledger.clone() };
        let failures = failures.clone();
        running.push(tokio::spawn(async move {
            let address: Address = "redfish://bmc".parse().unwrap();
            for login in logins {
                sleep(Duration::from_millis(login.pause)).await;
                let guard = LoginGuard::new(&address, None, &environment);
                let attempt = guard.attempt(one(&login, &address, start, failures.clone()));
                match login.dies_after {
                    None => drop(attempt.await),
                    // The future is dropped in the middle, as by kill -9; what was sent is still looked at.
                    Some(after) => drop(tokio::time::timeout(Duration::from_millis(after), attempt).await),
                }
            }
        }));
    }
    for process in running {
        process.await.unwrap();
    }
    // What was sent before a process died is looked at later.
    sleep(Duration::from_secs(60)).await;
    std::mem::take(&mut failures.lock().unwrap())
}

async fn one(
    login: &Login,
    address: &Address,
    start: Instant,
    failures: Arc<Mutex<Vec<Duration>>>,
) -> bmc::Result<()> {
    let (is_right, looks_after) = (login.is_right, Duration::from_millis(login.looks_after));
    // The BMC goes on without the client.
    let looked = tokio::spawn(async move {
        sleep(looks_after).await;
        if !is_right {
            failures.lock().unwrap().push(start.elapsed());
        }
    });
    let _ = looked.await;
    sleep(Duration::from_millis(login.answers_after)).await;
    match is_right {
        true => Ok(()),
        false => Err(Error::new(address, "log in", Cause::Unauthorized { user: "admin".to_owned() })),
    }
}

#[test]
fn an_attempt_counts_until_it_is_known_to_be_harmless() {
    let mut attempts = Attempts::default();
    let at = |seconds: u64| Duration::from_secs(1_000_000 + seconds);
    attempts.reserve(1, at(0)).unwrap();
    attempts.reserve(2, at(1)).unwrap();
    let denied = attempts.reserve(3, at(2)).unwrap_err();
    assert!(denied.is_pending);
    attempts.settle(1, Ending::Harmless, at(3));
    attempts.settle(2, Ending::Failed, at(3));
    attempts.reserve(3, at(4)).unwrap();
    attempts.settle(3, Ending::Failed, at(5));
    let denied = attempts.reserve(4, at(6)).unwrap_err();
    assert_eq!((denied.retry_at, denied.is_pending), (at(603), false));
    attempts.reserve(4, at(603)).unwrap();
}

#[tokio::test]
async fn a_wrong_password_is_sent_twice_and_the_account_is_not_locked() {
    let simulator = Simulator::start(Options { lockout_after: Some(3), ..Options::default() }).await.unwrap();
    let environment = Environment::local();
    let mut refused = Vec::new();
    for _ in 0..20 {
        // New drivers, as of many processes, share the ledger alone.
        let options = options(&simulator, "admin", "wrong");
        let bmc = Redfish::new(&address(&simulator, 1), options, &environment).unwrap();
        refused.push(bmc.power().await.unwrap_err());
    }
    assert_eq!(simulator.failed_logins(), 2);
    assert!(matches!(refused[1].cause(), Cause::Unauthorized { .. }), "{}", refused[1]);
    assert!(matches!(refused[2].cause(), Cause::LockoutGuard { .. }), "{}", refused[2]);
    assert!(refused[2].is_transient());
    let bmc = crate::driver(&simulator, &Environment::local());
    bmc.power().await.unwrap();
}

#[tokio::test]
async fn many_logins_at_once_take_turns() {
    let simulator = Simulator::start(Options { systems: 10, ..Options::default() }).await.unwrap();
    let environment = Environment::local();
    let mut running = Vec::new();
    for system in 1..=10 {
        let options = options(&simulator, "admin", "password");
        let bmc = Redfish::new(&address(&simulator, system), options, &environment).unwrap();
        running.push(tokio::spawn(async move { bmc.power().await }));
    }
    for one in running {
        one.await.unwrap().unwrap();
    }
    assert_eq!((simulator.logins(), simulator.failed_logins()), (10, 0));
}
