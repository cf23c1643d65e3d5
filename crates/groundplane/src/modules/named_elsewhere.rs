//! No crate but a module's own names what is in it: a new subject changes none of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

use super::{Listed, all};

/// Crates that know no kinds of a domain.
const WITHOUT_DOMAINS: [&str; 5] =
    ["crates/platform", "crates/cli", "crates/groundplane", "crates/testbed", "xtask"];
/// The crate that knows no module at all.
const WITHOUT_MODULES: &str = "crates/apiserver";

/// Files that name a module nevertheless, and why.
const EXCEPTIONS: [(&str, &str); 8] = [
    ("crates/groundplane/src/modules.rs", "the list of the modules"),
    ("crates/groundplane/src/crds.rs", "an example in a help text"),
    ("crates/cli/src/commands/create/rbac.rs", "an example in a help text"),
    ("crates/platform/src/iam/kinds/protected_resource.rs", "an example in the description of a field"),
    ("crates/platform/src/iam/kinds/role.rs", "an example in an error"),
    ("crates/apiserver/src/kinds/event/validate.rs", "the field `host` of an Event as Go calls it"),
    ("xtask/src/bench.rs", "the name of a bench"),
    ("xtask/src/binaries.rs", "the test binary that takes longest"),
];

/// Words of domain kinds that the sources use for something else.
const COMMON_WORDS: [&str; 10] =
    ["Source", "sources", "links", "clusters", "ports", "nodes", "Node", "Cluster", "services", "locations"];
/// Words of kinds that Kubernetes has too.
const WORDS_OF_KUBERNETES: [&str; 7] = ["Role", "roles", "User", "users", "Group", "groups", "Service"];

#[test]
fn only_the_list_names_the_modules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut checked = 0;
    let mut check = |folder: &str, words: &Regex| {
        for file in sources(&root.join(folder).join("src")) {
            let text = std::fs::read_to_string(&file).unwrap();
            let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
            checked += 1;
            if let Some(word) = words.find(shipped) {
                let name = file.strip_prefix(&root).unwrap().display().to_string();
                found.insert(name, word.as_str().to_owned());
            }
        }
    };
    let domains = words(|listed| matches!(listed, Listed::Domain(_)));
    WITHOUT_DOMAINS.iter().for_each(|folder| check(folder, &domains));
    check(WITHOUT_MODULES, &words(|_| true));
    assert!(checked > 400, "{checked}");
    for (name, why) in EXCEPTIONS {
        assert!(found.remove(name).is_some(), "{name} ({why}) is no longer an exception");
    }
    assert!(found.is_empty(), "these name what is in a module, and should not: {found:?}");
}

/// Matches the groups of some modules, and the names of their kinds and crates.
fn words(is_meant: impl Fn(&Listed) -> bool) -> Regex {
    let mut words: BTreeSet<String> = BTreeSet::new();
    for listed in all().iter().filter(|listed| is_meant(listed)) {
        for kind in listed.module().kinds() {
            words.insert(format!(r"\b{}\b", regex::escape(&kind.group)));
            words.extend(kind.group.split('.').next().map(|first| format!(r#""{first}\.""#)));
            let names = [kind.names.kind, kind.names.plural];
            let names = names.into_iter().filter(|name| {
                let name = name.as_str();
                !COMMON_WORDS.contains(&name) && !WORDS_OF_KUBERNETES.contains(&name)
            });
            words.extend(names.map(|name| format!("\"{name}\"")));
        }
    }
    words.extend([r"\binventory::", r"\bdesign_resources::"].map(str::to_owned));
    Regex::new(&words.into_iter().collect::<Vec<_>>().join("|")).unwrap()
}

/// The Rust files below a folder, without files of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_of_tests = path.file_stem().is_some_and(|name| name == "tests" || name == "named_elsewhere");
        match path.is_dir() {
            _ if is_of_tests => {}
            true => files.extend(sources(&path)),
            false => files.extend(path.extension().is_some_and(|kind| kind == "rs").then_some(path)),
        }
    }
    files
}
