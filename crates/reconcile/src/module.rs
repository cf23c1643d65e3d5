//! The module trait: everything that a subject, such as the inventory, adds to a program.

use std::sync::Arc;

use krm::Object;
use krm::kind::{EffectPlugin, Kind};

use crate::feature::{FeatureGate, FeatureGates};
use crate::reconciler::Reconciler;

/// A subject: its kinds, and what comes with them. The program has one list of its modules; nothing else names them.
pub trait Module: Send + Sync {
    /// Name of the subject, in lower case.
    fn name(&self) -> &'static str;

    /// Its kinds, with their rules and questions.
    fn kinds(&self) -> Vec<Kind> {
        Vec::new()
    }

    /// Priorities of its groups in discovery, those of a higher one first. Where a plural exists in several groups, clients take
    /// the first. Groups that are not named have 0, as Kubernetes' own.
    fn group_priorities(&self) -> Vec<(&'static str, i32)> {
        Vec::new()
    }

    /// Its controllers.
    fn controllers(&self) -> Vec<Arc<dyn Reconciler>> {
        Vec::new()
    }

    /// What of it is behind feature gates. While a gate is closed, nothing of its part is there: its kinds are not served.
    fn gated(&self) -> Vec<Gated> {
        Vec::new()
    }

    /// Effects on changes of kinds that are not its own, such as metering. Called once for each server.
    fn effects(&self) -> Vec<Arc<dyn EffectPlugin>> {
        Vec::new()
    }

    /// Objects of the root that are created at a start of the server if they are missing, each after those that it refers
    /// to. Later changes to them stay.
    fn first_objects(&self) -> Vec<Object> {
        Vec::new()
    }

    /// What it needs for a first use on one machine, in these cities. Made at a start with `--local-cities`.
    fn local_start(&self, cities: &[String]) -> LocalStart {
        let _ = cities;
        LocalStart::default()
    }

    /// Its part of the demo. `None` if it has none.
    fn demo(&self) -> Option<Demo> {
        None
    }

    /// The page of the documentation with all fields of its kinds. `None` if it has none.
    fn reference_page(&self) -> Option<ReferencePage> {
        None
    }
}

/// Objects for a first use on one machine, each after those that it refers to. Those that exist stay as they are.
#[derive(Debug, Clone, Default)]
pub struct LocalStart {
    /// Objects of the root.
    pub root: Vec<Object>,
    /// Objects of the project that is used first, in its namespace `default` unless they name another one.
    pub project: Vec<Object>,
}

/// A part of a module that is there only while a feature gate is open.
pub struct Gated {
    /// The gate.
    pub gate: FeatureGate,
    /// The part, which is a module in itself.
    pub part: Box<dyn Module>,
}

/// The feature gates of modules, at their defaults.
pub fn feature_gates<'a>(modules: impl IntoIterator<Item = &'a dyn Module>) -> FeatureGates {
    let gated = modules.into_iter().flat_map(|module| module.gated());
    FeatureGates::new(gated.map(|gated| gated.gate))
}

/// What modules bring, with the parts whose gates are open.
pub fn brought<'a, T>(
    modules: impl IntoIterator<Item = &'a dyn Module>,
    gates: &FeatureGates,
    bring: impl Fn(&dyn Module) -> Vec<T>,
) -> Vec<T> {
    let mut all = Vec::new();
    for module in modules {
        all.extend(bring(module));
        let open = module.gated().into_iter().filter(|gated| gates.is_open(gated.gate.name));
        all.extend(open.flat_map(|gated| bring(&*gated.part)));
    }
    all
}

/// What a module adds to the demo.
pub struct Demo {
    /// Its objects, each after those that it refers to. They are always the same.
    pub objects: Vec<Object>,
    /// Commands to try on them, without the name of the program. Each works as it stands, in any shell.
    pub commands: &'static [&'static str],
    /// What to know of these commands, in a line below them.
    pub note: &'static str,
}

/// Where the generated reference of a module's kinds is, and how it begins.
pub struct ReferencePage {
    /// Its file below the folder of the documentation.
    pub path: &'static str,
    /// Its title and the paragraphs before the first kind.
    pub introduction: &'static str,
}
