//! Natural order of names: numbers in them are compared as numbers, so that `xe-0/0/2` comes before `xe-0/0/10`.

use std::cmp::Ordering;

/// Compares two names.
pub fn compare(one: &str, other: &str) -> Ordering {
    parts(one).cmp(parts(other)).then_with(|| one.cmp(other))
}

/// A run of digits without leading zeros, by its length and then its digits; or a character.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Number(usize, &'a str),
    Character(char),
}

fn parts(name: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if digits == 0 {
            rest = &rest[first.len_utf8()..];
            return Some(Part::Character(first));
        }
        let (number, after) = rest.split_at(digits);
        rest = after;
        let number = number.trim_start_matches('0');
        Some(Part::Number(number.len(), number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_compared_as_numbers() {
        let mut names = ["xe-0/0/10", "eth1", "xe-0/0/2", "xe-0/1/0", "eth10", "eth2", "eth02", "PSU2", "é1"];
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(
            names,
            ["PSU2", "eth1", "eth02", "eth2", "eth10", "xe-0/0/2", "xe-0/0/10", "xe-0/1/0", "é1"]
        );
    }
}
