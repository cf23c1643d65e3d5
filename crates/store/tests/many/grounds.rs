//! Stores to be busy on: one embedded server, or two on an etcd.

use std::sync::Arc;

use store::etcd::{Config, Etcd, Options};
use store::{Embedded, Keys, Model, Settings, Store};
use tempfile::TempDir;
use testbed::etcd::Cluster;

/// The servers of one store, and what must live as long as they do.
pub struct Ground {
    pub servers: Vec<Arc<dyn Store>>,
    #[allow(dead_code, reason = "only the tests that break members reach for it")]
    pub cluster: Option<Cluster>,
    _folder: TempDir,
}

impl Ground {
    pub async fn embedded(model: Option<Arc<dyn Model>>) -> Ground {
        let folder = TempDir::new().unwrap();
        let store = Embedded::open(folder.path(), Settings { model, ..Settings::default() }).await.unwrap();
        Ground { servers: vec![store], cluster: None, _folder: folder }
    }

    /// Two servers on a new cluster; `None`, said plainly, when there is no etcd to be had.
    pub async fn etcd(members: usize, model: Option<Arc<dyn Model>>) -> Option<Ground> {
        if !Cluster::available() {
            require::missing("there is no etcd binary");
            return None;
        }
        let cluster = Cluster::start(members).unwrap();
        let folder = TempDir::new().unwrap();
        let mut servers: Vec<Arc<dyn Store>> = Vec::new();
        for server in 0..2 {
            let mut endpoints = cluster.endpoints();
            endpoints.rotate_left(server % members);
            let keys = Keys::open(folder.path()).unwrap();
            let options =
                Options { model: model.clone(), ..Options::new(Config::new(endpoints), "/test", keys) };
            servers.push(Etcd::open(options).await.unwrap());
        }
        Some(Ground { servers, cluster: Some(cluster), _folder: folder })
    }
}
