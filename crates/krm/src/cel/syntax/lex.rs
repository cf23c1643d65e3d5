//! Splits an expression into words.

use super::token::{Kind, Token, escaped};
use crate::cel::report::Issues;

/// The words of an expression, the end included. What is none is told and left out.
pub(super) fn words<'s>(source: &'s str, issues: &mut Issues) -> Vec<Token<'s>> {
    let mut lexer = Lexer { source, at: 0, offset: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let (start, offset) = (lexer.at, lexer.offset);
        if start >= source.len() {
            tokens.push(Token { kind: Kind::End, text: "", offset, start });
            return tokens;
        }
        match lexer.word() {
            Ok((kind, length)) => {
                lexer.advance(length);
                tokens.push(Token { kind, text: &source[start..lexer.at], offset, start });
            }
            // What was read until nothing fitted any more goes, the character that did not fit with it.
            Err(length) => {
                lexer.advance(length);
                let lost = escaped(&source[start..lexer.at]);
                issues.report(offset, format!("Syntax error: token recognition error at: '{lost}'"));
            }
        }
    }
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    /// The characters before `at`.
    offset: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &[u8] {
        &self.source.as_bytes()[self.at..]
    }

    fn advance(&mut self, length: usize) {
        let end = (self.at + length).min(self.source.len());
        self.offset += self.source[self.at..end].chars().count();
        self.at = end;
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.iter().take_while(|byte| matches!(byte, b'\t' | b' ' | b'\r' | b'\n' | 0xc));
            let mut length = blanks.count();
            if rest[length..].starts_with(b"//") {
                length += rest[length..].iter().take_while(|byte| **byte != b'\n').count();
            }
            if length == 0 {
                return;
            }
            self.advance(length);
        }
    }

    /// The next word's kind and length; or the length of what is none.
    fn word(&self) -> Result<(Kind, usize), usize> {
        let rest = self.rest();
        if let Some(result) = quoted(rest, self.source, self.at) {
            return result;
        }
        match rest[0] {
            b'0'..=b'9' => Ok(number(rest)),
            b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => Ok((Kind::Float, fraction(rest, 0))),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Ok(identifier(rest)),
            b'`' => escaped_identifier(rest, self.source, self.at),
            _ => operator(rest, self.source, self.at),
        }
    }
}

fn identifier(rest: &[u8]) -> (Kind, usize) {
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let kind = match &rest[..length] {
        b"in" => Kind::In,
        b"true" => Kind::True,
        b"false" => Kind::False,
        b"null" => Kind::Null,
        _ => Kind::Ident,
    };
    (kind, length)
}

fn escaped_identifier(rest: &[u8], source: &str, at: usize) -> Result<(Kind, usize), usize> {
    let inner = rest[1..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'/' | b' '));
    let inner = inner.count();
    match rest.get(1 + inner) {
        Some(b'`') if inner > 0 => Ok((Kind::EscapedIdent, inner + 2)),
        _ => Err(1 + inner + char_length(source, at + 1 + inner)),
    }
}

fn operator(rest: &[u8], source: &str, at: usize) -> Result<(Kind, usize), usize> {
    let one = |kind| Ok((kind, 1));
    let pair = |second: u8, double: Kind, single: Option<Kind>| match single {
        _ if rest.get(1) == Some(&second) => Ok((double, 2)),
        Some(single) => Ok((single, 1)),
        None => Err(1 + char_length(source, at + 1)),
    };
    match rest[0] {
        b'=' => pair(b'=', Kind::Equals, None),
        b'!' => pair(b'=', Kind::NotEquals, Some(Kind::Not)),
        b'<' => pair(b'=', Kind::LessEquals, Some(Kind::Less)),
        b'>' => pair(b'=', Kind::GreaterEquals, Some(Kind::Greater)),
        b'&' => pair(b'&', Kind::And, None),
        b'|' => pair(b'|', Kind::Or, None),
        b'[' => one(Kind::OpenBracket),
        b']' => one(Kind::CloseBracket),
        b'{' => one(Kind::OpenBrace),
        b'}' => one(Kind::CloseBrace),
        b'(' => one(Kind::OpenParen),
        b')' => one(Kind::CloseParen),
        b'.' => one(Kind::Dot),
        b',' => one(Kind::Comma),
        b'-' => one(Kind::Minus),
        b'?' => one(Kind::Question),
        b':' => one(Kind::Colon),
        b'+' => one(Kind::Plus),
        b'*' => one(Kind::Star),
        b'/' => one(Kind::Slash),
        b'%' => one(Kind::Percent),
        _ => Err(char_length(source, at)),
    }
}

fn number(rest: &[u8]) -> (Kind, usize) {
    if rest.starts_with(b"0x") {
        let digits = rest[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits > 0 {
            return whole(rest, 2 + digits);
        }
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length = fraction(rest, digits);
    if length > digits { (Kind::Float, length) } else { whole(rest, digits) }
}

fn whole(rest: &[u8], length: usize) -> (Kind, usize) {
    match rest.get(length) {
        Some(b'u' | b'U') => (Kind::Uint, length + 1),
        _ => (Kind::Int, length),
    }
}

/// How long a number is whose whole part is `digits` long, with its fraction and its exponent.
fn fraction(rest: &[u8], digits: usize) -> usize {
    let count = |from: usize| rest.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits;
    if rest.get(length) == Some(&b'.') && count(length + 1) > 0 {
        length += 1 + count(length + 1);
    }
    if matches!(rest.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        let exponent = count(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

/// A text or bytes in quotes; `None` when that is not what starts here.
fn quoted(rest: &[u8], source: &str, at: usize) -> Option<Result<(Kind, usize), usize>> {
    let mut prefix = 0;
    let kind = match rest[0] {
        b'b' | b'B' => {
            prefix += 1;
            Kind::Bytes
        }
        _ => Kind::String,
    };
    let raw = matches!(rest.get(prefix), Some(b'r' | b'R'));
    prefix += usize::from(raw);
    let quote = rest.get(prefix).copied().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let thrice = [quote; 3];
    let body = &rest[prefix..];
    let length = if body.starts_with(&thrice) {
        let closed = inside(&body[3..], raw, |rest| rest.starts_with(&thrice), |_| false);
        // Without its end it may still be an empty text, and another that begins.
        closed.map(|length| length + 6).or(Ok(2))
    } else {
        let breaks = |byte: u8| byte == b'\n' || byte == b'\r';
        inside(&body[1..], raw, |rest| rest[0] == quote, breaks).map(|length| length + 2)
    };
    Some(match length {
        Ok(length) => Ok((kind, prefix + length)),
        Err(read) => {
            let read = prefix + 1 + read;
            Err(read + char_length(source, at + read))
        }
    })
}

/// How long the inside of a quoted text is; or how much was read before something did not fit.
fn inside(
    rest: &[u8],
    raw: bool,
    ends: impl Fn(&[u8]) -> bool,
    breaks: impl Fn(u8) -> bool,
) -> Result<usize, usize> {
    let mut at = 0;
    while at < rest.len() {
        if ends(&rest[at..]) {
            return Ok(at);
        }
        if breaks(rest[at]) {
            return Err(at);
        }
        if raw || rest[at] != b'\\' {
            at += 1;
            continue;
        }
        at += escape(&rest[at..]).map_err(|read| at + read)?;
    }
    Err(at)
}

/// How long an escape is; or how much of it was read before something did not fit.
fn escape(rest: &[u8]) -> Result<usize, usize> {
    let digits = |count: usize, fits: fn(&u8) -> bool| {
        let good = rest.iter().skip(2).take(count).take_while(|byte| fits(byte)).count();
        if good == count { Ok(2 + count) } else { Err(2 + good) }
    };
    match rest.get(1) {
        Some(b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`') => Ok(2),
        Some(b'x' | b'X') => digits(2, u8::is_ascii_hexdigit),
        Some(b'u') => digits(4, u8::is_ascii_hexdigit),
        Some(b'U') => digits(8, u8::is_ascii_hexdigit),
        Some(b'0'..=b'3') => digits(2, |byte| (b'0'..=b'7').contains(byte)),
        _ => Err(1),
    }
}

/// How long the character at a place is; nothing at the end.
fn char_length(source: &str, at: usize) -> usize {
    // A place inside a character can only be reached past the end of what was read, which ends on one.
    source.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
}
