//! Reconcilers in a simulation: each life of the process runs them anew.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use krm::kind::Kind;
use reconcile::reconciler::Reconciler;

use crate::servers::{Plan, Servers, TENANTS};
use crate::simulation::Simulation;
use crate::user::User;
use crate::walk::{self, Failure, Walked, walk_stops};

/// How far ahead a delayed key is waited for.
const HORIZON: Duration = Duration::from_secs(600);

type New<'a> = Box<dyn Fn(&Simulation) -> Vec<Arc<dyn Reconciler>> + 'a>;

/// Reconcilers, and the servers that they run on.
pub struct Reconcilers<'a> {
    new: New<'a>,
    plan: Plan,
}

impl<'a> Reconcilers<'a> {
    /// Reconcilers on one server, with leases. `new` makes them once for each server and each life: what they remember goes
    /// with the process, and only what is [`Simulation::outside`] stays.
    pub fn new(new: impl Fn(&Simulation) -> Vec<Arc<dyn Reconciler>> + 'a) -> Reconcilers<'a> {
        let plan = Plan { kinds: Vec::new(), others: Vec::new(), is_leased: true, horizon: HORIZON };
        let kinds = apiserver::kinds::all().into_iter().chain([TENANTS.plain_kind()]);
        Reconcilers { new: Box::new(new), plan }.with_kinds(kinds)
    }

    /// The same with these kinds besides those of every API server.
    pub fn with_kinds(mut self, kinds: impl IntoIterator<Item = Kind>) -> Self {
        self.plan.kinds.extend(kinds.into_iter().map(Arc::new));
        self
    }

    /// The same with one more server on the same store.
    pub fn with_server(mut self, name: &'static str) -> Self {
        self.plan.others.push(name);
        self
    }

    /// The same without leases: every server runs all of them.
    pub fn without_leases(mut self) -> Self {
        self.plan.is_leased = false;
        self
    }

    /// The same, but idle once no key comes within this time. For reconcilers that look at an object every now and then.
    pub fn with_horizon(mut self, horizon: Duration) -> Self {
        self.plan.horizon = horizon;
        self
    }

    /// Runs the reconcilers and a scenario, which is run again whenever the process was stopped, until they are idle. Then the
    /// invariant has to hold of what the disk holds.
    pub fn run(
        &self,
        simulation: &Simulation,
        scenario: impl AsyncFn(&Simulation, &Servers) -> Result<(), String>,
        invariant: impl AsyncFn(&Simulation, &User) -> Result<(), String>,
    ) -> Result<(), Box<Failure>> {
        walk::run(simulation, None, &self.whole(&scenario), &self.check(&invariant))
    }

    /// Runs a simulation of each seed, up to the first that fails.
    pub fn search(
        &self,
        seeds: Range<u64>,
        fresh: impl Fn(u64) -> Simulation,
        scenario: impl AsyncFn(&Simulation, &Servers) -> Result<(), String>,
        invariant: impl AsyncFn(&Simulation, &User) -> Result<(), String>,
    ) -> Result<(), Box<Failure>> {
        seeds.into_iter().try_for_each(|seed| self.run(&fresh(seed), &scenario, &invariant))
    }

    /// Stops the process at each place where it can stop, as [`walk_stops`] does.
    pub fn walk(
        &self,
        fresh: impl Fn() -> Simulation,
        scenario: impl AsyncFn(&Simulation, &Servers) -> Result<(), String>,
        invariant: impl AsyncFn(&Simulation, &User) -> Result<(), String>,
    ) -> Result<Walked, Box<Failure>> {
        walk_stops(fresh, self.whole(&scenario), self.check(&invariant))
    }

    fn whole(
        &self,
        scenario: &impl AsyncFn(&Simulation, &Servers) -> Result<(), String>,
    ) -> impl AsyncFn(&Simulation) -> Result<(), String> {
        async |simulation: &Simulation| {
            let servers = Servers::start(simulation, &self.plan, &self.new).await?;
            scenario(simulation, &servers).await?;
            servers.idle().await;
            Ok(())
        }
    }

    fn check(
        &self,
        invariant: &impl AsyncFn(&Simulation, &User) -> Result<(), String>,
    ) -> impl AsyncFn(&Simulation) -> Result<(), String> {
        async |simulation: &Simulation| {
            let servers = Servers::start(simulation, &self.plan, &|_| Vec::new()).await?;
            invariant(simulation, &servers.user()).await
        }
    }
}
