//! How a server is reached, and as whom: what any kubeconfig says of its current context.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use testbed::bench::Outcome;

/// Where a server is, and who asks it.
pub struct Kubeconfig {
    /// Host and port.
    pub address: String,
    /// As its certificate names it.
    pub name: ServerName<'static>,
    /// How connections are secured.
    pub tls: Arc<ClientConfig>,
    /// What proves who asks, where no certificate does.
    pub token: Option<String>,
}

impl Kubeconfig {
    pub fn read(path: &Path) -> Outcome<Kubeconfig> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let config = krm::decode::read_yaml(&bytes)?.value;
        let said = Said { config: &config, folder: path.parent().unwrap_or(Path::new(".")).to_owned() };
        let context =
            &said.named("contexts", config["current-context"].as_str().unwrap_or_default())?["context"];
        let of = |list, field: &str| said.named(list, context[field].as_str().unwrap_or_default());
        let cluster = &of("clusters", "cluster")?["cluster"];
        let user = &of("users", "user")?["user"];

        let url = cluster["server"].as_str().unwrap_or_default();
        let Some(address) = url.strip_prefix("https://") else {
            return Err(format!("{}: the server {url:?} is not reached by https://", path.display()).into());
        };
        let address = address.trim_end_matches('/');
        let address = if address.contains(':') { address.to_owned() } else { format!("{address}:443") };
        let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
        let host = cluster["tls-server-name"].as_str().unwrap_or(host).trim_matches(['[', ']']).to_owned();

        let mut roots = RootCertStore::empty();
        for root in CertificateDer::pem_slice_iter(&said.bytes(cluster, "certificate-authority")?) {
            roots.add(root?)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let token = user["token"].as_str().map(str::to_owned);
        let mut tls = match token {
            Some(_) => tls.with_no_client_auth(),
            None => {
                let certificates = said.bytes(user, "client-certificate")?;
                let certificates = CertificateDer::pem_slice_iter(&certificates).collect::<Result<_, _>>()?;
                let key = PrivateKeyDer::from_pem_slice(&said.bytes(user, "client-key")?)?;
                tls.with_client_auth_cert(certificates, key)?
            }
        };
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Kubeconfig { address, name: ServerName::try_from(host)?, tls: Arc::new(tls), token })
    }
}

struct Said<'a> {
    config: &'a Value,
    /// Where relative paths start.
    folder: PathBuf,
}

impl Said<'_> {
    fn named(&self, list: &str, name: &str) -> Outcome<&Value> {
        let found = self.config[list].as_array().into_iter().flatten().find(|item| item["name"] == name);
        found.ok_or_else(|| format!("the kubeconfig has no {name:?} among its {list}").into())
    }

    /// What stands in a field `…-data`, or in the file that the field names.
    fn bytes(&self, of: &Value, field: &str) -> Outcome<Vec<u8>> {
        if let Some(data) = of[format!("{field}-data")].as_str() {
            return Ok(krm::base64::decode(data)?);
        }
        match of[field].as_str() {
            Some(path) => Ok(std::fs::read(self.folder.join(path))?),
            None => Err(format!("the kubeconfig has neither {field} nor {field}-data").into()),
        }
    }
}
