//! Much at once: everything out and in again, spreadsheets that are edited, and what is wrong with them.

use std::io::{Read, Write};
use std::path::Path;

use crate::program::{GROUNDPLANE, Ground, words};
use crate::terminal;

#[test]
fn everything_goes_out_and_comes_in_elsewhere_the_same() {
    let here = Ground::with_fleet();
    let yaml = here.run("inventory export");
    assert!(
        !yaml.contains("managedFields") && !yaml.contains("topology.inventory") && !yaml.contains("status:")
    );
    here.file("all.yaml", &yaml);
    let told = here.told("inventory import all.yaml --yes");
    assert!(told.err.contains("unchanged: nothing to import"), "{told:?}");
    let there = Ground::fresh();
    there.file("all.yaml", &yaml);
    let told = there.told("inventory import all.yaml --yes --message 'a copy'");
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.err.contains("objects in one commit (revision "), "{told:?}");
    assert_eq!(there.run("inventory export"), yaml);
    assert!(there.run("history rack fra1-a01").contains("a copy"));
}

#[test]
fn spreadsheets_go_out_are_edited_and_come_in_as_one_commit() {
    let ground = Ground::with_fleet();
    // Whatever people write, so that none of it is lost on the way: numbers without quotes, texts with commas, nothing at all.
    ground.file(
        "odd.yaml",
        r#"
apiVersion: inventory.miloapis.com/v1alpha1
kind: Link
metadata: {name: fra-ams, labels: {team: core, tier: "1"}}
spec: {endpoints: [{kind: Site, name: fra1}, {kind: Site, name: ams1}], type: Internet, latencyMs: 7, cableRefs: []}
---
apiVersion: inventory.miloapis.com/v1alpha1
kind: Region
metadata: {name: oz, annotations: {note: "kept"}}
spec: {displayName: "=Oz, \"down under\"; 100 %", coordinates: {latitude: -33, longitude: 151}}
---
apiVersion: inventory.miloapis.com/v1alpha1
kind: Rack
metadata: {name: odd}
spec: {siteRef: {name: fra1}, heightU: 10, cage: "", row: "a\nb", reservations: [], powerFeeds: []}
---
apiVersion: inventory.miloapis.com/v1alpha1
kind: Port
metadata: {name: odd}
spec: {deviceRef: {kind: Rack, name: odd}, type: Ethernet, name: " x ", speed: 25}
"#,
    );
    ground.run("inventory apply -f odd.yaml");
    let told = ground.told("inventory export -o csv --dir sheets");
    assert_eq!(told.err.lines().count(), 12, "a sheet for each kind: {told:?}");
    let told = ground.told("inventory import sheets");
    assert!(
        told.err.contains("unchanged: nothing to import") && told.out.is_empty(),
        "a round trip changes nothing: {told:?}"
    );
    let racks = ground.run("inventory export racks -o csv");
    let head = racks.lines().next().unwrap();
    assert!(head.starts_with("name,"), "{head}");

    // A sheet with the columns that matter: another row, a cleared cage, and a rack that is new.
    ground.file(
        "racks.csv",
        "name,spec.siteRef.name,spec.heightU,spec.row,spec.cage,labels\n\
         fra1-a01,fra1,42,B,,team=core\n\
         fra1-z01,fra1,48,Z,C-09,\n",
    );
    let told = ground.told("inventory import racks.csv --plan");
    assert_eq!(told.code, 0, "{told:?}");
    for line in [
        "+ rack.inventory.miloapis.com/fra1-z01 created",
        "~ spec.row: \"A\" -> \"B\"",
        "- spec.cage: \"C-01\"",
    ] {
        assert!(told.out.contains(line), "{line} in {told:?}");
    }
    assert_eq!(ground.told("get rack fra1-z01").code, 1, "a plan changes nothing");
    let told = ground.told("inventory import racks.csv --yes --message 'the new row'");
    assert_eq!(told.code, 0, "{told:?}");
    let rack = ground.run("get rack fra1-a01 -o yaml");
    assert!(rack.contains("row: B") && !rack.contains("cage:") && rack.contains("team: core"), "{rack}");
    assert!(rack.contains("serial:"), "a column that is left out leaves its field: {rack}");
    let revision = told.err.split("undo --revision ").nth(1).unwrap().trim();
    ground.run(&format!("undo --revision {revision}"));
    assert!(ground.run("get rack fra1-a01 -o yaml").contains("cage: C-01"));
    assert_eq!(ground.told("get rack fra1-z01").code, 1, "one commit, taken back as one");
}

#[test]
fn what_others_have_changed_since_the_export_is_kept_or_told_as_a_conflict() {
    let ground = Ground::with_fleet();
    let sheet = ground.run("inventory export racks -o csv --field-selector spec.siteRef.name=fra1");
    let patch = |name: &str, spec: &str| {
        ground.run(&format!("patch rack {name} --type merge -p '{{\"spec\":{spec}}}'"));
    };
    // Somebody moves a rack to another cage, and takes one away, while the sheet lies on a desk.
    patch("fra1-a01", "{\"cage\":\"C-07\"}");
    patch("fra1-a02", "{\"row\":\"X\"}");
    let edited = sheet.replace(",A,RK", ",B,RK");
    assert_ne!(edited, sheet);
    ground.file("racks.csv", &edited);
    let told = ground.told("inventory import racks.csv --yes");
    assert_eq!(told.code, 1, "{told:?}");
    assert!(
        told.err.contains("racks.csv row 3, column spec.row: conflict: the file changes \"A\" to \"B\", but the field was changed to \"X\" since the export"),
        "{told:?}"
    );
    assert!(told.err.contains("nothing was imported"), "{told:?}");
    // Agreed, it goes in, and the cage that nobody touched in the sheet stays where it was moved.
    patch("fra1-a02", "{\"row\":\"A\"}");
    let told = ground.told("inventory import racks.csv --yes");
    assert_eq!(told.code, 0, "{told:?}");
    let cage = ground.run("get rack fra1-a01 -o 'jsonpath={.spec.cage} {.spec.row}'");
    assert_eq!(cage, "C-07 B");
    // Whoever insists, overwrites.
    let told = ground.told("inventory import racks.csv --overwrite --yes");
    assert_eq!(told.code, 0, "{told:?}");
    assert_eq!(ground.run("get rack fra1-a01 -o 'jsonpath={.spec.cage}'"), "C-01");
    // What is gone is not made again by chance.
    ground.run_with(
        "apply -f -",
        "apiVersion: inventory.miloapis.com/v1alpha1\nkind: Region\nmetadata: {name: oz}\nspec: {displayName: Oz}\n",
    );
    ground.file("regions.csv", &ground.run("inventory export regions -o csv"));
    ground.run("delete region oz");
    let told = ground.told("inventory import regions.csv --yes");
    assert!(told.err.contains("regions.csv row 4: Region oz was deleted since the export"), "{told:?}");
    let told = ground.told("inventory import regions.csv --yes --overwrite");
    assert_eq!(told.code, 0, "{told:?}");
    // How it was is exported to be brought back: it carries no revision.
    assert!(ground.run("inventory export regions -o csv").starts_with("name,revision,"));
    assert!(!ground.run("inventory export regions -o csv --as-of 1s").contains("revision"));
    ground.file("regions.csv", "name,revision,spec.displayName\neu-west,99999999999999,West\n");
    let told = ground.told("inventory import regions.csv");
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.err.contains("remove its revision column"), "{told:?}");
}

#[test]
fn what_is_too_much_for_one_commit_goes_in_parts_and_goes_on_where_it_stopped() {
    let ground = Ground::fresh();
    let fleet = ground.run("demo");
    // A host that nobody may have: its site is another than its rack's.
    let wrong = "---\napiVersion: inventory.miloapis.com/v1alpha1\nkind: Node\nmetadata: {name: zz-lost}\nspec: {siteRef: {name: ams1}, \
                 hardware: {cpuCores: 1, cpuArchitecture: amd64, memoryBytes: 1}, placement: {rackRef: {name: fra1-a01}, startUnit: 20, unitHeight: 1}}\n";
    ground.file("fleet.yaml", &format!("{fleet}{wrong}"));
    let told = ground.told("inventory import fleet.yaml --in-parts=200");
    assert_eq!(told.code, 1, "{told:?}");
    assert!(
        told.out
            .starts_with("part 1 of 5: create 3 Provider, create 2 Region, create 2 Site, create 8 Rack, "),
        "{told:?}"
    );
    assert!(told.err.contains("nothing was imported; pass --yes to import without asking"), "{told:?}");
    assert_eq!(ground.told("get regions").out, "", "a preview does nothing");
    let told = ground.told("inventory import fleet.yaml --in-parts=20 --yes");
    assert_eq!(told.code, 1, "{told:?}");
    assert!(
        told.err.contains("Node zz-lost: ")
            && told.err.contains("Rack fra1-a01 is at Site fra1, not at Site ams1"),
        "{told:?}"
    );
    assert!(
        told.err.contains("20 objects (revision ") && told.err.contains("run the same command again"),
        "{told:?}"
    );
    // Mended, it goes on: what is done is passed over.
    ground.file("fleet.yaml", &fleet);
    let told = ground.told("inventory import fleet.yaml --in-parts=200 --yes");
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.err.contains(" unchanged") && told.err.contains(" done"), "{told:?}");
    let told = ground.told("inventory import fleet.yaml --in-parts --yes");
    assert!(told.err.contains("unchanged: nothing to import"), "{told:?}");
    // What is wrong with an object by itself is told before anything is done.
    ground.file("bad.yaml", &fleet.replace("heightU: 42", "heightU: 0").replace("name: fra1", "name: xyz1"));
    let told = ground.told("inventory import bad.yaml --in-parts --yes");
    assert!(told.err.contains("spec.heightU") && told.err.contains("nothing was imported"), "{told:?}");
}

#[test]
fn an_import_that_is_not_confirmed_imports_nothing_and_fails() {
    let ground = Ground::with_fleet();
    ground.file("racks.csv", "name,spec.row\nfra1-a01,B\n");
    let refusal = "nothing was imported; pass --yes to import without asking";
    let before = ground.run("inventory export racks");
    let told = ground.told("inventory import racks.csv");
    assert!(told.code == 1 && told.err.contains(refusal), "without a terminal: {told:?}");
    assert!(told.out.contains("~ spec.row: \"A\" -> \"B\""), "the plan is shown: {told:?}");
    let (text, code) = answered(&ground, "inventory import racks.csv", "n\n");
    assert!(code == 1 && text.contains("Import 1 object? (y/n)") && text.contains(refusal), "{code}: {text}");
    assert_eq!(ground.run("inventory export racks"), before);
    let (text, code) = answered(&ground, "inventory import racks.csv", "y\n");
    assert!(code == 0 && text.contains("imported 1 object in one commit"), "{code}: {text}");
    assert_ne!(ground.run("inventory export racks"), before);
}

/// What a command shows on a terminal where somebody types an answer, and its exit code.
fn answered(ground: &Ground, line: &str, answer: &str) -> (String, i32) {
    let command = ground.command(Path::new(GROUNDPLANE), &words(line));
    let (mut child, mut terminal) = terminal::run(command, 120);
    terminal.write_all(answer.as_bytes()).unwrap();
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // The end of the other side reads as an error here.
        let _ = terminal.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (reading.join().unwrap(), code)
}

#[test]
fn what_is_wrong_is_told_by_file_row_and_column_and_nothing_is_done() {
    let ground = Ground::with_fleet();
    let before = ground.run("inventory export");
    let refused = |name: &str, text: &str, wanted: &[&str]| {
        ground.file(name, text);
        let told = ground.told(&format!("inventory import {name} --yes"));
        assert_eq!(told.code, 1, "{told:?}");
        for line in wanted {
            assert!(told.err.contains(line), "{line} in {told:?}");
        }
        assert!(told.err.contains("nothing was imported"), "{told:?}");
    };
    refused(
        "racks.csv",
        "name,heightU\nfra1-a01,42\n",
        &["error: racks.csv row 1, column heightU: Rack has no such field; did you mean spec.heightU?"],
    );
    refused(
        "racks.csv",
        "name,spec.heightU\nfra1-a01,tall\nfra1-new,42\n",
        &["racks.csv row 2, column spec.heightU: \"tall\" is not an integer"],
    );
    refused(
        "racks.csv",
        "name,spec.heightU\nfra1-new,42\n",
        &[
            "racks.csv row 2, column spec.siteRef.name: Required value; add this column: fra1-new does not exist yet",
        ],
    );
    // What only the server can know: the same row and column, in its words.
    refused(
        "racks.csv",
        "name,spec.heightU\nfra1-a01,4\nfra1-a02,43\n",
        &["racks.csv row 2", "does not fit within Rack fra1-a01"],
    );
    refused(
        "nodes.csv",
        "name,spec.hardware.cpuArchitecture\nfra1-a01-node01,sparc\n",
        &["nodes.csv row 2, column spec.hardware.cpuArchitecture: ", "amd64"],
    );
    refused(
        "cables.csv",
        "name,spec.media,spec.endpoints\nk1,DAC,\"[{\"\"name\"\":\"\"ghost\"\"},{\"\"name\"\":\"\"fra1-a01-leaf1-xe1\"\"}]\"\n",
        &["cables.csv row 2", "endpoint Port ghost not found"],
    );
    let told = ground.told("inventory import audit.csv");
    assert_eq!(told.code, 2, "{told:?}");
    assert!(told.err.contains("--kind nodes"), "{told:?}");
    assert_eq!(ground.run("inventory export"), before);
}

#[test]
fn manifests_are_applied_in_the_order_they_need_each_other() {
    let ground = Ground::fresh();
    let site = "apiVersion: inventory.miloapis.com/v1alpha1\nkind: Site\nmetadata: {name: s1}\nspec: {displayName: S, regionRef: {name: r1}, type: Edge}\n";
    let region = "apiVersion: inventory.miloapis.com/v1alpha1\nkind: Region\nmetadata: {name: r1}\nspec: {displayName: R}\n";
    ground.file("a.yaml", &format!("{site}---\n{region}"));
    assert_eq!(
        ground.run("inventory apply -f a.yaml --dry-run=server"),
        "applied region/r1 (server dry-run)\napplied site/s1 (server dry-run)\n"
    );
    assert_eq!(ground.run("inventory apply -f a.yaml"), "applied region/r1\napplied site/s1\n");
    ground.file("b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    let told = ground.told("inventory apply -f b.yaml");
    assert!(
        told.err.contains("unsupported kind \"ConfigMap\" in b.yaml (apply handles: Provider, Region,"),
        "{told:?}"
    );
    let told = ground.told("inventory apply");
    assert!(told.err.contains("at least one -f/--filename is required"), "{told:?}");
    let told = ground.told("inventory apply -f a.yaml --dry-run=maybe");
    assert!(told.err.contains("invalid value \"maybe\" for --dry-run; allowed: none, server"), "{told:?}");
    let wrong = site.replace("s1", "s2").replace("Edge", "Warehouse");
    ground.file("c.yaml", &wrong);
    let told = ground.told("inventory apply -f c.yaml");
    assert!(told.err.contains("apply site/s2: ") && told.err.contains("Warehouse"), "{told:?}");
}
