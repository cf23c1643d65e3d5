//! Stuck queue: an object waits for a time, and nobody looks at it when the time has come.

use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use simulation::{Reconcilers, Servers, Simulation, User};

use super::objects::{ROLE, at, calm, create, map, number, rough, scope, text, with};

/// How long a reservation lasts, in seconds.
const LASTS: i64 = 90;

/// Ends reservations when their time has come.
struct Ending {
    /// Whether it asks to look again at that time.
    is_careful: bool,
}

impl Reconciler for Ending {
    fn name(&self) -> &'static str {
        "ending"
    }

    fn scope(&self) -> Scope {
        scope()
    }

    fn role(&self) -> Vec<Rule> {
        vec![ROLE]
    }

    fn plan(&self, target: &Target, reservation: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let left = number(reservation, "until") - context.now().seconds;
        match u64::try_from(left) {
            _ if text(reservation, "until").is_empty() => plan,
            Err(_) | Ok(0) => {
                plan.change(&target.plane, reservation, with(reservation, "state", "ended"));
                plan
            }
            Ok(left) => {
                if self.is_careful {
                    plan.again_after(Duration::from_secs(left));
                }
                plan.waiting_for("the end of the reservation")
            }
        }
    }
}

fn reconcilers(is_careful: bool) -> Reconcilers<'static> {
    Reconcilers::new(move |_| vec![Arc::new(Ending { is_careful })])
}

async fn time_passes(_: &Simulation, servers: &Servers) -> Result<(), String> {
    let until = (servers.apis()[0].now().seconds + LASTS).to_string();
    create(&servers.user(), &[map("reservation", &[("until", &until)])]).await?;
    servers.idle().await;
    tokio::time::sleep(Duration::from_secs(2 * LASTS.unsigned_abs())).await;
    Ok(())
}

async fn it_has_ended(_: &Simulation, user: &User) -> Result<(), String> {
    let reservation = user.get(&at("reservation")).ok_or("there is no reservation")?;
    match text(&reservation, "state") {
        "ended" => Ok(()),
        _ => Err("the reservation goes on".to_owned()),
    }
}

#[test]
fn a_stuck_queue_is_found() {
    let failure = reconcilers(false).run(&calm(1), time_passes, it_has_ended).unwrap_err();
    assert_eq!(failure.why, "the reservation goes on", "{failure}");
}

#[test]
fn nothing_is_stuck_that_asks_to_be_looked_at_again() {
    let careful = reconcilers(true);
    let walked = careful.walk(|| calm(1), time_passes, it_has_ended);
    assert_eq!(walked.unwrap_or_else(|failure| panic!("{failure}")).steps, 4);
    careful.search(0..10, rough, time_passes, it_has_ended).unwrap_or_else(|failure| panic!("{failure}"));
}
