//! Power through BMCs, from the outside: commands, a server, and BMCs that somebody else or nobody wrote.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "cli/program.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod program;

use std::time::{Duration, Instant};

use program::{GROUNDPLANE, Ground};
use serde_json::Value;
use sim::redfish::{Options, Simulator};
use testbed::server::Server;
use testbed::sushy::Emulator;

const PASSWORD: &str = "planted-9e41-Password";

/// Creates a host with this BMC.
fn host(ground: &Ground, name: &str, url: &str, password: &str) {
    let file = ground.file(&format!("{name}.password"), password);
    ground.run(&format!(
        "host create {name} --bmc-url {url} --bmc-user admin --bmc-password-file {}",
        file.display()
    ));
}

fn json(ground: &Ground, words: &str) -> Value {
    serde_json::from_str(&ground.run(words)).unwrap()
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "not within two minutes: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn condition(ground: &Ground, host: &str, kind: &str) -> Value {
    let told = json(ground, &format!("get host {host} -o json"));
    let all = told["status"]["conditions"].as_array().cloned().unwrap_or_default();
    all.into_iter().find(|condition| condition["type"] == kind).unwrap_or_default()
}

/// A server that calls BMCs: those of these tests are on this machine.
fn ground() -> Ground {
    let server = Server::fresh(GROUNDPLANE, &["--controllers=all"]).unwrap();
    Ground { server, files: tempfile::tempdir().unwrap() }
}

#[test]
fn commands_power_a_machine_of_sushy_tools() {
    let Some(emulator) = Emulator::start(2).unwrap() else { return };
    let ground = ground();
    host(&ground, "node-0", &emulator.address(0), PASSWORD);
    host(&ground, "node-1", &emulator.address(1), PASSWORD);
    let is = |number: usize, state: &str| {
        let said = emulator.look(number).unwrap();
        said.contains(&format!("\"PowerState\": \"{state}\""))
            || said.contains(&format!("\"PowerState\":\"{state}\""))
    };
    // Nobody asked for a power state, so it is read and not changed.
    until("its power state is read", || ground.run("host power status node-1 -o name") == "OFF\n");
    assert_eq!(ground.run("host power on node-0"), "host.fulfillment.groundplane.dev/node-0 is ON\n");
    assert!(is(0, "On") && is(1, "Off"), "{}", emulator.look(0).unwrap());
    assert_eq!(
        ground.run("host boot-device node-0 pxe --once"),
        "host.fulfillment.groundplane.dev/node-0 boots from the network (PXE), the next time\n"
    );
    let said = emulator.look(0).unwrap();
    // It takes Once and says Continuous.
    assert!(said.contains("\"BootSourceOverrideTarget\": \"Pxe\""), "{said}");
    assert_eq!(
        ground.run("host power cycle node-0"),
        "host.fulfillment.groundplane.dev/node-0 was power-cycled\n"
    );
    assert!(is(0, "On"));
    let against = ground.told("host power cycle node-1 --timeout 30s");
    assert_eq!(against.code, 0, "nothing keeps it off: {}", against.err);
    assert_eq!(ground.run("host power off node-1"), "host.fulfillment.groundplane.dev/node-1 is OFF\n");
    let against = ground.told("host power cycle node-1");
    assert!(against.err.contains("spec.powerState of host node-1 keeps it off"), "{}", against.err);
    assert!(is(1, "Off"));
    // The claims were short, and are counted.
    for name in ["node-0", "node-1"] {
        let claim = json(&ground, &format!("get hostclaim {name} -o json"));
        assert!(claim["spec"].get("holder").is_none(), "{claim}");
        assert!(claim["status"]["epoch"].as_i64() >= Some(2), "{claim}");
    }
    assert!(!ground.server.said().contains(PASSWORD), "a password is in the log");
}

/// A simulated BMC with TLS, and threads of its own.
struct Bmc {
    simulator: Simulator,
    runtime: tokio::runtime::Runtime,
}

impl Bmc {
    fn start(lockout_after: Option<u32>) -> Bmc {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let options = Options { password: PASSWORD.to_owned(), lockout_after, ..Options::default() };
        let simulator = runtime.block_on(Simulator::start(options)).unwrap();
        Bmc { simulator, runtime }
    }

    fn url(&self) -> String {
        format!("{}/redfish/v1/Systems/1", self.simulator.url().replace("https", "redfish"))
    }
}

impl Drop for Bmc {
    fn drop(&mut self) {
        let _entered = self.runtime.enter();
    }
}

#[test]
fn who_holds_a_host_drives_it_and_nobody_else() {
    let (bmc, ground) = (Bmc::start(None), ground());
    host(&ground, "h1", &bmc.url(), PASSWORD);
    assert_eq!(ground.run("host power on h1"), "host.fulfillment.groundplane.dev/h1 is ON\n");
    assert!(bmc.simulator.is_on(1));
    // An operator takes it: the controller leaves it alone, and the operator powers it under the claim.
    ground.run("host claim h1 --reason firmware");
    assert_eq!(ground.run("host power off h1"), "host.fulfillment.groundplane.dev/h1 is OFF\n");
    assert!(!bmc.simulator.is_on(1));
    until("it says who keeps it from being on", || {
        condition(&ground, "h1", "PowerStateReached")["message"]
            .as_str()
            .is_some_and(|why| why.contains("User/system:admin holds it"))
    });
    assert!(!bmc.simulator.is_on(1));
    // An operation that names no claim, or one of an earlier epoch, is refused.
    for claim in ["", r#", "claim": {"driver": {"kind": "User", "name": "system:admin"}, "epoch": 0}"#] {
        let operation = ground.file(
            "operation.json",
            &format!(
                r#"{{"apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": "HostOperation",
                "metadata": {{"generateName": "h1-"}},
                "spec": {{"hostRef": {{"name": "h1"}}, "action": "PowerCycle"{claim}}}}}"#
            ),
        );
        let told = ground.told(&format!("create -f {}", operation.display()));
        assert!(told.err.contains("holds the host") || told.err.contains("in epoch 0"), "{}", told.err);
    }
    // Given back, it is kept as desired again.
    ground.run("host release h1");
    until("it is on again", || bmc.simulator.is_on(1));
    until("the short claim is released", || {
        json(&ground, "get hostclaim h1 -o json")["spec"].get("holder").is_none()
    });
    // While a system outside drives it, nothing of ours does.
    ground.run("host claim h1 --outside-driver Metal3");
    for words in ["host power off h1", "host power cycle h1", "host boot-device h1 pxe"] {
        let told = ground.told(words);
        assert!(told.code != 0 && told.err.contains("Metal3"), "{words}: {}", told.err);
    }
    assert!(bmc.simulator.is_on(1));
}

#[test]
fn a_wrong_password_locks_nobody_out_and_a_changed_certificate_stops_everything() {
    let (bmc, ground) = (Bmc::start(Some(3)), ground());
    host(&ground, "h1", &bmc.url(), "wrong-password");
    until("the BMC refuses the credentials twice", || bmc.simulator.failed_logins() >= 1);
    until("it says so", || {
        ["CredentialsRefused", "TooManyFailedLogins"]
            .contains(&condition(&ground, "h1", "BMCReachable")["reason"].as_str().unwrap_or_default())
    });
    // Whatever else is tried, there are never more than two.
    for _ in 0..3 {
        let told = ground.told("host power cycle h1 --timeout 10s");
        assert_ne!(told.code, 0, "{}", told.out);
    }
    assert!(bmc.simulator.failed_logins() <= 2, "{}", bmc.simulator.failed_logins());
    let logins = json(&ground, "get bmclogins -o json");
    let attempts = logins["items"][0]["spec"]["attempts"].as_array().unwrap().len();
    assert!((1..=2).contains(&attempts), "{logins}");

    // A second host with the right password at another BMC is not held up by that.
    let other = Bmc::start(None);
    host(&ground, "h2", &other.url(), PASSWORD);
    assert_eq!(ground.run("host power on h2"), "host.fulfillment.groundplane.dev/h2 is ON\n");
    let pinned = json(&ground, "get host h2 -o json")["status"]["bmc"]["certificate"].clone();
    assert_eq!(pinned.as_str().unwrap().len(), 95, "{pinned}");
    other.simulator.change_certificate().unwrap();
    other.simulator.end_sessions();
    let told = ground.told("host power cycle h2 --timeout 20s");
    assert!(told.code != 0 && told.err.contains("the certificate changed"), "{}", told.err);
    assert!(other.simulator.is_on(1));
}

#[test]
fn a_rotation_changes_the_password_at_the_bmc_and_in_the_host() {
    let (bmc, ground) = (Bmc::start(Some(3)), ground());
    host(&ground, "h1", &bmc.url(), PASSWORD);
    assert_eq!(
        ground.run("host rotate-credentials h1 --message quarterly"),
        "host.fulfillment.groundplane.dev/h1 has a new BMC password\n"
    );
    let new = bmc.simulator.password();
    assert_ne!(new, PASSWORD);
    let credentials = ground.run("get --raw /apis/fulfillment.groundplane.dev/v1alpha1/hosts/h1/credentials");
    assert!(credentials.contains(&new), "the host has the new one");
    assert_eq!(ground.run("host power on h1"), "host.fulfillment.groundplane.dev/h1 is ON\n");
    assert_eq!(bmc.simulator.failed_logins(), 0);
    let operations = ground.run("get hostoperations -o yaml");
    assert!(operations.contains("phase: Done"), "{operations}");
    for text in [&operations, &ground.run("get hosts -o yaml"), &ground.server.said()] {
        assert!(!text.contains(&new) && !text.contains(PASSWORD), "a password is shown: {text}");
    }
    let secrets = ground.run("get secrets -n groundplane-sealed -o name");
    assert_eq!(secrets, "secret/host.h1\n", "the old password is forgotten once the new one is proven");
}
