//! Missed event: an object is a copy of another, which is read without a record of it.

use std::sync::Arc;

use krm::Object;
use krm::kind::QueryContext;
use reconcile::context::Context;
use reconcile::plan::Plan;
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use simulation::{Reconcilers, Servers, Simulation, User};

use super::objects::{ROLE, at, calm, create, map, rough, scope, set, text, with};

/// Copies a value from the object that another names.
pub struct Copying {
    /// Whether what is read is recorded.
    pub is_careful: bool,
}

impl Reconciler for Copying {
    fn name(&self) -> &'static str {
        "copying"
    }

    fn scope(&self) -> Scope {
        scope()
    }

    fn role(&self) -> Vec<Rule> {
        vec![ROLE]
    }

    /// Planning has a thread of its own, except in a simulation.
    fn settings(&self) -> Settings {
        Settings { is_heavy: true, ..Settings::new(self.name()) }
    }

    fn plan(&self, target: &Target, copy: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let original = match text(copy, "of") {
            "" => return plan,
            name => at(name).at,
        };
        let original = match self.is_careful {
            true => context.here().get(&original),
            false => context.world().look(&target.plane).get(&original),
        };
        let value = original.as_ref().map_or("", |original| text(original, "value"));
        plan.change(&target.plane, copy, with(copy, "value", value));
        plan
    }
}

fn reconcilers(is_careful: bool) -> Reconcilers<'static> {
    Reconcilers::new(move |_| vec![Arc::new(Copying { is_careful })])
}

async fn the_original_changes(_: &Simulation, servers: &Servers) -> Result<(), String> {
    the_original_comes(servers).await?;
    servers.idle().await;
    it_changes(servers).await
}

pub async fn the_original_comes(servers: &Servers) -> Result<(), String> {
    create(&servers.user(), &[map("original", &[("value", "old")]), map("copy", &[("of", "original")])]).await
}

pub async fn it_changes(servers: &Servers) -> Result<(), String> {
    servers.user().change(&at("original"), |original| set(original, "value", "new")).await
}

pub async fn the_copy_follows(_: &Simulation, user: &User) -> Result<(), String> {
    let copy = user.get(&at("copy")).ok_or("there is no copy")?;
    match text(&copy, "value") {
        "new" => Ok(()),
        value => Err(format!("the copy has the value {value:?}")),
    }
}

#[test]
fn a_missed_event_is_found() {
    let failure = reconcilers(false).run(&calm(1), the_original_changes, the_copy_follows).unwrap_err();
    assert_eq!(failure.why, "the copy has the value \"old\"", "{failure}");
}

#[test]
fn no_event_of_what_was_recorded_is_missed() {
    let careful = reconcilers(true);
    let walked = careful.walk(|| calm(1), the_original_changes, the_copy_follows);
    assert!(walked.unwrap_or_else(|failure| panic!("{failure}")).steps >= 6);
    careful.search(0..30, rough, the_original_changes, the_copy_follows).unwrap_or_else(|it| panic!("{it}"));
}
