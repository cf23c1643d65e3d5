//! Bundles bent at random: whatever the bytes are, reading, layering, compiling and validating answer.
//!
//! A few hundred turns by default; `GROUNDPLANE_FUZZ_SECONDS` gives it as long as wanted.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    env, fs,
    path::Path,
    time::{Duration, Instant},
};

use design::{
    compile::{LshwInputs, compile},
    deckhand::{MissingSource, render_with},
    document::parse,
    reach::reach,
    validate::tell,
    yaml,
};

#[test]
fn bent_bundles_are_answered() {
    let corpus = corpus();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let until = env::var("GROUNDPLANE_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let end = until.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut turns = 0;
    while end.map_or(turns < 400, |end| Instant::now() < end) {
        let bytes = bent(&corpus, &mut dice);
        if std::panic::catch_unwind(|| answer(&bytes)).is_err() {
            panic!("turn {turns} crashed on:\n{}", String::from_utf8_lossy(&bytes));
        }
        turns += 1;
    }
}

fn answer(bytes: &[u8]) {
    let Ok(loaded) = parse("bent.yaml", bytes) else { return };
    if let Ok(rendering) = render_with(loaded.documents.clone(), MissingSource::Warn) {
        let _ = compile(&rendering.documents, &LshwInputs::new());
    }
    let compiled = compile(&loaded.documents, &LshwInputs::new()).validated();
    let _ = (compiled.to_drydock_json(), tell(&compiled));
    if let Some(site) = compiled.site() {
        assert!(reach(site, site).is_empty(), "a site does not differ from itself");
        site.nodes.iter().for_each(|node| drop(node.explain()));
    }
    for document in &loaded.documents {
        let written = yaml::write(&document.data.value);
        let again = yaml::read("again.yaml", written.as_bytes()).unwrap().documents;
        let value = again.first().map(|node| node.value.clone()).unwrap_or_default();
        assert_eq!(value, document.data.value, "what is written reads back:\n{written}");
    }
}

/// Corner cases and layered documents, all in the repository.
fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/corner");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut bundles: Vec<Vec<u8>> = files
        .filter(|file| file.extension().is_some_and(|one| one == "yaml"))
        .map(|file| fs::read(file).unwrap())
        .collect();
    bundles.sort();
    bundles.push(LAYERED.as_bytes().to_vec());
    bundles
}

fn bent(corpus: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = dice.pick(corpus).clone();
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len().max(1));
        match dice.below(5) {
            0 => bytes.insert(at, dice.below(256) as u8),
            1 => {
                let end = (at + dice.below(40)).min(bytes.len());
                bytes.drain(at.min(end)..end);
            }
            2 => {
                let token = *dice.pick(&TOKENS);
                bytes.splice(at..at, token.bytes());
            }
            3 => {
                let other = dice.pick(corpus);
                let from = dice.below(other.len().max(1));
                let end = (from + dice.below(200)).min(other.len());
                let part = other[from.min(end)..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
                let line = dice.pick(&lines).to_vec();
                bytes.splice(at..at, line);
            }
        }
    }
    bytes
}

const TOKENS: [&str; 22] = [
    "\n",
    ": ",
    "- ",
    "&a ",
    "*a",
    "<<: *a",
    "!",
    "'!'",
    "null",
    "{}",
    "[]",
    "|\n",
    ">",
    "%",
    "99999999999999999999",
    "-1",
    "1e400",
    "\u{feff}",
    "\u{2028}",
    "regexp:(",
    "hardwareprofile:",
    "---\n",
];

const LAYERED: &str = "---
{schema: deckhand/LayeringPolicy/v1, metadata: {name: p}, data: {layerOrder: [global, site]}}
---
{schema: drydock/HostProfile/v1, metadata: {name: g, labels: {a: b}, layeringDefinition: {abstract: true, layer: global}}, data: {platform: {image: x}, metadata: {tags: [t]}}}
---
schema: drydock/HostProfile/v1
metadata:
  name: s
  layeringDefinition: {abstract: false, layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}, {method: delete, path: .metadata}]}
  substitutions: [{src: {schema: k/K/v1, name: v, path: .a.b[0], pattern: '(x)', match_group: 1}, dest: {path: .oob.credential}}]
data: {oob: {type: ipmi}}
---
{schema: k/K/v1, metadata: {name: v, layeringDefinition: {abstract: false, layer: site}}, data: {a: {b: [xyz]}}}
";

/// Small, quick, the same on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
