//! Opening the store: in the data folder, or on etcd.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use apiserver::catalog::Kinds;
use apiserver::index::Index;
use reconcile::feature::FeatureGates;
use store::{Embedded, Keys, Rules, Settings, Store, Window, etcd};

use crate::failure::Failure;
use crate::modules;

/// etcd's own default.
const MAX_TXN_OPS: usize = 128;
/// etcd's own default.
const MAX_REQUEST_BYTES: usize = 1_572_864;
const PREFIX: &str = "/groundplane/";

/// How to reach etcd.
#[derive(clap::Args)]
pub struct EtcdAccess {
    /// CA certificates that etcd's servers are verified with.
    #[arg(long, value_name = "FILE", requires = "etcd")]
    etcd_ca: Option<PathBuf>,

    /// Client certificate for etcd.
    #[arg(long, value_name = "FILE", requires_all = ["etcd_key", "etcd_ca"])]
    etcd_cert: Option<PathBuf>,

    /// Private key of the client certificate.
    #[arg(long, value_name = "FILE", requires = "etcd_cert")]
    etcd_key: Option<PathBuf>,

    /// User to log in to etcd as. The password is read from GROUNDPLANE_ETCD_PASSWORD.
    #[arg(long, value_name = "NAME", requires = "etcd")]
    etcd_user: Option<String>,

    /// The --max-txn-ops that etcd was started with.
    #[arg(long, value_name = "NUMBER", default_value_t = MAX_TXN_OPS)]
    max_txn_ops: usize,

    /// The --max-request-bytes that etcd was started with.
    #[arg(long, value_name = "BYTES", default_value_t = MAX_REQUEST_BYTES)]
    max_request_bytes: usize,

    /// The --quota-backend-bytes that etcd was started with. etcd 3.6 and later tell it themselves. History is let go of when
    /// it is nearly used up.
    #[arg(long, value_name = "BYTES", requires = "etcd")]
    etcd_quota_bytes: Option<u64>,

    /// Prefix of all keys in etcd.
    #[arg(long, value_name = "PREFIX", default_value = PREFIX)]
    etcd_prefix: String,
}

/// How much of the recent past is kept for watches that resume.
#[derive(clap::Args)]
pub struct WindowFlags {
    /// How long recent changes are kept, so that a client whose watch was cut can resume it.
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = age)]
    watch_window: Duration,

    /// Memory for recent changes, in MiB.
    #[arg(long, value_name = "NUMBER", default_value_t = 64)]
    watch_window_memory: usize,

    /// Disk space in the data folder for recent changes that do not fit into memory, in MiB; 0 for none.
    #[arg(long, value_name = "NUMBER", default_value_t = 4096)]
    watch_window_disk: u64,
}

impl WindowFlags {
    fn window(&self) -> Window {
        Window {
            bytes: self.watch_window_memory << 20,
            disk: self.watch_window_disk << 20,
            age: self.watch_window,
            ..Window::default()
        }
    }
}

fn age(text: &str) -> Result<Duration, String> {
    cli::duration(text).ok_or_else(|| format!("{text:?} is not a duration such as 5m or 1h30m"))
}

/// The environment variable with the password of `--etcd-user`.
pub const PASSWORD: &str = "GROUNDPLANE_ETCD_PASSWORD";

impl EtcdAccess {
    /// The flags that lead `serve` to the same store on etcd; none without endpoints.
    pub fn words(&self, endpoints: &[String]) -> Vec<String> {
        let mut words = Vec::new();
        if endpoints.is_empty() {
            return words;
        }
        let mut flag = |name: &str, value: String| words.extend([name.to_owned(), value]);
        flag("--etcd", endpoints.join(","));
        for (name, path) in
            [("--etcd-ca", &self.etcd_ca), ("--etcd-cert", &self.etcd_cert), ("--etcd-key", &self.etcd_key)]
        {
            if let Some(path) = path {
                let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                flag(name, whole.display().to_string());
            }
        }
        if let Some(user) = &self.etcd_user {
            flag("--etcd-user", user.clone());
        }
        if self.max_txn_ops != MAX_TXN_OPS {
            flag("--max-txn-ops", self.max_txn_ops.to_string());
        }
        if self.max_request_bytes != MAX_REQUEST_BYTES {
            flag("--max-request-bytes", self.max_request_bytes.to_string());
        }
        if let Some(bytes) = self.etcd_quota_bytes {
            flag("--etcd-quota-bytes", bytes.to_string());
        }
        if self.etcd_prefix != PREFIX {
            flag("--etcd-prefix", self.etcd_prefix.clone());
        }
        words
    }

    /// Whether a password has to be given besides the flags.
    pub fn needs_password(&self) -> bool {
        self.etcd_user.is_some()
    }
}

/// The store and the kinds whose objects it keeps.
pub async fn store(
    folder: &Path,
    endpoints: &[String],
    access: &EtcdAccess,
    window: &WindowFlags,
    gates: &FeatureGates,
    history_bytes: u64,
) -> Result<(Arc<dyn Store>, Arc<Kinds>), Failure> {
    let kinds = modules::kinds(gates).map_err(|error| Failure::new("registering the kinds", error))?;
    let model = Some(Arc::new(Index(kinds.clone())) as Arc<dyn store::Model>);
    if endpoints.is_empty() {
        let place = folder.join("store");
        let overflow = Some(place.clone());
        let housekeeping = Rules { history_bytes, ..Rules::default() };
        let settings =
            Settings { model, housekeeping, window: window.window(), overflow, ..Settings::default() };
        let opened = Embedded::open(&place, settings).await;
        let opened = opened
            .map_err(|error| Failure::new(format_args!("opening the store in {}", place.display()), error))?;
        return Ok((opened, kinds));
    }
    let keys = Keys::open(folder).map_err(|error| Failure::new("reading the store's keys", error))?;
    let mut options = etcd_options(endpoints, access, keys)?;
    options.model = model;
    options.window = window.window();
    options.overflow = Some(folder.to_owned());
    options.housekeeping.history_bytes = history_bytes;
    let opened = etcd::Etcd::open(options).await;
    let opened = opened.map_err(|error| {
        Failure::new(format_args!("opening the store on {}", endpoints.join(", ")), error)
    })?;
    Ok((opened, kinds))
}

/// How the store is kept on etcd.
pub fn etcd_options(endpoints: &[String], access: &EtcdAccess, keys: Keys) -> Result<etcd::Options, Failure> {
    let mut options = etcd::Options::new(client(endpoints, access)?, access.etcd_prefix.clone(), keys);
    options.max_operations = access.max_txn_ops;
    options.max_bytes = access.max_request_bytes;
    options.quota_bytes = access.etcd_quota_bytes;
    Ok(options)
}

fn client(endpoints: &[String], access: &EtcdAccess) -> Result<etcd::Config, Failure> {
    let mut config = etcd::Config::new(endpoints.iter().cloned());
    let read = |path: &Path| {
        std::fs::read_to_string(path)
            .map_err(|error| Failure::new(format_args!("reading {}", path.display()), error))
    };
    if let Some(ca) = &access.etcd_ca {
        let identity = match (&access.etcd_cert, &access.etcd_key) {
            (Some(certificate), Some(key)) => Some((read(certificate)?, read(key)?.into())),
            _ => None,
        };
        config.tls = Some(etcd::Tls { ca_pem: read(ca)?, identity, domain: None });
    }
    if let Some(user) = &access.etcd_user {
        let Some(password) = std::env::var(PASSWORD).ok() else {
            return Err(Failure::new(
                "logging in to etcd",
                "give the password in the environment variable GROUNDPLANE_ETCD_PASSWORD",
            ));
        };
        config.login = Some(etcd::Login { user: user.clone(), password: password.into() });
    }
    Ok(config)
}
