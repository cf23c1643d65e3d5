//! What a quoted text says.

/// The bytes of a quoted text, without its quotes and with its escapes read. `is_bytes` makes `\x` and octal escapes
/// single bytes.
pub(super) fn unescape(quoted: &str, is_bytes: bool) -> Result<Vec<u8>, &'static str> {
    let (raw, quoted) = match quoted.strip_prefix(['r', 'R']) {
        Some(rest) => (true, rest),
        None => (false, quoted),
    };
    let ends =
        if quoted.len() >= 6 && (quoted.starts_with("'''") || quoted.starts_with("\"\"\"")) { 3 } else { 1 };
    let body = quoted.get(ends..quoted.len().saturating_sub(ends)).ok_or("unable to unescape string")?;
    if raw || !body.contains('\\') {
        return Ok(body.as_bytes().to_vec());
    }
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = escape(&rest[at + 1..], is_bytes, &mut out)?;
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

/// Reads what follows a backslash; gives what comes after it.
fn escape<'s>(rest: &'s str, is_bytes: bool, out: &mut Vec<u8>) -> Result<&'s str, &'static str> {
    let mut chars = rest.chars();
    let Some(c) = chars.next() else { return Err("unable to unescape string, found '\\' as last character") };
    let after = chars.as_str();
    let plain = match c {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '`' | '?' => c as u8,
        'x' | 'X' => return code(after, 2, 16, is_bytes, out),
        'u' | 'U' if is_bytes => return Err("unable to unescape string"),
        'u' => return code(after, 4, 16, false, out),
        'U' => return code(after, 8, 16, false, out),
        '0'..='3' => return code(rest, 3, 8, is_bytes, out),
        _ => return Err("unable to unescape string"),
    };
    out.push(plain);
    Ok(after)
}

fn code<'s>(
    rest: &'s str,
    digits: usize,
    base: u32,
    as_byte: bool,
    out: &mut Vec<u8>,
) -> Result<&'s str, &'static str> {
    let fault =
        if base == 8 { "unable to unescape octal sequence in string" } else { "unable to unescape string" };
    let text = rest.get(..digits).ok_or(fault)?;
    let value = u32::from_str_radix(text, base).map_err(|_| fault)?;
    match u8::try_from(value) {
        Ok(byte) if as_byte => out.push(byte),
        _ => {
            let c = char::from_u32(value).ok_or("invalid unicode code point")?;
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Ok(&rest[digits..])
}
