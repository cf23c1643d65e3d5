//! JSON Web Keys (RFC 7517) and signature verification.

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256, RsaParameters,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::Value;

use krm::base64;

/// More keys than an issuer has.
const MOST_KEYS: usize = 256;

/// How a token was signed. There is no way to say that it was not, and none with a shared secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Es256,
    Es384,
    EdDsa,
}

impl Algorithm {
    pub fn named(name: &str) -> Option<Algorithm> {
        Some(match name {
            "RS256" => Algorithm::Rs256,
            "RS384" => Algorithm::Rs384,
            "RS512" => Algorithm::Rs512,
            "PS256" => Algorithm::Ps256,
            "ES256" => Algorithm::Es256,
            "ES384" => Algorithm::Es384,
            "EdDSA" => Algorithm::EdDsa,
            _ => return None,
        })
    }
}

/// A public key of an issuer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    pub kid: Option<String>,
    /// The one algorithm it is for, when it says so.
    only: Option<Algorithm>,
    material: Material,
}

#[derive(Debug, Clone, PartialEq)]
enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// Uncompressed points.
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl Key {
    /// A key on P-256, as an uncompressed point.
    pub fn p256(kid: &str, point: &[u8]) -> Key {
        let (kid, only) = (Some(kid.to_owned()), Some(Algorithm::Es256));
        Key { kid, only, material: Material::P256(point.to_vec()) }
    }

    /// An RSA key, its numbers without leading zeros.
    pub fn rsa(kid: &str, n: Vec<u8>, e: Vec<u8>) -> Key {
        Key { kid: Some(kid.to_owned()), only: None, material: Material::Rsa { n, e } }
    }

    /// An Ed25519 key.
    pub fn ed25519(kid: &str, key: &[u8]) -> Key {
        let (kid, only) = (Some(kid.to_owned()), Some(Algorithm::EdDsa));
        Key { kid, only, material: Material::Ed25519(key.to_vec()) }
    }

    /// Whether this key made `signature` of `message`, in a way that fits the key.
    pub fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if self.only.is_some_and(|only| only != algorithm) {
            return false;
        }
        let rsa = |parameters: &'static RsaParameters, n: &Vec<u8>, e: &Vec<u8>| {
            RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
        };
        match (&self.material, algorithm) {
            (Material::Rsa { n, e }, Algorithm::Rs256) => rsa(&RSA_PKCS1_2048_8192_SHA256, n, e),
            (Material::Rsa { n, e }, Algorithm::Rs384) => rsa(&RSA_PKCS1_2048_8192_SHA384, n, e),
            (Material::Rsa { n, e }, Algorithm::Rs512) => rsa(&RSA_PKCS1_2048_8192_SHA512, n, e),
            (Material::Rsa { n, e }, Algorithm::Ps256) => rsa(&RSA_PSS_2048_8192_SHA256, n, e),
            (Material::P256(point), Algorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).is_ok()
            }
            (Material::P384(point), Algorithm::Es384) => {
                UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point).verify(message, signature).is_ok()
            }
            (Material::Ed25519(key), Algorithm::EdDsa) => {
                UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok()
            }
            _ => false,
        }
    }

    fn from_json(key: &Value) -> Option<Key> {
        let text = |field: &str| key.get(field).and_then(Value::as_str);
        let number = |field: &str| base64::from_url(text(field)?);
        if text("use").is_some_and(|usage| usage != "sig") {
            return None;
        }
        let only = match text("alg") {
            Some(name) => Some(Algorithm::named(name)?),
            None => None,
        };
        let point = |length: usize| {
            let (x, y) = (number("x")?, number("y")?);
            (x.len() == length && y.len() == length).then(|| [&[4], x.as_slice(), y.as_slice()].concat())
        };
        let material = match (text("kty")?, text("crv")) {
            ("RSA", _) => {
                let n = number("n")?;
                // ring takes numbers without leading zeros.
                let n = n.iter().copied().skip_while(|byte| *byte == 0).collect();
                Material::Rsa { n, e: number("e")? }
            }
            ("EC", Some("P-256")) => Material::P256(point(32)?),
            ("EC", Some("P-384")) => Material::P384(point(48)?),
            ("OKP", Some("Ed25519")) => Material::Ed25519(number("x").filter(|x| x.len() == 32)?),
            _ => return None,
        };
        Some(Key { kid: text("kid").map(str::to_owned), only, material })
    }
}

/// The keys of a set that can be used; the others are left out, as the RFC asks.
pub(super) fn keys_from_json(set: &[u8]) -> Option<Vec<Key>> {
    let set: Value = serde_json::from_slice(set).ok()?;
    let keys = set.get("keys")?.as_array()?;
    Some(keys.iter().take(MOST_KEYS).filter_map(Key::from_json).collect())
}
