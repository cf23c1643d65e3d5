//! Storage migration: writes objects anew that are stored in another version of their kind than objects are today.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Conversion, Planes};
use reconcile::context::Context;
use reconcile::plan::{Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;

use crate::catalog::Kinds;

/// Migrates the objects of kinds with several versions.
pub struct StorageVersions(Vec<Arc<Conversion>>);

impl StorageVersions {
    /// For these kinds; nothing if none of them has several versions.
    pub fn of(kinds: &Kinds) -> Option<StorageVersions> {
        let converting: Vec<Arc<Conversion>> =
            kinds.built_in().iter().filter_map(|kind| kind.conversion.clone()).collect();
        (!converting.is_empty()).then_some(StorageVersions(converting))
    }
}

impl Reconciler for StorageVersions {
    fn name(&self) -> &'static str {
        "storage-version-controller"
    }

    fn description(&self) -> &'static str {
        "Rewrites objects that are stored in another version of their kind than objects are today."
    }

    fn scope(&self) -> Scope {
        let mut resources = Vec::new();
        for conversion in &self.0 {
            resources.extend(conversion.resources.iter().map(|it| (conversion.group.into(), (*it).into())));
        }
        Scope::Resources(resources, Planes::Both)
    }

    fn role(&self) -> Vec<Rule> {
        let update =
            |conversion: &Arc<Conversion>| Rule::new(conversion.group, conversion.resources, &["update"]);
        self.0.iter().map(update).collect()
    }

    /// An update that changes nothing stores the object as objects are stored today.
    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if context.is_outdated(target) {
            plan.write(Write::Update(target.plane.clone(), Object::clone(object)));
        }
        plan
    }
}
