//! Compute as a module.

use std::sync::Arc;

use krm::kind::Kind;
use reconcile::module::{LocalStart, ReferencePage};
use reconcile::reconciler::Reconciler;

use crate::controller::CatalogController;
use crate::controllers::deployment::DeploymentController;
use crate::controllers::instance::InstanceController;
use crate::controllers::workload::WorkloadController;

/// Workloads, and the catalog of compute.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "compute"
    }

    fn kinds(&self) -> Vec<Kind> {
        crate::all()
    }

    fn controllers(&self) -> Vec<Arc<dyn Reconciler>> {
        vec![
            Arc::new(CatalogController),
            Arc::new(WorkloadController),
            Arc::new(DeploymentController::default()),
            Arc::new(InstanceController),
        ]
    }

    fn local_start(&self, cities: &[String]) -> LocalStart {
        crate::local::start(cities)
    }

    fn reference_page(&self) -> Option<ReferencePage> {
        Some(ReferencePage { path: "compute/reference.md", introduction: INTRODUCTION })
    }
}

const INTRODUCTION: &str = "\
# Compute reference

Every field of the compute kinds. **R** marks required fields. `groundplane explain workloads.spec` prints the same from a
server.
";
