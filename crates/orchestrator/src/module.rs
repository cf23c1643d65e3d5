//! Orchestration as a module.

use std::sync::Arc;

use krm::kind::Kind;
use reconcile::module::ReferencePage;
use reconcile::reconciler::Reconciler;

use crate::controllers::{NodeTaskController, TaskController};
use crate::oob::{HostBmcs, Oob};

/// Tasks, provisioners and what came of them.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "orchestration"
    }

    fn kinds(&self) -> Vec<Kind> {
        crate::all()
    }

    fn controllers(&self) -> Vec<Arc<dyn Reconciler>> {
        let oob = |name| -> Arc<dyn Oob> { Arc::new(HostBmcs::over_network(name)) };
        vec![
            Arc::new(TaskController::new(oob("task-controller"))),
            Arc::new(NodeTaskController::new(oob("node-task-controller"))),
        ]
    }

    fn reference_page(&self) -> Option<ReferencePage> {
        Some(ReferencePage { path: "orchestration/reference.md", introduction: INTRODUCTION })
    }
}

const INTRODUCTION: &str = "\
# Orchestration reference

Every field of the orchestration kinds. [Tasks](../tasks.md) explains how they work together. **R** marks required fields.
`groundplane explain tasks.spec` prints the same from a server.
";
