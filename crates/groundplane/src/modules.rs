//! The modules of this program. A new subject is one line in [`all`].

use std::sync::Arc;

use apiserver::catalog::Kinds;
use apiserver::server_module::{Environment, Parts, Plugins, ServerModule};
use krm::Object;
use krm::kind::{Kind, Mistakes};
use reconcile::feature::FeatureGates;
use reconcile::module::{self, Demo, LocalStart, Module};
use reconcile::reconciler::Reconciler;

/// A module, with or without a part in the server.
pub enum Listed {
    /// Kinds and controllers that need nothing but the API.
    Domain(Box<dyn Module>),
    /// One that has a part in the server.
    Server(Box<dyn ServerModule>),
}

/// All of them. Kinds are served in this order.
pub fn all() -> Vec<Listed> {
    vec![
        Listed::Domain(Box::new(inventory::Module)),
        Listed::Server(Box::new(platform::Module)),
        Listed::Domain(Box::new(design_resources::Module)),
        Listed::Domain(Box::new(services::Module)),
        Listed::Domain(Box::new(quota::Module)),
        Listed::Domain(Box::new(networking::Module)),
        Listed::Domain(Box::new(compute::Module)),
        Listed::Domain(Box::new(fulfillment::Module)),
        Listed::Domain(Box::new(sources::Module)),
        Listed::Domain(Box::new(orchestrator::Module)),
        Listed::Server(Box::new(gateway::Module)),
        Listed::Server(Box::new(portal::Module)),
    ]
}

impl Listed {
    /// The module.
    pub fn module(&self) -> &dyn Module {
        match self {
            Listed::Domain(module) => &**module,
            Listed::Server(module) => &**module,
        }
    }
}

/// The feature gates of all modules, at their defaults.
pub fn feature_gates() -> FeatureGates {
    let all = all();
    module::feature_gates(all.iter().map(Listed::module))
}

/// What all modules bring, with the parts whose gates are open.
fn brought<T>(gates: &FeatureGates, bring: impl Fn(&dyn Module) -> Vec<T>) -> Vec<T> {
    let all = all();
    module::brought(all.iter().map(Listed::module), gates, bring)
}

/// The server's own kinds and those of all modules.
pub fn kinds(gates: &FeatureGates) -> Result<Arc<Kinds>, Mistakes> {
    let mut kinds = apiserver::kinds::all();
    kinds.extend(brought(gates, |module| module.kinds()));
    let priorities = brought(gates, |module| module.group_priorities());
    let priorities = priorities.into_iter().map(|(group, priority)| (group.to_owned(), priority));
    let planes = servers().iter().find_map(|module| module.planes());
    Ok(Arc::new(Kinds::new(kinds)?.with_planes(planes).with_priorities(priorities)))
}

/// Kinds that another server can serve: those that need no part in it.
pub fn portable_kinds() -> Vec<Kind> {
    let domains = domains();
    module::brought(domains.iter().map(|module| &**module), &feature_gates(), |module| module.kinds())
}

/// The parts of all modules in a server.
pub fn parts(environment: &Environment) -> Parts {
    let effects = self::all().iter().flat_map(|listed| listed.module().effects()).collect();
    let mut all = Parts { plugins: Plugins { effects, ..Plugins::default() }, ..Parts::default() };
    for module in servers() {
        let parts = module.parts(environment);
        all.plugins.authorizers.extend(parts.plugins.authorizers);
        all.plugins.effects.extend(parts.plugins.effects);
        all.signers = all.signers.or(parts.signers);
        all.sessions = all.sessions.or(parts.sessions);
        all.virtual_resources.extend(parts.virtual_resources);
        all.routes.extend(parts.routes);
        all.node_routes.extend(parts.node_routes);
        all.node_authenticators.extend(parts.node_authenticators);
        all.controllers.extend(parts.controllers);
    }
    all
}

/// All controllers that can be chosen, in the order of the documentation; `parts` are those of the server that runs them.
/// Clients verify that server by `certificates`.
pub fn controllers(
    kinds: &Kinds,
    parts: &Parts,
    gates: &FeatureGates,
    certificates: &str,
) -> Vec<Arc<dyn Reconciler>> {
    let mut controllers = apiserver::controllers::own(kinds, certificates);
    controllers.extend(domain_controllers(gates));
    controllers.extend(parts.controllers.iter().cloned());
    controllers
}

/// The controllers of modules without a part in the server.
pub fn domain_controllers(gates: &FeatureGates) -> Vec<Arc<dyn Reconciler>> {
    let domains = domains();
    module::brought(domains.iter().map(|module| &**module), gates, |module| module.controllers())
}

/// The modules with a part in the server.
pub fn servers() -> Vec<Box<dyn ServerModule>> {
    let server = |listed| match listed {
        Listed::Server(module) => Some(module),
        Listed::Domain(_) => None,
    };
    all().into_iter().filter_map(server).collect()
}

/// Objects that exist from the first start on.
pub fn first_objects(gates: &FeatureGates) -> Vec<Object> {
    brought(gates, |module| module.first_objects())
}

/// What all modules need for a first use on one machine, in these cities.
pub fn local_start(cities: &[String]) -> LocalStart {
    let mut all = LocalStart::default();
    for listed in self::all() {
        let one = listed.module().local_start(cities);
        all.root.extend(one.root);
        all.project.extend(one.project);
    }
    all
}

/// The demo of each module that has one.
pub fn demos() -> Vec<Demo> {
    brought(&feature_gates(), |module| module.demo().into_iter().collect())
}

fn domains() -> Vec<Box<dyn Module>> {
    let domain = |listed| match listed {
        Listed::Domain(module) => Some(module),
        Listed::Server(_) => None,
    };
    all().into_iter().filter_map(domain).collect()
}

#[cfg(test)]
mod named_elsewhere;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn somewhere() -> Environment {
        let gates = feature_gates();
        let kinds = kinds(&gates).unwrap();
        Environment { kinds, gates, audience: String::new(), audit_log: None, is_one_of_several: false }
    }

    #[test]
    fn every_controller_has_a_name_of_its_own_and_a_description() {
        let somewhere = somewhere();
        let controllers = controllers(&somewhere.kinds, &parts(&somewhere), &feature_gates(), "");
        let names: BTreeSet<&str> = controllers.iter().map(|controller| controller.name()).collect();
        assert_eq!(names.len(), controllers.len());
        for controller in controllers {
            let text = controller.description();
            let is_sentence = text.starts_with(char::is_uppercase) && text.ends_with('.');
            assert!(is_sentence, "{}: {text:?}", controller.name());
        }
    }

    #[test]
    fn no_two_modules_have_a_name_or_a_group_in_common() {
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for listed in all() {
            let module = listed.module();
            assert!(taken.insert(module.name().to_owned()), "{}", module.name());
            let groups: BTreeSet<String> = module.kinds().into_iter().map(|kind| kind.group).collect();
            for group in groups {
                assert!(taken.insert(group.clone()), "{group} of {}", module.name());
            }
        }
    }

    #[test]
    fn first_objects_and_those_of_the_demo_are_of_kinds_that_are_served() {
        let gates = feature_gates();
        let kinds = kinds(&gates).unwrap();
        let catalog = kinds.of(&apiserver::plane::Plane::root());
        let demos = demos().into_iter().flat_map(|demo| demo.objects);
        let mut seen = 0;
        for object in first_objects(&gates).into_iter().chain(demos) {
            let (group, _) = krm::kind::split_api_version(object.api_version());
            assert!(catalog.kind(group, object.kind()).is_some(), "{}", object.kind());
            seen += 1;
        }
        assert!(seen > 0);
    }
}
