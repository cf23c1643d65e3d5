//! Simulated BMCs over Redfish: their systems become hosts with hardware, and nodes with ports.

use serde_json::json;
use sim::redfish::{Options, Simulator};

use super::place::{Place, until};

#[test]
fn systems_behind_bmcs_become_hosts_and_a_bmc_that_is_silent_loses_none() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let bmc = runtime.block_on(Simulator::start(Options { systems: 3, ..Options::default() })).unwrap();
    let place = Place::new();
    let (user, password) = (place.file("user", "admin\n"), place.file("password", "password\n"));
    let port = format!("port={}", bmc.address().port());
    place.run(&[
        "source",
        "add",
        "bmcs",
        "--adapter",
        "redfish",
        "--endpoint",
        "127.0.0.1",
        "--inventory",
        "create",
        "--site",
        "fra1",
        "--option",
        &port,
        "--credential",
        &format!("username={}", user.display()),
        "--credential",
        &format!("password={}", password.display()),
    ]);
    assert!(place.sync("bmcs", 0).contains("3 hosts observed"));
    let hosts = place.hosts();
    let host = hosts.iter().find(|host| host["spec"]["hardware"]["serial"] == "SIM000001").unwrap();
    let hardware = &host["spec"]["hardware"];
    assert_eq!(
        (&hardware["manufacturer"], &hardware["model"]),
        (&json!("Contoso"), &json!("Rack Server 3000"))
    );
    assert_eq!(
        (&hardware["cpus"][0]["cores"], &hardware["cpus"][0]["architecture"]),
        (&json!(32), &json!("amd64"))
    );
    assert!(
        hardware["memoryBytes"].as_i64().unwrap() > 0 && !hardware["drives"].as_array().unwrap().is_empty()
    );
    assert!(
        hardware["firmware"].as_array().unwrap().iter().any(|one| one["component"] == "BIOS"),
        "{hardware}"
    );
    assert_eq!(host["spec"]["class"], "contoso-rack-server-3000");
    let nodes = until("three nodes", || {
        Some(place.list("nodes.inventory.miloapis.com")).filter(|nodes| nodes.len() == 3)
    });
    assert!(nodes.iter().any(|node| node["spec"]["serial"] == "SIM000002"));
    until("matched hosts", || {
        place.hosts().iter().all(|host| host["status"]["node"]["foundBy"] == "Serial").then_some(())
    });
    let before = place.settled();
    assert!(place.sync("bmcs", 0).contains("3 hosts observed, 0 written"));
    assert_eq!(place.versions(), before);

    // The BMC no longer answers: its hosts are not missing.
    drop(bmc);
    assert!(place.sync("bmcs", 0).contains("0 hosts observed, 0 written, 0 missing"));
    assert_eq!(place.hosts().len(), 3);
}
