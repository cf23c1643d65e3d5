//! Controllers: control loops that bring objects to their desired state.
//!
//! A controller is a [`reconcile::reconciler::Reconciler`]. One [`feed`] shows all of them what changes, a [`host`] plans and
//! commits for each. With several servers on one store, one at a time runs each controller; its writes land only while it
//! holds the lease. The runtime (plans, queue, workers, deadlines, back-off, leases) is the crate `reconcile`.

pub mod cluster_roles;
mod commit;
pub mod definitions;
pub(crate) mod events;
pub mod feed;
pub mod garbage;
pub mod host;
mod lease;
pub mod namespaces;
pub mod planes;
pub(crate) mod records;
pub mod root_ca;
pub mod running;
pub mod service_accounts;
pub mod storage_versions;
pub mod world;
pub mod writes;

use std::sync::Arc;

use reconcile::reconciler::Reconciler;
use store::Key;

use crate::catalog::Kinds;
use crate::keys;

/// The controllers of the server's own kinds that run on one server at a time. Clients verify the server by `certificates`.
pub fn own(kinds: &Kinds, certificates: &str) -> Vec<Arc<dyn Reconciler>> {
    let mut own: Vec<Arc<dyn Reconciler>> = vec![
        Arc::new(garbage::Garbage),
        Arc::new(namespaces::Namespaces),
        Arc::new(cluster_roles::ClusterRoles),
        Arc::new(service_accounts::ServiceAccounts),
        Arc::new(root_ca::RootCertificates::new(certificates)),
    ];
    if let Some(migrating) = storage_versions::StorageVersions::of(kinds) {
        own.push(Arc::new(migrating));
    }
    own
}

/// Planes take turns, so that a busy one does not hold up the others.
fn lane(key: &Key) -> &str {
    keys::parts(key).map_or("", |parts| parts.plane)
}
