//! The reference and the completions are those of the commands that there are.

use crate::program::{GROUNDPLANE, Ground};

#[test]
fn the_reference_is_current() {
    let folder = tempfile::tempdir().unwrap();
    let (page, man) = (folder.path().join("cli.md"), folder.path().join("man"));
    let made = std::process::Command::new(GROUNDPLANE)
        .arg("__docs")
        .arg("--markdown")
        .arg(&page)
        .arg("--man")
        .arg(&man)
        .status();
    assert!(made.unwrap().success());
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
    let kept = std::fs::read_to_string(kept).unwrap_or_default();
    assert!(
        std::fs::read_to_string(page).unwrap() == kept,
        "docs/cli.md is not current: run `cargo xtask docs`"
    );
    assert!(man.join("groundplane-get.1").is_file() && man.join("groundplane-auth-can-i.1").is_file());
}

#[test]
fn the_generated_parts_of_the_docs_are_current() {
    let docs = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"));
    let folder = tempfile::tempdir().unwrap();
    // Of this page only the tables are generated.
    std::fs::copy(docs.join("serve.md"), folder.path().join("serve.md")).unwrap();
    let made = std::process::Command::new(GROUNDPLANE).arg("__reference").arg(folder.path()).status();
    assert!(made.unwrap().success());
    let subjects = ["inventory", "networking", "quota", "services", "compute", "fulfillment"];
    let pages = subjects.map(|subject| format!("{subject}/reference.md"));
    for page in pages.iter().map(String::as_str).chain(["serve.md"]) {
        let kept = std::fs::read_to_string(docs.join(page)).unwrap_or_default();
        let made = std::fs::read_to_string(folder.path().join(page)).unwrap();
        assert!(made == kept, "docs/{page} is not current: run `cargo xtask docs`");
    }
    let serve = std::fs::read_to_string(folder.path().join("serve.md")).unwrap();
    assert!(serve.contains("`--max-objects-per-project NUMBER`") && serve.contains("`tenancy-controller`"));
    let kinds = std::fs::read_to_string(folder.path().join("inventory/reference.md")).unwrap();
    assert!(kinds.contains("| `spec.heightU` | integer | **R** |"), "{kinds}");
}

#[test]
fn every_command_has_help_with_examples() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md")).unwrap();
    for section in page.split("\n## ").skip(2) {
        let name = section.lines().next().unwrap();
        let has_subcommands = page.contains(&format!("\n## {name} "));
        assert!(
            has_subcommands || name == "groundplane options" || section.contains("```sh\n"),
            "{name} has no examples"
        );
    }
}

#[test]
fn a_shell_is_offered_commands_flags_types_and_names() {
    let ground = Ground::fresh();
    ground.run("create configmap kettle-settings");
    ground.run("create configmap pan-settings");
    let offered = |line: &str| {
        ground
            .run(&format!("__complete -- {line}"))
            .lines()
            .map(|line| line.split('\t').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(offered("desc"), ["describe"]);
    assert_eq!(offered("auth ''"), ["can-i", "whoami", "why", "machine-account", "machine-token"]);
    assert_eq!(offered("get configm"), ["configmaps"]);
    assert_eq!(offered("get secrets,configm"), ["secrets,configmaps"]);
    assert_eq!(offered("get cm ket"), ["kettle-settings"]);
    assert_eq!(offered("get cm/pan"), ["cm/pan-settings"]);
    assert_eq!(offered("-n kube-system get secrets ''"), [""; 0]);
    assert_eq!(offered("get -n kube-s"), ["kube-system"]);
    assert_eq!(offered("get --no-h"), ["--no-headers"]);
    assert_eq!(offered("get -o js"), ["json", "jsonpath=", "jsonpath-file=", "jsonpath-as-json="]);
    assert_eq!(offered("completion z"), ["zsh"]);
    assert_eq!(offered("apply -f ''"), [":files"]);
    let script = ground.run("completion bash");
    let checked = std::process::Command::new("bash").arg("-n").arg("-c").arg(&script).status();
    assert!(checked.map_or(true, |status| status.success()), "{script}");
}
