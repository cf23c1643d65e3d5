//! Lost update: items are counted in one object, and a count that was read is written without its version.

use std::sync::Arc;

use krm::Object;
use krm::kind::QueryContext;
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::json;
use simulation::{Reconcilers, Servers, Simulation, User};

use super::objects::{ROLE, at, calm, create, map, number, rough, scope, text, with};

const ITEMS: i64 = 5;

/// Counts each item once.
pub struct Counting {
    /// Whether the count is written at the version that was read.
    pub is_careful: bool,
}

impl Reconciler for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn scope(&self) -> Scope {
        scope()
    }

    fn role(&self) -> Vec<Rule> {
        vec![ROLE]
    }

    fn plan(&self, target: &Target, item: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if !item.name().starts_with("item-") || text(item, "counted") == "yes" {
            return plan;
        }
        let Some(counter) = context.here().get(&at("counter").at) else {
            return plan.waiting_for("the counter");
        };
        let count = (number(&counter, "count") + 1).to_string();
        plan.change(&target.plane, item, with(item, "counted", "yes"));
        match self.is_careful {
            true => plan.change(&target.plane, &counter, with(&counter, "count", &count)),
            false => plan.write(Write::Patch(at("counter"), json!({"data": {"count": count}}))),
        }
        plan
    }
}

fn reconcilers(is_careful: bool) -> Reconcilers<'static> {
    Reconcilers::new(move |_| vec![Arc::new(Counting { is_careful })])
}

pub async fn items_come(_: &Simulation, servers: &Servers) -> Result<(), String> {
    let items: Vec<Object> = (0..ITEMS).map(|item| map(&format!("item-{item}"), &[])).collect();
    let user = servers.user();
    create(&user, &items).await?;
    create(&user, &[map("counter", &[])]).await
}

pub async fn each_is_counted(_: &Simulation, user: &User) -> Result<(), String> {
    match user.get(&at("counter")).map_or(0, |counter| number(&counter, "count")) {
        ITEMS => Ok(()),
        count => Err(format!("{count} of {ITEMS} items are counted")),
    }
}

#[test]
fn a_lost_update_is_found() {
    let failure = reconcilers(false).search(0..5, calm, items_come, each_is_counted).unwrap_err();
    assert!(failure.why.ends_with(" of 5 items are counted"), "{failure}");
}

#[test]
fn no_update_is_lost_that_is_written_at_its_version() {
    let careful = reconcilers(true);
    careful.search(0..5, calm, items_come, each_is_counted).unwrap_or_else(|failure| panic!("{failure}"));
    careful.search(0..30, rough, items_come, each_is_counted).unwrap_or_else(|failure| panic!("{failure}"));
    let walked = careful.walk(|| calm(1), items_come, each_is_counted);
    assert!(walked.unwrap_or_else(|failure| panic!("{failure}")).steps > 10);
}
