//! Default service accounts: every namespace has one.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Planes, QueryContext};
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;

const PLURAL: &str = "serviceaccounts";
const DEFAULT: &str = "default";

/// Makes the service account `default` of every namespace, and makes it again when somebody deletes it.
pub struct ServiceAccounts;

impl ServiceAccounts {
    /// Its name.
    pub const NAME: &'static str = "serviceaccount-controller";
}

impl Reconciler for ServiceAccounts {
    fn name(&self) -> &'static str {
        ServiceAccounts::NAME
    }

    fn description(&self) -> &'static str {
        "Creates the ServiceAccount `default` of every namespace."
    }

    fn scope(&self) -> Scope {
        Scope::resource("", "namespaces", Planes::Both)
    }

    fn role(&self) -> Vec<Rule> {
        vec![Rule::new("", &[PLURAL], &["create"])]
    }

    fn plan(&self, target: &Target, namespace: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if namespace.is_deleting() || context.here().get(&in_namespace(PLURAL, namespace, DEFAULT)).is_some()
        {
            return plan;
        }
        let mut account = Object::new("v1", "ServiceAccount");
        account.set_meta("name", Some(DEFAULT.into()));
        account.set_meta("namespace", Some(namespace.name().into()));
        plan.write(Write::Create(target.plane.clone(), account));
        plan
    }
}

/// An object of the core group in a namespace.
pub(super) fn in_namespace(plural: &str, namespace: &Object, name: &str) -> Address {
    Address {
        group: String::new(),
        plural: plural.to_owned(),
        namespace: namespace.name().to_owned(),
        name: name.to_owned(),
    }
}
