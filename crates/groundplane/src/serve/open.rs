//! Opening the store: in the data folder, or on etcd.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use apiserver::catalog::Kinds;
use apiserver::index::Index;
use store::{Embedded, Keys, Settings, Store, etcd};

use crate::failure::Failure;

/// How to reach etcd.
#[derive(clap::Args)]
pub struct EtcdAccess {
    /// The certificates that etcd's servers are trusted by.
    #[arg(long, value_name = "FILE", requires = "etcd")]
    etcd_ca: Option<PathBuf>,

    /// The certificate to show to etcd.
    #[arg(long, value_name = "FILE", requires_all = ["etcd_key", "etcd_ca"])]
    etcd_cert: Option<PathBuf>,

    /// Its private key.
    #[arg(long, value_name = "FILE", requires = "etcd_cert")]
    etcd_key: Option<PathBuf>,

    /// The user to log in to etcd as; its password is read from GROUNDPLANE_ETCD_PASSWORD.
    #[arg(long, value_name = "NAME", requires = "etcd")]
    etcd_user: Option<String>,

    /// The cluster's own --max-txn-ops.
    #[arg(long, value_name = "NUMBER", default_value_t = 128)]
    max_txn_ops: usize,

    /// The cluster's own --max-request-bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1_572_864)]
    max_request_bytes: usize,

    /// What our keys in etcd begin with.
    #[arg(long, value_name = "PREFIX", default_value = "/groundplane/")]
    etcd_prefix: String,
}

/// The store and the kinds whose objects it keeps.
pub async fn store(
    folder: &Path,
    endpoints: &[String],
    access: &EtcdAccess,
) -> Result<(Arc<dyn Store>, Arc<Kinds>), Failure> {
    let mut all = apiserver::kinds::all();
    all.extend(inventory::all());
    all.extend(platform::all());
    all.extend(design_resources::all());
    let kinds = Arc::new(Kinds::new(all));
    let model = Some(Arc::new(Index(kinds.clone())) as Arc<dyn store::Model>);
    if endpoints.is_empty() {
        let place = folder.join("store");
        let opened = Embedded::open(&place, Settings { model, ..Settings::default() }).await;
        let opened = opened
            .map_err(|error| Failure::new(format_args!("opening the store in {}", place.display()), error))?;
        return Ok((opened, kinds));
    }
    let keys = Keys::open(folder).map_err(|error| Failure::new("reading the store's keys", error))?;
    let mut options = etcd_options(endpoints, access, keys)?;
    options.model = model;
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
        let Some(password) = std::env::var("GROUNDPLANE_ETCD_PASSWORD").ok() else {
            return Err(Failure::new(
                "logging in to etcd",
                "give the password in the environment variable GROUNDPLANE_ETCD_PASSWORD",
            ));
        };
        config.login = Some(etcd::Login { user: user.clone(), password: password.into() });
    }
    Ok(config)
}
