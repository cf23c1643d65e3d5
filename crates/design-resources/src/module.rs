//! Site designs as a module.

use std::sync::Arc;

use krm::kind::Kind;
use reconcile::reconciler::Reconciler;

use crate::controller::DesignController;

/// Site designs.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "design"
    }

    fn kinds(&self) -> Vec<Kind> {
        crate::all()
    }

    fn group_priorities(&self) -> Vec<(&'static str, i32)> {
        vec![(crate::kinds::GROUP, 20)]
    }

    fn controllers(&self) -> Vec<Arc<dyn Reconciler>> {
        vec![Arc::new(DesignController)]
    }
}
