//! The Debian package through its life: installed, started, installed again, removed, purged.

use std::path::Path;
use std::process::Command;

use super::root::Root;
use super::{Subject, ensure, run, unit};
use crate::step::Failure;

const DATA: &str = "var/lib/groundplane";
const SETTINGS: &str = "etc/default/groundplane";

pub fn check(package: &Path, subject: &Subject, folder: &Path) -> Result<(), Failure> {
    let root = Root::new(&folder.join("root"))?;
    for file in ["status", "available", "info/format"] {
        root.write(&format!("var/lib/dpkg/{file}"), if file == "info/format" { "1\n" } else { "" })?;
    }
    root.write("var/lib/dpkg/updates/.keep", "")?;
    std::fs::remove_file(root.path.join("var/lib/dpkg/updates/.keep"))
        .map_err(|error| Failure(format!("emptying dpkg's folder of updates: {error}")))?;
    root.write("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")?;
    root.write("etc/group", "root:x:0:\n")?;
    root.write("etc/shadow", "root:*:19000:0:99999:7:::\n")?;
    root.write("etc/gshadow", "root:*::\n")?;

    let said = dpkg(&root, &["--install"], Some(package))?;
    ensure(said.contains("not started"), || {
        format!("the installation does not say what comes next: {said}")
    })?;
    let user = root.user("groundplane")?;
    root.expect("usr/bin/groundplane", 0o755, (0, 0))?;
    root.expect(SETTINGS, 0o640, (0, 0))?;
    root.expect(DATA, 0o700, user)?;
    for file in [
        "usr/share/man/man1/groundplane.1.gz",
        "usr/share/bash-completion/completions/groundplane",
        "usr/share/zsh/vendor-completions/_groundplane",
        "usr/share/fish/vendor_completions.d/groundplane.fish",
        "usr/share/doc/groundplane/copyright",
        "usr/share/doc/groundplane/THIRD-PARTY-LICENSES.gz",
    ] {
        root.expect(file, 0o644, (0, 0))?;
    }
    unit::verify(&root, &folder.join("unit"))?;
    root.complete(subject)?;
    unit::start(&root)?.check(&root, subject)?;

    // Installed again: the settings that a person changed, the data and the user stay.
    let changed = root.read(SETTINGS)? + "GROUNDPLANE_LOG=warn\n";
    root.write(SETTINGS, &changed)?;
    let said = dpkg(&root, &["--install"], Some(package))?;
    ensure(!said.contains("not started"), || format!("an upgrade speaks as a first installation: {said}"))?;
    ensure(root.read(SETTINGS)? == changed, || "an upgrade overwrote /etc/default/groundplane".to_owned())?;
    ensure(root.user("groundplane")? == user, || "an upgrade changed the user".to_owned())?;
    unit::start(&root)?.check(&root, subject)?;

    let said = dpkg(&root, &["--remove", "groundplane"], None)?;
    ensure(said.contains("is kept"), || format!("the removal does not say what is kept: {said}"))?;
    ensure(!root.has("usr/bin/groundplane"), || "the binary is there after the removal".to_owned())?;
    ensure(root.has("var/lib/groundplane/store/store.redb"), || "the removal deleted the data".to_owned())?;
    ensure(root.has(SETTINGS), || "the removal deleted the settings".to_owned())?;
    let said = dpkg(&root, &["--purge", "groundplane"], None)?;
    ensure(said.contains("deleting the data"), || format!("the purge does not say what it deletes: {said}"))?;
    ensure(!root.has(DATA) && !root.has(SETTINGS), || "the purge left data or settings".to_owned())?;
    println!("ok: the .deb installs, serves, upgrades, is removed and purged");
    Ok(())
}

/// dpkg on the other root; maintainer scripts run here with DPKG_ROOT, since the root has no shell.
fn dpkg(root: &Root, words: &[&str], package: Option<&Path>) -> Result<String, Failure> {
    let mut command = Command::new("dpkg");
    command.arg(format!("--root={}", root.path.display()));
    // Its log would be that of this machine otherwise. The root has no package `passwd`.
    command.args(["--log=/dev/null", "--force-script-chrootless", "--force-depends", "--force-bad-path"]);
    run(command.args(words).args(package).env("LC_ALL", "C"))
}
