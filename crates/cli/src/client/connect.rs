//! Connections to a server, secured as its kubeconfig says.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::failure::Failure;
use crate::kubeconfig::Access;

/// Where certificate authorities are kept, on the systems there are.
const SYSTEM_AUTHORITIES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// Makes connections to one server.
pub struct Connector {
    /// Host and port.
    authority: String,
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Connector {
    /// For the server that `access` names; the second is the path of its address.
    pub fn new(access: &Access) -> Result<(Connector, String), Failure> {
        let wrong = |why: &str| Failure::other(format!("server address {}: {why}", access.server));
        let address = match access.server.contains("://") {
            true => access.server.clone(),
            false => format!("https://{}", access.server),
        };
        let uri: http::Uri = address.parse().map_err(|_| wrong("not a URL"))?;
        let is_secured = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("the scheme must be https or http")),
        };
        let host = uri.host().ok_or_else(|| wrong("the host is missing"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let authority = uri.authority().map(|authority| authority.as_str().to_owned()).unwrap_or_default();
        let tls = match is_secured {
            false => None,
            true => {
                let name = access.server_name.as_deref().unwrap_or(&host).to_owned();
                let name = ServerName::try_from(name)
                    .map_err(|_| wrong("the host is not a valid server name for TLS"))?;
                Some((TlsConnector::from(Arc::new(tls(access)?)), name))
            }
        };
        let port = uri.port_u16().unwrap_or(if is_secured { 443 } else { 80 });
        Ok((Connector { authority, host, port, tls }, uri.path().to_owned()))
    }

    /// Host and port, as messages name them.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The next step when a server does not speak plain HTTP.
    pub fn https_hint(&self) -> Option<String> {
        self.tls.is_none().then(|| format!("if the server expects HTTPS, use https://{}", self.authority))
    }

    /// A new connection.
    pub async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, Failure> {
        let stream = TcpStream::connect((self.host.as_str(), self.port))
            .await
            .map_err(|error| self.refused(&error))?;
        let _ = stream.set_nodelay(true);
        let failed = |error: &dyn std::fmt::Display| {
            Failure::Bare(format!("Unable to connect to the server: {error}"))
        };
        match &self.tls {
            None => {
                let (sender, connection) =
                    handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
                tokio::spawn(connection);
                Ok(sender)
            }
            Some((connector, name)) => {
                let stream =
                    connector.connect(name.clone(), stream).await.map_err(|error| self.mistrusted(&error))?;
                let (sender, connection) =
                    handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
                tokio::spawn(connection);
                Ok(sender)
            }
        }
    }

    fn refused(&self, error: &std::io::Error) -> Failure {
        if error.kind() == std::io::ErrorKind::ConnectionRefused {
            return Failure::Bare(format!(
                "The connection to the server {} was refused - did you specify the right host or port?",
                self.authority
            ))
            .hint("no server is listening there; \"groundplane serve\" starts one on this machine");
        }
        Failure::Bare(format!("Unable to connect to the server: {}: {error}", self.authority))
    }

    fn mistrusted(&self, error: &std::io::Error) -> Failure {
        let failure = Failure::Bare(format!("Unable to connect to the server: tls: {error}"));
        match error.to_string().contains("certificate") {
            true => {
                failure.hint("certificate-authority-data in the kubeconfig must be the CA of this server")
            }
            false => failure,
        }
    }
}

fn tls(access: &Access) -> Result<ClientConfig, Failure> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let failed = |error: &dyn std::fmt::Display| Failure::other(format!("setting up TLS: {error}"));
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
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
            let chain = chain.map_err(|error| failed(&format_args!("the client certificate: {error}")))?;
            let key = PrivateKeyDer::from_pem_slice(key)
                .map_err(|error| failed(&format_args!("the client key: {error}")))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| failed(&error))?
        }
    };
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(tls)
}

fn authorities(access: &Access) -> Result<RootCertStore, Failure> {
    let mut roots = RootCertStore::empty();
    let pem = match &access.authority {
        Some(pem) => pem.clone(),
        None => {
            let named = std::env::var_os("SSL_CERT_FILE").map(std::path::PathBuf::from);
            let files = named.into_iter().chain(SYSTEM_AUTHORITIES.map(std::path::PathBuf::from));
            files.filter_map(|file| std::fs::read(file).ok()).next().unwrap_or_default()
        }
    };
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate
            .map_err(|error| Failure::other(format!("reading the certificate authority: {error}")))?;
        // The system's list may hold some that are of no use here.
        let _ = roots.add(certificate);
    }
    match roots.is_empty() {
        true => Err(Failure::other("no CA certificates to verify the server with")
            .hint(
                "set certificate-authority-data of the cluster in the kubeconfig, or use --certificate-authority FILE",
            )),
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
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
