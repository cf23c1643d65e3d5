//! Bodies in JSON and YAML: what was read is written so that it is read as the same, and what is plain JSON is read.

use krm::decode::{self, Format};
use krm::encode::to_json;
use krm::{body, decode::read_yaml};
use serde_json::Value;

use super::Target;
use crate::recorded;

pub const TARGET: Target = Target {
    name: "bodies",
    check,
    seeds,
    words: &[
        "apiVersion",
        "kind",
        "metadata",
        "{",
        "}",
        "[",
        "]",
        ":",
        "- ",
        "\n  ",
        "&a",
        "*a",
        "<<: *a",
        "!!str",
        "!!binary",
        "|\n ",
        ">-\n ",
        "? ",
        "---\n",
        "...",
        "0x1F",
        "0o17",
        "1e400",
        ".inf",
        ".nan",
        "-0",
        "1_000",
        "\\ud800",
        "2026-01-02",
        "~",
        "\"",
        "'",
        "#",
    ],
};

fn check(bytes: &[u8]) {
    let (Some((which, bytes)), true) = (bytes.split_first(), bytes.len() < 16 << 10) else { return };
    match which % 2 {
        0 => check_json(bytes),
        _ => check_yaml(bytes),
    }
}

fn check_json(bytes: &[u8]) {
    match body::read(bytes) {
        Ok(body) => {
            let written = to_json(&body.value);
            let again =
                body::read(&written).unwrap_or_else(|error| panic!("{body:?} is not read again: {error}"));
            // 1.0 is written as 1.
            let mut reread = body.value.clone();
            krm::number::reread(&mut reread);
            assert_eq!(again.value, reread);
            assert!(again.duplicates.is_empty(), "{again:?}");
            stays_as_yaml(&reread);
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            let plain = serde_json::from_slice::<Value>(bytes);
            assert!(plain.is_err(), "{plain:?} is refused: {error}");
        }
    }
    decoded(bytes, Format::Json);
}

fn check_yaml(bytes: &[u8]) {
    match read_yaml(bytes) {
        Ok(yaml) => {
            let written = to_json(&yaml.value);
            let again =
                body::read(&written).unwrap_or_else(|error| panic!("{yaml:?} is not read again: {error}"));
            assert_eq!(again.value, yaml.value);
            stays_as_yaml(&yaml.value);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    decoded(bytes, Format::Yaml);
    if let Err(message) = decode::read_apply(bytes) {
        assert!(message.starts_with("error decoding YAML"), "{message}");
    }
}

/// As `kubectl get -o yaml | kubectl replace -f -` does it.
fn stays_as_yaml(value: &Value) {
    let written = krm::encode::to_yaml(value);
    match read_yaml(written.as_bytes()) {
        Ok(again) => {
            assert_eq!(&again.value, value, "{written}");
            assert!(again.duplicates.is_empty(), "{written}");
        }
        Err(error) => panic!("{error} in\n{written}"),
    }
}

fn decoded(bytes: &[u8], format: Format) {
    match decode::read_with_kind(bytes, format) {
        Ok(decoded) => assert!(!decoded.kind.is_empty()),
        Err(refusal) => assert!(matches!(refusal.status("Thing", bytes).code, 400 | 413 | 422)),
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let with = |which: u8| move |body: Vec<u8>| [&[which], body.as_slice()].concat();
    let mut seeds: Vec<Vec<u8>> = recorded::bodies("").into_iter().map(with(0)).collect();
    seeds.extend(recorded::bodies("application/yaml").into_iter().map(with(1)));
    seeds.extend(recorded::bodies("application/apply-patch+yaml").into_iter().map(with(1)));
    let written = [
        "a: &x {b: [1, 2.5, ~, 0x1f]}\nc: *x\nd:\n  <<: *x\n  e: |\n    text\n    more\n  f: >-\n    folded\n",
        "? complex\n: value\n'quoted': \"esc\\u00e4\\n\"\nlist:\n- 1\n- - 2\n  - !!str 3\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 'yes', b: \"1\"}\n---\n",
    ];
    seeds.extend(written.iter().map(|text| with(1)(text.as_bytes().to_vec())));
    seeds
}
