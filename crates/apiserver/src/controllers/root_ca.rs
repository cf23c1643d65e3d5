//! The certificate authority of the server, in every namespace, for programs that talk to it.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Planes, QueryContext};
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::json;

use super::service_accounts::in_namespace;

const PLURAL: &str = "configmaps";
const CONFIG_MAP: &str = "kube-root-ca.crt";

/// Keeps a ConfigMap with the certificates by which clients verify the server.
pub struct RootCertificates {
    certificates: String,
}

impl RootCertificates {
    /// Its name.
    pub const NAME: &'static str = "root-ca-certificate-publisher-controller";

    /// Publishes these, in PEM.
    pub fn new(certificates: impl Into<String>) -> RootCertificates {
        RootCertificates { certificates: certificates.into() }
    }
}

impl Reconciler for RootCertificates {
    fn name(&self) -> &'static str {
        RootCertificates::NAME
    }

    fn description(&self) -> &'static str {
        "Keeps the ConfigMap `kube-root-ca.crt` of every namespace."
    }

    fn scope(&self) -> Scope {
        Scope::resource("", "namespaces", Planes::Both)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new("", &[PLURAL], &["create", "update"])]
    }

    fn plan(&self, target: &Target, namespace: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if namespace.is_deleting() {
            return plan;
        }
        let data = json!({ "ca.crt": self.certificates });
        match context.here().get(&in_namespace(PLURAL, namespace, CONFIG_MAP)) {
            None => {
                let mut map = Object::new("v1", "ConfigMap");
                map.set_meta("name", Some(CONFIG_MAP.into()));
                map.set_meta("namespace", Some(namespace.name().into()));
                map.set("data", Some(data));
                plan.write(Write::Create(target.plane.clone(), map));
            }
            Some(found) if found.get("data") != Some(&data) && !found.is_deleting() => {
                let mut map = Object::clone(&found);
                map.set("data", Some(data));
                plan.write(Write::Update(target.plane.clone(), map));
            }
            Some(_) => {}
        }
        plan
    }
}
