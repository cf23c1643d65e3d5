//! The simulated driver: each step takes some time and succeeds, but on the nodes that are to fail or hang.
//!
//! It remembers nothing: the handle says when a step ends, so that a restart changes nothing.

use std::time::Duration;

use fulfillment::kinds::host_claim::Claimant;
use reconcile::reconciler::Execution;
use serde_json::json;

use crate::action::Step;
use crate::driver::{Abilities, Call, NodeDriver, Progress, Working};
use crate::oob::Oob;

/// How long `deploy_node` takes unless the provisioner says otherwise, in seconds.
const SECONDS: i64 = 10;
/// Longest pause between two looks.
const PAUSE: u64 = 30;

/// Simulates machines.
pub struct Simulated;

impl NodeDriver for Simulated {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    fn work<'a>(&'a self, call: &'a Call) -> Working<'a> {
        Box::pin(async move { simulate(call) })
    }
}

impl Oob for Simulated {
    fn work<'a>(
        &'a self,
        call: &'a Call,
        _: &'a str,
        _: Option<&'a (Claimant, i64)>,
        _: &'a Execution,
    ) -> Working<'a> {
        Box::pin(async move { simulate(call) })
    }
}

/// Simulates a step. BMCs are simulated the same way.
pub fn simulate(call: &Call) -> Progress {
    let settings = call.provisioner.simulated.clone().unwrap_or_default();
    let name = call.node.as_ref().map(|node| node.name.clone()).unwrap_or_default();
    let is_long = call.step == Step::DeployNode;
    let whole = settings.seconds.unwrap_or(SECONDS);
    let seconds = if is_long { whole } else { whole / 10 };
    if is_long && settings.failing.contains(&name) {
        return Progress::failed("the simulated installation failed");
    }
    if is_long && settings.hanging.contains(&name) {
        return Progress::waiting("the simulated installation hangs", Duration::from_secs(PAUSE));
    }
    let until = call.handle["until"].as_i64().unwrap_or(call.now.seconds + seconds);
    let left = u64::try_from(until - call.now.seconds).unwrap_or(0);
    match left {
        0 => Progress::done("simulated"),
        left => Progress::Waiting {
            message: "simulated work".to_owned(),
            handle: json!({"until": until}),
            pause: Duration::from_secs(left.min(PAUSE)),
        },
    }
}
