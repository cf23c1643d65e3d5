//! Fractions as Go's verbs write them, without their sign.

/// A fraction with `e`, `f` or `g`; with as many digits as it takes where no precision is given to `g`.
pub fn written(number: f64, verb: char, precision: Option<usize>) -> String {
    let number = number.abs();
    let text = match verb.to_ascii_lowercase() {
        'e' => scientific(number, precision.unwrap_or(6)),
        'f' => format!("{number:.*}", precision.unwrap_or(6)),
        _ => match precision {
            None => krm::number::float_in_text(number),
            Some(precision) => general(number, precision.max(1)),
        },
    };
    if verb.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
}

/// `1.50e+03`
fn scientific(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// The shorter of both, without zeros at the end.
fn general(number: f64, precision: usize) -> String {
    let rounded = scientific(number, precision - 1);
    let (digits, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let shift: i32 = exponent.parse().unwrap_or(0);
    let whole = i32::try_from(precision).unwrap_or(i32::MAX);
    if shift < -4 || shift >= whole {
        return format!("{}e{exponent}", without_zeros(digits));
    }
    let decimals = usize::try_from(whole - 1 - shift).unwrap_or(0);
    without_zeros(&format!("{number:.decimals$}")).to_owned()
}

fn without_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn fractions_are_written_as_go_writes_them() {
        assert_eq!(written(1500.0, 'e', None), "1.500000e+03");
        assert_eq!(written(0.5, 'f', Some(2)), "0.50");
        assert_eq!(written(1_000_000.0, 'g', None), "1e+06");
        assert_eq!(written(2.5, 'g', None), "2.5");
        assert_eq!(written(1234.5678, 'g', Some(3)), "1.23e+03");
        assert_eq!(written(100.0, 'g', Some(3)), "100");
        assert_eq!(written(0.000_012_3, 'G', Some(2)), "1.2E-05");
    }
}
