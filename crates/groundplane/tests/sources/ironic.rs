//! A real Ironic: nodes are enrolled, changed and deleted, half of them is lost, and Ironic itself goes.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use testbed::{need, parts};

use super::place::{Place, Process, free_port, http, until};

struct Ironic {
    port: u16,
    process: Option<Process>,
    _folder: TempDir,
}

const VERSION: &str = "x-openstack-ironic-api-version: 1.95\r\n";

impl Ironic {
    fn start() -> Option<Ironic> {
        let Some(program) = parts::find("ironic/bin/ironic") else {
            need::passed_over("Ironic was not fetched; `cargo xtask test` does that");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let (at, port) = (folder.path().display(), free_port());
        let settings = format!(
            "[DEFAULT]\nauth_strategy = noauth\nenabled_hardware_types = fake-hardware,redfish\n\
             enabled_boot_interfaces = fake,redfish-virtual-media\n\
             enabled_management_interfaces = fake,redfish,noop\nenabled_power_interfaces = fake,redfish\n\
             enabled_deploy_interfaces = fake,direct\nenabled_bios_interfaces = no-bios\n\
             enabled_console_interfaces = no-console\nenabled_inspect_interfaces = no-inspect\n\
             enabled_firmware_interfaces = no-firmware\nenabled_network_interfaces = noop\n\
             enabled_raid_interfaces = no-raid\nenabled_rescue_interfaces = no-rescue\n\
             enabled_storage_interfaces = noop\nenabled_vendor_interfaces = no-vendor\nrpc_transport = none\n\
             host = localhost\n[database]\nconnection = sqlite:///{at}/ironic.sqlite\n\
             [api]\nhost_ip = 127.0.0.1\nport = {port}\n[conductor]\nautomated_clean = false\n\
             sync_power_state_interval = 0\n[dhcp]\ndhcp_provider = none\n\
             [service_catalog]\nendpoint_override = http://127.0.0.1:{port}\n\
             [deploy]\nhttp_url = http://127.0.0.1:1\nhttp_root = {at}/http\n[pxe]\ntftp_root = {at}/tftp\n\
             tftp_master_path = {at}/master\nimages_path = {at}/images\ninstance_master_path = {at}/instances\n"
        );
        let file = folder.path().join("ironic.conf");
        std::fs::write(&file, settings).unwrap();
        for name in ["http", "tftp", "master", "images", "instances"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let start = |program: &std::path::Path| {
            let log = || Stdio::from(std::fs::File::create(folder.path().join("log")).unwrap());
            let mut command = Command::new(program);
            command.arg("--config-file").arg(&file).stdout(log()).stderr(log());
            command
        };
        let made = start(&program.with_file_name("ironic-dbsync")).arg("create_schema").status().unwrap();
        assert!(made.success(), "the database of Ironic can't be made");
        let process = Some(Process(start(&program).spawn().unwrap()));
        let ironic = Ironic { port, process, _folder: folder };
        until("Ironic", || http(port, "GET", "/v1/nodes", VERSION, None).filter(|(code, _)| *code == 200));
        Some(ironic)
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        // A node that is being looked at by Ironic itself answers 409.
        until(path, || {
            let (code, answer) = http(self.port, method, path, VERSION, body)?;
            assert!(matches!(code, 200..=299 | 409), "{method} {path}: {code} {answer}");
            (code != 409).then_some(answer)
        })
    }

    fn enrol(&self, number: usize) {
        let node = self.ask(
            "POST",
            "/v1/nodes",
            Some(&json!({
                "name": format!("node{number:03}"), "driver": "redfish", "resource_class": "gpu-h100",
                "description": "# A node", "extra": {"rack": format!("R{}", number % 5)},
                "properties": {"cpu_arch": "x86_64", "cpus": "16", "memory_mb": "65536"},
                "driver_info": {"redfish_address": format!("https://192.0.2.{number}"),
                    "redfish_system_id": "/redfish/v1/Systems/1", "redfish_username": "admin",
                    "redfish_password": "marker-5e2d", "redfish_verify_ca": false},
            })),
        );
        let port = json!({"node_uuid": node["uuid"], "address": format!("52:54:00:aa:bb:{number:02x}"),
            "pxe_enabled": true, "extra": {"ip": format!("10.141.0.{number}")}});
        self.ask("POST", "/v1/ports", Some(&port));
    }

    fn patch(&self, name: &str, path: &str, value: Value) {
        let patch = json!([{"op": "add", "path": path, "value": value}]);
        self.ask("PATCH", &format!("/v1/nodes/{name}"), Some(&patch));
    }

    fn delete(&self, name: &str) {
        self.ask("DELETE", &format!("/v1/nodes/{name}"), None);
    }
}

fn add(place: &Place, name: &str, ironic: &Ironic, more: &[&str]) {
    let endpoint = format!("http://127.0.0.1:{}", ironic.port);
    let mut words = vec!["source", "add", name, "--adapter", "ironic", "--endpoint", &endpoint];
    words.extend(more);
    let printed = place.run(&words);
    assert!(printed.contains(&format!("groundplane sync {name} --kubeconfig")), "{printed}");
}

fn source(place: &Place, name: &str) -> Value {
    serde_json::from_str(&place.run(&["get", "source", name, "-o", "json"])).unwrap()
}

#[test]
fn fifty_nodes_of_an_ironic_become_hosts_stay_true_and_are_never_lost() {
    let Some(mut ironic) = Ironic::start() else { return };
    (1..=50).for_each(|number| ironic.enrol(number));
    let place = Place::new();
    add(&place, "ironic", &ironic, &["--interval", "1s"]);
    assert!(place.run(&["source", "doctor", "ironic"]).contains("Ironic, API 1."));
    let preview = place.sync_preview("ironic");
    assert!(preview.contains("create ") && preview.contains("50 hosts observed") && place.hosts().is_empty());

    assert!(place.sync("ironic", 0).contains("50 hosts observed, 51 written"));
    let host = place.host("node007");
    assert_eq!(host["spec"]["bootMac"], "52:54:00:aa:bb:07");
    assert_eq!(host["spec"]["bootIp"], "10.141.0.7");
    assert_eq!(host["spec"]["class"], "gpu-h100");
    assert_eq!(host["spec"]["bmc"]["url"], "redfish-virtualmedia+https://192.0.2.7/redfish/v1/Systems/1");
    assert_eq!(host["spec"]["bmc"].get("passwordRef"), None, "a masked password is not stored");
    assert_eq!(host["metadata"]["labels"]["sources.groundplane.dev/source"], "ironic");

    // A second run over unchanged data writes nothing.
    let before = place.settled();
    assert!(place.sync("ironic", 0).contains("50 hosts observed, 0 written"));
    assert_eq!(place.versions(), before);

    // A change, and what a user wants of the power.
    let name = host["metadata"]["name"].as_str().unwrap();
    let power = r#"{"spec":{"powerState":"HOST_POWER_STATE_ON"}}"#;
    place.run(&["patch", "hosts.fulfillment.groundplane.dev", name, "--type", "merge", "-p", power]);
    ironic.patch("node007", "/extra/rack", json!("R9"));
    ironic.patch("node008", "/maintenance", json!(true));
    assert!(place.sync("ironic", 0).contains("2 written"));
    let host = place.host("node007");
    assert_eq!(
        (&host["spec"]["rack"], &host["spec"]["powerState"]),
        (&json!("R9"), &json!("HOST_POWER_STATE_ON"))
    );
    assert_eq!(place.host("node008")["metadata"]["labels"]["sources.groundplane.dev/held-back"], "true");

    drift(&place, &ironic, name);
    conflict(&place, &ironic, name);

    // One goes: it is marked. It comes back: it is not.
    ironic.delete("node050");
    place.sync("ironic", 0);
    let lost = place.host("node050");
    assert_eq!(lost["metadata"]["labels"]["sources.groundplane.dev/missing"], "true");
    until("the condition of a missing host", || {
        Place::condition(&place.host("node050"), "SourceListed")
            .filter(|condition| condition["status"] == "False")
    });

    // Half of them goes: nothing is written until an operator confirms it, or they come back.
    (10..=40).for_each(|number| ironic.delete(&format!("node{number:03}")));
    let before = place.hosts();
    let said = place.sync("ironic", 3);
    assert!(said.contains("not believed: 32 of 50 hosts are missing"), "{said}");
    let believed = Place::condition(&source(&place, "ironic"), "Believed").unwrap();
    assert_eq!((&believed["status"], &believed["reason"]), (&json!("False"), &json!("NotBelieved")));
    let specs = |hosts: &[Value]| hosts.iter().map(|host| host["spec"].clone()).collect::<Vec<_>>();
    assert_eq!(specs(&place.hosts()), specs(&before));
    assert!(place.run(&["source", "confirm", "ironic"]).contains("32 of 50 hosts are missing"));
    place.sync("ironic", 0);
    assert_eq!(place.hosts().len(), 50, "what is missing is marked, not deleted");
    let missing = |host: &&Value| host["metadata"]["labels"].get("sources.groundplane.dev/missing").is_some();
    assert_eq!(place.hosts().iter().filter(missing).count(), 32);

    // Ironic itself goes.
    drop(ironic.process.take());
    place.sync("ironic", 1);
    let synced = Place::condition(&source(&place, "ironic"), "Synced").unwrap();
    assert_eq!((&synced["status"], &synced["reason"]), (&json!("False"), &json!("NotReachable")));
    let doctor = place.type_in(&["source", "doctor", "ironic"]);
    assert!(String::from_utf8_lossy(&doctor.stderr).contains("NotReachable"), "{doctor:?}");
    assert_eq!(place.hosts().len(), 50);
    place.run(&["source", "remove", "ironic"]);
    assert_eq!(place.hosts().len(), 50, "hosts of a source that was removed stay");
    assert!(!place.server.said().contains("marker-5e2d"), "a password is in the log");
}

/// Somebody corrects a field by hand: it stays, and an operator decides.
fn drift(place: &Place, ironic: &Ironic, name: &str) {
    let by_hand = r#"{"spec":{"rack":"by-hand"}}"#;
    place.run(&["patch", "hosts.fulfillment.groundplane.dev", name, "--type", "merge", "-p", by_hand]);
    assert!(place.sync("ironic", 0).contains("1 drifted"));
    assert_eq!(place.host("node007")["spec"]["rack"], "by-hand");
    let diff = place.run(&["source", "diff", "ironic"]);
    assert!(diff.contains("spec.rack") && diff.contains("R9") && diff.contains("by-hand"), "{diff}");
    until("the condition of a host that drifted", || Place::condition(&place.host("node007"), "Drifted"));
    place.run(&["source", "accept", "ironic", name, "--expected"]);
    assert!(place.sync("ironic", 0).contains("0 drifted"), "what was accepted does not count");
    ironic.patch("node007", "/extra/rack", json!("R8"));
    assert!(place.sync("ironic", 0).contains("1 drifted"), "another value counts again");
    place.run(&["source", "accept", "ironic", name]);
    assert!(place.sync("ironic", 0).contains("1 written"));
    assert_eq!(place.host("node007")["spec"]["rack"], "R8");
    assert!(place.list("sourcefindings").is_empty());
}

/// Another source claims the same hosts: it writes nothing, by whatever way it tries.
fn conflict(place: &Place, ironic: &Ironic, name: &str) {
    add(place, "rival", ironic, &[]);
    let before = place.settled();
    assert!(place.sync("rival", 0).contains("0 written, 0 missing, 50 in conflict"));
    let hosts = |versions: &std::collections::BTreeMap<String, String>| {
        versions.keys().filter(|key| key.starts_with("hosts")).count()
    };
    assert_eq!(hosts(&place.versions()), hosts(&before));
    let told = until("the condition of a host in conflict", || {
        Place::condition(&place.host("node007"), "SourceConflict")
    });
    let message = told["message"].as_str().unwrap();
    assert!(
        message.contains("source ironic owns") && message.contains("groundplane source accept rival"),
        "{message}"
    );
    let stolen = r#"{"metadata":{"labels":{"sources.groundplane.dev/source":"rival"}}}"#;
    let patch = ["patch", "hosts.fulfillment.groundplane.dev", name, "--type", "merge", "-p"];
    for change in [stolen, r#"{"spec":{"title":"mine"}}"#] {
        let mut words = patch.to_vec();
        words.push(change);
        let why = place.refused_as("rival", &words);
        assert!(why.contains("source ironic owns it"), "{why}");
    }
    assert!(
        place.refused_as("rival", &["delete", "hosts.fulfillment.groundplane.dev", name]).contains("owns it")
    );
    let power = [&patch[..], &[r#"{"spec":{"powerState":"HOST_POWER_STATE_OFF"}}"#]].concat();
    assert!(place.refused_as("ironic", &power).contains("power state"));
    assert!(
        place.refused_as("rival", &["get", "secrets", "-n", "groundplane-sources"]).contains("cannot list")
    );
    // An operator moves one.
    place.run(&["source", "accept", "rival", name]);
    assert!(place.sync("rival", 0).contains("49 in conflict"));
    assert!(place.sync("ironic", 0).contains("1 in conflict"));
    place.run(&["source", "accept", "ironic", name]);
    place.sync("ironic", 0);
    place.run(&["source", "remove", "rival"]);
}

#[test]
fn nodes_and_ports_are_made_where_a_source_asks_for_it_and_a_second_process_takes_over() {
    let Some(ironic) = Ironic::start() else { return };
    (1..=5).for_each(|number| ironic.enrol(number));
    let place = Place::new();
    let site = "apiVersion: inventory.miloapis.com/v1alpha1\nkind: Region\nmetadata: {name: eu}\n\
                spec: {displayName: Europe}\n---\napiVersion: inventory.miloapis.com/v1alpha1\nkind: Site\n\
                metadata: {name: fra1}\nspec: {regionRef: {name: eu}, displayName: Frankfurt, type: Datacenter}\n";
    let file = place.file("site.yaml", site);
    place.run(&["apply", "-f", file.to_str().unwrap()]);
    add(&place, "made", &ironic, &["--interval", "1s", "--inventory", "create", "--site", "fra1"]);
    let first = place.start("made", &[]);
    until("five hosts", || (place.hosts().len() == 5).then_some(()));
    until("five nodes", || (place.list("nodes.inventory.miloapis.com").len() == 5).then_some(()));
    let ports = until("five ports", || Some(place.list("ports")).filter(|ports| ports.len() == 5));
    assert!(ports.iter().any(|port| port["spec"]["macAddress"] == "52:54:00:aa:bb:03"));
    let node = until("a matched host", || place.host("node003")["status"]["node"].as_object().cloned());
    assert_eq!(node["name"], "node003");

    let second = place.start("made", &["--log", "debug"]);
    first.kill();
    ironic.enrol(6);
    until("a host by the second process", || (place.hosts().len() == 6).then_some(()));
    assert_eq!(second.stop(), Some(0));
}
