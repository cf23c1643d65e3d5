//! The licences of what is linked, which have to go with a binary.

use std::collections::BTreeMap;
use std::fs;

use super::sbom::Component;

/// Every licence and notice that the linked crates come with, each text once, below the crates that have it.
pub fn text<K>(components: &BTreeMap<K, Component>) -> String {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for component in components.values().filter(|component| !component.is_ours()) {
        let entries = fs::read_dir(&component.folder).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        files.retain(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
            ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"]
                .iter()
                .any(|word| name.starts_with(word))
        });
        let title = format!("{} {} ({})", component.name, component.version, component.licence);
        let found: Vec<_> = files.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
        if found.is_empty() {
            let repository =
                "(its package holds no licence file; the terms are those of its licence identifier)";
            texts.entry(repository.to_owned()).or_default().push(title.clone());
        }
        for text in found {
            texts.entry(text.trim().to_owned()).or_default().push(title.clone());
        }
    }
    let mut whole =
        "Groundplane is linked with the following libraries. Each group of names is followed by the licence \
                     or notice that comes with them.\n"
            .to_owned();
    for (text, titles) in texts {
        whole += &format!("\n{}\n\n{}\n\n{text}\n", "=".repeat(80), titles.join("\n"));
    }
    whole
}
