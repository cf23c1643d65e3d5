//! Steps that drive a BMC, over Redfish, under the claim of a task.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fulfillment::kinds::host_claim::Claimant;
use krm::Object;
use krm::status::Status;
use krm::time::Moment;
use orchestrator::action::Step;
use orchestrator::driver::{Call, Progress};
use orchestrator::oob::{HostBmcs, Oob};
use reconcile::gate::Gates;
use reconcile::lease::Later;
use reconcile::objects::Objects;
use reconcile::plan::Write;
use reconcile::reconciler::Execution;
use reconcile::target::Target;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A few objects in memory.
#[derive(Default)]
struct Memory(Mutex<BTreeMap<String, Arc<Object>>>);

impl Memory {
    fn put(&self, plural: &str, name: &str, value: Value) {
        let object = Object::from_value(value).unwrap();
        self.0.lock().unwrap().insert(format!("{plural}/{name}"), Arc::new(object));
    }
}

impl Objects for Memory {
    fn get<'a>(&'a self, target: &'a Target) -> Later<'a, Result<Option<Arc<Object>>, Status>> {
        let found = self.0.lock().unwrap().get(&format!("{}/{}", target.at.plural, target.at.name)).cloned();
        Box::pin(std::future::ready(Ok(found)))
    }

    fn commit(&self, writes: Vec<Write>) -> Later<'_, Result<(), Status>> {
        for write in writes {
            if let Write::Create(_, object) | Write::Update(_, object) = write {
                // Nothing but records of logins is written.
                let name = object.name().to_owned();
                self.0.lock().unwrap().insert(format!("bmclogins/{name}"), Arc::new(object));
            }
        }
        Box::pin(std::future::ready(Ok(())))
    }
}

fn claimant(name: &str) -> Claimant {
    Claimant::controller(name)
}

fn world(url: &str, holder: &str) -> Arc<Memory> {
    let memory = Arc::new(Memory::default());
    memory.put("hosts", "n1", json!({
        "apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": "Host", "metadata": {"name": "n1"},
        "spec": {"bmc": {"url": url, "user": "admin", "passwordRef": {"name": "s", "key": "password", "generation": 1}}},
    }));
    memory.put(
        "secrets",
        "s",
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
            "data": {"password": krm::base64::encode(b"password")},
        }),
    );
    memory.put("hostclaims", "n1", json!({
        "apiVersion": "fulfillment.groundplane.dev/v1alpha1", "kind": "HostClaim", "metadata": {"name": "n1"},
        "spec": {"hostRef": {"name": "n1"}, "holder": claimant(holder)}, "status": {"epoch": 4},
    }));
    memory
}

fn call(step: Step, handle: Value) -> Call {
    Call {
        step,
        tries: 1,
        node: None,
        site: None,
        provisioner: serde_json::from_value(json!({"type": "Simulated"})).unwrap(),
        credential: None,
        bmc_password: None,
        bmc_url: None,
        node_key: None,
        handle,
        operation: "operation-1".to_owned(),
        now: Moment::of_seconds(1_800_000_000),
        gates: Gates::default(),
    }
}

/// Asks until the step has ended, as controllers do.
async fn driven(
    oob: &HostBmcs,
    step: Step,
    memory: &Arc<Memory>,
    under: Option<&(Claimant, i64)>,
) -> Progress {
    let target = Target::of::<orchestrator::kinds::Task>("", "site", "t-n1");
    let mut handle = Value::Null;
    for _ in 0..60 {
        let execution = Execution {
            target: target.clone(),
            operation: "operation-1".to_owned(),
            was_begun: false,
            handle: None,
            gates: Gates::default(),
            cancelled: CancellationToken::new(),
            objects: memory.clone(),
        };
        match oob.work(&call(step, handle.clone()), "n1", under, &execution).await {
            Progress::Waiting { handle: next, pause, .. } => {
                handle = next;
                tokio::time::sleep(pause.min(Duration::from_millis(500))).await;
            }
            ended => return ended,
        }
    }
    panic!("{step} never ends");
}

async fn simulator() -> sim::redfish::Simulator {
    let options =
        sim::redfish::Options { tls: false, power_delay: Duration::from_millis(20), ..Default::default() };
    sim::redfish::Simulator::start(options).await.unwrap()
}

fn url_of(simulator: &sim::redfish::Simulator) -> String {
    format!("redfish+http://{}/redfish/v1/Systems/1", simulator.address())
}

#[tokio::test]
async fn a_node_is_set_to_boot_from_the_network_and_power_cycled_under_its_claim() {
    let simulator = simulator().await;
    let memory = world(&url_of(&simulator), "me");
    let oob = HostBmcs::over_network("test");
    let under = (claimant("me"), 4);
    let read = driven(&oob, Step::InterrogateOob, &memory, None).await;
    assert!(matches!(&read, Progress::Done(done) if done.message.contains("power of host n1")), "{read:?}");
    let boot = driven(&oob, Step::SetNodeBoot, &memory, Some(&under)).await;
    assert!(matches!(boot, Progress::Done(_)), "{boot:?}");
    let cycled = driven(&oob, Step::PowerCycleNode, &memory, Some(&under)).await;
    assert!(matches!(cycled, Progress::Done(_)), "{cycled:?}");
    assert!(simulator.is_on(1));
}

#[tokio::test]
async fn who_does_not_hold_the_claim_drives_nothing() {
    let simulator = simulator().await;
    let oob = HostBmcs::over_network("test");
    let before = simulator.is_on(1);
    for (holder, under) in [("other", (claimant("me"), 4)), ("me", (claimant("me"), 3))] {
        let memory = world(&url_of(&simulator), holder);
        let refused = driven(&oob, Step::PowerCycleNode, &memory, Some(&under)).await;
        assert!(
            matches!(&refused, Progress::Failed { message, may_retry: false } if message.contains("may not drive host n1")),
            "{refused:?}"
        );
    }
    let memory = world(&url_of(&simulator), "me");
    let none = driven(&oob, Step::SetNodeBoot, &memory, None).await;
    assert!(matches!(none, Progress::Failed { may_retry: false, .. }), "{none:?}");
    assert_eq!(simulator.is_on(1), before);
}
