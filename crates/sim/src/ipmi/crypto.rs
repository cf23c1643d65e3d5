//! HMAC and AES-CBC, as the two suites use them.

use aes::Aes128;
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// A cipher suite by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suite(pub u8);

impl Suite {
    /// The suite of an authentication algorithm.
    pub fn of(authentication: u8) -> Option<Suite> {
        match authentication {
            1 => Some(Suite(3)),
            3 => Some(Suite(17)),
            _ => None,
        }
    }

    /// Authentication, integrity, confidentiality.
    pub fn algorithms(self) -> [u8; 3] {
        if self.0 == 17 { [3, 4, 1] } else { [1, 1, 1] }
    }

    /// Bytes of a packet's code.
    pub fn tag_length(self) -> usize {
        if self.0 == 17 { 16 } else { 12 }
    }

    pub fn mac(self, key: &[u8], data: &[u8]) -> Vec<u8> {
        let algorithm = if self.0 == 17 { hmac::HMAC_SHA256 } else { hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY };
        hmac::sign(&hmac::Key::new(algorithm, key), data).as_ref().to_vec()
    }
}

/// Random bytes; zeros if the machine has none, which a simulation survives.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let _ = SystemRandom::new().fill(&mut bytes);
    bytes
}

/// IV, then AES-CBC of the data and its padding.
pub fn encrypt(key: [u8; 16], data: &[u8]) -> Vec<u8> {
    let cipher = Aes128::new(&Array::from(key));
    let mut plain = data.to_vec();
    let mut pad = 0;
    while !(plain.len() + 1).is_multiple_of(16) {
        pad += 1;
        plain.push(pad);
    }
    plain.push(pad);
    let mut chain: [u8; 16] = random();
    let mut out = chain.to_vec();
    for block in plain.chunks(16) {
        for (chained, byte) in chain.iter_mut().zip(block) {
            *chained ^= byte;
        }
        let mut array = Array::from(chain);
        cipher.encrypt_block(&mut array);
        chain = array.into();
        out.extend(chain);
    }
    out
}

/// The data; `None` when it is not whole blocks.
pub fn decrypt(key: [u8; 16], sealed: &[u8]) -> Option<Vec<u8>> {
    let cipher = Aes128::new(&Array::from(key));
    let blocks: Vec<[u8; 16]> = sealed.chunks_exact(16).filter_map(|block| block.try_into().ok()).collect();
    if blocks.len() < 2 || blocks.len() * 16 != sealed.len() {
        return None;
    }
    let mut plain = Vec::new();
    for pair in blocks.windows(2) {
        let mut array = Array::from(pair[1]);
        cipher.decrypt_block(&mut array);
        plain.extend(array.iter().zip(pair[0]).map(|(byte, before)| byte ^ before));
    }
    let pad = usize::from(plain.pop()?);
    plain.truncate(plain.len().checked_sub(pad)?);
    Some(plain)
}
