//! Field ownership: one user's commands never conflict with each other, and other managers are named.

use crate::program::{Ground, kubectl};

/// A config map in a file, with these entries.
fn write(ground: &Ground, file: &str, name: &str, data: &str) {
    let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata: {{{data}}}\n");
    ground.file(file, &text);
}

fn data(ground: &Ground, name: &str) -> String {
    ground.run(&format!("get cm {name} -o jsonpath={{.data}}"))
}

/// Who owns fields of an object: `groundplane/Apply`, in the order of the entries.
fn owners(ground: &Ground, name: &str) -> String {
    ground.run(&format!(
        "get cm {name} --show-managed-fields -o jsonpath='{{range .metadata.managedFields[*]}}{{.manager}}/{{.operation}} {{end}}'"
    ))
}

#[test]
fn apply_follows_every_other_command_of_ours() {
    let ground = Ground::fresh();
    write(&ground, "old.yaml", "a", "limit: '1', left: out");
    for (at, line) in [
        "create -f old.yaml",
        "patch cm a -p '{\"data\":{\"limit\":\"7\"}}'",
        "replace -f old.yaml",
        "label cm a tier=front --overwrite",
        "annotate cm a note=first --overwrite",
        "undo cm a",
    ]
    .into_iter()
    .enumerate()
    {
        ground.run(line);
        write(&ground, "a.yaml", "a", &format!("limit: 'round {at}'"));
        assert_eq!(ground.run("apply -f a.yaml"), "configmap/a configured\n", "after {line}");
    }
    // What was applied once and is left out of the file goes, though "create" wrote it first.
    write(&ground, "a.yaml", "a", "other: x");
    ground.run("apply -f a.yaml");
    assert!(!data(&ground, "a").contains("limit"), "{}", data(&ground, "a"));
}

#[test]
fn what_was_set_by_hand_and_is_in_no_file_stays() {
    let ground = Ground::fresh();
    write(&ground, "a.yaml", "a", "limit: '1'");
    ground.run("apply -f a.yaml");
    ground.run("label cm a tier=front");
    ground.run("patch cm a -p '{\"data\":{\"by-hand\":\"yes\"}}'");
    write(&ground, "a.yaml", "a", "limit: '2'");
    ground.run("apply -f a.yaml");
    assert_eq!(data(&ground, "a"), r#"{"by-hand":"yes","limit":"2"}"#);
    assert_eq!(ground.run("get cm a -o jsonpath={.metadata.labels.tier}"), "front");
}

#[test]
fn an_undo_gives_fields_back_to_who_applied_them() {
    let ground = Ground::fresh();
    for (round, manager) in [("", "groundplane"), ("--field-manager ci", "ci")] {
        let name = manager;
        write(&ground, "a.yaml", name, "limit: '1', first: x");
        ground.run(&format!("apply -f a.yaml {round}"));
        write(&ground, "a.yaml", name, "limit: '2'");
        ground.run(&format!("apply -f a.yaml {round}"));
        ground.run(&format!("undo cm {name}"));
        assert_eq!(data(&ground, name), r#"{"first":"x","limit":"1"}"#);
        assert_eq!(owners(&ground, name), format!("{manager}/Apply "));
        write(&ground, "a.yaml", name, "limit: '3'");
        ground.run(&format!("apply -f a.yaml {round}"));
        assert_eq!(data(&ground, name), r#"{"limit":"3"}"#, "what came back is applied, and goes");
    }
}

#[test]
fn an_undo_of_a_commit_and_a_restore_are_followed_by_an_apply() {
    let ground = Ground::fresh();
    for (round, limit) in [(1, "1"), (2, "2")] {
        for name in ["a", "b"] {
            write(
                &ground,
                &format!("site/{name}.yaml"),
                name,
                &format!("limit: '{limit}', round: '{round}'"),
            );
        }
        ground.run("apply -f site --field-manager ci");
    }
    let revision = ground.run("history cm a -o jsonpath={.items[0].revision}");
    ground.run(&format!("undo --revision {revision}"));
    assert_eq!(owners(&ground, "a"), "ci/Apply ");
    ground.run("apply -f site --field-manager ci");
    assert_eq!(data(&ground, "b"), r#"{"limit":"2","round":"2"}"#);
    ground.run("delete cm a b");
    ground.run("restore cm a b");
    write(&ground, "site/a.yaml", "a", "limit: '3'");
    ground.run("apply -f site --field-manager ci");
    assert_eq!(data(&ground, "a"), r#"{"limit":"3"}"#);
}

#[test]
fn kubectl_is_followed_on_either_side() {
    let Some(kubectl) = kubectl() else { return };
    let ground = Ground::fresh();
    for (name, how) in [("client", ""), ("server", " --server-side")] {
        write(&ground, "a.yaml", name, "limit: '1', first: x");
        let told = ground.kubectl(&kubectl, &format!("apply -f a.yaml{how}"));
        assert_eq!(told.code, 0, "{told:?}");
        write(&ground, "a.yaml", name, "limit: '2'");
        assert_eq!(ground.run("apply -f a.yaml"), format!("configmap/{name} configured\n"));
    }
    // Without --server-side kubectl applies whole configurations: what is left out of the next one goes.
    assert_eq!(data(&ground, "client"), r#"{"limit":"2"}"#);
    // With it, other fields may be of another file.
    assert_eq!(data(&ground, "server"), r#"{"first":"x","limit":"2"}"#);
    let told = ground.kubectl(&kubectl, "create cm made --from-literal=limit=1");
    assert_eq!(told.code, 0, "{told:?}");
    write(&ground, "a.yaml", "made", "limit: '2'");
    ground.run("apply -f a.yaml");
}

#[test]
fn another_owner_is_named_with_the_ways_out() {
    let ground = Ground::fresh();
    for name in ["a", "b"] {
        write(&ground, "a.yaml", name, "limit: '1'");
        ground.run("apply -f a.yaml");
        ground.run(&format!("patch cm {name} -p '{{\"data\":{{\"limit\":\"9\"}}}}' --field-manager bob"));
        write(&ground, &format!("site/{name}.yaml"), name, "limit: '2'");
    }
    let since =
        regex::Regex::new(r#""bob" \(update\) owns data.limit since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"#)
            .unwrap();
    for (line, count) in [("apply -f site/a.yaml", 1), ("apply -f site", 2), ("plan -f site", 2)] {
        let told = ground.told(line);
        assert_eq!(told.code, 1, "{line}: {told:?}");
        assert!(told.err.contains("conflict with \"bob\" using v1"), "{line}: {}", told.err);
        assert_eq!(since.find_iter(&told.err).count(), count, "{line}: {}", told.err);
        assert!(told.err.contains("--> site/a.yaml:5:"), "{line}: {}", told.err);
        assert!(told.err.contains("--force-conflicts\n"), "{line}: {}", told.err);
        assert!(
            told.err.contains("hint: to leave them to \"bob\", remove them from site/a.yaml\n"),
            "{}",
            told.err
        );
    }
    assert_eq!(data(&ground, "a"), r#"{"limit":"9"}"#);
    ground.run("apply -f site --force-conflicts");
    assert_eq!(data(&ground, "b"), r#"{"limit":"2"}"#);
}
