//! Three small kinds, the ones that `docs/adding-a-kind.md` is written around, on real servers over HTTPS: what a kind
//! declares holds, also while many clients write at once, on both engines.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

mod dice;
mod kinds;
mod lamps;
mod objects;
mod operations;
mod reading_room;
#[allow(dead_code, reason = "other tests have servers of the same making")]
mod server;
mod watched;

mod across_planes;
mod at_once;
mod beside;
mod definitions;
mod effects;
mod gone_with_the_owner;
mod in_line;
mod leases;
mod misbehaving;
mod namespaces;
mod older_objects;
mod overdue;
mod page;
mod past;
mod planes;
mod plans;
mod random_past;
mod reborn;
mod references;
mod remote_plans;
mod searching;
mod shrinking;
mod simulated;
mod statuses;
#[allow(dead_code, reason = "other tests ask it more")]
mod tally;
mod three_hosts;
mod transactions;
mod verbs;
mod versions;

/// The kinds that the servers of these tests serve.
mod served {
    use krm::kind::Kind;

    use super::{kinds, lamps, reading_room};

    pub fn all() -> Vec<Kind> {
        let lamps = [<lamps::Lamp as krm::kind::Resource>::kind()];
        kinds::all().into_iter().chain(reading_room::all()).chain(lamps).collect()
    }
}
