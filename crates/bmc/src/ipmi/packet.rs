//! Packets: RMCP, and the session header and trailer of RMCP+ (IPMI 2.0, section 13.6).

use super::cipher::Keys;

/// RMCP version 1.0, no acknowledgement, class IPMI.
const RMCP: [u8; 4] = [6, 0, 0xff, 7];
const RMCP_PLUS: u8 = 6;
const NEXT_HEADER: u8 = 7;

/// What is in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    Ipmi,
    SerialOverLan,
    OpenSessionRequest,
    OpenSessionResponse,
    Rakp1,
    Rakp2,
    Rakp3,
    Rakp4,
}

const PAYLOADS: [(Payload, u8); 8] = [
    (Payload::Ipmi, 0),
    (Payload::SerialOverLan, 1),
    (Payload::OpenSessionRequest, 0x10),
    (Payload::OpenSessionResponse, 0x11),
    (Payload::Rakp1, 0x12),
    (Payload::Rakp2, 0x13),
    (Payload::Rakp3, 0x14),
    (Payload::Rakp4, 0x15),
];

impl Payload {
    fn number(self) -> u8 {
        PAYLOADS.iter().find(|(payload, _)| *payload == self).map_or(0, |(_, number)| *number)
    }

    fn of(number: u8) -> Option<Payload> {
        PAYLOADS.iter().find(|(_, known)| *known == number).map(|(payload, _)| *payload)
    }
}

/// A packet outside of a session.
pub fn plain(payload: Payload, data: &[u8]) -> Vec<u8> {
    let mut packet = RMCP.to_vec();
    packet.extend([RMCP_PLUS, payload.number()]);
    packet.extend([0; 8]);
    // A handshake message has less than 100 bytes.
    packet.extend((data.len() as u16).to_le_bytes());
    packet.extend_from_slice(data);
    packet
}

/// A packet of a session: encrypted and signed.
pub fn sealed(
    payload: Payload,
    data: &[u8],
    session: u32,
    sequence: u32,
    keys: &Keys,
    start: [u8; 16],
) -> Vec<u8> {
    let encrypted = keys.encrypt(data, start);
    let mut signed = vec![RMCP_PLUS, 0xc0 | payload.number()];
    signed.extend(session.to_le_bytes());
    signed.extend(sequence.to_le_bytes());
    // A request has less than 300 bytes.
    signed.extend((encrypted.len() as u16).to_le_bytes());
    signed.extend_from_slice(&encrypted);
    let padding = (4 - (signed.len() + 2) % 4) % 4;
    signed.extend(std::iter::repeat_n(0xff, padding));
    // Less than 4: fits.
    signed.extend([padding as u8, NEXT_HEADER]);
    let code = keys.sign(&signed);
    let mut packet = RMCP.to_vec();
    packet.extend(signed);
    packet.extend(code);
    packet
}

/// A packet that was received outside of a session.
pub fn read_plain(packet: &[u8]) -> Option<(Payload, &[u8])> {
    let rest = packet.strip_prefix(&RMCP)?;
    let (head, data) = rest.split_first_chunk::<12>()?;
    let [RMCP_PLUS, payload, ..] = *head else { return None };
    let length = usize::from(u16::from_le_bytes([head[10], head[11]]));
    Some((Payload::of(payload)?, data.get(..length)?))
}

/// A packet that was received in a session: its code is right, and it is decrypted. The second is its sequence number.
pub fn read_sealed(packet: &[u8], session: u32, keys: &Keys) -> Option<(Payload, u32, Vec<u8>)> {
    let rest = keys.verify(packet.strip_prefix(&RMCP)?)?;
    let (head, data) = rest.split_first_chunk::<12>()?;
    let [RMCP_PLUS, payload, s0, s1, s2, s3, q0, q1, q2, q3, l0, l1] = *head else { return None };
    let is_ours = u32::from_le_bytes([s0, s1, s2, s3]) == session && payload & 0xc0 == 0xc0;
    let data = data.get(..usize::from(u16::from_le_bytes([l0, l1]))).filter(|_| is_ours)?;
    Some((Payload::of(payload & 0x3f)?, u32::from_le_bytes([q0, q1, q2, q3]), keys.decrypt(data)?))
}
