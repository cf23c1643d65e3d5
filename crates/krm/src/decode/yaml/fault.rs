//! What is wrong with a text that is no YAML, in the words of go-yaml.

use saphyr_parser::ScanError;

use super::YamlError;

/// Who notices a fault: it decides by which line it is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notices {
    Scanner,
    Parser,
    /// The scanner, on the line after the one that ours points at.
    ScannerBelow,
    /// The scanner, at the end of the text.
    ScannerAtEnd,
}

/// What our parser says, what go-yaml says, and who of it.
const FAULTS: [(&str, &str, Notices); 19] = [
    ("did not find expected node content", "did not find expected node content", Notices::Parser),
    ("did not find expected key", "did not find expected key", Notices::Parser),
    ("did not find expected ',' or '}'", "did not find expected ',' or '}'", Notices::Parser),
    ("expected ',' or ']'", "did not find expected ',' or ']'", Notices::Parser),
    ("did not find expected '-' indicator", "did not find expected '-' indicator", Notices::Parser),
    ("<document", "did not find expected <document start>", Notices::Parser),
    ("unexpected eof", "did not find expected node content", Notices::Parser),
    ("mapping values are not allowed", "mapping values are not allowed in this context", Notices::Scanner),
    ("illegal placement of ':'", "did not find expected ',' or ']'", Notices::Parser),
    ("mapping keys are not allowed", "mapping keys are not allowed in this context", Notices::Scanner),
    (
        "block sequence entries are not allowed",
        "block sequence entries are not allowed in this context",
        Notices::Scanner,
    ),
    ("simple key expect", "could not find expected ':'", Notices::Scanner),
    ("unexpected character", "found character that cannot start any token", Notices::Scanner),
    ("plain scalar, found a tab", "found a tab character that violates indentation", Notices::ScannerBelow),
    ("tab", "found character that cannot start any token", Notices::Scanner),
    ("misplaced bracket", "did not find expected node content", Notices::Parser),
    ("expected hexadecimal number", "did not find expected hexdecimal number", Notices::Scanner),
    ("recursion limit exceeded", "exceeded max depth of 10000", Notices::Scanner),
    ("found unexpected end of stream", "found unexpected end of stream", Notices::ScannerAtEnd),
];

/// The fault that our parser found.
pub(super) fn of_parser(text: &str, error: &ScanError) -> YamlError {
    let (info, at) = (error.info(), error.marker());
    if info.contains("unknown anchor") {
        let name: String = text
            .chars()
            .skip(at.index() + 1)
            .take_while(|c| c.is_alphanumeric() || "_-".contains(*c))
            .collect();
        return YamlError(format!("yaml: unknown anchor '{name}' referenced"));
    }
    let known = FAULTS.iter().find(|(ours, ..)| info.contains(ours));
    let (says, notices) = match known {
        Some((_, says, notices)) => (*says, *notices),
        None => (info.rsplit(", ").next().unwrap_or(info), Notices::Scanner),
    };
    // go-yaml counts lines from zero; its scanner adds one, its parser does not; and the end of a text that lacks a
    // line break stands on a line of its own.
    let is_at_end = at.col() != 0 && text.chars().nth(at.index()).is_none();
    let lines_before = at.line().saturating_sub(1);
    let line = match notices {
        Notices::Parser => lines_before + usize::from(is_at_end),
        Notices::Scanner => scanned(lines_before),
        Notices::ScannerBelow => scanned(lines_before + 1),
        Notices::ScannerAtEnd => scanned(text.matches('\n').count()),
    };
    let place = if line == 0 { String::new() } else { format!("line {line}: ") };
    YamlError(format!("yaml: {place}{says}"))
}

/// The first line is told by no number at all.
fn scanned(lines_before: usize) -> usize {
    if lines_before == 0 { 0 } else { lines_before + 1 }
}

/// The bytes as text, refused where YAML has no such character. Our parser takes a NUL for the end of the text, so
/// one that came through would hide all that follows it.
pub(super) fn printable(bytes: &[u8]) -> Result<&str, YamlError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let says = match error.error_len() {
            None => "incomplete UTF-8 octet sequence",
            Some(1) => "invalid leading UTF-8 octet",
            Some(_) => "invalid trailing UTF-8 octet",
        };
        YamlError(format!("yaml: {says}"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.chars().all(is_printable) {
        true => Ok(text),
        false => Err(YamlError("yaml: control characters are not allowed".to_owned())),
    }
}

fn is_printable(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{85}' => true,
        '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => !c.is_control(),
    }
}
