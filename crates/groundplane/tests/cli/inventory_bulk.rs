//! Much at once: everything out and in again, spreadsheets that are edited, and what is wrong with them.

use crate::program::Ground;

#[test]
fn everything_goes_out_and_comes_in_elsewhere_the_same() {
    let here = Ground::with_fleet();
    let yaml = here.run("inventory export");
    assert!(
        !yaml.contains("managedFields") && !yaml.contains("topology.inventory") && !yaml.contains("status:")
    );
    here.file("all.yaml", &yaml);
    let told = here.told("inventory import all.yaml --yes");
    assert!(told.err.contains("all of them as they should be: nothing was changed"), "{told:?}");
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
    ground.run("inventory export -o csv --dir sheets");
    let told = ground
        .told("inventory import sheets/racks.csv sheets/nodes.csv sheets/ports.csv sheets/cables.csv --yes");
    assert!(told.err.contains("nothing was changed"), "a round trip changes nothing: {told:?}");
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
    let told = ground.told("inventory import racks.csv");
    assert_eq!(told.code, 0, "{told:?}");
    for line in [
        "+ rack.inventory.miloapis.com/fra1-z01 created",
        "~ spec.row: \"A\" -> \"B\"",
        "- spec.cage: \"C-01\"",
    ] {
        assert!(told.out.contains(line), "{line} in {told:?}");
    }
    assert!(told.err.contains("nothing was changed; --yes does it"), "{told:?}");
    assert_eq!(ground.told("get rack fra1-z01").code, 1, "a preview does nothing");
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
        assert!(told.err.trim_end().ends_with("nothing was changed"), "{told:?}");
    };
    refused(
        "racks.csv",
        "name,heightU\nfra1-a01,42\n",
        &["error: racks.csv row 1, column heightU: Rack has no such field; is it spec.heightU?"],
    );
    refused(
        "racks.csv",
        "name,spec.heightU\nfra1-a01,tall\nfra1-new,42\n",
        &["racks.csv row 2, column spec.heightU: \"tall\" is no whole number"],
    );
    refused(
        "racks.csv",
        "name,spec.heightU\nfra1-new,42\n",
        &["racks.csv row 2, column spec.siteRef: Required value"],
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
