//! The zone controller: whether the name server of each zone answers and takes changes with its key.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use krm::Object;
use krm::condition::Finding;
use krm::kind::Planes;
use reconcile::context::Context;
use reconcile::plan::{Action, Plan};
use reconcile::reconciler::{Bell, Executing, Execution, Outcome, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::naming;
use super::reach::sealed;
use crate::kinds::DnsZone;
use crate::kinds::dns_zone::DnsZoneSpec;

/// Annotation whose change has a zone checked at once.
pub const CHECK: &str = "fulfillment.groundplane.dev/check-requested";
/// How often zones are checked.
const EVERY: Duration = Duration::from_secs(600);
/// How often those that failed are.
const SOON: Duration = Duration::from_secs(30);

/// What was checked, what came of it, and when.
type Checked = (String, Result<(), String>, Instant);

/// Reconciles zones.
#[derive(Default)]
pub struct ZoneController {
    known: Mutex<BTreeMap<String, Checked>>,
    bell: Mutex<Option<Bell>>,
}

impl Reconciler for ZoneController {
    fn name(&self) -> &'static str {
        "dns-zone-controller"
    }

    fn description(&self) -> &'static str {
        "Checks that the name servers of DNS zones answer and take changes."
    }

    fn scope(&self) -> Scope {
        Scope::of::<DnsZone>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new(crate::GROUP, &["dnszones/status"], &["update"])]
    }

    fn attach(&self, bell: Bell) {
        *self.bell.lock().unwrap_or_else(PoisonError::into_inner) = Some(bell);
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let Ok(zone) = DnsZone::deserialize(&Value::Object(object.0.clone())) else { return plan };
        let requested = object.annotation(CHECK).unwrap_or_default();
        let what = format!("{}/{requested}", object.generation());
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(object.name()).cloned();
        let known = known.filter(|(of, outcome, at)| {
            *of == what && at.elapsed() < if outcome.is_ok() { EVERY } else { SOON }
        });
        let Some((_, outcome, _)) = known else {
            let secret = sealed(zone.spec.key_secret_ref.as_ref(), &context.root()).unwrap_or_default();
            let parameters = json!({"zone": zone.spec, "secret": secret, "what": what});
            plan.actions.push(Action { name: "check".to_owned(), parameters, is_external: false });
            return plan.waiting_for("the name server");
        };
        plan.again_after(if outcome.is_ok() { EVERY } else { SOON });
        let mut new = Object::clone(object);
        let now = context.now().to_string();
        let finding = match outcome {
            Ok(()) => Finding::holds("Ready", "Checked", ""),
            Err(why) => Finding::fails("Ready", "CheckFailed", why),
        };
        let is_news = finding.is_news_of(object) || object.at("status.checked").is_none();
        let was_asked = object.at("status.checkedFor").and_then(Value::as_str) != Some(&what);
        if is_news || was_asked {
            finding.tell(&mut new, &now);
            new.set_at("status.checked", now.into());
            new.set_at("status.checkedFor", what.into());
        }
        plan.change(&target.plane, object, new);
        plan
    }

    fn execute<'a>(&'a self, action: &'a Action, execution: &'a Execution) -> Executing<'a> {
        Box::pin(async move {
            let Ok(spec) = serde_json::from_value::<DnsZoneSpec>(action.parameters["zone"].clone()) else {
                return Outcome::Failed("the zone can't be read".to_owned());
            };
            let text = |field: &str| action.parameters[field].as_str().unwrap_or_default().to_owned();
            let outcome = match naming::provider(&spec, &text("secret")) {
                Err(why) => Err(why),
                Ok(provider) => provider.check().await.map_err(|error| error.to_string()),
            };
            let name = execution.target.at.name.clone();
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(name, (text("what"), outcome, Instant::now()));
            drop(known);
            let bell = self.bell.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(bell) = bell {
                bell(&execution.target);
            }
            Outcome::Done(Value::Null)
        })
    }
}
