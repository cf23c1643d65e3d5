//! A controller that panics, one that hangs and one that floods its queue leave the others, the API and the leases alone,
//! and each can be seen.

use std::sync::Arc;
use std::time::Duration;

use apiserver::controllers::host;
use krm::Object;
use krm::kind::{Address, Planes};
use reconcile::context::Context;
use reconcile::plan::{Action, Plan, Write};
use reconcile::reconciler::{Changed, Executing, Execution, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde_json::{Value, json};

use super::objects::{CONFIG_MAPS, config_map, found, make, names};
use super::server::{Server, until};

const CONTROLLERS: &str = "/apis/groundplane.dev/v1alpha1/controllers";

/// What a misbehaving controller does.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Panics,
    PanicsWhenShown,
    Hangs,
    Floods,
    OverstepsItsRole,
}

struct Misbehaving(&'static str, Fault);

impl Reconciler for Misbehaving {
    fn name(&self) -> &'static str {
        self.0
    }

    fn scope(&self) -> Scope {
        Scope::resource("", "configmaps", Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new("", &["secrets"], &["patch"])]
    }

    fn settings(&self) -> Settings {
        Settings { deadline: Duration::from_millis(200), ..Settings::new(self.0) }
    }

    fn observes(&self) -> Scope {
        self.scope()
    }

    fn affected(&self, _: &Changed<'_>, queue: &mut dyn FnMut(Target)) {
        match self.1 {
            Fault::PanicsWhenShown => panic!("a planted bug"),
            Fault::Floods => {
                for number in 0..100_000 {
                    let at = Address {
                        group: String::new(),
                        plural: "configmaps".to_owned(),
                        namespace: "flood".to_owned(),
                        name: number.to_string(),
                    };
                    queue(Target::new("", at));
                }
            }
            _ => {}
        }
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, _: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        match self.1 {
            Fault::Panics if object.namespace() == "default" => panic!("a planted bug"),
            Fault::Hangs => plan.actions.push(Action {
                name: "hang".to_owned(),
                parameters: Value::Null,
                is_external: false,
            }),
            Fault::OverstepsItsRole => {
                plan.write(Write::Patch(target.clone(), json!({"data": {"stamp": "forbidden"}})));
            }
            _ => {}
        }
        plan
    }

    fn plan_absent(&self, _: &Target, _: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        plan.again_after(Duration::from_millis(1));
        plan
    }

    fn execute<'a>(&'a self, _: &'a Action, _: &'a Execution) -> Executing<'a> {
        Box::pin(std::future::pending())
    }
}

/// Writes a stamp into every ConfigMap.
struct Stamps;

impl Reconciler for Stamps {
    fn name(&self) -> &'static str {
        "well-behaved"
    }

    fn scope(&self) -> Scope {
        Scope::resource("", "configmaps", Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new("", &["configmaps"], &["update"])]
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, _: &Context<'_>) -> Plan {
        let mut new = Object::clone(object);
        new.set("data", Some(json!({"stamp": "yes"})));
        let mut plan = Plan::nothing();
        plan.change(&target.plane, object, new);
        plan
    }
}

/// The leases of controllers, as another server sees them.
struct Leases(Vec<String>);

impl Leases {
    fn of<'a>(controllers: impl Iterator<Item = &'a str>) -> Leases {
        Leases(controllers.map(|name| format!("controller/{name}")).collect())
    }

    /// Whether nobody but this server could take any of them now.
    async fn are_held(&self, server: &Server) -> bool {
        for lease in &self.0 {
            let asked = server.api.store().acquire(lease, "elsewhere", Duration::from_millis(1)).await;
            if !matches!(asked.unwrap(), store::Acquired::HeldBy { holder, .. } if *holder == *"here") {
                return false;
            }
        }
        true
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controllers_that_misbehave_leave_the_others_alone_and_can_be_seen() {
    let server = Server::embedded().await;
    let faults = [
        ("panics", Fault::Panics),
        ("panics-when-shown", Fault::PanicsWhenShown),
        ("hangs", Fault::Hangs),
        ("floods", Fault::Floods),
        ("oversteps", Fault::OverstepsItsRole),
    ];
    for (name, fault) in faults {
        let holder = Some("here".to_owned());
        tokio::spawn(host::run(Arc::new(Misbehaving(name, fault)), server.api.clone(), holder));
    }
    tokio::spawn(host::run(Arc::new(Stamps), server.api.clone(), Some("here".to_owned())));
    let http = server.client();
    // Whoever asks for a lease meanwhile is told that it is held: no holder has let go of one.
    let held = Leases::of(faults.map(|(name, _)| name).into_iter().chain(["well-behaved"]));
    until("all leases are taken", || held.are_held(&server)).await;
    for number in 0..20 {
        let name = format!("map-{number}");
        make(&http, CONFIG_MAPS, &config_map(&name, &[])).await;
        assert!(names(&http, CONFIG_MAPS).await.contains(&name), "the API answers");
        let path = format!("{CONFIG_MAPS}/{name}");
        until("the well-behaved one works", || async {
            found(&http, &path).await.unwrap()["data"]["stamp"] == "yes"
        })
        .await;
    }
    until("each can be seen", || async {
        let list = http.get(CONTROLLERS).await.unwrap().json();
        let of = |name: &str, path: &str| -> Value {
            let items = list["items"].as_array().unwrap().iter();
            let item = items.clone().find(|item| item["metadata"]["name"] == name);
            item.and_then(|item| item.pointer(path)).cloned().unwrap_or_default()
        };
        let count = |name: &str, path: &str| of(name, path).as_u64().unwrap_or_default();
        let error = |name: &str| of(name, "/status/failing/0/error").as_str().unwrap_or_default().to_owned();
        count("panics", "/status/attempts/panicked") > 0
            && error("panics").contains("a planted bug")
            && of("panics", "/status/failing/0/resource") == "configmaps"
            && error("oversteps").contains("does not allow")
            && count("hangs", "/status/attempts/timedOut") > 0
            && error("hangs").contains("took longer than")
            && count("floods", "/status/queue/ready") + count("floods", "/status/queue/delayed") > 1_000
            && count("well-behaved", "/status/attempts/succeeded") >= 20
            && of("well-behaved", "/status/failing") == json!([])
    })
    .await;
    assert!(held.are_held(&server).await, "a lease was lost");
    let metrics = http.get("/metrics").await.unwrap().text();
    let value = |sample: &str| -> f64 {
        let line = metrics.lines().find_map(|line| line.strip_prefix(sample));
        line.unwrap_or_else(|| panic!("{sample} is not in\n{metrics}")).trim().parse().unwrap()
    };
    let attempts = |name: &str, result: &str| {
        value(&format!("controller_runtime_reconcile_total{{controller=\"{name}\",result=\"{result}\"}}"))
    };
    assert!(attempts("panics", "panic") > 0.0);
    assert!(attempts("hangs", "timeout") > 0.0);
    assert!(attempts("oversteps", "error") > 0.0);
    assert!(
        value("workqueue_depth{name=\"floods\"}") + value("workqueue_delayed{name=\"floods\"}") > 1_000.0
    );
    assert!(value("workqueue_adds_total{name=\"floods\"}") > 100_000.0);
    for result in ["panic", "timeout", "error"] {
        assert_eq!(attempts("well-behaved", result), 0.0, "{result}");
    }
    for name in ["panics", "panics-when-shown", "hangs", "floods", "oversteps", "well-behaved"] {
        assert_eq!(value(&format!("controller_active{{name=\"{name}\"}}")), 1.0, "{name}");
    }
    assert!(metrics.ends_with("# EOF\n"));

    // Whoever stops gives the leases back: another holder need not wait for their end.
    tokio::time::timeout(Duration::from_secs(5), server.api.controllers().stop()).await.unwrap();
    let lasts = Duration::from_secs(1);
    let taken = server.api.store().acquire("controller/hangs", "elsewhere", lasts).await.unwrap();
    assert!(matches!(taken, store::Acquired::Taken(_)), "{taken:?}");
}
