//! The global options: which server, as whom, in which namespace and project.

use std::path::PathBuf;

use crate::failure::Failure;

/// The global options.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct Global {
    /// Kubeconfig file. Defaults to GROUNDPLANE_KUBECONFIG, then KUBECONFIG, then the admin.kubeconfig of the default data directory.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig.
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub context: Option<String>,

    /// Cluster of the kubeconfig.
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub cluster: Option<String>,

    /// Address of the server, such as https://127.0.0.1:7451.
    #[arg(long, short = 's', global = true, hide = true, value_name = "URL")]
    pub server: Option<String>,

    /// File with the CA certificate of the server.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub certificate_authority: Option<PathBuf>,

    /// File with a client certificate.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub client_certificate: Option<PathBuf>,

    /// File with the key of the client certificate.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub client_key: Option<PathBuf>,

    /// Do not verify the certificate of the server. Insecure: anybody can impersonate it.
    #[arg(long, global = true, hide = true)]
    pub insecure_skip_tls_verify: bool,

    /// Host name to verify the server's certificate against.
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,

    /// Bearer token.
    #[arg(long, global = true, hide = true, value_name = "TOKEN", hide_env_values = true)]
    pub token: Option<String>,

    /// User to impersonate.
    #[arg(long = "as", global = true, hide = true, value_name = "USER")]
    pub as_user: Option<String>,

    /// Group to impersonate. Can be repeated.
    #[arg(long = "as-group", global = true, hide = true, value_name = "GROUP")]
    pub as_groups: Vec<String>,

    /// UID to impersonate.
    #[arg(long = "as-uid", global = true, hide = true, value_name = "UID")]
    pub as_uid: Option<String>,

    /// Namespace. Defaults to that of the context, then to "default".
    #[arg(long, short = 'n', global = true, hide = true, value_name = "NAME")]
    pub namespace: Option<String>,

    /// Use the control plane of this project.
    #[arg(long, global = true, hide = true, value_name = "NAME", env = "GROUNDPLANE_PROJECT")]
    pub project: Option<String>,

    /// Timeout of one request, such as 30s, 5m or 1h; 0 for none.
    #[arg(long, global = true, hide = true, value_name = "TIME", default_value = "0")]
    pub request_timeout: String,

    /// Log level for stderr: 6 logs requests, 8 and above response bodies, too.
    #[arg(long = "v", short = 'v', global = true, hide = true, value_name = "LEVEL", default_value_t = 0)]
    pub verbosity: u8,
}

impl Global {
    /// The timeout of one request.
    pub fn timeout(&self) -> Result<Option<std::time::Duration>, Failure> {
        let wrong = || {
            Failure::usage(format!(
                "--request-timeout {}: use a duration such as 30s, 5m or 1h",
                self.request_timeout
            ))
        };
        let time = match self.request_timeout.parse::<u64>() {
            Ok(seconds) => std::time::Duration::from_secs(seconds),
            Err(_) => crate::flags::duration(&self.request_timeout).ok_or_else(wrong)?,
        };
        Ok((!time.is_zero()).then_some(time))
    }

    /// The options that were given and that commands without a server don't use.
    pub fn given(&self) -> Vec<&'static str> {
        let texts = [
            ("--kubeconfig", self.kubeconfig.is_some()),
            ("--context", self.context.is_some()),
            ("--cluster", self.cluster.is_some()),
            ("--server", self.server.is_some()),
            ("--certificate-authority", self.certificate_authority.is_some()),
            ("--client-certificate", self.client_certificate.is_some()),
            ("--client-key", self.client_key.is_some()),
            ("--token", self.token.is_some()),
            ("--as", self.as_user.is_some()),
            ("--as-group", !self.as_groups.is_empty()),
            ("--namespace", self.namespace.is_some()),
        ];
        texts.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
    }
}
