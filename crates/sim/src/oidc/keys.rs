//! The key that signs tokens.

use krm::base64;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};

const KID: &str = "sim-1";

/// The key of an issuer, made when it starts.
pub struct SigningKey {
    pair: EcdsaKeyPair,
    random: SystemRandom,
}

impl SigningKey {
    /// A new one.
    pub fn new() -> std::io::Result<SigningKey> {
        let random = SystemRandom::new();
        let failed = |_| std::io::Error::other("no key can be made");
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(failed)?;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random);
        let pair = pair.map_err(|error| std::io::Error::other(error.to_string()))?;
        Ok(SigningKey { pair, random })
    }

    /// As a JWK.
    pub fn public(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let part = |range: std::ops::Range<usize>| base64::url(point.get(range).unwrap_or_default());
        json!({ "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": KID, "x": part(1..33), "y": part(33..65) })
    }

    /// A signed token.
    pub fn token(&self, claims: &Value) -> String {
        let header = json!({ "alg": "ES256", "typ": "JWT", "kid": KID });
        let encode = |value: &Value| base64::url(value.to_string().as_bytes());
        let signed = format!("{}.{}", encode(&header), encode(claims));
        let signature = self.pair.sign(&self.random, signed.as_bytes());
        let signature = signature.map(|signature| base64::url(signature.as_ref())).unwrap_or_default();
        format!("{signed}.{signature}")
    }
}

/// A text that nobody guesses.
pub fn random() -> String {
    let mut bytes = [0; 24];
    // Without randomness every code is the same, and logging in fails rather than being unsafe: this is a simulation.
    let _ = SystemRandom::new().fill(&mut bytes);
    base64::url(&bytes)
}
