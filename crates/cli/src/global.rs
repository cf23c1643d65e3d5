//! The options that every command takes: which server, who asks, where.

use std::path::PathBuf;

use crate::failure::Failure;

/// The options that every command takes.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct Global {
    /// The kubeconfig to use; else GROUNDPLANE_KUBECONFIG, else KUBECONFIG, else that of the default data folder.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig to use.
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub context: Option<String>,

    /// The cluster of the kubeconfig to use.
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub cluster: Option<String>,

    /// The address of the server.
    #[arg(long, short = 's', global = true, hide = true, value_name = "URL")]
    pub server: Option<String>,

    /// A file with the certificate authority of the server.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub certificate_authority: Option<PathBuf>,

    /// A file with a client certificate.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub client_certificate: Option<PathBuf>,

    /// A file with the key of the client certificate.
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    pub client_key: Option<PathBuf>,

    /// Don't check who the server is. It can then be anybody.
    #[arg(long, global = true, hide = true)]
    pub insecure_skip_tls_verify: bool,

    /// The name that the server's certificate has to have.
    #[arg(long, global = true, hide = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,

    /// A bearer token.
    #[arg(long, global = true, hide = true, value_name = "TOKEN", hide_env_values = true)]
    pub token: Option<String>,

    /// Act as this user; it takes the right to impersonate.
    #[arg(long = "as", global = true, hide = true, value_name = "USER")]
    pub as_user: Option<String>,

    /// Act as a member of this group; may be given several times.
    #[arg(long = "as-group", global = true, hide = true, value_name = "GROUP")]
    pub as_groups: Vec<String>,

    /// Act as the user with this uid.
    #[arg(long = "as-uid", global = true, hide = true, value_name = "UID")]
    pub as_uid: Option<String>,

    /// The namespace; else the context's, else "default".
    #[arg(long, short = 'n', global = true, hide = true, value_name = "NAME")]
    pub namespace: Option<String>,

    /// Work in the control plane of this project.
    #[arg(long, global = true, hide = true, value_name = "NAME", env = "GROUNDPLANE_PROJECT")]
    pub project: Option<String>,

    /// How long one request may take, as in 30s, 5m or 1h; 0 means as long as it takes.
    #[arg(long, global = true, hide = true, value_name = "TIME", default_value = "0")]
    pub request_timeout: String,

    /// How much is told on stderr: 6 tells each request, 8 and more its body too.
    #[arg(long = "v", short = 'v', global = true, hide = true, value_name = "LEVEL", default_value_t = 0)]
    pub verbosity: u8,
}

impl Global {
    /// What one request may take; `None` for as long as it takes.
    pub fn timeout(&self) -> Result<Option<std::time::Duration>, Failure> {
        let wrong = || {
            Failure::usage(format!(
                "--request-timeout {}: write a time with its unit, as in 30s, 5m or 1h",
                self.request_timeout
            ))
        };
        let time = match self.request_timeout.parse::<u64>() {
            Ok(seconds) => std::time::Duration::from_secs(seconds),
            Err(_) => crate::flags::duration(&self.request_timeout).ok_or_else(wrong)?,
        };
        Ok((!time.is_zero()).then_some(time))
    }

    /// The options that were given and mean nothing to a command that is no client.
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
