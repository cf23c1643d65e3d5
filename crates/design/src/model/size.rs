//! Sizes of partitions and volumes: `20g`, `20gi`, `>20g` for that and whatever is left, `50%`.

use thiserror::Error;

/// A size as documents write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// `>`: a minimum that grows to the available space.
    pub grows: bool,
    /// The number written.
    pub number: u64,
    /// Unit.
    pub unit: Unit,
}

/// Unit of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// So many bytes each.
    Bytes(u64),
    /// Hundredths of the whole.
    Percent,
}

/// The device or volume group that a size is a part of, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// All of it.
    pub total: u64,
    /// Available bytes.
    pub available: u64,
}

/// Why a size cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// It is not written as a size, or needs a space and has none.
    #[error("`{0}` is not a size; use a number and a unit, such as 20g or 50%")]
    Invalid(String),
    /// There is less left than it asks for.
    #[error("{asked} bytes requested, {available} available")]
    NotEnough {
        /// Requested bytes.
        asked: u64,
        /// Available bytes.
        available: u64,
    },
}

/// Reserve for partition tables when a size grows to all available space.
const RESERVE: u64 = 4 * 1024 * 1024;

/// Longer spellings first, as `m` begins `mib`.
const UNITS: [(&[&str], Unit); 7] = [
    (&["mib", "MiB", "mi", "Mi"], Unit::Bytes(1 << 20)),
    (&["gib", "GiB", "gi", "Gi"], Unit::Bytes(1 << 30)),
    (&["tib", "TiB", "ti", "Ti"], Unit::Bytes(1 << 40)),
    (&["mb", "MB", "m", "M"], Unit::Bytes(1_000_000)),
    (&["gb", "GB", "g", "G"], Unit::Bytes(1_000_000_000)),
    (&["tb", "TB", "t", "T"], Unit::Bytes(1_000_000_000_000)),
    (&["%"], Unit::Percent),
];

impl Size {
    /// Reads a size. What follows the unit is passed over, as it always was.
    pub fn parse(text: &str) -> Result<Self, SizeError> {
        Self::read(text).ok_or_else(|| SizeError::Invalid(text.to_owned()))
    }

    fn read(text: &str) -> Option<Self> {
        let (grows, rest) = match text.strip_prefix('>') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = rest.split_at(digits);
        let (_, counted) =
            UNITS.iter().find(|(spellings, _)| spellings.iter().any(|one| unit.starts_with(one)))?;
        // Spellings such as `Tb` were let in by the original and then crashed it.
        let is_mixed =
            matches!(unit.as_bytes(), [b'm' | b'g' | b't', b'B', ..] | [b'M' | b'G' | b'T', b'b', ..]);
        if is_mixed {
            return None;
        }
        Some(Self { grows, number: number.parse().ok()?, unit: *counted })
    }

    /// The size in bytes, relative to a space if needed.
    pub fn bytes(self, space: Option<Space>) -> Result<u64, SizeError> {
        let asked = match (self.unit, space) {
            (Unit::Bytes(each), _) => self.number.saturating_mul(each),
            (Unit::Percent, Some(space)) => (u128::from(space.total) * u128::from(self.number) / 100) as u64,
            (Unit::Percent, None) => return Err(SizeError::Invalid(format!("{}%", self.number))),
        };
        let Some(Space { available, .. }) = space else {
            return if self.grows { Err(SizeError::Invalid(">".to_owned())) } else { Ok(asked) };
        };
        if asked > available {
            return Err(SizeError::NotEnough { asked, available });
        }
        Ok(if self.grows { available.saturating_sub(RESERVE) } else { asked })
    }

    /// The bytes it takes at least, if that can be said without a space.
    pub fn minimum(self) -> Option<u64> {
        match self.unit {
            Unit::Bytes(each) => Some(self.number.saturating_mul(each)),
            Unit::Percent => None,
        }
    }

    /// The bytes of a size that needs no space, counted in thousands whatever the unit: how the check of boot volumes reads.
    pub fn absolute_decimal(text: &str) -> Option<u64> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let each = match unit.bytes().next()?.to_ascii_lowercase() {
            b'm' => 1_000_000,
            b'g' => 1_000_000_000,
            b't' => 1_000_000_000_000,
            _ => return None,
        };
        number.parse::<u64>().ok().map(|number| number.saturating_mul(each))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Result<u64, &'static str> {
        let space = Space { total: 100_000_000_000, available: 80_000_000_000 };
        Size::parse(text).and_then(|size| size.bytes(Some(space))).map_err(|error| match error {
            SizeError::Invalid(_) => "invalid",
            SizeError::NotEnough { .. } => "not enough",
        })
    }

    #[test]
    fn sizes_come_to_what_the_original_made_of_them() {
        assert_eq!(bytes("20g"), Ok(20_000_000_000));
        assert_eq!(bytes("20gi"), Ok(21_474_836_480));
        assert_eq!(bytes(">20g"), Ok(79_995_805_696));
        assert_eq!(bytes("50%"), Ok(50_000_000_000));
        assert_eq!(bytes("80%"), Ok(80_000_000_000));
        assert_eq!(bytes(">50%"), Ok(79_995_805_696));
        assert_eq!(bytes("20gx"), Ok(20_000_000_000));
        for too_much in ["81%", ">90%"] {
            assert_eq!(bytes(too_much), Err("not enough"), "{too_much}");
        }
        for invalid in ["20", " 20g", "1.5g", "", "20Tb", "20mB"] {
            assert_eq!(bytes(invalid), Err("invalid"), "{invalid}");
        }
    }

    #[test]
    fn a_share_or_a_growing_size_needs_a_space() {
        for text in ["50%", ">20g"] {
            assert!(matches!(Size::parse(text).unwrap().bytes(None), Err(SizeError::Invalid(_))), "{text}");
        }
    }
}
