//! Keys of machine accounts, and what they sign.

use krm::base64;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::failure::Failure;

/// The variable in which credentials may be.
pub const CREDENTIALS: &str = "GROUNDPLANE_MACHINE_CREDENTIALS";
/// What credentials say they are.
pub const TYPE: &str = "groundplane_machine_account";
/// What stands before an Ed25519 key in its SubjectPublicKeyInfo, and before a seed in PKCS#8.
const SPKI_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const PKCS8_HEAD: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// A new pair in PEM: the private and the public half.
pub fn new_pair() -> Result<(Zeroizing<String>, String), Failure> {
    let mut seed = Zeroizing::new([0; 32]);
    let filled = SystemRandom::new().fill(seed.as_mut());
    filled.map_err(|_| Failure::other("the operating system gave no random bytes; try again"))?;
    let pair = Ed25519KeyPair::from_seed_unchecked(seed.as_ref());
    let pair = pair.map_err(|_| Failure::other("making a key failed; try again"))?;
    let private = Zeroizing::new([&PKCS8_HEAD[..], seed.as_ref()].concat());
    let public = [&SPKI_HEAD[..], pair.public_key().as_ref()].concat();
    Ok((Zeroizing::new(pem("PRIVATE KEY", &private)), pem("PUBLIC KEY", &public)))
}

/// What tokens call a key.
pub fn key_id(public: &str) -> String {
    let der = SubjectPublicKeyInfoDer::from_pem_slice(public.as_bytes());
    der.map_or_else(|_| String::new(), |der| base64::url(digest(&SHA256, &der).as_ref()))
}

/// A token of whom the credentials are, from `now` until `end`.
pub fn token(
    credentials: &Value,
    audience: Option<&str>,
    now: u64,
    end: u64,
) -> Result<Zeroizing<String>, Failure> {
    let text = |field: &str| credentials[field].as_str().unwrap_or_default();
    let audience = audience.unwrap_or_else(|| text("audience"));
    if audience.is_empty() {
        return Err(Failure::usage("the credentials name no audience").hint(
            "use --audience NAME; for a Groundplane server it is the value of --service-account-issuer",
        ));
    }
    let signer = Signer::from_pem(text("private_key")).ok_or_else(|| {
        Failure::other(
            "the private key of the credentials can't be used: it is to be Ed25519, P-256 or RSA, in PKCS#8",
        )
    })?;
    let mut id = [0; 16];
    let random = SystemRandom::new();
    let unrandom = || Failure::other("the operating system gave no random bytes; try again");
    random.fill(&mut id).map_err(|_| unrandom())?;
    let who = text("client_email");
    let header = json!({"alg": signer.algorithm(), "typ": "JWT", "kid": text("private_key_id")});
    let claims = json!({
        "iss": who, "sub": who, "aud": audience, "iat": now, "exp": end, "jti": base64::url(&id),
    });
    let part = |value: &Value| base64::url(value.to_string().as_bytes());
    let signed = format!("{}.{}", part(&header), part(&claims));
    let signature = signer.sign(signed.as_bytes(), &random).ok_or_else(unrandom)?;
    Ok(Zeroizing::new(format!("{signed}.{}", base64::url(&signature))))
}

enum Signer {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl Signer {
    fn from_pem(pem: &str) -> Option<Signer> {
        let PrivateKeyDer::Pkcs8(der) = PrivateKeyDer::from_pem_slice(pem.as_bytes()).ok()? else {
            return None;
        };
        let der = der.secret_pkcs8_der();
        if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            return Some(Signer::Ed25519(pair));
        }
        let random = SystemRandom::new();
        if let Ok(pair) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random) {
            return Some(Signer::P256(pair));
        }
        RsaKeyPair::from_pkcs8(der).ok().map(Signer::Rsa)
    }

    fn algorithm(&self) -> &'static str {
        match self {
            Signer::Ed25519(_) => "EdDSA",
            Signer::P256(_) => "ES256",
            Signer::Rsa(_) => "RS256",
        }
    }

    fn sign(&self, message: &[u8], random: &SystemRandom) -> Option<Vec<u8>> {
        match self {
            Signer::Ed25519(pair) => Some(pair.sign(message).as_ref().to_vec()),
            Signer::P256(pair) => Some(pair.sign(random, message).ok()?.as_ref().to_vec()),
            Signer::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, random, message, &mut signature).ok()?;
                Some(signature)
            }
        }
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
