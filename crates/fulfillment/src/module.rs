//! Fulfillment as a module.

use std::sync::Arc;

use krm::kind::Kind;
use reconcile::module::ReferencePage;
use reconcile::reconciler::Reconciler;

use crate::controllers::{ClaimController, HostController};

/// Hosts, hubs and clusters.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "fulfillment"
    }

    fn kinds(&self) -> Vec<Kind> {
        crate::all()
    }

    fn controllers(&self) -> Vec<Arc<dyn Reconciler>> {
        vec![Arc::new(HostController), Arc::new(ClaimController)]
    }

    fn reference_page(&self) -> Option<ReferencePage> {
        Some(ReferencePage { path: "fulfillment/reference.md", introduction: INTRODUCTION })
    }
}

const INTRODUCTION: &str = "\
# Fulfillment reference

Every field of the fulfillment kinds. [Fulfillment](../fulfillment.md) explains the model, and [fields](fields.md) says which
field of the gRPC and REST API each one is. **R** marks required fields. `groundplane explain hosts.spec` prints the same from a
server.
";
