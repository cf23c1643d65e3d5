//! `cargo xtask dist` on the binary that the tests were built with: no optimised build, but every package, each
//! installed into an empty root and started. Programs of the system read the packages too.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::{Value, json};

const XTASK: &str = env!("CARGO_BIN_EXE_xtask");

/// The server's binary, beside ours. `cargo test --workspace` builds it; a test of this package alone has to.
fn groundplane() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let built = Path::new(XTASK).with_file_name("groundplane");
        if !built.exists() {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            assert!(cargo.args(["build", "--package", "groundplane"]).status().unwrap().success());
        }
        // A third of it are symbols, which take their time to compress.
        let stripped = Path::new(env!("CARGO_TARGET_TMPDIR")).join("groundplane");
        let strip = Command::new("strip").arg("-o").arg(&stripped).arg(&built).status();
        if strip.is_ok_and(|status| status.success()) { stripped } else { built }
    })
}

fn dist(words: &[&str], out: &Path) -> Output {
    let mut command = Command::new(XTASK);
    command.arg("dist").arg("--binary").arg(groundplane()).arg("--out").arg(out).args(words);
    command.env("SOURCE_DATE_EPOCH", "1700000000").output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The file in a folder whose name ends so.
fn find(folder: &Path, ending: &str) -> PathBuf {
    let mut paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.find(|path| path.to_string_lossy().ends_with(ending)).unwrap()
}

#[test]
fn each_package_installs_into_an_empty_root_and_serves_from_there() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("packages");
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let can_install = is_root && is_there("dpkg");
    if !can_install {
        eprintln!("skipped: installing the packages needs root and dpkg; they are made and read only");
    }
    let words: &[&str] = if can_install { &["--allow-dynamic", "--check"] } else { &["--allow-dynamic"] };
    let made = dist(words, &out);
    assert!(made.status.success(), "{}", said(&made));
    if can_install {
        assert_eq!(said(&made).matches("\nok: ").count(), 3, "{}", said(&made));
    }

    run(Command::new("sha256sum").args(["--check", "--strict", "--quiet", "SHA256SUMS"]).current_dir(&out));
    let sums = std::fs::read_to_string(out.join("SHA256SUMS")).unwrap();
    for file in [".deb", ".oci.tar", "-linux.tar.gz", ".cdx.json", "-linux"] {
        assert_eq!(sums.lines().filter(|line| line.ends_with(file)).count(), 1, "{file} in {sums}");
    }
    for file in ["man/groundplane.1", "completions/bash/groundplane", "completions/zsh/_groundplane"] {
        assert!(sums.contains(&format!("  {file}\n")), "{file} in {sums}");
    }
    if is_there("dpkg-deb") {
        a_debian_package_says_what_it_is(&find(&out, ".deb"));
    }
    the_archive_has_the_files_of_the_package(&find(&out, ".tar.gz"));
    the_bill_of_materials_names_what_is_linked(&find(&out, ".cdx.json"));
    the_image_is_configured_as_the_containerfile_says(&find(&out, ".oci.tar"));

    // The same commit, time and binary give the same bytes.
    let again = folder.path().join("again");
    let made = dist(&["--allow-dynamic"], &again);
    assert!(made.status.success(), "{}", said(&made));
    assert_eq!(std::fs::read_to_string(again.join("SHA256SUMS")).unwrap(), sums);
}

fn a_debian_package_says_what_it_is(package: &Path) {
    let field =
        |name: &str| run(Command::new("dpkg-deb").arg("--field").arg(package).arg(name)).trim().to_owned();
    assert_eq!(field("Package"), "groundplane");
    assert!(field("Version").starts_with(env!("CARGO_PKG_VERSION")), "{}", field("Version"));
    assert!(field("Installed-Size").parse::<u32>().unwrap() > 1000, "{}", field("Installed-Size"));
    let listed = run(Command::new("dpkg-deb").arg("--contents").arg(package));
    for line in listed.lines() {
        assert!(line.contains(" root/root ") || line.contains(" 0/0 "), "{line}");
        assert!(line.contains(" 2023-11-14 "), "{line}");
    }
    // Every file is below /usr and /etc/default, and nothing of a local administrator's is touched.
    let paths: Vec<_> = listed.lines().filter(|line| !line.starts_with('d')).collect();
    assert!(paths.len() > 50, "{listed}");
    for line in paths {
        let path = line.split_whitespace().last().unwrap().trim_start_matches("./");
        assert!(path.starts_with("usr/") || path == "etc/default/groundplane", "{line}");
        assert!(!path.starts_with("usr/local/"), "{line}");
    }
}

fn the_archive_has_the_files_of_the_package(archive: &Path) {
    let listed = run(Command::new("tar").arg("tzf").arg(archive));
    let paths: Vec<_> = listed.lines().map(|line| line.split_once('/').unwrap().1).collect();
    for path in [
        "usr/bin/groundplane",
        "usr/lib/systemd/system/groundplane.service",
        "usr/share/man/man1/groundplane.1.gz",
    ] {
        assert!(paths.contains(&path), "{path} in {listed}");
    }
    // Unpacking it over an older version changes no settings, and no mode of a folder.
    assert!(!paths.iter().any(|path| path.starts_with("etc/") || path.ends_with('/')), "{listed}");
}

fn the_image_is_configured_as_the_containerfile_says(image: &Path) {
    let member = |path: &str| -> Value {
        let text = run(Command::new("tar").arg("--to-stdout").arg("-xf").arg(image).arg(path));
        serde_json::from_str(&text).unwrap()
    };
    let blob = |descriptor: &Value| {
        member(&descriptor["digest"].as_str().unwrap().replace("sha256:", "blobs/sha256/"))
    };
    let config = blob(&blob(&member("index.json")["manifests"][0])["config"])["config"].clone();

    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/Containerfile");
    let text = std::fs::read_to_string(file).unwrap();
    let (_, text) = text.split_once("\nFROM scratch\n").unwrap();
    let all =
        |key: &'static str| text.lines().filter_map(move |line| line.strip_prefix(key)?.strip_prefix(' '));
    let one = |key: &'static str| all(key).next().unwrap();
    let list = |key: &'static str| serde_json::from_str::<Value>(one(key)).unwrap();
    assert_eq!(config["User"], one("USER"));
    assert_eq!(config["Env"], json!(all("ENV").collect::<Vec<_>>()));
    assert_eq!(config["Volumes"], json!({one("VOLUME"): {}}));
    assert_eq!(config["ExposedPorts"], json!({one("EXPOSE"): {}}));
    assert_eq!(config["StopSignal"], one("STOPSIGNAL"));
    assert_eq!(config["Entrypoint"], list("ENTRYPOINT"));
    assert_eq!(config["Cmd"], list("CMD"));
}

fn the_bill_of_materials_names_what_is_linked(file: &Path) {
    let bill: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(bill["bomFormat"], "CycloneDX");
    let components = bill["components"].as_array().unwrap();
    let ring = components.iter().find(|component| component["name"] == "ring").unwrap();
    let version = ring["version"].as_str().unwrap();
    assert_eq!(ring["purl"], format!("pkg:cargo/ring@{version}"));
    let lock = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock")).unwrap();
    let checksum = ring["hashes"][0]["content"].as_str().unwrap();
    assert_eq!(checksum.len(), 64);
    assert!(lock.contains(&format!("checksum = \"{checksum}\"")), "{checksum}");
    for component in components {
        let licence = component["licenses"][0]["expression"].as_str().unwrap();
        assert!(!licence.contains('/') && licence != "NOASSERTION", "{component}");
    }
    // Every edge leads to a component.
    let refs: Vec<_> = components.iter().map(|component| &component["bom-ref"]).collect();
    for edges in bill["dependencies"].as_array().unwrap() {
        for used in edges["dependsOn"].as_array().unwrap() {
            assert!(refs.contains(&used), "{used} of {edges}");
        }
    }
}

#[test]
fn a_dynamic_binary_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let made = dist(&[], &folder.path().join("packages"));
    assert!(!made.status.success());
    assert!(said(&made).contains("is dynamically linked"), "{}", said(&made));
}

#[test]
fn a_folder_with_other_files_is_not_emptied() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("thesis.txt"), "years of work").unwrap();
    let made = dist(&["--allow-dynamic"], folder.path());
    assert!(!made.status.success());
    assert!(said(&made).contains("it was not made by this command"), "{}", said(&made));
    assert!(folder.path().join("thesis.txt").exists());
}
