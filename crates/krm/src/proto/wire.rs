//! Protobuf's wire format: tags, numbers, and runs of bytes.

/// What is wrong with the bytes, in the words of Go's generated readers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("unexpected EOF")]
    End,
    #[error("proto: integer overflow")]
    Overflow,
    #[error("proto: negative length found during unmarshaling")]
    NegativeLength,
    #[error("proto: {message}: wiretype end group for non-group")]
    EndOfNoGroup { message: &'static str },
    #[error("proto: {message}: illegal tag {number} (wire type {wire_type})")]
    IllegalTag { message: &'static str, number: i32, wire_type: u8 },
    #[error("proto: wrong wireType = {wire_type} for field {}", go_name(.field))]
    WrongWireType { field: &'static str, wire_type: u8 },
    #[error("proto: illegal wireType {0}")]
    IllegalWireType(u8),
    #[error("proto: unexpected end of group")]
    EndOfGroup,
    #[error("{0}")]
    Content(String),
}

/// The name that Go has for a field that JSON calls so.
fn go_name(field: &str) -> String {
    let (first, rest) = match field {
        "metadata" => return "ObjectMeta".to_owned(),
        "uid" | "id" | "url" => return field.to_uppercase(),
        "jsonPath" => return "JSONPath".to_owned(),
        "caBundle" => return "CABundle".to_owned(),
        _ if field.starts_with('$') => return go_name(&field[1..]),
        _ if field.starts_with("x-kubernetes-") => {
            let words = field["x-kubernetes-".len()..].split('-').map(go_name);
            return format!("X{}", words.collect::<String>());
        }
        _ if field.starts_with("api") => field.split_at(3),
        _ => field.split_at_checked(1).unwrap_or((field, "")),
    };
    format!("{}{rest}", first.to_uppercase())
}

const VARINT: u8 = 0;
const FIXED_64: u8 = 1;
const BYTES: u8 = 2;
const GROUP: u8 = 3;
const GROUP_END: u8 = 4;
const FIXED_32: u8 = 5;

/// Reads the fields of one message.
pub(super) struct Reader<'a> {
    message: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(message: &'static str, bytes: &'a [u8]) -> Reader<'a> {
        Reader { message, rest: bytes }
    }

    /// The number and the wire type of the next field; none at the end.
    pub(super) fn tag(&mut self) -> Result<Option<(i32, u8)>, Fault> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = (tag >> 3) as i32;
        let wire_type = (tag & 7) as u8;
        let message = self.message;
        if wire_type == GROUP_END {
            return Err(Fault::EndOfNoGroup { message });
        }
        if number <= 0 {
            return Err(Fault::IllegalTag { message, number, wire_type });
        }
        Ok(Some((number, wire_type)))
    }

    pub(super) fn number(&mut self, field: &'static str, wire_type: u8) -> Result<u64, Fault> {
        match wire_type {
            VARINT => self.varint(),
            _ => Err(Fault::WrongWireType { field, wire_type }),
        }
    }

    pub(super) fn double(&mut self, field: &'static str, wire_type: u8) -> Result<f64, Fault> {
        match wire_type {
            FIXED_64 => {
                let bytes = self.take(8)?.try_into().map_err(|_| Fault::End)?;
                Ok(f64::from_le_bytes(bytes))
            }
            _ => Err(Fault::WrongWireType { field, wire_type }),
        }
    }

    pub(super) fn bytes(&mut self, field: &'static str, wire_type: u8) -> Result<&'a [u8], Fault> {
        match wire_type {
            BYTES => self.run(),
            _ => Err(Fault::WrongWireType { field, wire_type }),
        }
    }

    pub(super) fn text(&mut self, field: &'static str, wire_type: u8) -> Result<String, Fault> {
        Ok(String::from_utf8_lossy(self.bytes(field, wire_type)?).into_owned())
    }

    /// Passes over a field, and over all of a group, whatever is in it.
    pub(super) fn skip(&mut self, wire_type: u8) -> Result<(), Fault> {
        let mut wire_type = wire_type;
        let mut open = 0_usize;
        loop {
            match wire_type {
                VARINT => drop(self.varint()?),
                FIXED_64 => drop(self.take(8)?),
                BYTES => drop(self.run()?),
                GROUP => open += 1,
                GROUP_END => open = open.checked_sub(1).ok_or(Fault::EndOfGroup)?,
                FIXED_32 => drop(self.take(4)?),
                other => return Err(Fault::IllegalWireType(other)),
            }
            if open == 0 {
                return Ok(());
            }
            wire_type = (self.varint()? & 7) as u8;
        }
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(Fault::End)?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Fault::Overflow)
    }

    fn run(&mut self) -> Result<&'a [u8], Fault> {
        let length = self.varint()?;
        match i64::try_from(length) {
            Ok(_) => self.take(usize::try_from(length).map_err(|_| Fault::End)?),
            Err(_) => Err(Fault::NegativeLength),
        }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Fault::End)?;
        self.rest = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_seven_bits_a_byte() {
        let number = |bytes| Reader::new("X", bytes).varint();
        assert_eq!(number(&[0x96, 0x01]), Ok(150));
        assert_eq!(number(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), Ok(u64::MAX));
        assert_eq!(number(&[0x96]), Err(Fault::End));
        assert_eq!(number(&[0xff; 11]), Err(Fault::Overflow));
    }

    #[test]
    fn lengths_beyond_the_end_are_found_out() {
        let run = |bytes| Reader::new("X", bytes).run();
        assert_eq!(run(&[2, b'a', b'b']), Ok(&b"ab"[..]));
        assert_eq!(run(&[3, b'a', b'b']), Err(Fault::End));
        assert_eq!(run(&[0xff, 0xff, 0xff, 0xff, 0x0f, b'a']), Err(Fault::End));
        assert_eq!(
            run(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
            Err(Fault::NegativeLength)
        );
    }

    #[test]
    fn unknown_fields_are_passed_over_with_all_that_is_in_them() {
        // A group with a number, a run of bytes and another group in it; then field 1, a number.
        let bytes = [0x1b, 0x08, 0x05, 0x12, 0x01, b'x', 0x23, 0x24, 0x1c, 0x08, 0x07];
        let mut reader = Reader::new("X", &bytes);
        assert_eq!(reader.tag(), Ok(Some((3, GROUP))));
        reader.skip(GROUP).unwrap();
        assert_eq!(reader.tag(), Ok(Some((1, VARINT))));
        assert_eq!(reader.number("N", VARINT), Ok(7));
        assert_eq!(reader.tag(), Ok(None));
        assert_eq!(Reader::new("X", &[0x1b; 1000]).skip(GROUP), Err(Fault::End));
        assert_eq!(Reader::new("X", &[]).skip(7), Err(Fault::IllegalWireType(7)));
    }

    #[test]
    fn tags_that_cannot_be_are_refused() {
        let words = |bytes| Reader::new("ConfigMap", bytes).tag().unwrap_err().to_string();
        assert_eq!(words(&[0x0c]), "proto: ConfigMap: wiretype end group for non-group");
        assert_eq!(words(&[0x02]), "proto: ConfigMap: illegal tag 0 (wire type 2)");
        let wrong = |field| Reader::new("X", &[]).bytes(field, VARINT).unwrap_err().to_string();
        assert_eq!(wrong("metadata"), "proto: wrong wireType = 0 for field ObjectMeta");
        assert_eq!(wrong("apiVersion"), "proto: wrong wireType = 0 for field APIVersion");
        assert_eq!(wrong("generateName"), "proto: wrong wireType = 0 for field GenerateName");
    }
}
