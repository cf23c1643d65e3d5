//! The endpoints of a proxy, and the connections that they have.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

use crate::id::InstanceId;
use crate::spec::Ingress;

/// An instance that serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The instance.
    pub id: InstanceId,
    /// Its port, inside of its network.
    pub port: u16,
    /// Whether it gets new connections.
    pub readiness: Readiness,
    /// Who may connect to it. Without it, everybody.
    pub ingress: Option<Ingress>,
}

/// Whether an endpoint gets new connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Readiness {
    /// It does.
    Ready,
    /// It finishes what it has.
    Draining,
}

impl Endpoint {
    fn admits(&self, client: IpAddr) -> bool {
        self.ingress.as_ref().is_none_or(|ingress| ingress.admits(client, self.port))
    }
}

#[derive(Default)]
pub(super) struct Endpoints(Arc<Shared>);

#[derive(Default)]
struct Shared {
    known: Mutex<Known>,
    changed: Arc<Notify>,
}

#[derive(Default)]
struct Known {
    endpoints: Vec<Endpoint>,
    connections: BTreeMap<InstanceId, usize>,
    /// Breaks ties, so that idle endpoints take turns.
    turn: usize,
}

/// A connection's hold on an endpoint, counted until it is dropped.
pub(super) struct Lease {
    pub(super) id: InstanceId,
    pub(super) port: u16,
    shared: Arc<Shared>,
}

impl Endpoints {
    pub(super) fn set(&self, endpoints: impl IntoIterator<Item = Endpoint>) {
        self.0.known().endpoints = endpoints.into_iter().collect();
        self.0.changed.notify_waiters();
    }

    pub(super) fn drain(&self, id: &InstanceId) {
        for endpoint in self.0.known().endpoints.iter_mut().filter(|endpoint| endpoint.id == *id) {
            endpoint.readiness = Readiness::Draining;
        }
        self.0.changed.notify_waiters();
    }

    pub(super) fn connections(&self, id: &InstanceId) -> usize {
        self.0.known().connections.get(id).copied().unwrap_or(0)
    }

    /// Completes at the next change after this call.
    pub(super) fn changed(&self) -> OwnedNotified {
        self.0.changed.clone().notified_owned()
    }

    /// Whether an endpoint gets new connections, and none that does lets this client in.
    pub(super) fn refuses(&self, client: IpAddr) -> bool {
        let known = self.0.known();
        let mut ready = known.endpoints.iter().filter(|one| one.readiness == Readiness::Ready).peekable();
        ready.peek().is_some() && !ready.any(|endpoint| endpoint.admits(client))
    }

    /// The ready endpoint with the fewest connections that lets the client in, other than those that were tried.
    pub(super) fn choose(&self, client: IpAddr, tried: &[InstanceId]) -> Option<Lease> {
        let mut known = self.0.known();
        known.turn = known.turn.wrapping_add(1);
        let ready: Vec<&Endpoint> = known
            .endpoints
            .iter()
            .filter(|endpoint| endpoint.readiness == Readiness::Ready && !tried.contains(&endpoint.id))
            .filter(|endpoint| endpoint.admits(client))
            .collect();
        let count = ready.len();
        let in_turn = (0..count).map(|index| ready[(index + known.turn) % count]);
        let load = |endpoint: &&Endpoint| known.connections.get(&endpoint.id).copied().unwrap_or(0);
        let Endpoint { id, port, .. } = in_turn.min_by_key(load)?.clone();
        *known.connections.entry(id.clone()).or_default() += 1;
        Some(Lease { id, port, shared: self.0.clone() })
    }
}

impl Shared {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut known = self.shared.known();
        if let Some(count) = known.connections.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                known.connections.remove(&self.id);
            }
        }
        drop(known);
        self.shared.changed.notify_waiters();
    }
}
