//! The Airship treasuremap sites, against what the original made of them.

use std::{collections::BTreeMap, path::Path};

use design::{
    deckhand::{MissingSource, render_with},
    document::{Document, airship::Repository, load},
};

fn drydock_by_id(documents: &[Document]) -> BTreeMap<String, &Document> {
    let drydock = documents.iter().filter(|document| document.schema().starts_with("drydock/"));
    drydock.map(|document| (document.id.to_string(), document)).collect()
}

fn renders_as_the_original(treasuremap: &Path, site: &str) {
    let repository = Repository::at(treasuremap).expect("it is a repository of sites");
    let folders = repository.folders_of(Some(site), &[]).expect("the site is there").folders;
    assert_eq!(folders.len(), 3, "what is global, of the type and of the site: {folders:?}");
    let input = load(folders).expect("the site can be read");
    assert_eq!(input.warnings, []);
    // The certificates were taken out of these copies; charts, which nothing here compares, miss them.
    let rendering =
        render_with(input.documents, MissingSource::Warn).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let reference = load([treasuremap.join(format!("rendered/{site}.yaml"))])
        .expect("the reference can be read")
        .documents;

    let (ours, theirs) = (drydock_by_id(&rendering.documents), drydock_by_id(&reference));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (id, document) in theirs {
        let json =
            |document: &Document| serde_json::to_string_pretty(&document.data).expect("values are JSON");
        assert_eq!(json(ours[&id]), json(document), "{id}");
    }
    for warning in &rendering.warnings {
        assert!(!warning.message.starts_with("drydock/"), "{}: {}", warning.at, warning.message);
    }
}

/// Every site that was rendered, however many there are.
#[test]
fn every_site_renders_as_the_original_rendered_it() {
    let Some(treasuremap) = require::cases("treasuremap") else { return };
    let rendered = treasuremap.join("rendered").read_dir().expect("there are renderings");
    let files = rendered.map(|entry| entry.expect("the folder can be read").path());
    let sites: Vec<String> = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "yaml"))
        .filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()))
        .collect();
    assert!(sites.len() >= 2, "{sites:?}");
    for site in sites {
        renders_as_the_original(&treasuremap, &site);
    }
}
