//! Checks that a certificate matches its private key; a mismatch is a warning.

use krm::base64;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys};

const CERTIFICATE: &str = "CERTIFICATE";
const PRIVATE_KEY: &str = "PRIVATE KEY";

/// What is wrong with a pair, in the words of Go's `crypto/tls`.
pub fn fault(certificate: &[u8], key: &[u8]) -> Option<String> {
    check(&String::from_utf8_lossy(certificate), &String::from_utf8_lossy(key)).err()
}

fn check(certificate: &str, key: &str) -> Result<(), String> {
    let certificates = blocks(certificate);
    let chain: Vec<CertificateDer<'static>> = certificates
        .iter()
        .filter(|block| block.kind == CERTIFICATE)
        .map(|block| block.bytes.clone().into())
        .collect();
    if chain.is_empty() {
        return Err(no_certificate(&certificates));
    }
    let keys = blocks(key);
    let is_key = |block: &&Block<'_>| block.kind == PRIVATE_KEY || block.kind.ends_with(" PRIVATE KEY");
    let Some(key) = keys.iter().find(is_key) else { return Err(no_key(&keys)) };
    let key = private_key(key).ok_or("tls: failed to parse private key")?;
    let key = any_supported_type(&key).map_err(|_| "tls: failed to parse private key")?;
    match CertifiedKey::new(chain, key).keys_match() {
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(()),
        Err(Error::InconsistentKeys(_)) => Err("tls: private key does not match public key".to_owned()),
        Err(_) => Err("x509: malformed certificate".to_owned()),
    }
}

fn no_certificate(skipped: &[Block<'_>]) -> String {
    match skipped {
        [] => "tls: failed to find any PEM data in certificate input".to_owned(),
        [key] if key.kind.ends_with(PRIVATE_KEY) => {
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may \
             have been switched"
                .to_owned()
        }
        skipped => format!(
            "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the \
             following types: {}",
            kinds(skipped)
        ),
    }
}

fn no_key(skipped: &[Block<'_>]) -> String {
    match skipped {
        [] => "tls: failed to find any PEM data in key input".to_owned(),
        [one] if one.kind == CERTIFICATE => {
            "tls: found a certificate rather than a key in the PEM for the private key".to_owned()
        }
        skipped => format!(
            "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of \
             the following types: {}",
            kinds(skipped)
        ),
    }
}

fn kinds(blocks: &[Block<'_>]) -> String {
    let kinds: Vec<&str> = blocks.iter().map(|block| block.kind).collect();
    format!("[{}]", kinds.join(" "))
}

fn private_key(block: &Block<'_>) -> Option<PrivateKeyDer<'static>> {
    let bytes = block.bytes.clone();
    match block.kind {
        "RSA PRIVATE KEY" => Some(PrivateKeyDer::Pkcs1(bytes.into())),
        "EC PRIVATE KEY" => Some(PrivateKeyDer::Sec1(bytes.into())),
        PRIVATE_KEY => Some(PrivateKeyDer::Pkcs8(bytes.into())),
        _ => None,
    }
}

/// One block of PEM.
struct Block<'a> {
    kind: &'a str,
    bytes: Vec<u8>,
}

/// The blocks of a text that are whole; whatever stands between them does not count.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let begin = line.trim_end().strip_prefix("-----BEGIN ").and_then(|line| line.strip_suffix("-----"));
        let Some(kind) = begin else { continue };
        let mut body = String::new();
        for line in lines.by_ref() {
            if line.starts_with("-----END ") {
                found.extend(base64::decode(&body).ok().map(|bytes| Block { kind, bytes }));
                break;
            }
            body.push_str(line.trim());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: &str = "-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n";
    const KEY: &str = "-----BEGIN EC PRIVATE KEY-----\nAAEC\n-----END EC PRIVATE KEY-----\n";

    #[test]
    fn a_pair_that_is_none_is_told_as_go_tells_it() {
        for (certificate, key, says) in [
            ("", "", "tls: failed to find any PEM data in certificate input"),
            (
                KEY,
                BLOCK,
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched",
            ),
            (BLOCK, "", "tls: failed to find any PEM data in key input"),
            (BLOCK, BLOCK, "tls: found a certificate rather than a key in the PEM for the private key"),
            (BLOCK, KEY, "tls: failed to parse private key"),
        ] {
            assert_eq!(fault(certificate.as_bytes(), key.as_bytes()).unwrap(), says);
        }
    }
}
