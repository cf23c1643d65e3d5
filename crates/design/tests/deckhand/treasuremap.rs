//! The Airship treasuremap sites, against what the original made of them.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use design::{
    deckhand::{MissingSource, render_with},
    document::{Document, load},
};

/// The shared cases are other people's files and stay outside the repository.
fn cases() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    let folder = env::var_os("GROUNDPLANE_CASES").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        env::var_os("GROUNDPLANE_REQUIRE").is_none_or(|value| value != "1"),
        "the shared cases are required, but {} is not a folder",
        folder.display()
    );
    eprintln!("skipped: the shared cases are not here");
    None
}

fn drydock_by_id(documents: &[Document]) -> BTreeMap<String, &Document> {
    let drydock = documents.iter().filter(|document| document.schema().starts_with("drydock/"));
    drydock.map(|document| (document.id.to_string(), document)).collect()
}

fn renders_as_the_original(site: &str, site_type: &str) {
    let Some(cases) = cases() else { return };
    let treasuremap = cases.join("treasuremap");
    let folders = ["global".to_owned(), format!("type/{site_type}"), format!("site/{site}")];
    let input = load(folders.map(|folder| treasuremap.join(folder))).expect("the site can be read");
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

#[test]
fn airsloop_renders_as_the_original_rendered_it() {
    renders_as_the_original("airsloop", "sloop");
}

#[test]
fn seaworthy_renders_as_the_original_rendered_it() {
    renders_as_the_original("seaworthy", "foundry");
}
