//! TLS to a server: whom to trust, and the certificate to show.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::{Error, Result};
use crate::kubeconfig::Access;

/// Where certificate authorities are kept, on the systems there are.
const SYSTEM_AUTHORITIES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// The configuration for a server; `protocols` are offered in this order.
pub fn config(access: &Access, protocols: &[&str]) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let failed = |error: &dyn std::fmt::Display| Error::Config(format!("setting up TLS: {error}"));
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?;
    let builder = match access.is_unchecked {
        true => builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody(provider))),
        false => builder.with_root_certificates(authorities(access)?),
    };
    let mut tls = match &access.proof.certificate {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
            let chain = chain.map_err(|error| failed(&format_args!("the client certificate: {error}")))?;
            let key = PrivateKeyDer::from_pem_slice(key)
                .map_err(|error| failed(&format_args!("the client key: {error}")))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| failed(&error))?
        }
    };
    tls.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(tls)
}

/// The certificate authorities that the system trusts, as PEM: those of `SSL_CERT_FILE`, or the system's own.
pub fn system_authorities() -> Vec<u8> {
    let named = std::env::var_os("SSL_CERT_FILE").map(std::path::PathBuf::from);
    let files = named.into_iter().chain(SYSTEM_AUTHORITIES.map(std::path::PathBuf::from));
    files.filter_map(|file| std::fs::read(file).ok()).next().unwrap_or_default()
}

fn authorities(access: &Access) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let pem = match &access.authority {
        Some(pem) => pem.clone(),
        None => system_authorities(),
    };
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate
            .map_err(|error| Error::Config(format!("reading the certificate authority: {error}")))?;
        // The system's list may hold some that are of no use here.
        let _ = roots.add(certificate);
    }
    match roots.is_empty() {
        true => Err(Error::NoAuthorities),
        false => Ok(roots),
    }
}

/// Takes every server for the right one, because `insecure-skip-tls-verify` asked for that.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
