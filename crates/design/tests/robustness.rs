//! No document crashes the compiler or a validator.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, path::Path, sync::LazyLock};

use design::{
    compile::{Lshw, LshwInputs, compile},
    document::parse,
};
use proptest::prelude::*;

static BUNDLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/corner");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let bundles = files.filter(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    let mut texts: Vec<String> = bundles.map(|file| fs::read_to_string(file).unwrap()).collect();
    texts.sort();
    texts
});

/// What a careless hand may put behind a key.
fn anything() -> impl Strategy<Value = String> {
    let words = [
        "", "null", "[]", "{}", "'!'", "-1", "1.5e300", "true", "[[]]", "{a: }", "{1: 2}", "'%'", "'>'", "!x",
    ];
    prop_oneof![prop::sample::select(words.to_vec()).prop_map(str::to_owned), "[a-z0-9%:./!>-]{0,12}"]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn a_bundle_with_any_lines_changed_is_answered(
        bundle in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), anything()), 1..4),
    ) {
        let mut lines: Vec<String> = bundle.get(&BUNDLES).lines().map(str::to_owned).collect();
        for (line, value) in changes {
            let line = line.index(lines.len());
            let key = lines[line].split(':').next().unwrap_or_default().to_owned();
            lines[line] = format!("{key}: {value}");
        }
        let Ok(loaded) = parse("changed.yaml", lines.join("\n").as_bytes()) else { return Ok(()) };
        let printed = compile(&loaded.documents, &LshwInputs::new()).validated().to_drydock_json();
        prop_assert!(["Success", "failure", "Failure"].contains(&printed["status"].as_str().unwrap()));
    }

    #[test]
    fn any_text_for_the_output_of_lshw_is_answered(text in "(<|>|/|node|businfo|class=\"network\"| |pci@|[a-z]){0,40}") {
        let _ = Lshw::parse(&text);
    }
}
