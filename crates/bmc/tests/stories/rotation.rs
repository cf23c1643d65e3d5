//! Rotation of passwords: killed at every step, with BMCs that lie, it never locks anybody out.

use std::sync::{Arc, Mutex};

use bmc::credentials::generate;
use bmc::redfish::Redfish;
use bmc::rotation::{Dial, Phase, Rotation, Safe, run};
use bmc::{Address, Answer, Bmc, Cause, Credentials, Environment, Error, Password, Result, SystemRandom};
use sim::redfish::{Fault, Options, Simulator};

use crate::{address, options};

/// What survives a crash: the record, and which password everybody uses.
#[derive(Clone)]
struct Kept {
    rotation: Rotation,
    is_switched: bool,
}

/// A safe in a process that dies before or after its n-th write.
struct Mortal {
    kept: Arc<Mutex<Kept>>,
    old: Password,
    new: Password,
    /// Operations left before the process dies. Even ones die before writing, odd ones after.
    left: usize,
}

impl Mortal {
    /// Writes, or dies before or after.
    fn write(&mut self, write: impl FnOnce(&mut Kept)) -> Result<()> {
        let killed = || {
            let address: Address = "manual://nobody".parse().unwrap();
            Err(Error::new(&address, "write", Cause::Invalid { why: "killed".to_owned() }))
        };
        if self.left == 0 {
            return killed();
        }
        write(&mut self.kept.lock().unwrap());
        self.left -= 1;
        if self.left == 0 {
            return killed();
        }
        self.left -= 1;
        Ok(())
    }
}

impl Safe for Mortal {
    fn save<'a>(&'a mut self, rotation: &'a Rotation) -> Answer<'a, ()> {
        let written = self.write(|kept| kept.rotation = rotation.clone());
        Box::pin(async move { written })
    }

    fn switch(&mut self) -> Answer<'_, ()> {
        let written = self.write(|kept| kept.is_switched = true);
        Box::pin(async move { written })
    }

    fn stored(&self) -> Password {
        match self.kept.lock().unwrap().is_switched {
            true => self.new.clone(),
            false => self.old.clone(),
        }
    }
}

struct Dialer<'a> {
    simulator: &'a Simulator,
    environment: Environment,
}

impl Dial for Dialer<'_> {
    fn dial(&self, credentials: &Credentials) -> Result<Box<dyn Bmc>> {
        let options = options(self.simulator, &credentials.user, credentials.password.reveal());
        Ok(Box::new(Redfish::new(&address(self.simulator, 1), options, &self.environment)?))
    }
}

/// Runs a rotation in processes that die after so many operations each, until one lives long enough.
async fn rotate(simulator: &Simulator, deaths: &[usize]) -> (Kept, Password) {
    rotate_from("password", simulator, deaths).await
}

async fn rotate_from(old: &str, simulator: &Simulator, deaths: &[usize]) -> (Kept, Password) {
    let (had, old, new) = (simulator.password(), Password::new(old), generate(&SystemRandom));
    let kept = Arc::new(Mutex::new(Kept { rotation: Rotation::new("admin"), is_switched: false }));
    for left in deaths.iter().copied().chain([usize::MAX]) {
        let rotation = kept.lock().unwrap().rotation.clone().resumed();
        let mut safe = Mortal { kept: kept.clone(), old: old.clone(), new: new.clone(), left };
        // A ledger for each: ten minutes pass between two processes.
        let dialer = Dialer { simulator, environment: Environment::local() };
        let _ = run(rotation, &old, &new, &dialer, &mut safe).await;
        let has = simulator.password();
        assert!(has == had || has == new.reveal(), "the BMC has a password that nobody knows");
        if kept.lock().unwrap().is_switched {
            assert_eq!(has, new.reveal(), "nobody is given a password that does not work");
        }
    }
    let kept = kept.lock().unwrap().clone();
    (kept, new)
}

#[tokio::test]
async fn a_rotation_that_is_killed_at_every_pair_of_steps_ends_with_the_new_password() {
    for first in 0..12 {
        for second in [0, 1, 2, 3, 5, 8] {
            let simulator = Simulator::start(Options { tls: false, ..Options::default() }).await.unwrap();
            let (kept, new) = rotate(&simulator, &[first, second]).await;
            assert_eq!(kept.rotation.phase, Phase::Done, "{first} {second}: {:?}", kept.rotation);
            assert!(kept.is_switched);
            assert_eq!(simulator.password(), new.reveal());
            assert!(simulator.failed_logins() <= 2, "{first} {second}: {}", simulator.failed_logins());
        }
    }
}

#[tokio::test]
async fn a_bmc_that_changes_the_password_and_fails_to_say_so_is_asked() {
    let simulator = Simulator::start(Options::default()).await.unwrap();
    simulator.fault(Fault::PasswordChangedUnsaid);
    let (kept, new) = rotate(&simulator, &[]).await;
    assert_eq!(kept.rotation.phase, Phase::Done);
    assert_eq!((simulator.password().as_str(), simulator.failed_logins()), (new.reveal(), 0));
}

#[tokio::test]
async fn a_bmc_that_keeps_the_old_password_keeps_working() {
    for (fault, failed) in [(Fault::PasswordLies, 1), (Fault::PasswordRefused, 0)] {
        let simulator = Simulator::start(Options::default()).await.unwrap();
        simulator.fault(fault);
        let (kept, _) = rotate(&simulator, &[]).await;
        assert_eq!(kept.rotation.phase, Phase::Refused, "{fault:?}");
        assert!(!kept.is_switched);
        assert!(kept.rotation.reason.unwrap().contains("old"), "the reason names the password that works");
        assert_eq!((simulator.password().as_str(), simulator.failed_logins()), ("password", failed));
    }
}

#[tokio::test]
async fn a_bmc_that_refuses_both_is_left_to_a_person() {
    let simulator = Simulator::start(Options::default()).await.unwrap();
    let (kept, _) = rotate_from("not the password", &simulator, &[]).await;
    assert_eq!(kept.rotation.phase, Phase::Quarantined);
    assert_eq!(simulator.failed_logins(), 1);
}
