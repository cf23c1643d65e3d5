//! Numbers and texts as Go's sources spell them.

use super::tree::Term;

/// A number; none when it isn't one.
pub fn number(text: &str) -> Result<Term, String> {
    let wrong = || format!("bad number syntax: {}", krm::field::quote(text));
    if text.ends_with('i') {
        return Err(format!("complex numbers such as {text} are not supported"));
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, body) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    let is_float = radix != 16 && lower.contains(['.', 'e']) || lower.contains('p');
    let plain = body.replace('_', "");
    if !is_float && let Ok(found) = i128::from_str_radix(&plain, radix) {
        let found = if negative { -found } else { found };
        return i64::try_from(found).map(Term::Int).map_err(|_| format!("{text} overflows int"));
    }
    if lower.contains('p') {
        return Err(format!("hexadecimal fractions such as {text} are not supported"));
    }
    let float: f64 = lower.replace('_', "").parse().map_err(|_| wrong())?;
    match is_float {
        true => Ok(Term::Float(if negative { -float } else { float })),
        false => Err(wrong()),
    }
}

/// The character of a constant such as `'a'`, as its number.
pub fn character(text: &str) -> Result<Term, String> {
    let wrong = || format!("malformed character constant: {text}");
    let inner = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).ok_or_else(wrong)?;
    let bytes = unescaped(inner, '\'').ok_or_else(wrong)?;
    let decoded = std::str::from_utf8(&bytes).ok().map(|text| text.chars().collect::<Vec<_>>());
    match (decoded.as_deref(), bytes.as_slice()) {
        (Some([one]), _) => Ok(Term::Int(i64::from(u32::from(*one)))),
        (None, [byte]) => Ok(Term::Int(i64::from(*byte))),
        _ => Err(wrong()),
    }
}

/// What stands between quotes.
pub fn text(quoted: &str) -> Result<Vec<u8>, String> {
    if let Some(raw) = quoted.strip_prefix('`').and_then(|text| text.strip_suffix('`')) {
        return Ok(raw.replace('\r', "").into_bytes());
    }
    let inner = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.and_then(|inner| unescaped(inner, '"')).ok_or_else(|| "invalid syntax".to_owned())
}

fn unescaped(text: &str, mark: char) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        let escape = rest.next()?;
        let mut code = |digits: usize, radix: u32, first: Option<char>| {
            let mut text: String = first.into_iter().collect();
            text.extend(rest.by_ref().take(digits - text.len()));
            let is_whole = text.len() == digits && text.chars().all(|c| c.is_digit(radix));
            is_whole.then(|| u32::from_str_radix(&text, radix).ok()).flatten()
        };
        match escape {
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'f' => bytes.push(12),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(11),
            '\\' => bytes.push(b'\\'),
            c if c == mark && matches!(c, '"' | '\'') => bytes.push(if c == '"' { b'"' } else { b'\'' }),
            'x' => bytes.push(u8::try_from(code(2, 16, None)?).ok()?),
            c @ '0'..='7' => bytes.push(u8::try_from(code(3, 8, Some(c))?).ok()?),
            'u' => bytes.extend(char::from_u32(code(4, 16, None)?)?.encode_utf8(&mut [0; 4]).bytes()),
            'U' => bytes.extend(char::from_u32(code(8, 16, None)?)?.encode_utf8(&mut [0; 4]).bytes()),
            _ => return None,
        }
    }
    Some(bytes)
}
