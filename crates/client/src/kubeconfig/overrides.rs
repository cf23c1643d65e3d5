//! What counts before a kubeconfig: flags of a program, or settings of its own.

use std::path::PathBuf;

use zeroize::Zeroizing;

/// What counts before the kubeconfig. Everything that is absent is taken from there.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The kubeconfig file. Defaults to GROUNDPLANE_KUBECONFIG, then KUBECONFIG, then the administrator's of the default
    /// data folder.
    pub kubeconfig: Option<PathBuf>,
    /// The context.
    pub context: Option<String>,
    /// The cluster.
    pub cluster: Option<String>,
    /// The address of the server, such as `https://127.0.0.1:7451`.
    pub server: Option<String>,
    /// A file with the CA certificates of the server.
    pub certificate_authority: Option<PathBuf>,
    /// A file with a client certificate.
    pub client_certificate: Option<PathBuf>,
    /// A file with the key of the client certificate.
    pub client_key: Option<PathBuf>,
    /// Whether any server is accepted.
    pub insecure_skip_tls_verify: bool,
    /// The host name to verify the certificate of the server against.
    pub tls_server_name: Option<String>,
    /// A bearer token.
    pub token: Option<Zeroizing<String>>,
    /// The user to impersonate.
    pub as_user: Option<String>,
    /// The UID to impersonate.
    pub as_uid: Option<String>,
    /// The groups to impersonate.
    pub as_groups: Vec<String>,
    /// The namespace of objects that name none.
    pub namespace: Option<String>,
}
