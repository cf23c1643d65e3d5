//! Networking as a module.

use std::sync::Arc;

use krm::kind::Kind;
use reconcile::module::ReferencePage;
use reconcile::reconciler::Reconciler;

use crate::controllers::{LocationController, NetworkController};

/// Networks, subnets and locations.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "networking"
    }

    fn kinds(&self) -> Vec<Kind> {
        crate::all()
    }

    fn controllers(&self) -> Vec<Arc<dyn Reconciler>> {
        vec![Arc::new(NetworkController), Arc::new(LocationController)]
    }

    fn reference_page(&self) -> Option<ReferencePage> {
        Some(ReferencePage { path: "networking/reference.md", introduction: INTRODUCTION })
    }
}

const INTRODUCTION: &str = "\
# Networking reference

Every field of the networking kinds. **R** marks required fields. `groundplane explain networks.spec` prints the same from a
server.
";
