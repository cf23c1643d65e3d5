//! The commands under `groundplane inventory`, on the demo fleet: lists, racks, ways, losses, room.

use std::process::Command;

use serde_json::Value;

use crate::on_a_terminal::{golden, shown, steady};
use crate::program::{GROUNDPLANE, Ground};

#[test]
fn what_is_asked_of_an_inventory_on_a_terminal_and_in_a_pipe() {
    let ground = Ground::with_fleet();
    let (mut on_terminal, mut in_pipe) = (String::new(), String::new());
    for line in [
        "summary",
        "tree --region eu-west",
        "providers",
        "regions",
        "sites --region eu-central",
        "clusters --site ams1",
        "nodes --site fra1 --cluster fra1-compute",
        "nodes --rack fra1-a02 --role controlplane",
        "nodes fra1-a01-node01 nobody --no-headers",
        "nodes --region nowhere",
        "racks --site fra1",
        "racks --site fra1 -o wide",
        "racks --region eu-west --row A --lifecycle active -o name",
        "networkdevices --rack fra1-a01",
        "ports --device fra1-a01-node01 --type optical",
        "cables --port fra1-a01-node01-eth0",
        "circuits --provider arelion",
        "links",
        "virtualmachines --host fra1-a01-node02",
        "get nd --rack fra1-net -o name",
        "get sites --rack fra1-a01",
        "get widgets",
        "kinds",
        "nodes -o csv",
        "rack show fra1-a01",
        "rack show --site fra1 --row A --face front",
        "rack show nowhere",
        "trace fra1-a01-node01-eth0",
        "trace fra1-a01-leaf1 et-0/0/48",
        "trace fra1-a01-leaf1 et-9",
        "trace fra1-a01-node01",
        "trace fra1-border1-et0",
        "impact networkdevice/fra1-spine1",
        "impact nd fra1-a01-pdu-a",
        "impact rack/fra1-a01 --feed A",
        "impact cable/fra1-a01-node01-eth0--fra1-a01-leaf1",
        "impact fra1-a01-node02",
        "impact nobody",
        "impact site/fra1",
        "find-space --units 2 --watts 500 --ports 1 --count 2 --spread rack --site fra1",
        "find-space --units 41",
        "find-space --site nowhere",
    ] {
        let line = format!("inventory {line}");
        let (text, code) = shown(&ground, &line, 100, false);
        on_terminal += &format!("$ groundplane {line}\n{}[{code}]\n\n", steady(&ground, &text));
        let told = ground.told(&line);
        in_pipe += &format!(
            "$ groundplane {line}\n{}{}[{}]\n\n",
            steady(&ground, &told.out),
            steady(&ground, &told.err),
            told.code
        );
    }
    golden("inventory-terminal.txt", &on_terminal);
    golden("inventory-pipe.txt", &in_pipe);
}

#[test]
fn answers_for_programs_are_json_yaml_names_and_drawings() {
    let ground = Ground::with_fleet();
    let json = |line: &str| -> Value { serde_json::from_str(&ground.run(line)).unwrap() };
    let nodes = json("inventory nodes --site fra1 -o json");
    assert_eq!(nodes["kind"], "NodeList");
    assert_eq!(nodes["items"].as_array().unwrap().len(), 18);
    assert!(ground.run("inventory sites -o yaml").contains("kind: SiteList"));
    assert_eq!(
        ground.run("inventory regions -o name"),
        "region.inventory.miloapis.com/eu-central\nregion.inventory.miloapis.com/eu-west\n"
    );
    let rack = json("inventory rack show fra1-a01 -o json");
    assert_eq!((rack["kind"].as_str(), rack["heightU"].as_i64()), (Some("RackElevation"), Some(42)));
    let drawing = ground.run("inventory rack show fra1-a01 fra1-a02 -o svg");
    assert!(drawing.starts_with("<svg") && drawing.matches("class=\"title\"").count() == 2, "{drawing}");
    assert!(ground.run("inventory trace fra1-a01-leaf1-up1 -o svg").contains("fra1-spine1"));
    assert_eq!(
        ground.run("inventory trace fra1-a01-node01-eth0 -o name"),
        "port.inventory.miloapis.com/fra1-a01-leaf1-xe1\n"
    );
    let lost = ground.run("inventory impact nd/fra1-a01-pdu-a -o name");
    assert_eq!(lost.lines().count(), 8, "{lost}");
    assert_eq!(json("inventory kinds -o json")["kinds"].as_array().unwrap().len(), 12);
    assert_eq!(json("inventory summary -o json")["kind"], "InventorySummary");
}

#[test]
fn what_the_first_start_says_to_try_works_as_it_stands() {
    let ground = Ground::with_fleet();
    let said = ground.server.said();
    let lines: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    assert!(lines.len() >= 6 && lines.iter().all(|line| line.contains("groundplane ")), "{said}");
    let (last, others) = lines.split_last().unwrap();
    let typed = |line: &str| {
        let words = ["-c".to_owned(), line.to_owned()];
        let mut command = ground.command(std::path::Path::new("/bin/sh"), &words);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for line in others {
        let (code, why) = typed(line);
        assert_eq!(code, Some(0), "{line}: {why}");
    }
    let (code, why) = typed(last);
    assert_eq!((code, why.contains("cannot delete Rack fra1-a01: ")), (Some(1), true), "{last}: {why}");
}

#[test]
fn the_manifests_of_the_guides_go_in_one_after_the_other() {
    let ground = Ground::fresh();
    for guide in ["model-a-site", "rack-and-cable-a-host"] {
        let page = format!("{}/../../docs/inventory/{guide}.md", env!("CARGO_MANIFEST_DIR"));
        let page = std::fs::read_to_string(page).unwrap();
        let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
        // What begins with a spec is a part of something.
        for block in blocks.filter(|block| block.starts_with("apiVersion: ")) {
            ground.run_with("apply -f -", block);
        }
    }
    let way = ground.run("inventory trace fra1-a01-node01 eth0");
    assert!(way.contains("Ends at NetworkDevice/fra1-a01-leaf1 xe-0/0/1. Total cable length: 2 m."), "{way}");
    let way = ground.run("inventory trace fra1-a01-node01 PSU1");
    assert!(way.contains("Ends at Rack/fra1-a01 feed a"), "{way}");
}

#[test]
fn undo_takes_back_what_somebody_did_and_not_what_the_controllers_made_of_it() {
    let ground = Ground::with_fleet();
    let node = "node.inventory.miloapis.com/fra1-a01-node03";
    let place = |node: &str| {
        let labels = "{.metadata.labels.topology\\.inventory\\.miloapis\\.com/rack}";
        ground.run(&format!("get {node} -o 'jsonpath={{.spec.placement.rackRef.name}} {labels}'"))
    };
    let spec = "{\"spec\":{\"placement\":{\"rackRef\":{\"name\":\"fra1-a02\"},\"startUnit\":20}}}";
    ground.run(&format!("patch {node} --type merge -p '{spec}'"));
    ground.until(&format!("get {node} --show-labels"), "miloapis.com/rack=fra1-a02");
    ground.run(&format!("undo {node}"));
    ground.until(&format!("get {node} --show-labels"), "miloapis.com/rack=fra1-a01");
    assert_eq!(place(node), "fra1-a01 fra1-a01");
    // And the undo is somebody's change like any other.
    ground.run(&format!("undo {node}"));
    ground.until(&format!("get {node} --show-labels"), "miloapis.com/rack=fra1-a02");
    assert_eq!(place(node), "fra1-a02 fra1-a02");
}

#[test]
fn how_it_was_is_asked_like_how_it_is() {
    let ground = Ground::with_fleet();
    let cable = ground.run("get cable fra1-a01-node01-eth0--fra1-a01-leaf1 -o json");
    let cable: Value = serde_json::from_str(&cable).unwrap();
    let before = cable["metadata"]["resourceVersion"].as_str().unwrap();
    ground.run("delete cable fra1-a01-node01-eth0--fra1-a01-leaf1");
    let now = ground.run("inventory trace fra1-a01-node01-eth0");
    assert!(now.contains("Not connected."), "{now}");
    let then = ground.run(&format!("inventory trace fra1-a01-node01-eth0 --as-of {before}"));
    assert!(then.contains("fra1-a01-leaf1"), "{then}");
    let then = ground.run(&format!("inventory cables --port fra1-a01-node01-eth0 --as-of {before}"));
    assert!(then.contains("fra1-a01-node01-eth0--fra1-a01-leaf1"), "{then}");
    assert!(
        ground.run(&format!("inventory rack show fra1-a01 --as-of {before}")).contains("fra1-a01-node01")
    );
    let future = ground.told("inventory summary --as-of 2126-01-01");
    assert_eq!(future.code, 1);
    assert!(future.err.contains("is in the future"), "{future:?}");
}

#[test]
fn a_shell_is_offered_what_stands_in_the_inventory() {
    let ground = Ground::with_fleet();
    let offered = |line: &str| {
        let offered = ground.run(&format!("__complete -- {line}"));
        offered.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<String>>()
    };
    assert_eq!(offered("inventory find"), ["find-space"]);
    assert_eq!(offered("inventory rack show fra1-a0"), ["fra1-a01", "fra1-a02", "fra1-a03"]);
    assert_eq!(offered("inventory rack show fra1-a01 fra1-n"), ["fra1-net"]);
    assert_eq!(offered("inventory nodes --site f"), ["fra1"]);
    assert_eq!(offered("inventory nodes --cluster=f"), ["--cluster=fra1-compute"]);
    assert_eq!(
        offered("inventory trace fra1-border1-et"),
        ["fra1-border1-et0", "fra1-border1-et1", "fra1-border1-et2"]
    );
    assert_eq!(offered("inventory impact ra"), ["rack/"]);
    assert_eq!(offered("inventory impact rack/ams1-n"), ["rack/ams1-net"]);
    assert_eq!(offered("inventory impact rack/ams1-net --as-if rack/fra1-n"), ["rack/fra1-net="]);
    assert_eq!(offered("inventory summary --as-if rack/fra1-net=f"), ["rack/fra1-net=failed"]);
    assert_eq!(offered("inventory find-space --spread r"), ["rack", "row"]);
}

#[test]
fn called_by_its_old_name_it_is_the_plugin_of_datumctl() {
    let ground = Ground::with_fleet();
    let plugin = ground.files.path().join("datumctl-inventory");
    std::os::unix::fs::symlink(GROUNDPLANE, &plugin).unwrap();
    let asked = |words: &[&str], context: &[(&str, &str)]| {
        let mut command = Command::new(&plugin);
        command.args(words).env_clear().envs(context.iter().copied());
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code().unwrap())
    };
    let (manifest, _, code) = asked(&["--plugin-manifest"], &[]);
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(code, 0);
    assert_eq!(
        (
            &manifest["name"],
            &manifest["min_datumctl_version"],
            &manifest["api_version"],
            &manifest["min_api_version"]
        ),
        (&"inventory".into(), &"0.5.0".into(), &1.into(), &1.into())
    );
    assert!(manifest["version"].is_string() && manifest["description"].is_string());
    let (_, why, code) = asked(&["sites"], &[]);
    assert_eq!((code, why.starts_with("error: DATUM_API_HOST is not set\n")), (2, true), "{why}");
    // datumctl hands over the host, and a program that gives a token.
    let client = ground.server.client();
    let host = client.address();
    ground.run("create serviceaccount porter -n default");
    let token = ground.run("create token porter -n default");
    let helper = ground.file(
        "helper",
        &format!("#!/bin/sh\n[ \"$*\" = 'auth get-token --session s1' ] && echo {}", token.trim()),
    );
    std::fs::set_permissions(&helper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let context = [
        ("DATUM_API_HOST", host),
        ("DATUM_CREDENTIALS_HELPER", helper.to_str().unwrap()),
        ("DATUM_SESSION", "s1"),
        ("DATUM_PROJECT", "some-project"),
    ];
    let (_, why, code) = asked(&["sites", "--insecure-skip-tls-verify"], &context);
    assert_eq!(code, 1, "{why}");
    assert!(
        why.contains("could not list sites") && why.contains("system:serviceaccount:default:porter"),
        "{why}"
    );
    let (out, why, code) = asked(&["sites"], &[("KUBECONFIG", ground.server.kubeconfig().to_str().unwrap())]);
    assert_eq!(code, 0, "{why}");
    assert!(out.starts_with("NAME   REGION       PROVIDER   TYPE         READY\n"), "{out}");
}

#[test]
fn a_device_is_moved_and_taken_out_with_all_that_is_its() {
    let ground = Ground::with_fleet();
    let planned = ground.told("inventory move node/fra1-a01-node03 --to fra1-a03:U30 --dry-run");
    assert_eq!(planned.code, 0, "{planned:?}");
    assert!(
        planned.err.contains("Cable fra1-a01-node03-eth0--fra1-a01-leaf1 no longer reaches: it is 2 m long"),
        "{planned:?}"
    );
    let asked = ground.told("inventory move fra1-a01-node03 --to fra1-a03:30");
    assert!(asked.code == 1 && asked.err.contains("nothing was changed; pass --yes"), "{asked:?}");
    let taken = ground.told("inventory move fra1-a01-node03 --to fra1-a02:1 --yes");
    assert!(taken.code == 1 && taken.err.contains("overlaps Node fra1-a02-node01"), "{taken:?}");
    let moved = ground.told("inventory move fra1-a01-node03 --to fra1-a03:30 --yes");
    assert_eq!(moved.code, 0, "{moved:?}");
    assert!(ground.run("inventory nodes fra1-a01-node03 -o wide").contains("fra1-a03 U30-U31"));
    let kept = ground.told("inventory decommission node/fra1-a01-node02 --yes");
    assert!(kept.code == 1 && kept.err.contains("still has virtualmachine/fra1-a01-node02-vm1"), "{kept:?}");
    let plan: Value =
        serde_json::from_str(&ground.run("inventory decommission nd/fra1-a01-leaf1 --dry-run -o json"))
            .unwrap();
    assert!(plan["items"].as_array().unwrap().len() > 8, "{plan}");
    let gone = ground.told("inventory decommission node/fra1-a01-node02 --with-dependents --delete --yes");
    assert_eq!(gone.code, 0, "{gone:?}");
    assert_eq!(ground.told("inventory nodes fra1-a01-node02").code, 1);
    let retired = ground.told("inventory decommission nd/fra1-a01-leaf1 --yes");
    assert_eq!(retired.code, 0, "{retired:?}");
    assert!(ground.run("inventory networkdevices fra1-a01-leaf1 -o wide").contains("Retired"));
    assert!(ground.run("inventory ports --device fra1-a01-leaf1 --map").contains("free"));
    let map = ground.run("inventory ports --device fra1-a01-leaf2 --map");
    let at = |label: &str| map.find(&format!(" {label} ")).unwrap_or(usize::MAX);
    assert!(at("xe-0/0/2") == usize::MAX || at("xe-0/0/2") < at("xe-0/0/7"), "{map}");
    assert!(map.contains("Node/fra1-a01-node01 eth1"), "{map}");
}

#[test]
fn cables_go_out_and_in_by_device_and_port() {
    let ground = Ground::with_fleet();
    let sheet = ground.run("inventory export cables -o csv");
    assert!(sheet.lines().next().unwrap().contains("a.device,a.port,z.device,z.port"), "{}", &sheet[..200]);
    assert!(sheet.contains("fra1-a01-node01,eth0,fra1-a01-leaf1,xe-0/0/1") && !sheet.contains('{'));
    ground.file("cables.csv", &sheet);
    let told = ground.told("inventory import cables.csv --yes");
    assert!(told.err.contains("unchanged: nothing to import"), "{told:?}");
    ground.file("more.csv", "name,a.device,a.port,z.device,z.port,spec.media\nnew,fra1-a01-leaf1,xe-0/0/7,fra1-a01-leaf2,xe-0/0/7,DAC\nbad,fra1-a01-leaf1,xe-9,nobody,eth0,DAC\n");
    let told = ground.told("inventory import more.csv --kind cables --yes");
    assert!(
        told.err.contains("row 3, column a.port: fra1-a01-leaf1 has no port xe-9")
            && told.err.contains("no device nobody"),
        "{told:?}"
    );
    ground.file("more.csv", "name,a.device,a.port,z.device,z.port,spec.media\nnew,fra1-a01-leaf1,xe-0/0/7,fra1-a01-leaf2,xe-0/0/7,DAC\n");
    assert_eq!(ground.told("inventory import more.csv --kind cables --yes").code, 0);
    assert!(ground.run("inventory cables new").contains("fra1-a01-leaf1-xe7"));
}
