//! Patterns of schemas: written for Go's regular expressions, run by ours.

mod cache;
mod go_syntax;
mod weight;

use std::fmt;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

/// About how large a compiled pattern may get, in bytes. Definitions of real projects have patterns for host names with 190
/// repetitions of Unicode's letters and symbols, about 17 MiB.
const LARGEST: usize = 24 << 20;
/// Bytes of the tables that a pattern fills while it runs, for each thread.
const TABLES: usize = 128 << 10;

/// A pattern in Go's dialect. It is compiled when it is first used.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: Arc<str>,
    /// About how many bytes it takes when it is compiled; `Err` says why it can't be.
    weight: Result<usize, String>,
}

impl Pattern {
    /// Reads a pattern; one that is wrong says so when it is used.
    pub fn new(text: &str) -> Pattern {
        Pattern::within(text, LARGEST)
    }

    /// The same, where what it compiles to may not be larger than about so many bytes.
    pub fn within(text: &str, largest: usize) -> Pattern {
        let weight = go_syntax::check(text).and_then(|()| {
            let too_large = || Fault::new("expression too large", text);
            let expression = regex_syntax::parse(&translate(text)).map_err(|_| too_large())?;
            Some(weight::of(&expression)).filter(|weight| *weight <= largest).ok_or_else(too_large)
        });
        Pattern { text: text.into(), weight: weight.map_err(|fault| fault.to_string()) }
    }

    /// The pattern as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// About how many bytes it takes when it is compiled; nothing if it can't be.
    pub fn weight(&self) -> usize {
        self.weight.as_ref().copied().unwrap_or(0)
    }

    /// The same, unless the pattern itself is wrong; the error is in Go's words.
    pub fn checked(self) -> Result<Pattern, String> {
        match &self.weight {
            Ok(_) => Ok(self),
            Err(why) => Err(why.clone()),
        }
    }

    /// What runs it, of which one is kept for all who use the pattern; `Err` when the pattern itself is wrong, in Go's words.
    pub fn program(&self) -> Result<Arc<Regex>, String> {
        cache::compiled(&self.text, self.weight.clone()?, || self.compile())
    }

    /// The same for a single use, such as a pattern that was read from an object.
    pub fn compile(&self) -> Result<Regex, String> {
        self.weight.clone()?;
        // The estimate is checked by a limit that it is far from.
        let mut builder = RegexBuilder::new(&translate(&self.text));
        let built = builder.size_limit(4 * LARGEST).dfa_size_limit(TABLES).build();
        built.map_err(|_| Fault::new("expression too large", &self.text).to_string())
    }

    /// Whether it is found in `text`; `Err` when the pattern itself is wrong, in Go's words.
    pub fn matches(&self, text: &str) -> Result<bool, String> {
        Ok(self.program()?.is_match(text))
    }
}

/// What is wrong with a pattern, and with which part of it.
#[derive(Debug)]
struct Fault {
    why: &'static str,
    part: String,
}

impl Fault {
    fn new(why: &'static str, part: &str) -> Fault {
        Fault { why, part: part.to_owned() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.why, self.part)
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
    fn broken_patterns_are_told_of_in_gos_words() {
        let cases = [
            ("(", "missing closing ): `(`"),
            ("(a|b", "missing closing ): `(a|b`"),
            ("a)", "unexpected ): `a)`"),
            ("x[a", "missing closing ]: `[a`"),
            ("[", "missing closing ]: `[`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("a|+?b", "missing argument to repetition operator: `+?`"),
            ("(?i)*", "missing argument to repetition operator: `*`"),
            ("x++", "invalid nested repetition operator: `++`"),
            ("x*??", "invalid nested repetition operator: `*??`"),
            ("x{2}{3}y", "invalid nested repetition operator: `{2}{3}`"),
            ("x{1001}", "invalid repeat count: `{1001}`"),
            ("x{3,2}?", "invalid repeat count: `{3,2}`"),
            ("(x{100}){11}", "invalid repeat count: `{11}`"),
            ("a\\", "trailing backslash at end of expression: ``"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
            ("\\p{Foo}", "invalid character class range: `\\p{Foo}`"),
            ("\\y", "invalid escape sequence: `\\y`"),
            ("\\u1234", "invalid escape sequence: `\\u`"),
            ("\\1", "invalid escape sequence: `\\1`"),
            ("\\x{110000}", "invalid escape sequence: `\\x{110000`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("(?x)a", "invalid or unsupported Perl syntax: `(?x`"),
            ("(?i-)a", "invalid or unsupported Perl syntax: `(?i-)`"),
            ("(?P<a b>c)", "invalid named capture: `(?P<a b>`"),
            ("(?<=a)b", "invalid named capture: `(?<=a)b`"),
        ];
        for (pattern, why) in cases {
            let pattern = Pattern::new(pattern);
            let said = pattern.program().err();
            assert_eq!(said, Some(format!("error parsing regexp: {why}")), "{}", pattern.text());
        }
        let fine =
            ["", "^a+?$", "(?i:a)|b*", "x{1000}", "(x{100}){10}", "(?P<name>a)(?-s).", "[]a^-]", "\\Qa*\\E*"];
        for pattern in fine {
            assert_eq!(Pattern::new(pattern).program().err(), None, "{pattern}");
        }
    }

    #[test]
    fn a_broken_pattern_says_so_instead_of_matching() {
        assert!(Pattern::new("(").matches("(").is_err());
        assert!(Pattern::new("[a").matches("a").is_err());
        assert!(Pattern::new("\\").matches("a").is_err());
    }

    #[test]
    fn a_pattern_that_would_get_huge_is_refused_without_compiling_it() {
        for pattern in [r"^\pL{1000}$", r"^(\pL{30}){30}$", r"^(?:[\p{L}\p{N}]{1,20}\.){1,50}$"] {
            let said = Pattern::new(pattern).program().err();
            assert_eq!(said, Some(format!("error parsing regexp: expression too large: `{pattern}`")));
        }
        for pattern in [r"^[\p{L}\p{N} ]{1,63}$", "^.{1000}$", "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"] {
            assert!(Pattern::new(pattern).program().is_ok(), "{pattern}");
        }
    }

    #[test]
    fn the_estimated_size_is_near_the_real_one() {
        let patterns = [
            r"^[\p{L}\p{N} ]{1,20}$",
            "^.{500}$",
            "^[a-z0-9]{200}$",
            r"\pL+",
            "(a|b|c){100}",
            "^(abc){1,300}$",
            r"\W{60}",
        ];
        for text in patterns {
            let pattern = Pattern::new(text);
            let fits = |limit: usize| RegexBuilder::new(&translate(text)).size_limit(limit).build().is_ok();
            assert!(
                fits(4 * pattern.weight() + (8 << 10)),
                "{text} takes more than estimated: {}",
                pattern.weight()
            );
            assert!(!fits(pattern.weight() / 16), "{text} takes less than estimated: {}", pattern.weight());
        }
    }
}
