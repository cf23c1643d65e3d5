//! The software bill of materials, in CycloneDX: what is linked into the binary.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use super::digest::sha256;
use super::release::Release;
use super::{read, root};
use crate::step::{self, Failure};

/// A crate that is linked into the binary.
pub struct Component {
    pub name: String,
    pub version: String,
    /// SPDX expression.
    pub licence: String,
    /// Folder of its source.
    pub folder: PathBuf,
    /// SHA-256 of its package; `None` for our own crates.
    checksum: Option<String>,
    repository: Option<String>,
    /// Name and version of the crates that it uses, of those that are linked.
    uses: BTreeSet<Key>,
}

type Key = (String, String);

impl Component {
    /// Whether it is one of this workspace.
    pub fn is_ours(&self) -> bool {
        self.checksum.is_none()
    }

    fn purl(&self) -> String {
        // A plus in a version has a meaning in URLs.
        format!("pkg:cargo/{}@{}", self.name, self.version.replace('+', "%2B"))
    }
}

/// What is linked for a target: no dev-dependencies, build scripts or macros. Cargo's tree knows the features that
/// this binary is built with; its metadata unites those of the whole workspace.
pub fn components(triple: &str) -> Result<BTreeMap<Key, Component>, Failure> {
    let tree = cargo(&[
        "tree",
        "--locked",
        "--package",
        "groundplane",
        "--edges",
        "normal,no-proc-macro",
        "--target",
        triple,
        "--prefix",
        "none",
        "--format",
        "{p}",
    ])?;
    let linked: BTreeSet<Key> = tree.lines().filter_map(named).collect();
    let metadata = cargo(&["metadata", "--locked", "--format-version", "1", "--filter-platform", triple])?;
    let metadata: Value = serde_json::from_str(&metadata)
        .map_err(|error| Failure(format!("`cargo metadata` gave no JSON: {error}")))?;
    let checksums = checksums(&String::from_utf8_lossy(&read(&root().join("Cargo.lock"))?));

    let mut ids = BTreeMap::new();
    let mut components = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let text = |field: &str| package[field].as_str().map(str::to_owned);
        let key = (text("name").unwrap_or_default(), text("version").unwrap_or_default());
        ids.insert(text("id").unwrap_or_default(), key.clone());
        if !linked.contains(&key) {
            continue;
        }
        let (name, version) = key.clone();
        let folder =
            text("manifest_path").map(PathBuf::from).and_then(|path| Some(path.parent()?.to_owned()));
        let component = Component {
            name,
            version,
            // The older way to write OR.
            licence: text("license").unwrap_or_else(|| "NOASSERTION".to_owned()).replace('/', " OR "),
            folder: folder.unwrap_or_default(),
            checksum: checksums.get(&key).cloned(),
            repository: text("repository"),
            uses: BTreeSet::new(),
        };
        components.insert(key, component);
    }
    if let Some((name, version)) = linked.iter().find(|key| !components.contains_key(*key)) {
        return Err(Failure(format!("`cargo metadata` does not know {name} {version}, which is linked")));
    }
    for node in metadata["resolve"]["nodes"].as_array().into_iter().flatten() {
        let Some(key) = node["id"].as_str().and_then(|id| ids.get(id)) else { continue };
        let Some(component) = components.get_mut(key) else { continue };
        let is_linked = |used: &&Value| {
            used["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
        };
        let used = node["deps"].as_array().into_iter().flatten().filter(is_linked);
        let used = used.filter_map(|used| ids.get(used["pkg"].as_str()?));
        component.uses.extend(used.filter(|key| linked.contains(*key)).cloned());
    }
    Ok(components)
}

/// CycloneDX 1.5. Our own crates are not listed apart: they are the program.
pub fn document(
    components: &BTreeMap<Key, Component>,
    triple: &str,
    release: &Release,
) -> Result<String, Failure> {
    let own = format!("pkg:generic/groundplane@{}", release.version());
    let theirs = || components.values().filter(|component| !component.is_ours());
    let refs = |uses: &BTreeSet<Key>| {
        let used = uses.iter().filter_map(|key| components.get(key)).filter(|component| !component.is_ours());
        used.map(Component::purl).collect::<BTreeSet<_>>()
    };
    let ours = components.values().filter(|component| component.is_ours());
    let used_by_us: BTreeSet<Key> = ours.flat_map(|component| component.uses.iter().cloned()).collect();
    let mut listed: Vec<Value> = theirs().map(entry).collect();
    listed.extend(runtime(triple));
    let dependencies: Vec<Value> = std::iter::once(json!({"ref": own, "dependsOn": refs(&used_by_us)}))
        .chain(theirs().map(|component| json!({"ref": component.purl(), "dependsOn": refs(&component.uses)})))
        .collect();
    let mut document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": release.timestamp(),
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "groundplane",
                "version": release.version(),
                "purl": own,
                "licenses": [{"expression": "Apache-2.0"}],
            },
            "properties": [
                {"name": "groundplane:commit", "value": release.commit()},
                {"name": "groundplane:target", "value": triple},
            ],
        },
        "components": listed,
        "dependencies": dependencies,
    });
    // The same content has the same number: the bits of a random UUID (version 4) are taken from its digest.
    let digest = sha256(document.to_string().as_bytes());
    document["serialNumber"] = json!(format!(
        "urn:uuid:{}-{}-4{}-8{}-{}",
        &digest[..8],
        &digest[8..12],
        &digest[12..15],
        &digest[15..18],
        &digest[18..30]
    ));
    serde_json::to_string_pretty(&document)
        .map(|text| text + "\n")
        .map_err(|error| Failure(format!("writing the bill of materials: {error}")))
}

fn entry(component: &Component) -> Value {
    let mut entry = json!({
        "type": "library",
        "bom-ref": component.purl(),
        "name": component.name,
        "version": component.version,
        "purl": component.purl(),
        "licenses": [{"expression": component.licence}],
        "hashes": [{"alg": "SHA-256", "content": component.checksum}],
    });
    if let Some(repository) = &component.repository {
        entry["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    entry
}

/// What the toolchain links in: Rust's standard library and the C library.
fn runtime(triple: &str) -> Vec<Value> {
    let said = |program: &str, words: &[&str]| {
        let mut command = std::process::Command::new(program);
        let output = command.args(words).current_dir(root()).stdin(Stdio::null()).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).split_whitespace().nth(1)?.to_owned())
    };
    let entry = |name: &str, version: String, licence: &str| {
        let purl = format!("pkg:generic/{name}@{version}");
        json!({
            "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "licenses": [{"expression": licence}],
        })
    };
    let rust = said("rustc", &["--version"]).map(|version| entry("rust-std", version, "MIT OR Apache-2.0"));
    // musl comes with the standard library.
    let glibc = said("getconf", &["GNU_LIBC_VERSION"]).filter(|_| triple.ends_with("-gnu"));
    let glibc = glibc.map(|version| entry("glibc", version, "LGPL-2.1-or-later"));
    rust.into_iter().chain(glibc).collect()
}

/// Checksums of Cargo.lock by name and version.
fn checksums(lock: &str) -> BTreeMap<Key, String> {
    let of_block = |block: &str| {
        let field = |name: &str| {
            let lines = block.lines().filter_map(|line| line.split_once(" = "));
            lines.filter(|(key, _)| *key == name).map(|(_, value)| value.trim_matches('"').to_owned()).next()
        };
        Some(((field("name")?, field("version")?), field("checksum")?))
    };
    lock.split("[[package]]").filter_map(of_block).collect()
}

/// Name and version in a line such as `serde v1.0.0 (*)`.
fn named(line: &str) -> Option<Key> {
    let mut words = line.split_whitespace();
    let name = words.next()?.to_owned();
    Some((name, words.next()?.strip_prefix('v')?.to_owned()))
}

fn cargo(words: &[&str]) -> Result<String, Failure> {
    let line = format!("cargo {}", words.join(" "));
    let output = step::cargo(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure(format!("`{line}` could not be started: {error}")))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(Failure(format!("`{line}`: {}", String::from_utf8_lossy(&output.stderr).trim()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIPLE: &str = "x86_64-unknown-linux-gnu";

    #[test]
    fn what_is_linked_is_listed_and_nothing_else() {
        let components = components(TRIPLE).unwrap();
        let has = |name: &str| components.keys().any(|key| key.0 == name);
        for linked in ["tokio", "ring", "redb", "hyper", "mimalloc", "libmimalloc-sys", "krm"] {
            assert!(has(linked), "{linked}");
        }
        // Of tests, of build scripts, macros, of another system.
        for other in
            ["proptest", "libfuzzer-sys", "k8s-openapi", "cc", "protox", "serde_derive", "syn", "windows-sys"]
        {
            assert!(!has(other), "{other}");
        }
        for component in components.values() {
            assert_ne!(component.licence, "NOASSERTION", "{} {}", component.name, component.version);
            assert_eq!(component.is_ours(), component.folder.starts_with(root()), "{}", component.name);
        }
        let uses = |name: &str, other: &str| {
            let component = components.values().find(|component| component.name == name);
            component.is_some_and(|component| component.uses.iter().any(|key| key.0 == other))
        };
        assert!(
            uses("hyper", "tokio") && uses("mimalloc", "libmimalloc-sys") && !uses("libmimalloc-sys", "cc")
        );
    }

    #[test]
    fn checksums_are_read_from_the_lock() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"x\"\nchecksum = \"ab\"\n\
                    dependencies = [\n \"b\",\n]\n\n[[package]]\nname = \"b\"\nversion = \"0.1.0\"\n";
        let read = checksums(lock);
        assert_eq!(read.len(), 1);
        assert_eq!(read[&("a".to_owned(), "1.0.0".to_owned())], "ab");
    }
}
