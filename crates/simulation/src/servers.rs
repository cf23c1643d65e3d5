//! API servers on one simulated store, with reconcilers.

use std::sync::Arc;
use std::time::Duration;

use apiserver::api::Api;
use apiserver::catalog::Kinds;
use apiserver::controllers::host;
use apiserver::index::Index;
use apiserver::plane::PlaneKind;
use krm::kind::Kind;
use reconcile::reconciler::Reconciler;
use store::Store;
use tokio::time::Instant;

use crate::simulation::Simulation;
use crate::user::User;

/// Servers are idle once nothing has happened for this long: longer than faults hold anything back.
const QUIET: Duration = Duration::from_secs(5);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// Pause before a server that could not start is started again.
const PAUSE: Duration = Duration::from_millis(100);

/// The kind whose objects have control planes on these servers.
pub(crate) const TENANTS: PlaneKind = PlaneKind {
    group: "tenants.example.groundplane.dev",
    version: "v1alpha1",
    kind: "Tenant",
    plural: "tenants",
    context: [
        "example.groundplane.dev/group",
        "example.groundplane.dev/kind",
        "example.groundplane.dev/name",
    ],
};

/// What runs where.
pub(crate) struct Plan {
    pub kinds: Vec<Arc<Kind>>,
    /// Servers besides the first.
    pub others: Vec<&'static str>,
    pub is_leased: bool,
    pub horizon: Duration,
}

/// The servers of one life of the process.
pub struct Servers {
    apis: Vec<Api>,
    horizon: Duration,
}

impl Servers {
    pub(crate) async fn start(
        simulation: &Simulation,
        plan: &Plan,
        reconcilers: &dyn Fn(&Simulation) -> Vec<Arc<dyn Reconciler>>,
    ) -> Result<Servers, String> {
        let kinds = Kinds::shared(plan.kinds.clone()).map_err(|error| error.to_string())?;
        let kinds = Arc::new(kinds.with_planes(Some(TENANTS)));
        let model = Arc::new(Index(kinds.clone()));
        let first = simulation.open(Some(model)).await.map_err(|error| error.to_string())?;
        let mut stores = vec![("server", first.clone())];
        stores.extend(plan.others.iter().map(|name| (*name, first.another(name))));
        let mut apis = Vec::new();
        for (name, store) in stores {
            let api = start(store, &kinds).await?;
            for reconciler in reconcilers(simulation) {
                let holder = plan.is_leased.then(|| name.to_owned());
                tokio::spawn(host::run(reconciler, api.clone(), holder));
            }
            apis.push(api);
        }
        Ok(Servers { apis, horizon: plan.horizon })
    }

    /// The servers, the first first.
    pub fn apis(&self) -> &[Api] {
        &self.apis
    }

    /// Somebody who uses the first server.
    pub fn user(&self) -> User {
        User::of(&self.apis[0])
    }

    /// Waits until no reconciler has anything to do: no key is worked on, waits for a worker or comes within the horizon,
    /// and nothing is written any more.
    pub async fn idle(&self) {
        let (mut since, mut seen) = (Instant::now(), self.done());
        while since.elapsed() < QUIET {
            tokio::time::sleep(LOOK).await;
            let now = self.done();
            if self.is_busy() || now != seen {
                (since, seen) = (Instant::now(), now);
            }
        }
    }

    /// The attempts so far, and the last revision.
    fn done(&self) -> (u64, u64) {
        let states = self.apis.iter().flat_map(|api| api.controllers().states());
        let revisions = self.apis.iter().map(|api| api.store().latest().revision().get());
        (states.map(|state| state.counts.attempts()).sum(), revisions.sum())
    }

    fn is_busy(&self) -> bool {
        let states: Vec<_> = self.apis.iter().flat_map(|api| api.controllers().states()).collect();
        states.iter().any(|state| {
            let depth = &state.depth;
            let is_soon = depth.next.is_some_and(|next| next <= self.horizon);
            let has_work = state.is_active && (depth.ready + depth.working > 0 || is_soon);
            has_work || !states.iter().any(|other| other.name == state.name && other.is_active)
        })
    }
}

async fn start(store: Arc<dyn Store>, kinds: &Arc<Kinds>) -> Result<Api, String> {
    loop {
        match Api::start(store.clone(), kinds.clone()).await {
            Ok((api, _following)) => return Ok(api),
            Err(store::Error::Unavailable(_) | store::Error::Unknown(_)) => tokio::time::sleep(PAUSE).await,
            Err(error) => return Err(error.to_string()),
        }
    }
}
