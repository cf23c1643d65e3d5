//! Cipher suites: keys of a session, integrity and confidentiality of its packets (IPMI 2.0, section 13.28 on).

use aes::Aes128;
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use ring::hmac;
use zeroize::Zeroizing;

/// A cipher suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// Suite 3: RAKP-HMAC-SHA1, HMAC-SHA1-96, AES-CBC-128.
    Sha1,
    /// Suite 17: RAKP-HMAC-SHA256, HMAC-SHA256-128, AES-CBC-128.
    Sha256,
}

impl Suite {
    /// Numbers of the algorithms for authentication, integrity and confidentiality.
    pub(super) fn algorithms(self) -> [u8; 3] {
        match self {
            Suite::Sha1 => [1, 1, 1],
            Suite::Sha256 => [3, 4, 1],
        }
    }

    /// Length of the codes of RAKP messages 2 and 3.
    pub(super) fn code_length(self) -> usize {
        match self {
            Suite::Sha1 => 20,
            Suite::Sha256 => 32,
        }
    }

    /// Length of the code of RAKP message 4 and of every packet.
    pub(super) fn integrity_length(self) -> usize {
        match self {
            Suite::Sha1 => 12,
            Suite::Sha256 => 16,
        }
    }

    pub(super) fn hmac(self, key: &[u8], parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
        let algorithm = match self {
            Suite::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Suite::Sha256 => hmac::HMAC_SHA256,
        };
        let mut context = hmac::Context::with_key(&hmac::Key::new(algorithm, key));
        for part in parts {
            context.update(part);
        }
        Zeroizing::new(context.sign().as_ref().to_vec())
    }
}

/// The keys of a session.
pub(super) struct Keys {
    suite: Suite,
    integrity: Zeroizing<Vec<u8>>,
    confidentiality: Aes128,
}

impl Keys {
    /// From the session integrity key. The constants have 20 bytes with every suite.
    pub(super) fn derive(suite: Suite, session_key: &[u8]) -> Keys {
        let second = suite.hmac(session_key, &[&[2; 20]]);
        let mut key = Zeroizing::new([0; 16]);
        key.copy_from_slice(second.get(..16).expect("a MAC has at least 20 bytes"));
        Keys {
            suite,
            integrity: suite.hmac(session_key, &[&[1; 20]]),
            confidentiality: Aes128::new(&Array::from(*key)),
        }
    }

    /// The code at the end of a packet.
    pub(super) fn sign(&self, packet: &[u8]) -> Vec<u8> {
        let mut code = self.suite.hmac(&self.integrity, &[packet]).to_vec();
        code.truncate(self.suite.integrity_length());
        code
    }

    /// The packet without its code, if the code is right.
    pub(super) fn verify<'a>(&self, signed: &'a [u8]) -> Option<&'a [u8]> {
        let (packet, code) =
            signed.split_at_checked(signed.len().checked_sub(self.suite.integrity_length())?)?;
        equal(&self.sign(packet), code).then_some(packet)
    }

    /// AES-CBC with the padding of IPMI: 1, 2, 3, … and the length of that.
    pub(super) fn encrypt(&self, payload: &[u8], start: [u8; 16]) -> Vec<u8> {
        let mut plain = Zeroizing::new(payload.to_vec());
        let padding = (16 - (payload.len() + 1) % 16) % 16;
        // Less than 16: fits.
        plain.extend((1..=padding).map(|at| at as u8));
        plain.push(padding as u8);
        let mut sealed = start.to_vec();
        let mut previous = start;
        for chunk in plain.chunks_exact(16) {
            let mut block = Array::from(previous);
            block.iter_mut().zip(chunk).for_each(|(byte, plain)| *byte ^= plain);
            self.confidentiality.encrypt_block(&mut block);
            previous = block.into();
            sealed.extend_from_slice(&previous);
        }
        sealed
    }

    /// The payload, if it is whole and its padding is right.
    pub(super) fn decrypt(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (start, rest) = sealed.split_first_chunk::<16>()?;
        if rest.is_empty() || rest.len() % 16 != 0 {
            return None;
        }
        let mut plain = Vec::with_capacity(rest.len());
        let mut previous = *start;
        for chunk in rest.chunks_exact(16) {
            let sealed: [u8; 16] = chunk.try_into().ok()?;
            let mut block = Array::from(sealed);
            self.confidentiality.decrypt_block(&mut block);
            plain.extend(block.iter().zip(&previous).map(|(byte, before)| byte ^ before));
            previous = sealed;
        }
        let padding = usize::from(plain.pop()?);
        let length = plain.len().checked_sub(padding)?;
        let is_right = plain.get(length..)?.iter().zip(1..).all(|(byte, wanted): (&u8, u8)| *byte == wanted);
        plain.truncate(length);
        is_right.then_some(plain)
    }
}

/// In constant time.
pub(super) fn equal(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encrypted_is_decrypted(payload in prop::collection::vec(any::<u8>(), 0..100), start: [u8; 16]) {
            let keys = Keys::derive(Suite::Sha1, b"session key");
            let sealed = keys.encrypt(&payload, start);
            prop_assert_eq!(keys.decrypt(&sealed), Some(payload));
        }

        #[test]
        fn any_bytes_are_refused_or_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let keys = Keys::derive(Suite::Sha256, b"session key");
            let _ = keys.decrypt(&bytes);
            prop_assert_eq!(keys.verify(&bytes), None);
        }
    }
}
