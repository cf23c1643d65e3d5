//! Stale leader: one server shows on a board what is wanted; it is paused, another takes over, and it goes on where it was.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use apiserver::api::Api;
use apiserver::keys;
use apiserver::plane::Plane;
use krm::Object;
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::json;
use simulation::{Reconcilers, Servers, Simulation, User};
use store::simulated::{Fault, Operation};
use tokio::time::Instant;

use super::objects::{ROLE, at, create, map, number, scope, set};

/// The last number that is wanted.
const LAST: i64 = 15;
/// Longer than a lease lasts.
const PAUSE: Duration = Duration::from_secs(8);

/// What the board has shown, one after the other.
#[derive(Default)]
struct Shown(Mutex<Vec<i64>>);

/// Shows the number that is wanted, whatever the board has shown before.
struct Showing;

impl Reconciler for Showing {
    fn name(&self) -> &'static str {
        "showing"
    }

    fn scope(&self) -> Scope {
        scope()
    }

    fn role(&self) -> Vec<Rule> {
        vec![ROLE]
    }

    fn plan(&self, _: &Target, object: &Arc<Object>, _: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if object.name() == "wanted" {
            let number = number(object, "number").to_string();
            plan.write(Write::Patch(at("board"), json!({"data": {"number": number}})));
        }
        plan
    }
}

/// Now and then, all that the first server asks for waits until the end of a pause.
fn pausing(seed: u64) -> Simulation {
    let until: Mutex<Option<Instant>> = Mutex::default();
    Simulation::seeded(seed).with_faults(move |point, dice| {
        let mut until = until.lock().unwrap();
        let is_work = match &point.operation {
            Operation::Commit { author, .. } => &*author.manager == "showing",
            Operation::Renew(_) | Operation::Acquire { .. } => true,
            _ => false,
        };
        if &*point.server != "server" || !is_work {
            return Vec::new();
        }
        let begins = dice.below(8) == 0;
        let left = until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
        match left.is_zero() {
            false => vec![Fault::Delayed(left)],
            true if begins && matches!(point.operation, Operation::Commit { .. }) => {
                *until = Some(Instant::now() + PAUSE);
                vec![Fault::Delayed(PAUSE)]
            }
            true => Vec::new(),
        }
    })
}

fn reconcilers() -> Reconcilers<'static> {
    Reconcilers::new(|_| vec![Arc::new(Showing)]).with_server("standby")
}

async fn numbers_come(simulation: &Simulation, servers: &Servers) -> Result<(), String> {
    let user = servers.user();
    create(&user, &[map("board", &[]), map("wanted", &[])]).await?;
    tokio::spawn(watch_board(servers.apis()[1].clone(), simulation.outside()));
    for next in 1..=LAST {
        tokio::time::sleep(Duration::from_secs(1)).await;
        user.change(&at("wanted"), |wanted| set(wanted, "number", &next.to_string())).await?;
    }
    Ok(())
}

async fn watch_board(api: Api, shown: Arc<Shown>) {
    let key = keys::object(&Plane::root(), &at("board").at).unwrap();
    let mut watch = api.store().watch(key.as_bytes(), api.store().latest().version()).unwrap();
    while let Ok(events) = watch.next().await {
        for board in events.iter().filter_map(|event| event.after()) {
            let board: Object = Object::from_value(serde_json::from_slice(board.bytes()).unwrap()).unwrap();
            shown.0.lock().unwrap().push(number(&board, "number"));
        }
    }
}

async fn the_board_never_goes_back(simulation: &Simulation, _: &User) -> Result<(), String> {
    let shown = simulation.outside::<Shown>().0.lock().unwrap().clone();
    match shown.is_sorted() && shown.last() == Some(&LAST) {
        true => Ok(()),
        false => Err(format!("the board showed {shown:?}")),
    }
}

#[test]
fn a_stale_leader_is_found() {
    let unleased = reconcilers().without_leases();
    let failure = unleased.search(0..5, pausing, numbers_come, the_board_never_goes_back).unwrap_err();
    assert!(failure.why.starts_with("the board showed "), "{failure}");
}

#[test]
fn a_leader_that_was_paused_writes_nothing_after_another_took_over() {
    let mut late = 0;
    for seed in 0..20 {
        let simulation = pausing(seed);
        let outcome = reconcilers().run(&simulation, numbers_come, the_board_never_goes_back);
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
        late += simulation.trace().lines().iter().filter(|line| line.contains("refused: ")).count();
    }
    assert!(late > 5, "only {late} writes came too late: that shows nothing");
}
