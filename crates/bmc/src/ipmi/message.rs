//! IPMI messages on a LAN, and completion codes.

use std::time::Duration;

use crate::error::Cause;

/// Address of the BMC, and of a console without one.
const BMC: u8 = 0x20;
const CONSOLE: u8 = 0x81;

/// A command: network function and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command(pub u8, pub u8);

impl Command {
    pub const CHASSIS_STATUS: Command = Command(0x00, 0x01);
    pub const CHASSIS_CONTROL: Command = Command(0x00, 0x02);
    pub const CHASSIS_IDENTIFY: Command = Command(0x00, 0x04);
    pub const SET_BOOT_OPTIONS: Command = Command(0x00, 0x08);
    pub const GET_BOOT_OPTIONS: Command = Command(0x00, 0x09);
    pub const GET_DEVICE_ID: Command = Command(0x06, 0x01);
    pub const SET_PRIVILEGE: Command = Command(0x06, 0x3b);
    pub const CLOSE_SESSION: Command = Command(0x06, 0x3c);
    pub const GET_USER_ACCESS: Command = Command(0x06, 0x44);
    pub const GET_USER_NAME: Command = Command(0x06, 0x46);
    pub const SET_USER_PASSWORD: Command = Command(0x06, 0x47);
    pub const ACTIVATE_PAYLOAD: Command = Command(0x06, 0x48);
    pub const DEACTIVATE_PAYLOAD: Command = Command(0x06, 0x49);
    pub const SEL_ENTRY: Command = Command(0x0a, 0x43);
}

/// A request as a payload.
pub fn request(command: Command, sequence: u8, data: &[u8]) -> Vec<u8> {
    let Command(function, number) = command;
    let mut message = vec![BMC, function << 2];
    message.push(checksum(&message));
    let body = message.len();
    message.extend([CONSOLE, (sequence & 0x3f) << 2, number]);
    message.extend_from_slice(data);
    message.push(checksum(message.get(body..).unwrap_or_default()));
    message
}

/// The completion code and data of the response to a request; `None` when it is another one's, or broken.
pub fn response(message: &[u8], command: Command, sequence: u8) -> Option<(u8, &[u8])> {
    let Command(function, number) = command;
    let (head, rest) = message.split_at_checked(3)?;
    let (body, sum) = rest.split_at_checked(rest.len().checked_sub(1)?)?;
    let is_whole = checksum(head.get(..2)?) == *head.get(2)? && checksum(body) == *sum.first()?;
    let &[_, answered, found, code] = body.first_chunk::<4>()?;
    let is_ours = head.get(1)? >> 2 == function | 1 && answered >> 2 == sequence & 0x3f && found == number;
    (is_whole && is_ours).then(|| (code, body.get(4..).unwrap_or_default()))
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)).wrapping_neg()
}

/// Why a completion code is a refusal (IPMI 2.0, table 5-2).
pub fn refusal(code: u8, user: &str) -> Cause {
    let why = match code {
        0xc0 => {
            let retry_after = Some(Duration::from_secs(1));
            return Cause::Busy { why: "node busy".to_owned(), retry_after };
        }
        0xd2 | 0xd3 | 0xd5 => "not possible in the present state",
        0xc1 | 0xc2 => return Cause::Unsupported { what: "this command".to_owned() },
        0xd4 => return Cause::Forbidden { user: user.to_owned() },
        0xc3 => "timed out inside of the BMC",
        0xc7 | 0xc8 => "the length of the request is wrong",
        0xc9 | 0xcc => "a field of the request is invalid",
        0xcb => "the requested record does not exist",
        0xff => "unspecified error",
        _ => "see the IPMI specification, table 5-2",
    };
    Cause::Refusal { code: format!("IPMI {code:#04x}"), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_is_encoded_as_in_the_specification() {
        assert_eq!(request(Command::GET_DEVICE_ID, 1, &[]), [0x20, 0x18, 0xc8, 0x81, 0x04, 0x01, 0x7a]);
    }

    #[test]
    fn a_response_is_ours_by_command_and_sequence() {
        let mut message = vec![0x81, 0x1c, 0x63, 0x20, 0x04, 0x01, 0x00, 0x55];
        message.push(checksum(&message[3..]));
        assert_eq!(response(&message, Command::GET_DEVICE_ID, 1), Some((0, [0x55].as_slice())));
        assert_eq!(response(&message, Command::GET_DEVICE_ID, 2), None);
        assert_eq!(response(&message, Command::CHASSIS_STATUS, 1), None);
        message[7] ^= 1;
        assert_eq!(response(&message, Command::GET_DEVICE_ID, 1), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_response(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some((_, data)) = response(&bytes, Command::GET_DEVICE_ID, 1) {
                prop_assert!(data.len() + 8 == bytes.len());
            }
        }
    }
}
