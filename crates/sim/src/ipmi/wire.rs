//! Bytes on the wire.

use super::crypto::{self, Suite};

const RMCP: [u8; 4] = [0x06, 0x00, 0xff, 0x07];

/// A packet that came in.
pub enum Packet<'a> {
    /// IPMI 1.5 without a session: a message.
    Old(&'a [u8]),
    /// RMCP+: payload type with its flags, session, payload, and all that is signed with the code behind it.
    Plus { kind: u8, session: u32, payload: &'a [u8], signed: &'a [u8] },
}

pub fn read(bytes: &[u8]) -> Option<Packet<'_>> {
    let rest = bytes.strip_prefix(&RMCP)?;
    match *rest.first()? {
        0 => {
            let length = usize::from(*rest.get(9)?);
            Some(Packet::Old(rest.get(10..10 + length)?))
        }
        6 => {
            let kind = *rest.get(1)?;
            let session = u32::from_le_bytes(rest.get(2..6)?.try_into().ok()?);
            let length = usize::from(u16::from_le_bytes(rest.get(10..12)?.try_into().ok()?));
            Some(Packet::Plus { kind, session, payload: rest.get(12..12 + length)?, signed: rest })
        }
        _ => None,
    }
}

/// An IPMI 1.5 packet without a session.
pub fn old(message: &[u8]) -> Vec<u8> {
    let mut packet = RMCP.to_vec();
    packet.extend([0; 9]);
    packet.push(message.len() as u8);
    packet.extend(message);
    packet
}

/// An RMCP+ packet without protection.
pub fn plain(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = RMCP.to_vec();
    packet.extend([6, kind]);
    packet.extend([0; 8]);
    packet.extend((payload.len() as u16).to_le_bytes());
    packet.extend(payload);
    packet
}

/// The keys and numbers of a session, for what is sent and received in it.
pub struct Protection {
    pub suite: Suite,
    pub integrity: Vec<u8>,
    pub secrecy: [u8; 16],
    pub peer: u32,
    pub sent: u32,
}

impl Protection {
    pub fn seal(&mut self, kind: u8, payload: &[u8]) -> Vec<u8> {
        self.sent += 1;
        let encrypted = crypto::encrypt(self.secrecy, payload);
        let mut signed = vec![6, 0xc0 | kind];
        signed.extend(self.peer.to_le_bytes());
        signed.extend(self.sent.to_le_bytes());
        signed.extend((encrypted.len() as u16).to_le_bytes());
        signed.extend(encrypted);
        let mut pad = 0;
        while !(signed.len() + 2).is_multiple_of(4) {
            signed.push(0xff);
            pad += 1;
        }
        signed.extend([pad, 7]);
        let mut tag = self.suite.mac(&self.integrity, &signed);
        tag.truncate(self.suite.tag_length());
        let mut packet = RMCP.to_vec();
        packet.extend(signed);
        packet.extend(tag);
        packet
    }

    pub fn open(&self, payload: &[u8], signed: &[u8]) -> Option<Vec<u8>> {
        let (body, tag) = signed.split_at_checked(signed.len().checked_sub(self.suite.tag_length())?)?;
        let expected = self.suite.mac(&self.integrity, body);
        match expected.starts_with(tag) {
            true => crypto::decrypt(self.secrecy, payload),
            false => None,
        }
    }
}

/// A request in an IPMI message.
pub struct Asked<'a> {
    pub function: u8,
    pub command: u8,
    pub data: &'a [u8],
    requester: u8,
    sequence: u8,
}

pub fn request(message: &[u8]) -> Option<Asked<'_>> {
    let &[_, function, _, requester, sequence, command] = message.first_chunk::<6>()?;
    let data = message.get(6..message.len().checked_sub(1)?)?;
    Some(Asked { function: function >> 2, command, data, requester, sequence })
}

/// The response: completion code and data.
pub fn response(asked: &Asked<'_>, code: u8, data: &[u8]) -> Vec<u8> {
    let mut message = vec![asked.requester, (asked.function | 1) << 2];
    message.push(sum(&message));
    let mut body = vec![0x20, asked.sequence, asked.command, code];
    body.extend(data);
    body.push(sum(&body));
    message.extend(body);
    message
}

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)).wrapping_neg()
}
