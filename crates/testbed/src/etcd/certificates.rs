use std::{fs, path::Path};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};

use super::Error;

/// A certificate authority, with the identity of the members and that of one client, all in PEM.
#[derive(Clone)]
pub struct Certificates {
    /// What both sides trust.
    pub authority: String,
    /// The certificate a client shows.
    pub client: String,
    /// The client's private key.
    pub client_key: String,
    server: String,
    server_key: String,
}

impl Certificates {
    /// Makes fresh ones for members on `127.0.0.1` and `localhost`.
    pub(super) fn make() -> Result<Self, Error> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "testbed authority");
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let (server, server_key) = signed(&authority, "etcd")?;
        let (client, client_key) = signed(&authority, "client")?;
        Ok(Self { authority: authority.pem(), client, client_key, server, server_key })
    }

    /// Puts all of them into `dir`, under the names that [`flags`] and etcdctl are given.
    pub(super) fn write(&self, dir: &Path) -> Result<(), Error> {
        let files = [
            ("ca.pem", &self.authority),
            ("client.pem", &self.client),
            ("client-key.pem", &self.client_key),
            ("server.pem", &self.server),
            ("server-key.pem", &self.server_key),
        ];
        for (name, text) in files {
            let path = dir.join(name);
            fs::write(&path, text)
                .map_err(|source| Error::Prepare { what: path.display().to_string(), source })?;
        }
        Ok(())
    }
}

/// Flags of a member that serves TLS and asks every client for a certificate.
pub(super) fn flags(dir: &Path) -> Vec<String> {
    vec![
        format!("--cert-file={}", dir.join("server.pem").display()),
        format!("--key-file={}", dir.join("server-key.pem").display()),
        format!("--trusted-ca-file={}", dir.join("ca.pem").display()),
        "--client-cert-auth".to_owned(),
    ]
}

fn signed(authority: &CertifiedIssuer<'_, KeyPair>, name: &str) -> Result<(String, String), Error> {
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, name);
    // A member shows its certificate as a client too: its HTTP gateway calls its own gRPC port.
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, authority)?;
    Ok((certificate.pem(), key.serialize_pem()))
}
