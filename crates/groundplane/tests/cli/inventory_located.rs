//! Where things are, by references alone: no controller runs, so no object has a topology label.

use std::collections::BTreeSet;

use inventory::demo::{Size, fleet};
use serde_json::{Value, json};
use testbed::server::Server;

use crate::program::{GROUNDPLANE, Ground};

/// A server without controllers, with the small fleet and a chassis with a blade.
fn unlabelled() -> Ground {
    let server = Server::fresh(GROUNDPLANE, &["--controllers", "none"]).unwrap();
    let ground = Ground { server, files: tempfile::tempdir().unwrap() };
    let mut objects: Vec<Value> =
        fleet(Size::SMALL, 1).into_iter().map(|object| object.into_value()).collect();
    let object = |kind: &str, name: &str, spec: Value| json!({"apiVersion": "inventory.miloapis.com/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec});
    let hardware = json!({"cpuCores": 8, "cpuArchitecture": "amd64", "memoryBytes": 1});
    objects.push(object(
        "Node",
        "chassis",
        json!({
            "siteRef": {"name": "fra1"}, "hardware": hardware, "slots": [{"name": "1"}],
            "placement": {"rackRef": {"name": "fra1-a01"}, "startUnit": 20, "unitHeight": 4},
        }),
    ));
    objects.push(object(
        "Node",
        "blade",
        json!({
            "siteRef": {"name": "fra1"}, "hardware": hardware,
            "inSlot": {"deviceRef": {"kind": "Node", "name": "chassis"}, "slot": "1"},
        }),
    ));
    let port = |name: &str, node: &str| {
        object(
            "Port",
            name,
            json!({"deviceRef": {"kind": "Node", "name": node}, "type": "Ethernet", "name": "eth0"}),
        )
    };
    objects.push(port("blade-eth0", "blade"));
    objects.push(port("chassis-eth0", "chassis"));
    objects.push(object("Cable", "blade-up", json!({
        "media": "Copper", "lengthM": 2, "endpoints": [{"name": "blade-eth0"}, {"name": "fra1-a01-leaf1-xe7"}],
    })));
    objects.push(object(
        "VirtualMachine",
        "vm",
        json!({
            "hostRef": {"name": "blade"}, "allocation": {"vcpus": 1, "memoryBytes": 1},
        }),
    ));
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    ground.run_with("inventory apply -f -", &list.to_string());
    ground
}

fn names(ground: &Ground, line: &str) -> Vec<String> {
    let printed = ground.run(&format!("inventory {line} -o name"));
    printed.lines().filter_map(|line| Some(line.split_once('/')?.1.to_owned())).collect()
}

#[test]
fn lists_by_region_site_rack_and_cluster_need_no_labels() {
    let ground = unlabelled();
    let all = |kind: &str| names(&ground, kind);
    let with = |kind: &str, start: &str| -> Vec<String> {
        all(kind).into_iter().filter(|name| name.starts_with(start)).collect()
    };
    for kind in ["racks", "clusters", "networkdevices"] {
        assert_eq!(names(&ground, &format!("{kind} --region eu-west")), with(kind, "ams1"), "{kind}");
        assert!(!with(kind, "ams1").is_empty(), "{kind}");
        assert_eq!(names(&ground, &format!("{kind} --region eu-west --site fra1")), Vec::<String>::new());
    }
    assert_eq!(names(&ground, "sites --region eu-west"), ["ams1"]);
    for filter in ["--region eu-west", "--site ams1", "--region eu-west --site ams1"] {
        for kind in ["ports", "virtualmachines", "nodes"] {
            let found: BTreeSet<String> = names(&ground, &format!("{kind} {filter}")).into_iter().collect();
            let wanted: BTreeSet<String> = with(kind, "ams1").into_iter().collect();
            let differ: Vec<&String> = found.symmetric_difference(&wanted).collect();
            assert!(differ.is_empty() && !wanted.is_empty(), "{kind} {filter}: {differ:?}");
        }
    }
    // Racks have ports of their own: their feeds.
    let in_rack = names(&ground, "ports --rack fra1-a01");
    assert!(with("ports", "fra1-a01-").iter().all(|port| in_rack.contains(port)), "{in_rack:?}");
    // What is in a slot is in the rack of the device with the slot.
    for (line, wanted) in [
        ("nodes --rack fra1-a01", "blade"),
        ("ports --rack fra1-a01", "blade-eth0"),
        ("virtualmachines --rack fra1-a01", "vm"),
        ("virtualmachines --site fra1", "vm"),
    ] {
        assert!(names(&ground, line).contains(&wanted.to_owned()), "{line}");
    }
    assert!(!names(&ground, "nodes --rack fra1-a02").contains(&"blade".to_owned()));
    let of_cluster = names(&ground, "virtualmachines --cluster fra1-compute");
    assert!(!of_cluster.is_empty() && !of_cluster.contains(&"vm".to_owned()), "{of_cluster:?}");
    // Other filters count too, and the table has the region.
    assert_eq!(names(&ground, "ports --site fra1 --type ethernet"), ["blade-eth0", "chassis-eth0"]);
    assert_eq!(names(&ground, "nodes blade --region eu-central"), ["blade"]);
    assert!(ground.run("inventory clusters --region eu-west").contains("eu-west"));
    assert_eq!(ground.run("inventory ports --region nowhere"), "No matching inventory found.\n");
}

#[test]
fn whoever_may_not_list_what_is_in_between_is_told_that_labels_decide() {
    let ground = unlabelled();
    ground.run("create clusterrole ports --verb=list --resource=ports.inventory.miloapis.com");
    ground.run("create clusterrolebinding ports --clusterrole=ports --user=eve");
    let told = ground.told("inventory ports --site fra1 --as eve");
    assert!(told.code == 0 && told.err.contains("selected by topology labels"), "{told:?}");
}

#[test]
fn a_chassis_is_moved_with_the_cables_of_its_blades() {
    let ground = unlabelled();
    let moved = ground.told("inventory move chassis --to fra1-a03:20 --dry-run");
    assert!(moved.err.contains("Cable blade-up no longer reaches: it is 2 m long"), "{moved:?}");
    let row = "patch rack fra1-a03 --type merge -p '{\"spec\":{\"row\":\"Z\"}}'";
    ground.run(row);
    let moved = ground.told("inventory move chassis --to fra1-a03:20 --dry-run");
    assert!(
        moved.err.contains("Cable blade-up no longer reaches: it is 2 m long, at least 3.2 m"),
        "{moved:?}"
    );
    let moved = ground.told("inventory move nd/fra1-a01-leaf1 --to fra1-a01:30 --dry-run");
    assert!(moved.code == 0 && !moved.err.contains("unknown where"), "{moved:?}");
    let flat = ground.told("inventory move chassis --to fra1-a03 --dry-run");
    assert!(flat.code == 2 && flat.err.contains("is 4U high and needs a rack unit"), "{flat:?}");
}

#[test]
fn sheets_that_belong_together_are_imported_together() {
    let ground = unlabelled();
    ground.file(
        "sheets/cables.csv",
        "name,spec.media,a.device,a.port,z.device,z.port\nk,Copper,blade,eth7,chassis,eth7\n",
    );
    ground.file(
        "sheets/ports.csv",
        "name,spec.deviceRef.kind,spec.deviceRef.name,spec.type,spec.name\np1,Node,blade,Ethernet,eth7\np2,Node,chassis,Ethernet,eth7\n",
    );
    let told = ground.told("inventory import sheets --yes");
    assert!(told.code == 0 && told.err.contains("imported 3 objects"), "{told:?}");
    // All that is wrong, in all files.
    ground.file("wrong/cables.csv", "name\nk2\n");
    ground.file("wrong/sites.csv", "name,spec.typ\ns\n");
    ground.file("wrong/racks.csv", "name,spec.heightU\nr,tall\n");
    let told = ground.told("inventory import wrong --yes");
    for words in
        ["add the columns a.device, a.port, z.device, z.port", "spec.media", "column spec.typ", "\"tall\""]
    {
        assert!(told.err.contains(words), "{words}: {told:?}");
    }
    assert_eq!(told.err.matches("nothing was imported").count(), 1, "{told:?}");
    let told = ground.told("inventory find-space --count 0");
    assert_eq!(told.code, 2, "{told:?}");
}
