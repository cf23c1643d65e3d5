//! Taking and releasing the claim on a host, in the commit of a plan.

use krm::Object;
use krm::kind::{QueryContext, Resource};
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kinds::HostClaim;
use crate::kinds::host_claim::Claimant;

/// The claim on a host as a plan sees it.
pub struct Claim {
    host: String,
    object: Option<Object>,
    parsed: Option<HostClaim>,
}

impl Claim {
    /// The claim on a host. The object is planned again when it changes.
    pub fn on(host: &str, context: &Context<'_>) -> Claim {
        let object = context.root().get(&HostClaim::address("", host));
        let parsed = object.as_ref().and_then(|it| HostClaim::deserialize(&Value::Object(it.0.clone())).ok());
        Claim { host: host.to_owned(), object: object.as_deref().cloned(), parsed }
    }

    /// The claim, if there ever was one.
    pub fn parsed(&self) -> Option<&HostClaim> {
        self.parsed.as_ref()
    }

    /// Who holds the host.
    pub fn holder(&self) -> Option<&Claimant> {
        self.parsed.as_ref()?.spec.holder.as_ref()
    }

    /// The epoch in which it is.
    pub fn epoch(&self) -> i64 {
        self.parsed.as_ref().map_or(0, HostClaim::epoch)
    }

    /// Takes the host, which nobody holds, in the commit of a plan. Answers the epoch in which the claim is then.
    pub fn take(&self, who: &Claimant, reason: &str, plan: &mut Plan) -> i64 {
        match &self.object {
            Some(object) => {
                let mut new = object.clone();
                let spec = new.0.entry("spec").or_insert_with(|| json!({}));
                spec["holder"] = json!(who);
                spec["reason"] = reason.into();
                plan.write(Write::Update(String::new(), new));
            }
            None => {
                let mut claim = HostClaim::of(&self.host, Some(who.clone()));
                claim.spec.reason = Some(reason.to_owned());
                let mut new =
                    Object::new(&format!("{}/{}", HostClaim::GROUP, HostClaim::VERSION), HostClaim::KIND);
                new.set_meta("name", Some(self.host.as_str().into()));
                new.set("spec", Some(json!(claim.spec)));
                plan.write(Write::Create(String::new(), new));
            }
        }
        self.epoch() + 1
    }

    /// Releases the host in the commit of a plan.
    pub fn release(&self, plan: &mut Plan) {
        let Some(mut new) = self.object.clone() else { return };
        if let Some(spec) = new.0.get_mut("spec").and_then(Value::as_object_mut) {
            ["holder", "delegate", "outsideDriver", "reason"].iter().for_each(|it| drop(spec.remove(*it)));
        }
        plan.write(Write::Update(String::new(), new));
    }
}
