//! The YAML of site documents: what was read is written, and reads back as the same.

use design::yaml;

use super::Target;

pub const TARGET: Target = Target {
    name: "site_yaml",
    check,
    seeds,
    words: &[
        "---\n", "...\n", ": ", "- ", "? ", "&a ", "*a", "<<: *a", "!!str ", "!x ", "|\n", "|-\n", ">+\n",
        "\"", "'", "# ", "{", "}", "[", "]", ",", "~", "yes", "0o7", "010", "1_000", "1:30", "1.5e+3",
        ".inf", ".nan", "\u{85}", "\u{2028}", "\u{feff}", "\t",
    ],
};

fn check(bytes: &[u8]) {
    let Ok(stream) = yaml::read("bent.yaml", bytes) else { return };
    for document in stream.documents {
        let written = yaml::write(&document.value);
        let again = yaml::read("again.yaml", written.as_bytes());
        let again = again.unwrap_or_else(|error| panic!("{written:?} is not read again: {error}"));
        let value = again.documents.into_iter().next().map(|node| node.value).unwrap_or_default();
        assert_eq!(value, document.value, "{written:?} reads back as something else");
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "a: {b: [1, 2.5, ~, 'x'], c: \"d\\te\"}\nf: |\n  g\n\n  h\ni: >-\n  j\n  k\n",
        "- &a {x: 1}\n- *a\n- <<: *a\n  y: 2\n",
        "? [a]\n: b\n",
        "---\n...\n---\n5: '!z'\nnull: x\ntrue: y\n1.5: z\n",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
