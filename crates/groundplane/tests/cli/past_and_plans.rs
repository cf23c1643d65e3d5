//! What kubectl has not: plans, one commit for many objects, history, undo, restore, search, backup.

use crate::program::{Ground, KETTLES};

/// A server with that part of the API.
fn ground() -> Option<Ground> {
    let ground = Ground::fresh();
    if ground.run("api-resources -o name").contains("transactions.groundplane.dev") {
        return Some(ground);
    }
    testbed::need::passed_over("this server has no transactions");
    None
}

fn rows(ground: &Ground, count: usize, height: u32) {
    for row in 0..count {
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: row-{row}\ndata:\n  height: '{height}'\n"
        );
        ground.file(&format!("site/row-{row}.yaml"), &text);
    }
}

#[test]
fn a_folder_is_one_commit() {
    let Some(ground) = ground() else { return };
    rows(&ground, 3, 42);
    let told = ground.told("apply -f site --message rows");
    assert_eq!(
        told.out, "configmap/row-0 created\nconfigmap/row-1 created\nconfigmap/row-2 created\n",
        "{told:?}"
    );
    assert!(
        told.err.starts_with("3 objects in one commit (revision ") && told.err.ends_with("): 3 created\n"),
        "{told:?}"
    );
    let told = ground.told("apply -f site");
    assert!(told.out.lines().all(|line| line.ends_with(" unchanged")), "{told:?}");
    let history = ground.run("history cm row-1 -o jsonpath={.items[*].message}");
    assert_eq!(history, "rows");
    assert_eq!(ground.run("delete -f site --wait=false").lines().count(), 3);
}

#[test]
fn all_or_nothing_with_every_fault_at_its_line() {
    let Some(ground) = ground() else { return };
    ground.run_with("apply -f -", KETTLES);
    ground.file(
        "site/all.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fine}\n---\napiVersion: example.com/v1\nkind: Kettle\nmetadata: {name: one}\nspec:\n  litres: 12\n---\napiVersion: example.com/v1\nkind: Kettle\nmetadata: {name: two}\nspec:\n  litres: 13\n",
    );
    for line in ["plan -f site", "apply -f site"] {
        let told = ground.told(line);
        assert_eq!(told.code, 1, "{line}: {told:?}");
        for place in ["site/all.yaml:9:3", "site/all.yaml:15:3"] {
            assert!(told.err.contains(&format!("--> {place}\n")), "{line}: {place}: {}", told.err);
        }
        assert!(told.err.contains("2 of 3 objects can't be applied"), "{line}: {}", told.err);
    }
    assert!(ground.told("get cm fine").err.contains("NotFound"));
}

#[test]
fn a_plan_shows_what_would_change_and_is_applied_or_stale() {
    let Some(ground) = ground() else { return };
    rows(&ground, 2, 42);
    ground.run("apply -f site");
    rows(&ground, 3, 45);
    let shown = ground.run("plan -f site");
    assert!(
        shown.contains("~ configmap/row-0 in default configured\n    ~ data.height: \"42\" -> \"45\"\n"),
        "{shown}"
    );
    assert!(shown.contains("+ configmap/row-2 in default created\n"), "{shown}");
    ground.run("plan -f site --save=next");
    ground.run("apply --plan next");
    assert_eq!(ground.run("get cm row-0 -o jsonpath={.data.height}"), "45");
    rows(&ground, 3, 50);
    ground.run("plan -f site --save=stale");
    ground.run("label cm row-1 moved=yes");
    let told = ground.told("apply --plan stale");
    assert!(
        told.code == 1 && told.err.contains("stale") && told.err.contains("hint: make a new plan"),
        "{told:?}"
    );
    assert_eq!(ground.run("get cm row-0 -o jsonpath={.data.height}"), "45");
}

#[test]
fn a_change_is_seen_and_taken_back() {
    let Some(ground) = ground() else { return };
    ground.run("create cm settings --from-literal=limit=5");
    ground.run("patch cm settings -p '{\"data\":{\"limit\":\"50\"}}' --message 'more at once'");
    let shown = ground.run("history cm settings --diff");
    assert!(shown.contains("    \"more at once\"\n    ~ data.limit: \"5\" -> \"50\"\n"), "{shown}");
    let first = ground.run("history cm settings -o jsonpath={.items[1].revision}");
    assert_eq!(ground.run(&format!("get cm settings --as-of {first} -o jsonpath={{.data.limit}}")), "5");
    let told = ground.told(&format!("diff --since {first} cm/settings"));
    assert!(told.code == 1 && told.out.contains("-  limit: \"5\"\n+  limit: \"50\"\n"), "{told:?}");
    assert_eq!(ground.run("undo cm settings --message 'too many'"), "configmap/settings undone\n");
    assert_eq!(ground.run("get cm settings -o jsonpath={.data.limit}"), "5");
    let table = ground.run("history cm settings");
    assert!(table.starts_with("REVISION") && table.lines().count() == 4, "{table}");
}

#[test]
fn a_deleted_object_comes_back() {
    let Some(ground) = ground() else { return };
    ground.run("create cm settings --from-literal=limit=5");
    ground.run("delete cm settings");
    let told = ground.told("undo cm settings");
    assert!(
        told.err.contains("hint: if it was deleted, restore it: groundplane restore configmaps settings"),
        "{told:?}"
    );
    assert_eq!(ground.run("restore cm settings"), "configmap/settings restored\n");
    assert_eq!(ground.run("get cm settings -o jsonpath={.data.limit}"), "5");
    let told = ground.told("restore cm settings");
    assert!(
        told.err.starts_with("Error from server (AlreadyExists): ") && told.err.contains("hint: "),
        "{told:?}"
    );
}

#[test]
fn a_bad_change_of_many_is_undone_as_one() {
    let Some(ground) = ground() else { return };
    rows(&ground, 200, 42);
    ground.run("apply -f site");
    rows(&ground, 200, 12);
    ground.run("apply -f site --message 'in feet'");
    let revision = ground.run("history cm row-17 -o jsonpath={.items[0].revision}");
    let told = ground.told(&format!("undo --revision {revision} --dry-run=server"));
    assert!(told.err.contains("200 objects would be reverted in one commit"), "{}", told.err);
    let told = ground.told(&format!("undo --revision {revision} --message 'they were in feet'"));
    assert!(told.code == 0 && told.err.contains("200 objects reverted in one commit"), "{}", told.err);
    assert!(ground.run("get cm -o jsonpath={.items[*].data.height}").split(' ').all(|height| height == "42"));
}

#[test]
fn things_are_found_and_history_is_verified() {
    let Some(ground) = ground() else { return };
    ground.run("create cm rack-7 --from-literal=a=b");
    assert_eq!(ground.run("search rack-7 -o name"), "configmap/rack-7\n");
    let table = ground.run("search rack -t cm");
    assert!(table.contains("rack-7"), "{table}");
    assert_eq!(ground.told("search no-such-thing").err, "no objects found\n");
    assert!(ground.run("audit verify").starts_with("verified: "));
}

#[test]
fn a_backup_makes_a_server_like_the_old_one() {
    let Some(ground) = ground() else { return };
    ground.run("create cm kept --from-literal=a=b");
    ground.run("create secret generic hush --from-literal=password=do-not-tell");
    ground.run("backup monday.backup");
    assert!(ground.told("backup monday.backup").err.contains("exists already"));
    let keys = ground.server.data().join("store/sealing.keys");
    let told = ground.told(&format!("restore-backup monday.backup --data other --keys {}", keys.display()));
    assert!(told.code == 0 && told.err.contains("restored "), "{told:?}");
    let other =
        testbed::server::Server::start(crate::program::GROUNDPLANE, &ground.files.path().join("other"), &[])
            .unwrap();
    let read = |line: &str| ground.run(&format!("--kubeconfig {} {line}", other.kubeconfig().display()));
    assert_eq!(read("get cm kept -o jsonpath={.data.a}"), "b");
    assert_eq!(read("get secret hush -o jsonpath={.data.password}"), "ZG8tbm90LXRlbGw=");
    assert!(ground.told("restore-backup monday.backup --data other").code == 1);
}
