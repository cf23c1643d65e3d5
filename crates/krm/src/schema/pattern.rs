//! Patterns of schemas: written for Go's regular expressions, run by ours.

use regex::{Regex, RegexBuilder};

/// How large a compiled pattern may get; generous repetitions of Unicode classes need room.
const LARGEST: usize = 64 << 20;

/// A pattern in Go's dialect, and what runs it.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    /// `Err` says why it cannot be run.
    program: Result<Regex, String>,
}

impl Pattern {
    /// Compiles a pattern; one that is wrong says so when it is used.
    pub fn new(text: &str) -> Pattern {
        let program = RegexBuilder::new(&translate(text)).size_limit(LARGEST).build();
        Pattern { text: text.to_owned(), program: program.map_err(|error| error.to_string()) }
    }

    /// The pattern as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What runs it; `Err` when the pattern itself is wrong.
    pub fn program(&self) -> Result<&Regex, &str> {
        self.program.as_ref().map_err(String::as_str)
    }

    /// Whether it is found in `text`; `Err` when the pattern itself is wrong.
    pub fn matches(&self, text: &str) -> Result<bool, &str> {
        match &self.program {
            Ok(program) => Ok(program.is_match(text)),
            Err(why) => Err(why),
        }
    }
}

/// The same expression in our dialect.
///
/// Go's classes `\d`, `\w`, `\s` and boundaries are of ASCII, ours are of Unicode; Go takes `[`, `&`, `~` in classes and
/// braces that repeat nothing as themselves; `\Q…\E` and `\<` mean other things.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            '\\' => escape(after, false, &mut out),
            '[' => class(after, &mut out),
            '{' if !repeats(after) => {
                out.push_str("\\{");
                after
            }
            _ => {
                out.push(c);
                after
            }
        };
    }
    out
}

/// Translates what follows a backslash; returns what comes after it.
fn escape<'a>(rest: &'a str, in_class: bool, out: &mut String) -> &'a str {
    let Some(c) = rest.chars().next() else {
        out.push('\\');
        return rest;
    };
    let after = &rest[c.len_utf8()..];
    let (digits, words, spaces) = ("0-9", "0-9A-Za-z_", "\\t\\n\\f\\r ");
    match c {
        'd' => braced("", digits, in_class, out),
        'w' => braced("", words, in_class, out),
        's' => braced("", spaces, in_class, out),
        'D' => braced("^", digits, false, out),
        'W' => braced("^", words, false, out),
        'S' => braced("^", spaces, false, out),
        'b' if !in_class => out.push_str("(?-u:\\b)"),
        'B' if !in_class => out.push_str("(?-u:\\B)"),
        '<' | '>' => out.push(c),
        'Q' if !in_class => {
            let (literal, after) = after.split_once("\\E").unwrap_or((after, ""));
            out.push_str(&regex::escape(literal));
            return after;
        }
        _ => {
            out.push('\\');
            out.push(c);
        }
    }
    after
}

fn braced(negation: &str, members: &str, bare: bool, out: &mut String) {
    if bare {
        out.push_str(members);
        return;
    }
    out.push('[');
    out.push_str(negation);
    out.push_str(members);
    out.push(']');
}

/// Translates a class, its opening bracket being read; returns what comes after it.
fn class<'a>(mut rest: &'a str, out: &mut String) -> &'a str {
    out.push('[');
    if let Some(after) = rest.strip_prefix('^') {
        out.push('^');
        rest = after;
    }
    let mut first = true;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let at_start = std::mem::take(&mut first);
        rest = match c {
            ']' if at_start => {
                out.push_str("\\]");
                after
            }
            ']' => {
                out.push(']');
                return after;
            }
            '\\' => escape(after, true, out),
            '[' => match after.strip_prefix(':').and_then(|name| name.split_once(":]")) {
                Some((name, after)) => {
                    out.push_str("[:");
                    out.push_str(name);
                    out.push_str(":]");
                    after
                }
                None => {
                    out.push_str("\\[");
                    after
                }
            },
            '-' if at_start => {
                out.push_str("\\-");
                after
            }
            '-' if after.starts_with('-') => {
                out.push_str("-\\-");
                &after[1..]
            }
            '&' | '~' => {
                out.push('\\');
                out.push(c);
                after
            }
            _ => {
                out.push(c);
                after
            }
        };
    }
    rest
}

/// Whether an opened brace is a repetition: `{2}`, `{2,}`, `{2,3}`.
fn repeats(after: &str) -> bool {
    let Some((inside, _)) = after.split_once('}') else { return false };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    !least.is_empty() && digits(least) && digits(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).matches(text).unwrap_or_else(|why| panic!("{pattern}: {why}"))
    }

    #[test]
    fn patterns_mean_what_they_mean_in_go() {
        let cases = [
            (r"^\d+$", "12", true),
            (r"^\d+$", "١٢", false),
            (r"^\w+$", "ab_1", true),
            (r"^\w+$", "é", false),
            (r"^[\w.-]+$", "a.b-c", true),
            (r"^[^\s/]+$", "a b", false),
            (r"^[\D]$", "x", true),
            (r"^[^\W_]+$", "a_", false),
            (r"^\S+$", "a\u{a0}b", true),
            (r"^.{3}$", "äöü", true),
            (r"^[a[b]+$", "a[b", true),
            (r"^[&&]+$", "&", true),
            (r"^[+--]$", ",", true),
            (r"^[]a]+$", "]a", true),
            (r"^[^]]$", "]", false),
            (r"^{x}$", "{x}", true),
            (r"^x{,3}$", "x{,3}", true),
            (r"^x{2,3}$", "xx", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "aXb", false),
            (r"^[[:alpha:]]+$", "abc", true),
            (r"\<a\>", "<a>", true),
            (r"^a$", "a\n", false),
            (r"(?i)^abc$", "ABC", true),
            ("^[\\p{L}]+$", "né", true),
            (r"b", "abc", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text:?}");
        }
    }

    #[test]
    fn a_broken_pattern_says_so_instead_of_matching() {
        assert!(Pattern::new("(").matches("(").is_err());
        assert!(Pattern::new("[a").matches("a").is_err());
        assert!(Pattern::new("\\").matches("a").is_err());
    }
}
