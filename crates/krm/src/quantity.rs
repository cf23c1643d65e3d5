//! Amounts with a unit, as Kubernetes writes them: `25G`, `250m`, `2Ti`, `1e3`.

/// What an amount comes to; `None` for what is none.
pub fn amount(text: &str) -> Option<f64> {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-');
    let unit = text.trim_start_matches(is_number);
    let factor = match unit {
        "" => 1.0,
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        "Pi" => 1_125_899_906_842_624.0,
        "Ei" => 1_152_921_504_606_846_976.0,
        // An exponent, which is part of the number.
        _ if unit.starts_with(['e', 'E']) => return text.parse().ok(),
        _ => return None,
    };
    let number: f64 = text[..text.len() - unit.len()].parse().ok()?;
    Some(number * factor)
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn an_amount_is_a_number_and_a_unit() {
        for (text, expected) in [
            ("3", 3.0),
            ("-1.5", -1.5),
            ("250m", 0.25),
            ("25G", 25e9),
            ("2E", 2e18),
            ("2Ei", 2.0 * 1_152_921_504_606_846_976.0),
            ("2Ti", 2.0 * 1_099_511_627_776.0),
            ("1e3", 1000.0),
            ("1E-2", 0.01),
        ] {
            assert_eq!(amount(text), Some(expected), "{text}");
        }
        for text in ["", "m", "-", "1 G", "1kg", "1e", "x1", "1.2.3"] {
            assert_eq!(amount(text), None, "{text}");
        }
    }
}
