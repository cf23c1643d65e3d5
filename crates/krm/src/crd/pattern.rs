//! Regular expressions, and what Go says about those that are none.

use crate::schema::Pattern;

/// Why a pattern cannot be read, in Go's words; `None` for a pattern that can.
pub(super) fn fault(pattern: &str) -> Option<String> {
    if pattern.is_empty() {
        return None;
    }
    let compiled = Pattern::new(pattern);
    let why = compiled.program().err()?;
    Some(format!("error parsing regexp: {}", in_gos_words(why, pattern)))
}

/// What is wrong, by what our own reader of patterns says, and the part of the pattern that it points at.
fn in_gos_words(why: &str, pattern: &str) -> String {
    let said = why.lines().rev().find_map(|line| line.strip_prefix("error: ")).unwrap_or(why);
    let part = pointed_at(why).unwrap_or(pattern);
    let (words, part) = match said {
        "unclosed group" => ("missing closing )", pattern),
        "unopened group" => ("unexpected )", pattern),
        "unclosed character class" => ("missing closing ]", from(pattern, '[')),
        "repetition operator missing expression" => ("missing argument to repetition operator", part),
        "incomplete escape sequence, reached end of pattern prematurely" => {
            ("trailing backslash at end of expression", "")
        }
        "invalid repetition count range, the start must be <= the end" => ("invalid repeat count", part),
        "look-around, including look-ahead and look-behind, is not supported" => {
            ("invalid or unsupported Perl syntax", part)
        }
        said if said.contains("character class range") => ("invalid character class range", part),
        said if said.contains("escape sequence") || said.contains("backreferences") => {
            ("invalid escape sequence", part)
        }
        _ => ("invalid or unsupported Perl syntax", part),
    };
    format!("{words}: `{part}`")
}

/// The part of the pattern that has carets below it.
fn pointed_at(why: &str) -> Option<&str> {
    let lines: Vec<&str> = why.lines().collect();
    let carets = lines.iter().position(|line| line.contains('^') && line.trim_start().starts_with('^'))?;
    let line = lines[carets];
    let start = line.find('^')?;
    lines.get(carets.checked_sub(1)?)?.get(start..line.trim_end().len())
}

fn from(pattern: &str, c: char) -> &str {
    pattern.rfind(c).map_or(pattern, |at| &pattern[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_patterns_are_told_of_in_gos_words() {
        let cases = [
            ("(", "missing closing ): `(`"),
            ("a)", "unexpected ): `a)`"),
            ("[a", "missing closing ]: `[a`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("a\\", "trailing backslash at end of expression: ``"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("\\y", "invalid escape sequence: `\\y`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ];
        for (pattern, why) in cases {
            assert_eq!(
                fault(pattern).as_deref(),
                Some(&*format!("error parsing regexp: {why}")),
                "{pattern}"
            );
        }
        assert_eq!(fault("^a+$"), None);
    }
}
