//! Dates, times and durations.

/// `2006-01-02`, of a day that exists.
pub fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let (Some(year), Some(month), Some(day)) =
        (digits(&bytes[..4]), digits(&bytes[5..7]), digits(&bytes[8..]))
    else {
        return false;
    };
    (1..=12).contains(&month) && (1..=days(year, month)).contains(&day)
}

/// `2006-01-02T15:04:05Z`, with a fraction and an offset if wanted, in any case.
pub fn is_date_time(text: &str) -> bool {
    let mut parts = text.split(['T', 't']);
    // Whatever follows a second `T` is not looked at, as in Kubernetes.
    match (parts.next(), parts.next()) {
        (Some(date), Some(time)) => is_date(date) && is_time(time),
        _ => false,
    }
}

/// A duration as Go reads it, or any text with numbers and words for units in it: `1h30m`, `5 days`.
pub fn is_duration(text: &str) -> bool {
    is_go_duration(text) || has_worded_duration(text)
}

fn digits(bytes: &[u8]) -> Option<u32> {
    bytes
        .iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0')))
}

fn days(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    }
}

fn is_time(text: &str) -> bool {
    let clock = |bytes: &[u8]| match bytes {
        [a, b, b':', c, d, b':', e, f] => {
            let within = |high: u8, low: u8, most| digits(&[high, low]).is_some_and(|n| n <= most);
            within(*a, *b, 23) && within(*c, *d, 59) && within(*e, *f, 59)
        }
        _ => false,
    };
    let Some((time, rest)) = text.split_at_checked(8) else { return false };
    clock(time.as_bytes()) && is_zone(without_fraction(rest))
}

/// What follows the fraction, which is any sign and digits.
fn without_fraction(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    let after = chars.as_str().trim_start_matches(|c: char| c.is_ascii_digit());
    // `+02:00` looks like the beginning of a fraction, too.
    if after.len() == chars.as_str().len() || is_zone(text) { text } else { after }
}

fn is_zone(text: &str) -> bool {
    match text.as_bytes() {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', a, b, b':', c, d] => digits(&[*a, *b, *c, *d]).is_some(),
        _ => false,
    }
}

/// A sign, then numbers with units and nothing between; together less than 2⁶³ nanoseconds.
fn is_go_duration(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    if text == "0" {
        return true;
    }
    let is_number = |c: char| c == '.' || c.is_ascii_digit();
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c| !is_number(c)).unwrap_or(rest.len()));
        let (unit, after) = after.split_at(after.find(is_number).unwrap_or(after.len()));
        let (Some(number), Some(unit)) = (decimal(number), nanoseconds(unit)) else { return false };
        total += number * unit;
        rest = after;
    }
    !text.is_empty() && total < 9_223_372_036_854_775_808.0
}

/// Digits, then digits after a point, of which one group may be missing.
fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.contains('.') || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    format!("0{whole}.{fraction}0").parse().ok()
}

fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        _ => return None,
    })
}

/// Whether numbers followed by words for units are somewhere in the text, and all such numbers fit into 64 bits.
fn has_worded_duration(text: &str) -> bool {
    let mut found = false;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let from = &rest[at..];
        let (number, after) = from.split_at(from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len()));
        rest = after;
        let word = after.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == 'µ';
        let (unit, after) = word.split_at(word.find(|c| !is_letter(c)).unwrap_or(word.len()));
        if unit.is_empty() {
            continue;
        }
        if number.parse::<i64>().is_err() {
            return false;
        }
        found |= is_worded_unit(&unit.to_lowercase());
        rest = after;
    }
    found
}

fn is_worded_unit(unit: &str) -> bool {
    let exact = ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"];
    let beginnings = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    exact.contains(&unit) || beginnings.iter().any(|beginning| unit.starts_with(beginning))
}
