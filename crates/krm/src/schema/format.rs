//! Formats of texts and numbers that Kubernetes checks. All others are words for people.

mod address;
mod codes;
mod email;
mod names;
mod time;
mod uri;

use super::node::JsonType;

/// A format that is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// A number of single precision.
    Float,
    /// A number of double precision.
    Double,
    /// Twelve bytes in hexadecimal digits.
    BsonObjectId,
    /// A URI with a scheme, or a path from the root.
    Uri,
    /// An address of mail.
    Email,
    /// The name of a host.
    Hostname,
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
    /// An address with the length of its network.
    Cidr,
    /// The address of a network card.
    Mac,
    /// A UUID of any version.
    Uuid,
    /// A UUID of version 3.
    Uuid3,
    /// A UUID of version 4.
    Uuid4,
    /// A UUID of version 5.
    Uuid5,
    /// A book's number of ten or thirteen digits.
    Isbn,
    /// A book's number of ten digits.
    Isbn10,
    /// A book's number of thirteen digits.
    Isbn13,
    /// The number of a credit card.
    CreditCard,
    /// A social security number of the United States.
    Ssn,
    /// A colour in hexadecimal digits.
    HexColor,
    /// A colour as `rgb(0, 127, 255)`.
    RgbColor,
    /// Base64.
    Byte,
    /// Any text, not to be shown.
    Password,
    /// A day: `2006-01-02`.
    Date,
    /// A span of time: `1h30m`, `5 days`.
    Duration,
    /// A moment: `2006-01-02T15:04:05Z`.
    DateTime,
    /// The name of an object, without dots.
    ShortName,
    /// The name of an object, with dots.
    LongName,
}

impl Format {
    /// The format of this name, if it is checked for values of this type. Dashes in names of text formats don't count.
    pub fn named(name: &str, kind: Option<JsonType>) -> Option<Format> {
        match kind {
            Some(JsonType::Integer) => match name {
                "int32" => Some(Format::Int32),
                "int64" => Some(Format::Int64),
                _ => None,
            },
            Some(JsonType::Number) => match name {
                "float" => Some(Format::Float),
                "double" => Some(Format::Double),
                _ => None,
            },
            None | Some(JsonType::String) => Format::of_text(&name.replace('-', "")),
            Some(JsonType::Object | JsonType::Array | JsonType::Boolean) => None,
        }
    }

    fn of_text(name: &str) -> Option<Format> {
        Some(match name {
            "bsonobjectid" => Format::BsonObjectId,
            "uri" => Format::Uri,
            "email" => Format::Email,
            "hostname" => Format::Hostname,
            "ipv4" => Format::Ipv4,
            "ipv6" => Format::Ipv6,
            "cidr" => Format::Cidr,
            "mac" => Format::Mac,
            "uuid" => Format::Uuid,
            "uuid3" => Format::Uuid3,
            "uuid4" => Format::Uuid4,
            "uuid5" => Format::Uuid5,
            "isbn" => Format::Isbn,
            "isbn10" => Format::Isbn10,
            "isbn13" => Format::Isbn13,
            "creditcard" => Format::CreditCard,
            "ssn" => Format::Ssn,
            "hexcolor" => Format::HexColor,
            "rgbcolor" => Format::RgbColor,
            "byte" => Format::Byte,
            "password" => Format::Password,
            "date" => Format::Date,
            "duration" => Format::Duration,
            "datetime" => Format::DateTime,
            "k8sshortname" => Format::ShortName,
            "k8slongname" => Format::LongName,
            _ => return None,
        })
    }

    /// Whether it says something about texts.
    pub fn is_of_texts(self) -> bool {
        !matches!(self, Format::Int32 | Format::Int64 | Format::Float | Format::Double)
    }

    /// Whether a text has this format.
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Format::Int32 | Format::Int64 | Format::Float | Format::Double | Format::Password => true,
            Format::BsonObjectId => codes::is_hex(text, 24),
            Format::Uri => uri::is_request_uri(text),
            Format::Email => email::is_address(text),
            Format::Hostname => names::is_hostname(text),
            Format::Ipv4 => address::is_ipv4(text),
            Format::Ipv6 => address::is_ipv6(text),
            Format::Cidr => address::is_cidr(text),
            Format::Mac => address::is_mac(text),
            Format::Uuid => codes::is_uuid(text, None),
            Format::Uuid3 => codes::is_uuid(text, Some(b'3')),
            Format::Uuid4 => codes::is_uuid(text, Some(b'4')),
            Format::Uuid5 => codes::is_uuid(text, Some(b'5')),
            Format::Isbn => codes::is_isbn10(text) || codes::is_isbn13(text),
            Format::Isbn10 => codes::is_isbn10(text),
            Format::Isbn13 => codes::is_isbn13(text),
            Format::CreditCard => codes::is_credit_card(text),
            Format::Ssn => codes::is_ssn(text),
            Format::HexColor => codes::is_hex_color(text),
            Format::RgbColor => codes::is_rgb_color(text),
            Format::Byte => codes::is_base64(text),
            Format::Date => time::is_date(text),
            Format::Duration => time::is_duration(text),
            Format::DateTime => time::is_date_time(text),
            Format::ShortName => names::is_short_name(text),
            Format::LongName => names::is_long_name(text),
        }
    }
}

#[cfg(test)]
mod tests;
