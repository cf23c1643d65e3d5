//! The CA of a data directory and the certificates that it issues.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::CertificateDer;
use zeroize::Zeroizing;

use super::certificate::KeyedCertificate;
use super::names::ServerNames;
use super::{CERTIFICATE_LIFE, CredentialsError, DAY, files};

const CA_LIFE: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// The CA that everything of one installation is trusted by.
pub(super) struct Authority {
    own: KeyedCertificate,
}

impl Authority {
    /// The CA in `path`, or a new one.
    pub fn open_or_create(path: &Path, now: SystemTime) -> Result<Authority, CredentialsError> {
        let text = files::read_or_create_private(path, || new_authority(now))?;
        let own = KeyedCertificate::parse(path, &text)?;
        Ok(Authority { own })
    }

    pub fn certificate(&self) -> &CertificateDer<'static> {
        self.own.certificate()
    }

    pub fn pem(&self) -> &str {
        self.own.certificate_pem()
    }

    /// Key and certificate for a server of these names.
    pub fn issue_serving(
        &self,
        names: &ServerNames,
        now: SystemTime,
    ) -> Result<Zeroizing<String>, CredentialsError> {
        let mut params =
            CertificateParams::new(names.to_vec()).map_err(make("the serving certificate's names"))?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "groundplane");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.issue(params, now)
    }

    /// Key and certificate for a client: the user is its common name, the group its organization.
    pub fn issue_client(
        &self,
        user: &str,
        group: &str,
        now: SystemTime,
    ) -> Result<Zeroizing<String>, CredentialsError> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, user);
        if !group.is_empty() {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(params, now)
    }

    fn issue(
        &self,
        mut params: CertificateParams,
        now: SystemTime,
    ) -> Result<Zeroizing<String>, CredentialsError> {
        lasting(&mut params, now, CERTIFICATE_LIFE);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let own_key = KeyPair::try_from(self.own.key()).map_err(make("the CA's key"))?;
        let issuer =
            Issuer::from_ca_cert_der(self.certificate(), own_key).map_err(make("the CA's certificate"))?;
        let key = KeyPair::generate().map_err(make("a private key"))?;
        let certificate = params.signed_by(&key, &issuer).map_err(make("a certificate"))?;
        Ok(joined(&key, &certificate.pem()))
    }
}

/// A private key alone, in PEM.
pub(super) fn new_key() -> Result<Zeroizing<String>, CredentialsError> {
    let key = KeyPair::generate().map_err(make("a private key"))?;
    Ok(Zeroizing::new(key.serialize_pem()))
}

fn new_authority(now: SystemTime) -> Result<Zeroizing<String>, CredentialsError> {
    let mut params = CertificateParams::default();
    lasting(&mut params, now, CA_LIFE);
    // The time tells the CAs of two installations apart for people who look at their certificates.
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, format!("groundplane-ca@{seconds}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages =
        vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    let key = KeyPair::generate().map_err(make("the CA's key"))?;
    let certificate = params.self_signed(&key).map_err(make("the CA's certificate"))?;
    Ok(joined(&key, &certificate.pem()))
}

/// From a day ago, for clients whose clocks are behind.
fn lasting(params: &mut CertificateParams, now: SystemTime, life: Duration) {
    params.not_before = (now - DAY).into();
    params.not_after = (now + life).into();
}

fn joined(key: &KeyPair, certificate_pem: &str) -> Zeroizing<String> {
    let key_pem = Zeroizing::new(key.serialize_pem());
    Zeroizing::new(format!("{}{certificate_pem}", *key_pem))
}

fn make(what: &'static str) -> impl FnOnce(rcgen::Error) -> CredentialsError {
    move |source| CredentialsError::Make { what, source }
}
