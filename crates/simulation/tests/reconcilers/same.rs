//! The same seed gives the same trace, with two reconcilers on two servers and whatever goes wrong.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use simulation::{Reconcilers, Servers, Simulation, User};

use super::lost_update::{Counting, each_is_counted, items_come};
use super::missed_event::{Copying, it_changes, the_copy_follows, the_original_comes};
use super::objects::rough;

async fn both(simulation: &Simulation, servers: &Servers) -> Result<(), String> {
    items_come(simulation, servers).await?;
    the_original_comes(servers).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    it_changes(servers).await
}

async fn both_hold(simulation: &Simulation, user: &User) -> Result<(), String> {
    each_is_counted(simulation, user).await?;
    the_copy_follows(simulation, user).await
}

#[test]
fn one_seed_gives_one_trace_of_two_reconcilers_on_two_servers() {
    let reconcilers = Reconcilers::new(|_| {
        vec![Arc::new(Counting { is_careful: true }), Arc::new(Copying { is_careful: true })]
    })
    .with_server("standby");
    let run = |seed| {
        let simulation = rough(seed);
        let outcome = reconcilers.run(&simulation, both, both_hold);
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
        (simulation.trace().to_string(), simulation.lives())
    };
    let (mut stopped, mut traces) = (0, BTreeSet::new());
    for seed in 0..100 {
        let (trace, lives) = run(seed);
        assert_eq!(run(seed), (trace.clone(), lives), "seed {seed}");
        stopped += u32::from(lives > 1);
        traces.insert(trace);
    }
    assert_eq!(traces.len(), 100, "seeds that differ in nothing show nothing");
    assert!(stopped > 20, "only {stopped} were stopped: that shows nothing");
}
