//! A self-contained kubeconfig, which can be copied to another machine.

use zeroize::Zeroizing;

use super::certificate::KeyedCertificate;
use krm::base64::encode;

/// The text of a kubeconfig for a server at `url`.
pub(super) fn text(url: &str, ca_pem: &str, admin: &KeyedCertificate) -> Zeroizing<String> {
    // JSON strings are YAML strings, whatever is in them.
    let server = serde_json::Value::from(url);
    let ca = encode(ca_pem.as_bytes());
    let certificate = encode(admin.certificate_pem().as_bytes());
    let key = Zeroizing::new(encode(admin.key_pem().as_bytes()));
    Zeroizing::new(format!(
        "apiVersion: v1
kind: Config
current-context: groundplane
clusters:
- name: groundplane
  cluster:
    server: {server}
    certificate-authority-data: {ca}
contexts:
- name: groundplane
  context:
    cluster: groundplane
    user: admin
users:
- name: admin
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
preferences: {{}}
",
        key = *key
    ))
}
