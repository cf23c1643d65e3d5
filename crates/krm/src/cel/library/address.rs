//! IP addresses as texts, and what Go says about texts that are none.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::field::quote;

/// The address that a text names; the error is Go's.
pub(super) fn parse(text: &str) -> Result<IpAddr, String> {
    let parsed = match text.find(['.', ':', '%']).map(|at| text.as_bytes()[at]) {
        Some(b'.') => v4(text).map(|fields| IpAddr::V4(Ipv4Addr::from(fields))),
        Some(b':') => v6(text).map(|fields| IpAddr::V6(Ipv6Addr::from(fields))),
        Some(_) => Err(Refused::because("missing IPv6 address")),
        None => Err(Refused::because("unable to parse IP")),
    };
    parsed.map_err(|Refused { why, at }| {
        let at = if at.is_empty() { String::new() } else { format!(" (at {})", quote(at)) };
        format!("ParseAddr({}): {why}{at}", quote(text))
    })
}

/// Why a text is no address, and from where on.
struct Refused<'t> {
    why: &'static str,
    at: &'t str,
}

impl<'t> Refused<'t> {
    fn because(why: &'static str) -> Refused<'t> {
        Refused { why, at: "" }
    }
}

fn v4(text: &str) -> Result<[u8; 4], Refused<'_>> {
    let mut fields = [0; 4];
    let (mut field, mut digits, mut value) = (0, 0, 0_u32);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(Refused::because("IPv4 field has octet with leading zero"));
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                fields[field] =
                    u8::try_from(value).map_err(|_| Refused::because("IPv4 field has value >255"))?;
            }
            b'.' if digits == 0 || at == text.len() - 1 => {
                return Err(Refused { why: "IPv4 field must have at least one digit", at: &text[at..] });
            }
            b'.' if field == 3 => return Err(Refused::because("IPv4 address too long")),
            b'.' => (field, digits, value) = (field + 1, 0, 0),
            _ => return Err(Refused { why: "unexpected character", at: &text[at..] }),
        }
    }
    if field < 3 { Err(Refused::because("IPv4 address too short")) } else { Ok(fields) }
}

fn v6(text: &str) -> Result<[u16; 8], Refused<'_>> {
    let mut rest = match text.split_once('%') {
        Some((_, "")) => return Err(Refused::because("zone must be a non-empty string")),
        Some((address, _)) => address,
        None => text,
    };
    let mut fields: Vec<u16> = Vec::with_capacity(8);
    // After how many fields the zeros are that were left out.
    let mut gap = None;
    if let Some(after) = rest.strip_prefix("::") {
        gap = Some(0);
        rest = after;
    }
    while fields.len() < 8 && !(gap == Some(fields.len()) && rest.is_empty()) {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits > 4 {
            return Err(Refused { why: "each group must have 4 or less digits", at: rest });
        }
        if digits == 0 {
            let why = "each colon-separated field must have at least one digit";
            return Err(Refused { why, at: rest });
        }
        if rest[digits..].starts_with('.') {
            if gap.is_none() && fields.len() != 6 {
                let why = "embedded IPv4 address must replace the final 2 fields of the address";
                return Err(Refused { why, at: rest });
            }
            if fields.len() > 6 {
                let why = "too many hex fields to fit an embedded IPv4 at the end of the address";
                return Err(Refused { why, at: rest });
            }
            let [a, b, c, d] = v4(rest)?;
            fields.extend([u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])]);
            rest = "";
            break;
        }
        fields.push(u16::from_str_radix(&rest[..digits], 16).unwrap_or_default());
        rest = &rest[digits..];
        if rest.is_empty() {
            break;
        }
        let Some(after) = rest.strip_prefix(':') else {
            return Err(Refused { why: "unexpected character, want colon", at: rest });
        };
        if after.is_empty() {
            return Err(Refused { why: "colon must be followed by more characters", at: rest });
        }
        rest = after;
        if let Some(after) = rest.strip_prefix(':') {
            if gap.is_some() {
                return Err(Refused { why: "multiple :: in address", at: rest });
            }
            gap = Some(fields.len());
            rest = after;
        }
    }
    if !rest.is_empty() {
        return Err(Refused { why: "trailing garbage after address", at: rest });
    }
    match gap {
        None if fields.len() < 8 => return Err(Refused::because("address string too short")),
        Some(_) if fields.len() == 8 => {
            return Err(Refused::because("the :: must expand to at least one field of zeros"));
        }
        Some(at) => {
            let missing = 8 - fields.len();
            fields.splice(at..at, std::iter::repeat_n(0, missing));
        }
        None => {}
    }
    let mut address = [0; 8];
    address.copy_from_slice(&fields);
    Ok(address)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_that_are_no_address_are_told_of_in_gos_words() {
        let cases = [
            ("", "unable to parse IP"),
            ("host", "unable to parse IP"),
            ("%eth0", "missing IPv6 address"),
            ("1.2.3", "IPv4 address too short"),
            ("1.2.3.4.5", "IPv4 address too long"),
            ("1..3.4", "IPv4 field must have at least one digit (at \".3.4\")"),
            ("1.2.3.", "IPv4 field must have at least one digit (at \".\")"),
            ("1.2.3.256", "IPv4 field has value >255"),
            ("1.2.3.04", "IPv4 field has octet with leading zero"),
            ("1.2.3.x", "unexpected character (at \"x\")"),
            ("2001:db8:::68", "each colon-separated field must have at least one digit (at \":68\")"),
            ("1::2::3", "multiple :: in address (at \":3\")"),
            ("1:2:3:4:5:6:7", "address string too short"),
            ("1:2:3:4:5:6:7:8:9", "trailing garbage after address (at \"9\")"),
            ("1:2:3:4::5:6:7:8", "the :: must expand to at least one field of zeros"),
            ("12345::", "each group must have 4 or less digits (at \"12345::\")"),
            ("1:", "colon must be followed by more characters (at \":\")"),
            ("1::g", "each colon-separated field must have at least one digit (at \"g\")"),
            ("fe80::1%", "zone must be a non-empty string"),
        ];
        for (text, why) in cases {
            assert_eq!(parse(text), Err(format!("ParseAddr({}): {why}", quote(text))), "{text}");
        }
        assert_eq!(parse("::"), Ok(IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
    }

    proptest! {
        #[test]
        fn an_address_is_read_as_it_is_written(v4: u32, v6: u128, small in 0_u128..0x10000) {
            for address in [IpAddr::V4(v4.into()), IpAddr::V6(v6.into()), IpAddr::V6(small.into())] {
                prop_assert_eq!(parse(&address.to_string()), Ok(address));
            }
        }

        #[test]
        fn the_same_texts_are_addresses_as_elsewhere(text in "[0-9a-f:.]{0,24}") {
            prop_assert_eq!(parse(&text).ok(), text.parse::<IpAddr>().ok());
        }
    }
}
