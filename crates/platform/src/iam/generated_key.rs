//! Key pairs generated for machine accounts. The private key is stored in a Secret in the same commit, and
//! nowhere else.

use krm::base64;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair};
use zeroize::Zeroizing;

/// What stands before an Ed25519 key in its SubjectPublicKeyInfo, and before a seed in PKCS#8.
const SPKI_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const PKCS8_HEAD: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// Makes key pairs. A pair follows from the uid of the object it is for and from a secret of this process: a decision that
/// is repeated finds the same pair, and nothing has to be remembered.
pub struct Mint {
    secret: Option<hmac::Key>,
}

impl Default for Mint {
    fn default() -> Mint {
        let mut bytes = Zeroizing::new([0; 32]);
        let filled = SystemRandom::new().fill(bytes.as_mut());
        Mint { secret: filled.ok().map(|()| hmac::Key::new(hmac::HMAC_SHA256, bytes.as_ref())) }
    }
}

/// A key pair, in PEM.
pub struct Pair {
    /// The half that everybody may see.
    pub public: String,
    /// The half that only its owner may see.
    pub private: Zeroizing<String>,
}

impl Mint {
    /// The pair of an object; nothing where the operating system gave no random bytes.
    pub fn pair(&self, uid: &str) -> Option<Pair> {
        let tag = hmac::sign(self.secret.as_ref()?, format!("machine account key {uid}").as_bytes());
        let seed = tag.as_ref();
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let private = Zeroizing::new([&PKCS8_HEAD[..], seed].concat());
        Some(Pair {
            public: pem("PUBLIC KEY", &[&SPKI_HEAD[..], pair.public_key().as_ref()].concat()),
            private: Zeroizing::new(pem("PRIVATE KEY", &private)),
        })
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::encode(der);
    let lines = text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok());
    let body: Vec<&str> = lines.collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", body.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_the_same_for_one_object_and_another_for_the_next() {
        let mint = Mint::default();
        let (one, again, other) =
            (mint.pair("u1").unwrap(), mint.pair("u1").unwrap(), mint.pair("u2").unwrap());
        assert_eq!((&one.public, &one.private), (&again.public, &again.private));
        assert_ne!(one.public, other.public);
        assert_ne!(one.public, Mint::default().pair("u1").unwrap().public, "of another process");
        let key = apiserver::authn::PublicKey::from_pem(&one.public).unwrap();
        assert_eq!(key.id().len(), 43);
    }
}
