//! How a controller reaches a hub: the connection, if there is one, or what to do and to say until there is.

use std::sync::Arc;

use krm::kind::{Address, QueryContext, SEALED_NAMESPACE};
use reconcile::plan::Action;
use reconcile::reconciler::Outcome;
use reconcile::target::Target;
use serde_json::{Value, json};

use crate::hubs::{Call, Credentials, Hubs, Link, Reachability};
use crate::kinds::Hub;
use crate::kinds::hub::HubProvisioner;
use crate::provisioners::{self, HubFacts, Provisioner};
use crate::references::SealedReference;

/// Action that connects to a hub.
const CONNECT: &str = "connect";
/// Action that makes calls to a hub.
const CALL: &str = "call";

/// A hub that answers.
pub struct Reached {
    /// The connection.
    pub link: Arc<Link>,
    /// The hub.
    pub facts: HubFacts,
    /// What provisions there.
    pub provisioner: &'static dyn Provisioner,
}

/// A hub that can't be used now.
pub struct Unreached {
    /// Reason in CamelCase.
    pub reason: &'static str,
    /// For operators.
    pub message: String,
    /// What to do about it.
    pub action: Option<Action>,
}

/// The connection to a hub, for an object that is planned again when that changes.
pub fn reach(hubs: &Hubs, hub: &str, who: &Target, root: &dyn QueryContext) -> Result<Reached, Unreached> {
    let not = |reason: &'static str, message: String| Unreached { reason, message, action: None };
    let Some(found) = root.find::<Hub>(hub) else {
        return Err(not("HubGone", format!("Hub {hub} does not exist")));
    };
    let kind = found.spec.provisioner.unwrap_or_default();
    let provisioner = provisioners::of(kind);
    let sealed = |reference: &Option<SealedReference>| sealed(reference.as_ref(), root);
    let facts = HubFacts {
        id: found.id.clone().unwrap_or_else(|| found.metadata.name.clone()),
        name: found.display_name.clone().unwrap_or_else(|| found.metadata.name.clone()),
        namespace: found.spec.namespace.clone().unwrap_or_default(),
        pull_secret: sealed(&found.spec.pull_secret_ref).unwrap_or_default(),
        ssh_public_key: found.spec.ssh_public_key.clone().unwrap_or_default(),
        ip: found.spec.ip.clone().unwrap_or_default(),
    };
    let Some(kubeconfig) = sealed(&found.spec.kubeconfig_ref) else {
        return Err(not("HubIncomplete", format!("Hub {hub} has no kubeconfig")));
    };
    if facts.namespace.is_empty() {
        return Err(not("HubIncomplete", format!("Hub {hub} has no namespace")));
    }
    let generation = found.spec.kubeconfig_ref.as_ref().map_or(0, |it| it.generation);
    let version = format!("{}/{generation}/{}", found.metadata.uid, facts.namespace);
    let Some(link) = hubs.link(hub, &version, who) else {
        let parameters = json!({
            "hub": hub, "version": version, "kubeconfig": kubeconfig, "namespace": facts.namespace, "provisioner": kind,
        });
        let action = Some(Action { name: CONNECT.to_owned(), parameters, is_external: false });
        let message = "connecting".to_owned();
        return Err(Unreached { reason: "Connecting", message, action });
    };
    let not = |reason, message| Err(Unreached { reason, message, action: None });
    match link.reachability() {
        Reachability::Reachable => Ok(Reached { link, facts, provisioner }),
        Reachability::Connecting => not("Connecting", "connecting".to_owned()),
        Reachability::CutOff { why, .. } => not("HubUnreachable", why),
        Reachability::Refused(why) => not("HubRefuses", why),
    }
}

/// The action that makes calls; nothing if there are none.
pub fn calls(hub: &str, version: &str, calls: &[Call]) -> Option<Action> {
    let parameters = json!({"hub": hub, "version": version, "calls": calls});
    (!calls.is_empty()).then(|| Action { name: CALL.to_owned(), parameters, is_external: false })
}

/// Executes the actions of this file. Their parameters hold credentials, and nothing of them is told.
pub async fn execute(hubs: &Arc<Hubs>, action: &Action, who: &Target) -> Option<Outcome> {
    let text = |field: &str| action.parameters[field].as_str().unwrap_or_default().to_owned();
    match action.name.as_str() {
        CONNECT => {
            let kind = serde_json::from_value::<HubProvisioner>(action.parameters["provisioner"].clone());
            let Some(provisioner) = kind.ok().map(provisioners::of) else {
                return Some(Outcome::Failed("unknown provisioner".to_owned()));
            };
            let (version, kubeconfig, namespace) = (text("version"), text("kubeconfig"), text("namespace"));
            hubs.connect(&text("hub"), Credentials { version, kubeconfig, namespace, provisioner });
            // So that it is planned again when the connection is there.
            let _ = hubs.link(&text("hub"), &text("version"), who);
            Some(Outcome::Done(Value::Null))
        }
        CALL => {
            let Some(link) = hubs.link(&text("hub"), &text("version"), who) else {
                return Some(Outcome::Failed("the connection to the hub was replaced".to_owned()));
            };
            let Ok(calls) = serde_json::from_value::<Vec<Call>>(action.parameters["calls"].clone()) else {
                return Some(Outcome::Failed("the calls can't be read".to_owned()));
            };
            for call in &calls {
                if let Err(why) = link.call(call).await {
                    return Some(Outcome::Failed(format!("hub {}: {why}", text("hub"))));
                }
            }
            Some(Outcome::Done(Value::Null))
        }
        _ => None,
    }
}

/// A value that was moved into a Secret.
pub fn sealed(reference: Option<&SealedReference>, world: &dyn QueryContext) -> Option<String> {
    let reference = reference?;
    let at = Address {
        group: String::new(),
        plural: "secrets".to_owned(),
        namespace: SEALED_NAMESPACE.to_owned(),
        name: reference.name.clone(),
    };
    let secret = world.get(&at)?;
    let encoded = secret.get("data")?.get(&reference.key)?.as_str()?;
    String::from_utf8(krm::base64::decode(encoded).ok()?).ok()
}
