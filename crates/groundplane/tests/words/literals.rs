//! The texts of a Rust source that users read: string literals, and the doc comments that become descriptions of
//! fields or help of commands.

/// Crates that only tests use.
const FOR_TESTS: [&str; 3] = ["crates/fuzz/", "crates/sim/", "crates/testbed/"];
/// Derives that turn doc comments into descriptions or help.
const DESCRIBED: [&str; 5] = ["JsonSchema", "clap::Args", "Parser", "Subcommand", "ValueEnum"];

/// Whether a source has texts for users.
pub fn is_read_by_users(path: &str) -> bool {
    let is_test = path.contains("/tests/") || path.ends_with("tests.rs") || path.contains("golden");
    !is_test && !FOR_TESTS.iter().any(|folder| path.starts_with(folder))
}

/// Lines and texts, up to the tests at the end of the file.
pub fn texts(source: &str) -> Vec<(usize, String)> {
    let source = source.find("#[cfg(test)]\nmod tests {").map_or(source, |end| &source[..end]);
    let derives = source.lines().filter(|line| line.trim_start().starts_with("#[derive("));
    let has_descriptions = derives.into_iter().any(|line| DESCRIBED.iter().any(|name| line.contains(name)));
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
        let (length, text) = token(rest);
        let is_comment = rest.starts_with("//");
        if let Some(text) = text.filter(|_| !is_comment || (has_descriptions && is_description(rest))) {
            found.push((source[..at].matches('\n').count() + 1, text));
        }
        at += length;
    }
    found
}

/// Whether a doc comment is that of a type, a field or a variant, and not of code.
fn is_description(comment: &str) -> bool {
    let is_before = |line: &&str| line.starts_with("///") || line.starts_with("#[");
    let below = comment.lines().map(str::trim).find(|line| !is_before(line)).unwrap_or_default();
    let word =
        below.split([' ', '<', '(']).find(|word| !["pub", "crate)", "super)", "async", ""].contains(word));
    !["fn", "const", "static", "mod", "type", "trait", "impl", "use"].contains(&word.unwrap_or_default())
}

/// The length of the token that a source begins with, and its text if it is one for users.
fn token(rest: &str) -> (usize, Option<String>) {
    if rest.starts_with("//") {
        let end = rest.find('\n').unwrap_or(rest.len());
        let text = rest[..end].strip_prefix("///").map(|text| text.trim().to_owned());
        return (end, text);
    }
    let hashes = rest.strip_prefix('r').map(|raw| raw.len() - raw.trim_start_matches('#').len());
    if let Some(hashes) = hashes
        && rest[1 + hashes..].starts_with('"')
    {
        let begin = hashes + 2;
        let close = format!("\"{}", "#".repeat(hashes));
        let length = rest[begin..].find(&close).unwrap_or(rest.len() - begin - close.len());
        return (begin + length + close.len(), Some(rest[begin..begin + length].to_owned()));
    }
    if let Some(inside) = rest.strip_prefix('"') {
        let (length, text) = string(inside);
        return (length + 1, Some(text));
    }
    // A character, which may be a quotation mark; a lifetime has no second quotation mark so near.
    for character in ["'\\''", "'\"'", "'\\\"'", "'\\\\'"] {
        if rest.starts_with(character) {
            return (character.len(), None);
        }
    }
    let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    (word.max(rest.chars().next().map_or(1, char::len_utf8)), None)
}

/// The length of a string after its first quotation mark, and what it says, lines that go on joined.
fn string(inside: &str) -> (usize, String) {
    let mut text = String::new();
    let mut letters = inside.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match (letter, letters.peek().map(|(_, next)| *next)) {
            ('"', _) => return (at + 1, text),
            ('\\', Some('\n')) => while letters.next_if(|(_, next)| next.is_whitespace()).is_some() {},
            ('\\', Some(next)) => {
                text.push(if next == 'n' { '\n' } else { next });
                letters.next();
            }
            _ => text.push(letter),
        }
    }
    (inside.len(), text)
}

#[test]
fn the_texts_of_a_source_are_found() {
    let source = "//! Head.\n#[derive(Debug, JsonSchema)]\nstruct A {\n    /// A field.\n    a: &'static str, // no\n}\n/// Of code.\n#[inline]\npub(crate) fn f() {}\n\
        const B: (char, &str) = ('\"', \"one \\\n        line \\\"quoted\\\"\");\nconst C: &str = r#\"raw \"x\"\"#;\n\
        #[cfg(test)]\nmod tests {\n    const D: &str = \"unseen\";\n}\n";
    let found = texts(source);
    let wanted = [(4, "A field."), (10, "one line \"quoted\""), (12, "raw \"x\"")];
    assert_eq!(found, wanted.map(|(line, text)| (line, text.to_owned())));
    let plain = texts("/// Not for users.\nfn f() {}\n");
    assert_eq!(plain, []);
    assert!(
        is_read_by_users("crates/cli/src/failure.rs") && !is_read_by_users("crates/krm/src/cel/tests.rs")
    );
}
