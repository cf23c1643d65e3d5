//! Manifests: what is wrong with them is shown where it stands.

use crate::program::{Ground, KETTLES};

#[test]
fn a_folder_is_applied_and_told_line_by_line() {
    let ground = Ground::fresh();
    ground.file("site/1-kind.yaml", KETTLES);
    ground.file(
        "site/2-kettle.yaml",
        "apiVersion: example.com/v1\nkind: Kettle\nmetadata: {name: a}\nspec: {litres: 1}\n",
    );
    ground
        .file("site/more/3.json", r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}"#);
    ground.file("site/notes.txt", "not a manifest");
    let told = ground.told("apply -f site");
    assert_eq!(told.code, 0, "{told:?}");
    assert_eq!(
        told.out,
        "customresourcedefinition.apiextensions.k8s.io/kettles.example.com created\nkettle.example.com/a created\n"
    );
    let again = ground.run("apply -f site -R");
    assert_eq!(
        again,
        "customresourcedefinition.apiextensions.k8s.io/kettles.example.com unchanged\nkettle.example.com/a unchanged\nconfigmap/c created\n"
    );
    ground.file(
        "site/2-kettle.yaml",
        "apiVersion: example.com/v1\nkind: Kettle\nmetadata: {name: a}\nspec: {litres: 2}\n",
    );
    assert_eq!(ground.run("apply -f site/2-kettle.yaml"), "kettle.example.com/a configured\n");
}

#[test]
fn the_line_of_a_bad_field_is_shown() {
    let ground = Ground::fresh();
    ground.run_with("apply -f -", KETTLES);
    ground.file(
        "two.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fine\n---\napiVersion: example.com/v1\nkind: Kettle\nmetadata:\n  name: bad\nspec:\n  litres: 12\n  colour: pink\n",
    );
    let told = ground.told("create -f two.yaml");
    assert_eq!((told.code, told.out.as_str()), (1, "configmap/fine created\n"));
    assert!(told.err.starts_with("The Kettle \"bad\" is invalid: \n"), "{}", told.err);
    assert!(
        told.err.contains("  --> two.yaml:11:3\n     |\n  11 |   litres: 12\n     |   ^\n"),
        "{}",
        told.err
    );
    assert!(told.err.contains("  --> two.yaml:12:3\n"), "{}", told.err);
}

#[test]
fn an_unknown_field_is_shown_too() {
    let ground = Ground::fresh();
    ground.run_with("apply -f -", KETTLES);
    let text =
        "apiVersion: example.com/v1\nkind: Kettle\nmetadata: {name: a}\nspec:\n  litres: 2\n  handle: gold\n";
    let told = ground.told_with("apply -f -", text);
    assert_eq!(told.code, 1);
    assert!(
        told.err.contains("strict decoding error") || told.err.contains("field not declared in schema"),
        "{}",
        told.err
    );
    assert!(told.err.contains("--> STDIN:6:3") || told.err.contains(".spec.handle"), "{}", told.err);
}

#[test]
fn a_text_that_is_no_yaml_is_shown_where_it_breaks() {
    let ground = Ground::fresh();
    let told = ground.told_with("apply -f -", "kind: ConfigMap\nmetadata:\n  name: a: b\n");
    assert_eq!(
        told.err,
        "error: error parsing STDIN: error converting YAML to JSON: yaml: line 3: mapping values are not allowed in this context\n  \
         --> STDIN:3:10\n    |\n  3 |   name: a: b\n    |          ^\n"
    );
}

#[test]
fn a_conflict_names_who_and_what_to_do() {
    let ground = Ground::fresh();
    let text = |value: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{k: {value}}}\n")
    };
    ground.run_with("apply -f - --field-manager=cook", &text("one"));
    let told = ground.told_with("apply -f -", &text("two"));
    assert_eq!(told.code, 1);
    assert!(
        told.err.starts_with("error: Apply failed with 1 conflict: conflict with \"cook\""),
        "{}",
        told.err
    );
    assert!(told.err.contains("--force-conflicts"), "{}", told.err);
    assert_eq!(ground.run_with("apply -f - --force-conflicts", &text("two")), "configmap/a configured\n");
}

#[test]
fn differences_are_shown_and_counted_by_the_exit_code() {
    let ground = Ground::fresh();
    ground.file("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: one, same: x}\n");
    ground.run("apply -f a.yaml");
    assert_eq!(ground.told("diff -f a.yaml").code, 0);
    ground.file("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: two, same: x}\n");
    let told = ground.told("diff -f a.yaml");
    assert_eq!(told.code, 1);
    assert!(
        told.out.starts_with("--- LIVE/v1.ConfigMap.default.a\n+++ MERGED/v1.ConfigMap.default.a\n@@ "),
        "{}",
        told.out
    );
    assert!(told.out.contains("-  k: one\n+  k: two\n"), "{}", told.out);
    ground.file("s.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: hush}\n");
    let told = ground.told("diff -f s.yaml");
    assert!(told.code == 1 && !told.out.contains("aHVzaA") && told.out.contains("k: '***'"), "{}", told.out);
    assert_eq!(ground.told("diff -f missing.yaml").code, 2);
}

#[test]
fn an_edit_is_written_or_cancelled() {
    let ground = Ground::fresh();
    ground.run("create configmap a --from-literal=k=one");
    let edit = |script: &str| {
        use std::os::unix::fs::PermissionsExt;
        let editor = ground.file("editor.sh", &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
        let words = crate::program::words("edit cm a");
        let output = ground
            .command(std::path::Path::new(crate::program::GROUNDPLANE), &words)
            .env("KUBE_EDITOR", &editor)
            .output()
            .unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(edit("sed -i 's/k: one/k: two/' $1").0, "configmap/a edited\n");
    assert_eq!(ground.run("get cm a -o jsonpath={.data.k}"), "two");
    assert_eq!(edit("true").0, "Edit cancelled, no changes made.\n");
    assert_eq!(edit(": > $1").0, "Edit cancelled, no changes made.\n");
    let (_, said) = edit("grep -q 'immutable: maybe' $1 || echo 'immutable: maybe' >> $1");
    assert!(said.contains("Edit cancelled, the changes are saved in "), "{said}");
}
