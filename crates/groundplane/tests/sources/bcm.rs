//! A simulated BCM with mutual TLS: inherited settings, events, errors.

use serde_json::json;
use sim::bcm::{Options, Simulator};

use super::place::{Place, until};

fn add(place: &Place, bcm: &Simulator, more: &[&str]) {
    let keys = bcm.keys();
    let file = |name: &str, content: &str| format!("{name}={}", place.file(name, content).display());
    let given =
        [file("ca.crt", &keys.authority), file("tls.crt", &keys.certificate), file("tls.key", &keys.key)];
    let url = bcm.url();
    let mut words = vec!["source", "add", "bcm", "--adapter", "bcm", "--endpoint", &url];
    for credential in &given {
        words.extend(["--credential", credential]);
    }
    words.extend(more);
    place.run(&words);
}

fn password(place: &Place, name: &str) -> String {
    let host = place.host(name);
    let name = host["metadata"]["name"].as_str().unwrap();
    place.run(&[
        "get",
        "--raw",
        &format!("/apis/fulfillment.groundplane.dev/v1alpha1/hosts/{name}/credentials"),
    ])
}

#[test]
fn lite_nodes_of_a_bcm_become_hosts_and_its_events_are_heard() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = Options { listen: ([127, 0, 0, 1], 0).into(), nodes: 12, version: "10.25.03".to_owned() };
    let bcm = runtime.block_on(Simulator::start(options)).unwrap();
    let place = Place::new();
    add(&place, &bcm, &[]);
    assert!(place.run(&["source", "doctor", "bcm"]).contains("BCM 10.25.03"));

    // A profile that lacks a call: nothing is written, and the cause is told.
    bcm.deny("cmdevice.getDevices");
    place.sync("bcm", 1);
    let doctor = place.type_in(&["source", "doctor", "bcm"]);
    assert!(String::from_utf8_lossy(&doctor.stderr).contains("Forbidden"), "{doctor:?}");
    bcm.allow_all();

    assert!(place.sync("bcm", 0).contains("12 hosts observed"), "head nodes and physical nodes are left out");
    let host = place.host("node001");
    assert_eq!(host["spec"]["bmc"]["url"], "redfish-virtualmedia://192.168.0.2");
    assert_eq!((&host["spec"]["rack"], &host["spec"]["title"]), (&json!("A1"), &json!("Node 1")));
    assert_eq!(host["spec"]["bootMac"], "52:54:00:cc:00:01");
    let classes = place.list("hostclasses");
    let class = classes.iter().find(|class| class["metadata"]["name"] == host["spec"]["class"]).unwrap();
    assert_eq!((&class["displayName"], &class["title"]), (&json!("gpu-h100"), &json!("NVIDIA H100 hosts")));
    assert!(password(&place, "node001").contains("own-secret"));
    assert!(password(&place, "node003").contains("from-category"));
    assert!(password(&place, "node004").contains("from-partition"));
    assert!(!place.host("node005")["spec"].as_object().unwrap().contains_key("rack"), "a null position");
    let before = place.settled();
    assert!(place.sync("bcm", 0).contains("12 hosts observed, 0 written"));
    assert_eq!(place.versions(), before);

    // Events: without them the next look would be in an hour.
    let running = place.start("bcm", &[]);
    until("a session", || (bcm.acknowledged() > 0).then_some(()));
    bcm.change("node001", "notes", json!("# Another title\n"));
    until("a changed title", || (place.host("node001")["spec"]["title"] == "Another title").then_some(()));
    bcm.change("node777", "mac", json!("52:54:00:CC:77:77"));
    until("a new host", || place.hosts().iter().any(|host| host["displayName"] == "node777").then_some(()));
    bcm.remove("node777");
    until("a missing host", || {
        place.host("node777")["metadata"]["labels"].get("sources.groundplane.dev/missing").cloned()
    });
    // The daemon restarts: the session is registered again, and nothing is missed.
    let before = bcm.acknowledged();
    bcm.end_sessions();
    until("another session", || (bcm.acknowledged() > before).then_some(()));
    bcm.change("node002", "notes", json!("# After the restart\n"));
    until("a title after the restart", || {
        (place.host("node002")["spec"]["title"] == "After the restart").then_some(())
    });
    assert_eq!(running.stop(), Some(0));
    for secret in ["own-secret", "from-category", "from-partition"] {
        assert!(!place.server.said().contains(secret), "a password is in the log");
    }
}
