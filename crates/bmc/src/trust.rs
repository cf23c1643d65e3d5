//! Whether a BMC is the right one: TLS by certificate authority, by pin, or by trust on first use.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use ring::digest::{SHA256, digest};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::{Cause, Error};

/// Whom to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Certificates that these authorities signed, as PEM, for the name or IP address that is connected to.
    Authorities(Vec<u8>),
    /// One certificate, whoever signed it.
    Pinned(Fingerprint),
    /// Whatever certificate is presented first, and only that from then on. The caller reads the pin and stores it.
    FirstUse,
}

/// SHA-256 of a certificate. It prints like `openssl x509 -fingerprint -sha256`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Of a certificate in DER.
    pub fn of(certificate: &[u8]) -> Fingerprint {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, certificate).as_ref());
        Fingerprint(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            write!(f, "{}{byte:02X}", if at == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = Error;

    /// Hexadecimal, with or without colons.
    fn from_str(text: &str) -> Result<Fingerprint, Error> {
        let wrong = || {
            let why = "a fingerprint is 64 hexadecimal digits, with or without colons".to_owned();
            Error::about(text.to_owned(), "read fingerprint", Cause::Invalid { why })
        };
        let digits: String = text.chars().filter(|c| *c != ':').collect();
        if digits.len() != 64 || !digits.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let pair = digits.get(at * 2..at * 2 + 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Fingerprint(bytes))
    }
}

/// The TLS side of a client: a configuration, and the pin that it found.
pub(crate) struct Verification {
    pub(crate) config: Arc<ClientConfig>,
    pins: Option<Arc<Pins>>,
}

impl Verification {
    /// For a trust; `Err` says what is wrong with it.
    pub(crate) fn new(trust: &Trust) -> Result<Verification, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let pin = match trust {
            Trust::Authorities(pem) => {
                let roots = Arc::new(authorities(pem)?);
                let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider)
                    .build()
                    .map_err(|error| error.to_string())?;
                let config = builder.with_webpki_verifier(verifier).with_no_client_auth();
                return Ok(Verification { config: Arc::new(only_http1(config)), pins: None });
            }
            Trust::Pinned(pin) => Some(*pin),
            Trust::FirstUse => None,
        };
        let pins = Arc::new(Pins { provider, state: Mutex::new(PinState { pin, changed: None }) });
        let config = builder.dangerous().with_custom_certificate_verifier(pins.clone()).with_no_client_auth();
        Ok(Verification { config: Arc::new(only_http1(config)), pins: Some(pins) })
    }

    /// The certificate that the BMC presented or must present.
    pub(crate) fn pin(&self) -> Option<Fingerprint> {
        self.pins.as_ref().and_then(|pins| pins.state().pin)
    }

    /// Takes note of the certificate of a finished handshake: the first one becomes the pin.
    pub(crate) fn learn(&self, certificate: &CertificateDer<'_>) -> Result<(), Cause> {
        let Some(pins) = &self.pins else { return Ok(()) };
        let found = Fingerprint::of(certificate);
        match *pins.state().pin.get_or_insert(found) {
            expected if expected == found => Ok(()),
            expected => Err(Cause::PinChanged { expected, found }),
        }
    }

    /// Why a handshake failed.
    pub(crate) fn explain(&self, error: &std::io::Error) -> Cause {
        let changed = self.pins.as_ref().and_then(|pins| pins.state().changed.take());
        if let Some((expected, found)) = changed {
            return Cause::PinChanged { expected, found };
        }
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match inner {
            Some(rustls::Error::InvalidCertificate(why)) => Cause::Untrusted { why: reason(why) },
            Some(other) => Cause::Tls { why: other.to_string() },
            None => Cause::Tls { why: error.to_string() },
        }
    }
}

fn reason(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => "no trusted authority signed it".to_owned(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".to_owned(),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another name".to_owned()
        }
        other => other.to_string(),
    }
}

fn only_http1(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

fn authorities(pem: &[u8]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| format!("the CA file is not PEM: {error}"))?;
        roots
            .add(certificate)
            .map_err(|error| format!("a certificate of the CA file is unusable: {error}"))?;
    }
    match roots.is_empty() {
        true => Err("the CA file has no certificates".to_owned()),
        false => Ok(roots),
    }
}

/// Accepts one certificate, whoever signed it.
#[derive(Debug)]
struct Pins {
    provider: Arc<CryptoProvider>,
    state: Mutex<PinState>,
}

#[derive(Debug)]
struct PinState {
    pin: Option<Fingerprint>,
    /// Expected and found, of the last handshake that was refused.
    changed: Option<(Fingerprint, Fingerprint)>,
}

impl Pins {
    fn state(&self) -> std::sync::MutexGuard<'_, PinState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerCertVerifier for Pins {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = Fingerprint::of(certificate);
        let mut state = self.state();
        match state.pin {
            Some(expected) if expected != found => {
                state.changed = Some((expected, found));
                Err(rustls::Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
            }
            // Without a pin the certificate is learned after the handshake, which proves that the BMC has its key.
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_read_as_printed() {
        let one = Fingerprint::of(b"certificate");
        assert_eq!(one.to_string().parse::<Fingerprint>().unwrap(), one);
        assert_eq!(one.to_string().replace(':', "").to_lowercase().parse::<Fingerprint>().unwrap(), one);
        assert!("AB:CD".parse::<Fingerprint>().is_err());
    }
}
