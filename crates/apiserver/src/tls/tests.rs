use std::time::{Duration, SystemTime};

use rustls::pki_types::ServerName;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, ServerConnection};

use super::*;
use crate::first_start::ServerNames;

/// Of the subject O=staff, CN=first, O=ops, CN=ann.
const CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----
MIIBzzCCAXWgAwIBAgIUSdAIXRSAoOr2PXutHvUEqiaQATIwCgYIKoZIzj0EAwIw
PDEOMAwGA1UECgwFc3RhZmYxDjAMBgNVBAMMBWZpcnN0MQwwCgYDVQQKDANvcHMx
DDAKBgNVBAMMA2FubjAgFw0yNjExMTYwNTA4MTJaGA8yMTI2MTAyMzA1MDgxMlow
PDEOMAwGA1UECgwFc3RhZmYxDjAMBgNVBAMMBWZpcnN0MQwwCgYDVQQKDANvcHMx
DDAKBgNVBAMMA2FubjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNxlt6oSBWbO
ZMnv2cpNb9X+AWOksN3OS2e04XuOVDtVB47j8Fob3FlbUzej1NPklxXTUGC1joL3
VZ1a5PIoeqOjUzBRMB0GA1UdDgQWBBQJB6tg4NP+fVkfuyZQAEoyouJLyzAfBgNV
HSMEGDAWgBQJB6tg4NP+fVkfuyZQAEoyouJLyzAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0gAMEUCIEtQk8KAoOQp0F+EqKyxx24j1I5+OcPjoNRz6V/JUeYC
AiEAxqPlwb1w/jKQBF+PkhPixyZUZJRStJSNAVdZQQrLN5k=
-----END CERTIFICATE-----
";

struct Stage {
    _dir: tempfile::TempDir,
    credentials: Credentials,
    tls: ServerTls,
}

fn stage() -> Stage {
    let dir = tempfile::tempdir().unwrap();
    let names = ServerNames::of_this_host([]).unwrap();
    let credentials = Credentials::open_or_create(dir.path(), names).unwrap();
    let tls = ServerTls::new(&credentials, &[]).unwrap();
    Stage { _dir: dir, credentials, tls }
}

/// A client with a certificate, or without.
fn client(stage: &Stage, certificate: Option<(String, zeroize::Zeroizing<String>)>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(stage.credentials.ca_certificate().clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match certificate {
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
            builder
                .with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap())
                .unwrap()
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

/// Shakes hands in memory; the server's side afterwards.
fn shake(stage: &Stage, client: ClientConfig, name: &'static str) -> Result<ServerConnection, rustls::Error> {
    let mut client = ClientConnection::new(Arc::new(client), ServerName::try_from(name).unwrap())?;
    let mut server = ServerConnection::new(stage.tls.config())?;
    while client.is_handshaking() || server.is_handshaking() {
        let mut wire = Vec::new();
        client.write_tls(&mut wire).unwrap();
        server.read_tls(&mut wire.as_slice()).unwrap();
        server.process_new_packets()?;
        let mut wire = Vec::new();
        server.write_tls(&mut wire).unwrap();
        client.read_tls(&mut wire.as_slice()).unwrap();
        client.process_new_packets()?;
    }
    Ok(server)
}

fn peer_of(stage: &Stage, client: ClientConfig) -> Peer {
    let server = shake(stage, client, "localhost").unwrap();
    stage.tls.peer(server.peer_certificates())
}

#[test]
fn a_client_without_a_certificate_is_welcome_on_every_loopback_name() {
    let stage = stage();
    for name in ["localhost", "127.0.0.1", "::1"] {
        let server = shake(&stage, client(&stage, None), name).unwrap();
        assert_eq!(server.alpn_protocol(), Some(&b"h2"[..]));
        assert_eq!(stage.tls.peer(server.peer_certificates()), Peer::Unknown);
    }
    assert!(shake(&stage, client(&stage, None), "elsewhere.example.com").is_err());
}

#[test]
fn the_certificate_says_who_it_is_and_in_which_group() {
    let stage = stage();
    let issued = stage.credentials.issue_client("system:admin", "system:masters").unwrap();
    let Peer::Known { identity, until } = peer_of(&stage, client(&stage, Some(issued))) else { panic!() };
    assert_eq!(&*identity.user, "system:admin");
    assert!(identity.is_in("system:masters"));
    assert!(identity.extra["authentication.kubernetes.io/credential-id"][0].starts_with("X509SHA256="));
    assert!(until > SystemTime::now() + Duration::from_secs(300 * 24 * 3600));
}

#[test]
fn a_certificate_that_is_over_is_refused_after_the_handshake() {
    let stage = stage();
    let long_ago = SystemTime::now() - Duration::from_secs(500 * 24 * 3600);
    let issued = stage.credentials.issue_client_at("ann", "staff", long_ago).unwrap();
    let Peer::Refused { reason } = peer_of(&stage, client(&stage, Some(issued))) else { panic!() };
    assert!(reason.contains("xpired"), "{reason}");
}

#[test]
fn another_ca_s_certificate_is_refused_even_if_it_claims_to_be_the_admin() {
    let (stage, foreign) = (stage(), stage());
    let issued = foreign.credentials.issue_client("system:admin", "system:masters").unwrap();
    assert!(matches!(peer_of(&stage, client(&stage, Some(issued.clone()))), Peer::Refused { .. }));

    // Unless that CA was named as one for clients.
    let both = ServerTls::new(&stage.credentials, &[foreign.credentials.ca_certificate().clone()]).unwrap();
    let chain = [CertificateDer::from_pem_slice(issued.0.as_bytes()).unwrap()];
    assert!(matches!(both.peer(Some(&chain)), Peer::Known { .. }));
}

#[test]
fn a_serving_certificate_does_not_make_a_client() {
    let stage = stage();
    let chain = [stage.credentials.serving_chain()];
    assert!(matches!(stage.tls.peer(Some(&chain)), Peer::Refused { .. }));
}

#[test]
fn a_stolen_certificate_without_its_key_does_not_get_through_the_handshake() {
    let stage = stage();
    let (certificate, _) = stage.credentials.issue_client("ann", "staff").unwrap();
    let (_, other_key) = stage.credentials.issue_client("bob", "staff").unwrap();
    let key = PrivateKeyDer::from_pem_slice(other_key.as_bytes()).unwrap();
    let signing = rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
    let mut config = client(&stage, None);
    config.client_auth_cert_resolver = Arc::new(rustls::client::AlwaysResolvesClientRawPublicKeys::new(
        Arc::new(CertifiedKey::new(chain, signing)),
    ));
    assert!(shake(&stage, config, "localhost").is_err());
}

#[test]
fn a_renewed_certificate_serves_the_next_connection() {
    let stage = stage();
    let later = SystemTime::now() + Duration::from_secs(340 * 24 * 3600);
    let renewed = stage.credentials.renewed(later).unwrap().unwrap();
    stage.tls.replace(&renewed).unwrap();
    let served = stage.tls.serving.0.load().cert[0].clone();
    assert_eq!(served, renewed.serving_chain());
}

#[test]
fn garbage_is_nobody() {
    assert_eq!(identity_of(b""), None);
    assert_eq!(identity_of(&[0x30; 500]), None);
    let stage = stage();
    let garbage = [CertificateDer::from(vec![1, 2, 3])];
    assert!(matches!(stage.tls.peer(Some(&garbage)), Peer::Refused { .. }));
    let (pem, _) = stage.credentials.issue_client("", "staff").unwrap();
    assert_eq!(identity_of(&CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()), None);
}

proptest::proptest! {
    #[test]
    fn no_certificate_is_too_odd(bytes: Vec<u8>, at in 0..400_usize, byte: u8) {
        let _ = identity_of(&bytes);
        let mut damaged = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap().to_vec();
        let at = at % damaged.len();
        damaged[at] = byte;
        let _ = identity_of(&damaged);
        let _ = identity_of(&damaged[..at]);
    }
}

#[test]
fn every_organization_is_a_group_and_the_last_name_is_the_user() {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
    let identity = identity_of(&certificate).unwrap();
    assert_eq!(&*identity.user, "ann");
    assert_eq!(identity.groups, ["staff".into(), "ops".into()]);
}

#[test]
fn a_certificate_and_its_key_are_read_from_pem() {
    let made = rcgen::generate_simple_self_signed(["nodes.example.com".to_owned()]).unwrap();
    let other = rcgen::KeyPair::generate().unwrap();
    let (chain, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let tls = ServerTls::of_pem(chain.as_bytes(), key.as_bytes()).unwrap();
    assert_eq!(tls.peer(None), Peer::Unknown);
    let refused = |chain: &str, key: &str| ServerTls::of_pem(chain.as_bytes(), key.as_bytes()).unwrap_err();
    assert!(matches!(refused(&chain, &other.serialize_pem()), TlsError::Pair(_)));
    assert!(matches!(refused(&chain, &chain), TlsError::Pem(_)));
    assert!(matches!(refused("", &key), TlsError::Pair(_)));
}
