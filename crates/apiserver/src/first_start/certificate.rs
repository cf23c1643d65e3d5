//! A certificate and its private key, in one file so that they always match.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};
use zeroize::Zeroizing;

use super::authority::Authority;
use super::names::ServerNames;
use super::{CredentialsError, RENEW_BEFORE, files};

const RESTORE: &str = "restore it from a backup, or remove it and a new one is generated";

/// A certificate and its private key.
pub(super) struct KeyedCertificate {
    certificate: CertificateDer<'static>,
    certificate_pem: String,
    key: Zeroizing<Vec<u8>>,
}

impl KeyedCertificate {
    /// What `path` holds, or what `issue` makes when it holds nothing or nothing that will `do`.
    pub fn open_or_issue(
        path: &Path,
        will_do: impl Fn(&KeyedCertificate) -> bool,
        issue: impl Fn() -> Result<Zeroizing<String>, CredentialsError>,
    ) -> Result<KeyedCertificate, CredentialsError> {
        if let Some(text) = files::read_private(path)? {
            let found = KeyedCertificate::parse(path, &text)?;
            if will_do(&found) {
                return Ok(found);
            }
        }
        let text = issue()?;
        files::replace_if_different(path, &text, files::PRIVATE)?;
        KeyedCertificate::parse(path, &text)
    }

    /// Reads a key and a certificate, each in PEM.
    pub fn parse(path: &Path, text: &str) -> Result<KeyedCertificate, CredentialsError> {
        let key = private_key(path, text)?;
        let damaged = |what| CredentialsError::Damaged { path: path.to_owned(), what, remedy: RESTORE };
        let certificate = CertificateDer::from_pem_slice(text.as_bytes())
            .map_err(|_| damaged("it contains no certificate"))?
            .into_owned();
        let (_, parsed) =
            X509Certificate::from_der(&certificate).map_err(|_| damaged("its certificate is malformed"))?;
        let pair =
            rcgen::KeyPair::try_from(key.as_slice()).map_err(|_| damaged("its private key is malformed"))?;
        if parsed.public_key().subject_public_key.data.as_ref() != pair.public_key_raw() {
            return Err(damaged("its private key does not match its certificate"));
        }
        let certificate_pem = to_pem("CERTIFICATE", &certificate).to_string();
        Ok(KeyedCertificate { certificate, certificate_pem, key })
    }

    pub fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// PKCS#8.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    pub fn key_pem(&self) -> Zeroizing<String> {
        to_pem("PRIVATE KEY", &self.key)
    }

    /// Whether this CA issued it and its end is not near.
    pub fn is_good(&self, authority: &Authority, now: SystemTime) -> bool {
        let (Some(mine), Some(issuer)) = (parsed(&self.certificate), parsed(authority.certificate())) else {
            return false;
        };
        mine.issuer().as_raw() == issuer.subject().as_raw() && ends(&mine) >= now + RENEW_BEFORE
    }

    /// Whether it is for these names, and for no others.
    pub fn serves(&self, names: &ServerNames) -> bool {
        parsed(&self.certificate).is_some_and(|mine| names_of(&mine) == *names.as_set())
    }
}

/// The first private key in `text`, as PKCS#8.
pub(super) fn private_key(path: &Path, text: &str) -> Result<Zeroizing<Vec<u8>>, CredentialsError> {
    match PrivatePkcs8KeyDer::from_pem_slice(text.as_bytes()) {
        Ok(key) => Ok(Zeroizing::new(key.secret_pkcs8_der().to_vec())),
        Err(_) => Err(CredentialsError::Damaged {
            path: path.to_owned(),
            what: "it contains no private key",
            remedy: RESTORE,
        }),
    }
}

/// PEM, with the line length everybody uses.
pub(super) fn to_pem(label: &str, der: &[u8]) -> Zeroizing<String> {
    let body = Zeroizing::new(krm::base64::encode(der));
    let mut pem = Zeroizing::new(String::with_capacity(body.len() + body.len() / 64 + 2 * label.len() + 40));
    pem.push_str(&format!("-----BEGIN {label}-----\n"));
    let mut rest = body.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(rest.len().min(64));
        pem.push_str(line);
        pem.push('\n');
        rest = more;
    }
    pem.push_str(&format!("-----END {label}-----\n"));
    pem
}

fn parsed<'a>(certificate: &'a CertificateDer<'_>) -> Option<X509Certificate<'a>> {
    X509Certificate::from_der(certificate).ok().map(|(_, parsed)| parsed)
}

fn ends(certificate: &X509Certificate<'_>) -> SystemTime {
    let seconds = certificate.validity().not_after.timestamp().max(0).unsigned_abs();
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn names_of(certificate: &X509Certificate<'_>) -> BTreeSet<String> {
    let Ok(Some(names)) = certificate.subject_alternative_name() else { return BTreeSet::new() };
    let text = |name: &GeneralName<'_>| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => address(bytes).map(|address| address.to_string()),
        _ => None,
    };
    names.value.general_names.iter().filter_map(text).collect()
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    }
}
