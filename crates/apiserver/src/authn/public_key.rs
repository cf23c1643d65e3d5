//! Public keys as SubjectPublicKeyInfo in PEM.

use ring::digest::{SHA256, digest};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;
use x509_parser::prelude::FromDer;
use x509_parser::x509::SubjectPublicKeyInfo;

use super::jwk::Key;
use krm::base64;

/// What the curve P-256 and Ed25519 are called in ASN.1.
const P256: &str = "1.2.840.10045.3.1.7";
const ED25519: &str = "1.3.101.112";
/// Shorter RSA keys are not believed.
const LEAST_RSA_BITS: usize = 2048;

/// A key that verifies what its other half has signed.
#[derive(Debug, Clone, PartialEq)]
pub struct PublicKey {
    id: String,
    key: Key,
}

impl PublicKey {
    /// Reads a key: RSA of 2048 bits or more, P-256 or Ed25519. An error says what is wrong with it.
    pub fn from_pem(pem: &str) -> Result<PublicKey, &'static str> {
        const NO_PEM: &str = "must be a public key in PEM, beginning with -----BEGIN PUBLIC KEY-----";
        const OTHER: &str = "must be an RSA key of 2048 to 8192 bits, a key on P-256 or an Ed25519 key";
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes()).map_err(|_| NO_PEM)?;
        let (rest, info) = SubjectPublicKeyInfo::from_der(&der).map_err(|_| NO_PEM)?;
        if !rest.is_empty() {
            return Err(NO_PEM);
        }
        let id = base64::url(digest(&SHA256, &der).as_ref());
        let bits = &info.subject_public_key.data;
        let key = match info.parsed() {
            Ok(x509_parser::public_key::PublicKey::RSA(rsa)) => {
                let modulus = rsa.modulus.iter().copied().skip_while(|byte| *byte == 0).collect::<Vec<u8>>();
                let enough = (LEAST_RSA_BITS / 8..=1024).contains(&modulus.len());
                enough.then(|| Key::rsa(&id, modulus, rsa.exponent.to_vec()))
            }
            Ok(x509_parser::public_key::PublicKey::EC(_)) => {
                let curve = info.algorithm.parameters.as_ref().and_then(|curve| curve.as_oid().ok());
                let is_p256 = curve.is_some_and(|curve| curve.to_id_string() == P256);
                (is_p256 && bits.len() == 65 && bits.first() == Some(&4)).then(|| Key::p256(&id, bits))
            }
            _ => {
                let is_ed25519 = info.algorithm.algorithm.to_id_string() == ED25519;
                (is_ed25519 && bits.len() == 32).then(|| Key::ed25519(&id, bits))
            }
        };
        Ok(PublicKey { key: key.ok_or(OTHER)?, id })
    }

    /// What tokens call the key in their header: the SHA-256 of its SubjectPublicKeyInfo, in unpadded base64url.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn key(&self) -> &Key {
        &self.key
    }
}
