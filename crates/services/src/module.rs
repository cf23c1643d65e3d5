//! Services as a module.

use std::sync::Arc;

use krm::kind::{EffectPlugin, Kind};
use reconcile::module::ReferencePage;
use reconcile::reconciler::Reconciler;

use crate::controllers::{
    AvailabilityController, EntitlementController, LocationBindingController, ServiceQuotaController,
};
use crate::gate::EntitlementGate;

/// The catalog of services, and who is entitled to them.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "services"
    }

    fn kinds(&self) -> Vec<Kind> {
        crate::all()
    }

    fn controllers(&self) -> Vec<Arc<dyn Reconciler>> {
        vec![
            Arc::new(EntitlementController),
            Arc::new(AvailabilityController),
            Arc::new(LocationBindingController),
            Arc::new(ServiceQuotaController),
        ]
    }

    fn effects(&self) -> Vec<Arc<dyn EffectPlugin>> {
        vec![Arc::new(EntitlementGate::default())]
    }

    fn reference_page(&self) -> Option<ReferencePage> {
        Some(ReferencePage { path: "services/reference.md", introduction: INTRODUCTION })
    }
}

const INTRODUCTION: &str = "\
# Services reference

Every field of the service kinds. **R** marks required fields. `groundplane explain serviceentitlements.spec` prints the same
from a server.
";
