//! Sources as a module.

use std::sync::Arc;

use krm::Object;
use krm::kind::{EffectPlugin, Kind};
use reconcile::module::ReferencePage;
use reconcile::reconciler::Reconciler;

use crate::controllers::{FindingController, NodeController};
use crate::guard::Guard;

/// Sources of hosts.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "sources"
    }

    fn kinds(&self) -> Vec<Kind> {
        crate::kinds::all()
    }

    fn controllers(&self) -> Vec<Arc<dyn Reconciler>> {
        vec![Arc::new(FindingController), Arc::new(NodeController)]
    }

    fn effects(&self) -> Vec<Arc<dyn EffectPlugin>> {
        vec![Arc::new(Guard)]
    }

    fn first_objects(&self) -> Vec<Object> {
        // It is there before the first Source, so that removing that one takes nothing else along.
        let mut namespace = Object::new("v1", "Namespace");
        namespace.set_meta("name", Some(crate::NAMESPACE.into()));
        vec![namespace]
    }

    fn reference_page(&self) -> Option<ReferencePage> {
        Some(ReferencePage { path: "sources/reference.md", introduction: INTRODUCTION })
    }
}

const INTRODUCTION: &str = "\
# Sources reference

Every field of the kinds of `sources.groundplane.dev`. [Sources](../sources.md) explains the model. **R** marks required fields.
`groundplane explain sources.spec` prints the same from a server.
";
