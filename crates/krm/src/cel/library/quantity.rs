//! Amounts such as `1.5Gi` and `100m`.

use std::cmp::Ordering;

/// An amount, in billionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cel) struct Quantity(i128);

const UNIT: i128 = 1_000_000_000;
/// The most that an amount with a binary suffix can be.
const MOST: i128 = i64::MAX as i128 * UNIT;

const FORM: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX: &str = "unable to parse quantity's suffix";
const NUMBER: &str = "unable to parse numeric part of quantity";

impl Quantity {
    /// Reads an amount. What is less than a billionth is taken for one.
    pub fn parse(text: &str) -> Result<Quantity, &'static str> {
        let (negative, body) = match text.as_bytes().first() {
            None => return Err(FORM),
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            Some(_) => (false, text),
        };
        let (whole, rest) = body.split_at(digits(body));
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(digits(rest)),
            None => ("", rest),
        };
        well_formed(suffix)?;
        let scale = Scale::of(suffix).ok_or(SUFFIX)?;
        if whole.is_empty() && fraction.is_empty() && (rest.starts_with('.') || !suffix.is_empty()) {
            return Err(NUMBER);
        }
        let amount = scale.apply(whole, fraction);
        Ok(Quantity(if negative { -amount } else { amount }))
    }

    pub fn of(number: i64) -> Quantity {
        Quantity(i128::from(number) * UNIT)
    }

    /// As a whole number, if it is one that fits.
    pub fn whole(self) -> Option<i64> {
        if self.0 % UNIT == 0 { i64::try_from(self.0 / UNIT).ok() } else { None }
    }

    #[expect(clippy::cast_precision_loss, reason = "it is meant to be about right")]
    pub fn float(self) -> f64 {
        self.0 as f64 / UNIT as f64
    }

    pub fn sign(self) -> i64 {
        match self.0.cmp(&0) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    pub fn plus(self, other: Quantity) -> Quantity {
        Quantity(self.0.saturating_add(other.0))
    }

    pub fn minus(self, other: Quantity) -> Quantity {
        Quantity(self.0.saturating_sub(other.0))
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Letters, then a sign if wanted, then digits.
fn well_formed(suffix: &str) -> Result<(), &'static str> {
    let rest = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    if rest.bytes().all(|byte| byte.is_ascii_digit()) { Ok(()) } else { Err(FORM) }
}

/// What a suffix multiplies by.
enum Scale {
    PowerOfTen(i64),
    PowerOfTwo(u32),
}

impl Scale {
    fn of(suffix: &str) -> Option<Scale> {
        Some(match suffix {
            "n" => Scale::PowerOfTen(-9),
            "u" => Scale::PowerOfTen(-6),
            "m" => Scale::PowerOfTen(-3),
            "" => Scale::PowerOfTen(0),
            "k" => Scale::PowerOfTen(3),
            "M" => Scale::PowerOfTen(6),
            "G" => Scale::PowerOfTen(9),
            "T" => Scale::PowerOfTen(12),
            "P" => Scale::PowerOfTen(15),
            "E" => Scale::PowerOfTen(18),
            "Ki" => Scale::PowerOfTwo(10),
            "Mi" => Scale::PowerOfTwo(20),
            "Gi" => Scale::PowerOfTwo(30),
            "Ti" => Scale::PowerOfTwo(40),
            "Pi" => Scale::PowerOfTwo(50),
            "Ei" => Scale::PowerOfTwo(60),
            other => {
                let exponent = other.strip_prefix(['e', 'E'])?;
                Scale::PowerOfTen(exponent.parse().ok()?)
            }
        })
    }

    /// The amount, in billionths, rounded up.
    fn apply(&self, whole: &str, fraction: &str) -> i128 {
        match self {
            Scale::PowerOfTen(power) => {
                let length = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
                shifted(&format!("{whole}{fraction}"), power.saturating_add(9).saturating_sub(length))
            }
            Scale::PowerOfTwo(power) => {
                // Digits that make less than a billionth even after this are of no account.
                let fraction = fraction.get(..27).unwrap_or(fraction);
                let length = fraction.len() as u32;
                let unscaled = shifted(&format!("{whole}{fraction}"), 0);
                let times = |number: i128| number.checked_mul(1 << power).and_then(|it| it.checked_mul(UNIT));
                match times(unscaled) {
                    Some(scaled) => divided(scaled, 10_i128.pow(length)).min(MOST),
                    // So many digits before the point are too much, and behind it too little to count.
                    None if length > 9 => {
                        let digits = &fraction[..9];
                        times(shifted(&format!("{whole}{digits}"), 0))
                            .map_or(MOST, |scaled| divided(scaled, UNIT).min(MOST))
                    }
                    None => MOST,
                }
            }
        }
    }
}

/// Digits with their point moved to the right; what falls off to the left of nothing is rounded up.
fn shifted(digits: &str, by: i64) -> i128 {
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return 0;
    }
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    // No more than this many digits fit.
    if length.saturating_add(by) > 38 {
        return i128::MAX;
    }
    if by >= 0 {
        let number: i128 = digits.parse().unwrap_or(i128::MAX);
        return number.saturating_mul(10_i128.pow(u32::try_from(by).unwrap_or(0)));
    }
    let kept = usize::try_from(length + by).unwrap_or(0);
    let number: i128 = if kept == 0 { 0 } else { digits[..kept].parse().unwrap_or(i128::MAX) };
    let lost = digits[kept..].bytes().any(|byte| byte != b'0');
    number.saturating_add(i128::from(lost))
}

fn divided(number: i128, by: i128) -> i128 {
    number / by + i128::from(number % by != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_kubernetes_reads_them() {
        let equal = [
            ("1", "1000m"),
            ("1Ki", "1024"),
            ("1.5Gi", "1536Mi"),
            ("0.2G", "200M"),
            ("1e3", "1k"),
            ("+5", "5"),
            ("-1", "-1000m"),
            ("00.50", "500m"),
            ("1n", "0.0000000001"),
            ("10Ei", "9223372036854775807"),
            ("", "0"),
        ];
        for (a, b) in equal {
            let a = if a.is_empty() { "0" } else { a };
            assert_eq!(Quantity::parse(a), Quantity::parse(b), "{a} and {b}");
        }
        for (text, why) in
            [("x", FORM), ("1x", FORM), ("1.1.1", FORM), ("1Kii", SUFFIX), ("", FORM), ("1 ", FORM)]
        {
            assert_eq!(Quantity::parse(text), Err(why), "{text}");
        }
        assert!(Quantity::parse("50M") < Quantity::parse("50Mi"));
        assert_eq!(Quantity::parse("1.5").map(Quantity::whole), Ok(None));
        assert_eq!(Quantity::parse("2k").map(Quantity::whole), Ok(Some(2000)));
    }
}
