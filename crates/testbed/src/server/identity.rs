//! Who a client is to a server, and how it knows the server: what a kubeconfig says.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

/// What a kubeconfig that the server wrote says.
pub struct Identity {
    /// Host and port.
    pub address: String,
    roots: RootCertStore,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Reads a kubeconfig of one cluster and one user, each field on a line.
    pub fn read(path: &Path) -> Result<Identity, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.trim().trim_start_matches("- ").strip_prefix(name));
            line.map(|value| value.trim().trim_matches('"').to_owned())
                .ok_or_else(|| format!("no {name} in {text}"))
        };
        let pem = |name: &str| decode(&field(name)?).ok_or_else(|| format!("{name} is not base64"));
        let wrong = |error: rustls::pki_types::pem::Error| error.to_string();
        let mut roots = RootCertStore::empty();
        let ca = CertificateDer::from_pem_slice(&pem("certificate-authority-data:")?).map_err(wrong)?;
        roots.add(ca).map_err(|error| error.to_string())?;
        Ok(Identity {
            address: field("server:")?.trim_start_matches("https://").to_owned(),
            roots,
            certificate: CertificateDer::from_pem_slice(&pem("client-certificate-data:")?).map_err(wrong)?,
            key: PrivateKeyDer::from_pem_slice(&pem("client-key-data:")?).map_err(wrong)?,
        })
    }

    /// The same towards another address.
    pub fn towards(&self, address: &str) -> Identity {
        Identity {
            address: address.to_owned(),
            roots: self.roots.clone(),
            certificate: self.certificate.clone(),
            key: self.key.clone_key(),
        }
    }

    /// How its connections are secured; without the certificate it is a stranger's. `protocol` is `h2` or
    /// `http/1.1`.
    pub fn tls(&self, with_certificate: bool, protocol: &str) -> Result<Arc<ClientConfig>, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(self.roots.clone());
        let mut tls = match with_certificate {
            true => builder
                .with_client_auth_cert(vec![self.certificate.clone()], self.key.clone_key())
                .map_err(|error| error.to_string())?,
            false => builder.with_no_client_auth(),
        };
        tls.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        Ok(Arc::new(tls))
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    for chunk in text.trim_end_matches('=').as_bytes().chunks(4) {
        let mut group = 0u32;
        for byte in chunk {
            let digit = ALPHABET.iter().position(|known| known == byte)?;
            group = group << 6 | u32::try_from(digit).ok()?;
        }
        group <<= 6 * (4 - chunk.len());
        bytes.extend_from_slice(&group.to_be_bytes()[1..chunk.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn base64_is_read_whatever_its_padding() {
        let texts = [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob")];
        for (encoded, plain) in texts {
            assert_eq!(decode(encoded).unwrap(), plain.as_bytes(), "{encoded}");
        }
        assert_eq!(decode("Zm9%"), None);
    }
}
