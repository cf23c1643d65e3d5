//! TLS of the listener: the serving certificate and client certificates.

mod client_certificates;
mod peer;

use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;

pub use peer::{Peer, identity_of};

use crate::first_start::Credentials;
use client_certificates::JudgedLater;

/// The TLS side of a listener. The serving certificate can be replaced while it runs.
pub struct ServerTls {
    config: Arc<ServerConfig>,
    serving: Arc<Serving>,
    judge: Arc<dyn ClientCertVerifier>,
}

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A certificate authority for clients cannot be used.
    #[error("invalid client CA: check the CA file for client certificates")]
    ClientCa(#[source] rustls::Error),
    /// The client CAs give no verifier.
    #[error("invalid set of client CAs")]
    Verifier(#[from] rustls::server::VerifierBuilderError),
    /// The serving certificate and its key cannot be used.
    #[error("invalid serving certificate: remove `pki/serving.pem` and a new one is generated")]
    Serving(#[source] rustls::Error),
    /// A file is no PEM, or has no certificate or key.
    #[error("invalid PEM")]
    Pem(#[source] rustls::pki_types::pem::Error),
    /// A certificate and a key don't belong together, or are of no use.
    #[error("the certificate and the key can't be used together")]
    Pair(#[source] rustls::Error),
    /// The protocol versions are not supported.
    #[error("failed to set up TLS")]
    Setup(#[source] rustls::Error),
}

impl ServerTls {
    /// TLS with these credentials. Client certificates of our CA and of `client_cas` are believed.
    pub fn new(
        credentials: &Credentials,
        client_cas: &[CertificateDer<'static>],
    ) -> Result<ServerTls, TlsError> {
        let provider = provider();
        let mut roots = RootCertStore::empty();
        roots.add(credentials.ca_certificate().clone()).map_err(TlsError::ClientCa)?;
        for ca in client_cas {
            roots.add(ca.clone()).map_err(TlsError::ClientCa)?;
        }
        let judge = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
            .allow_unauthenticated()
            .build()?;
        let serving = Arc::new(Serving(ArcSwap::new(certified_key(credentials)?)));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Setup)?
            .with_client_cert_verifier(Arc::new(JudgedLater(judge.clone())))
            .with_cert_resolver(serving.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(ServerTls { config: Arc::new(config), serving, judge })
    }

    /// TLS with a certificate chain and its key, in PEM. Client certificates are not asked for.
    pub fn of_pem(chain: &[u8], key: &[u8]) -> Result<ServerTls, TlsError> {
        let provider = provider();
        let chain: Vec<_> =
            CertificateDer::pem_slice_iter(chain).collect::<Result<_, _>>().map_err(TlsError::Pem)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(TlsError::Pem)?;
        let certified = CertifiedKey::from_der(chain, key, &provider).map_err(TlsError::Pair)?;
        let serving = Arc::new(Serving(ArcSwap::from_pointee(certified)));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Setup)?
            .with_no_client_auth()
            .with_cert_resolver(serving.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(ServerTls { config: Arc::new(config), serving, judge: WebPkiClientVerifier::no_client_auth() })
    }

    /// What an acceptor needs.
    pub fn config(&self) -> Arc<ServerConfig> {
        self.config.clone()
    }

    /// Serves new connections with the certificate of `credentials`.
    pub fn replace(&self, credentials: &Credentials) -> Result<(), TlsError> {
        self.serving.0.store(certified_key(credentials)?);
        Ok(())
    }

    /// Who stands behind the certificates that a connection's other end gave.
    pub fn peer(&self, certificates: Option<&[CertificateDer<'_>]>) -> Peer {
        Peer::of(certificates.unwrap_or_default(), self.judge.as_ref(), std::time::SystemTime::now())
    }
}

impl std::fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerTls").finish_non_exhaustive()
    }
}

/// Named here, so that nothing depends on what a process has installed as its default.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

#[derive(Debug)]
struct Serving(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for Serving {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

fn certified_key(credentials: &Credentials) -> Result<Arc<CertifiedKey>, TlsError> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(credentials.serving_key().to_vec()));
    CertifiedKey::from_der(vec![credentials.serving_chain()], key, &provider())
        .map(Arc::new)
        .map_err(TlsError::Serving)
}

#[cfg(test)]
mod tests;
