//! Executes the action of a step: makes a call of its parameters, and hands it to who does the step.

use std::sync::Arc;

use reconcile::plan::Action;
use reconcile::reconciler::{Execution, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::action::{Executor, Step};
use crate::driver::{Call, Credential, Progress};
use crate::drivers::network::{NetworkDriver, Recording, intended};
use crate::drivers::{self, simulated};
use crate::kinds::provisioner::{ProvisionerSpec, ProvisionerType};
use crate::oob::Oob;
use crate::work::{NodeWork, SiteWork};

/// Parameters of an action, which are not stored.
#[derive(Serialize, Deserialize)]
pub struct Parameters {
    /// The step.
    pub step: Step,
    /// Which try it is.
    pub tries: i64,
    /// The time of the plan, in seconds since 1970.
    pub now: i64,
    /// The node.
    pub node: Option<NodeWork>,
    /// The site.
    pub site: Option<SiteWork>,
    /// The provisioner.
    pub provisioner: ProvisionerSpec,
    /// Name of the host.
    pub host: Option<String>,
    /// Who drives the BMC, and in which epoch of the claim.
    pub under: Option<(fulfillment::kinds::host_claim::Claimant, i64)>,
    /// URL of the BMC.
    pub bmc_url: Option<String>,
    /// Credential of the provisioner.
    pub credential: Option<Credential>,
    /// Password of the BMC.
    pub bmc_password: Option<Credential>,
    /// Key of the node.
    pub node_key: Option<Credential>,
}

/// Executes an action.
pub async fn execute(action: &Action, execution: &Execution, oob: &Arc<dyn Oob>) -> Outcome {
    let parameters: Parameters = match serde_json::from_value(action.parameters.clone()) {
        Ok(parameters) => parameters,
        // The error may quote a value.
        Err(_) => return Outcome::Failed(format!("the parameters of {} cannot be read", action.name)),
    };
    let progress = progress(parameters, execution, oob).await;
    outcome(progress)
}

async fn progress(given: Parameters, execution: &Execution, oob: &Arc<dyn Oob>) -> Progress {
    let (host, under) = (given.host.clone(), given.under.clone());
    let call = Call {
        step: given.step,
        tries: given.tries,
        node: given.node,
        site: given.site,
        provisioner: given.provisioner,
        credential: given.credential,
        bmc_password: given.bmc_password,
        bmc_url: given.bmc_url,
        node_key: given.node_key,
        handle: execution.handle.as_ref().map(|handle| handle["handle"].clone()).unwrap_or_default(),
        operation: execution.operation.clone(),
        now: krm::time::Moment::of_seconds(given.now),
        gates: execution.gates.clone(),
    };
    match call.step.executor() {
        Executor::Planner => Progress::broken(format!("{} needs no driver", call.step)),
        Executor::Network => {
            let ports = call.node.as_ref().map(|node| intended(node, call.step)).unwrap_or_default();
            Recording.configure(&call, ports).await
        }
        Executor::Bmc => {
            let settings = call.provisioner.simulated.clone().unwrap_or_default();
            let is_simulated = call.provisioner.kind == ProvisionerType::Simulated;
            if is_simulated && !settings.drives_bmcs.unwrap_or(false) {
                return simulated::simulate(&call);
            }
            match host {
                Some(host) => oob.work(&call, &host, under.as_ref(), execution).await,
                None => Progress::broken("there is no Host for the node; create one with its BMC"),
            }
        }
        Executor::Kubernetes => simulated::simulate(&call),
        Executor::Provisioner => drivers::of(call.provisioner.kind).work(&call).await,
    }
}

fn outcome(progress: Progress) -> Outcome {
    match progress {
        Progress::Waiting { message, handle, pause } => {
            Outcome::Pending(json!({"message": message, "handle": handle}), pause)
        }
        ended => Outcome::Done(serde_json::to_value(&ended).unwrap_or(Value::Null)),
    }
}
