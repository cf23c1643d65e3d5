//! Fulfillment as a module.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Kind, SEALED_NAMESPACE};
use reconcile::module::ReferencePage;
use reconcile::reconciler::Reconciler;

use crate::bmcs::NetworkDrivers;
use crate::controllers::{
    ClaimController, ClusterController, HostController, HubController, OperationController,
    PlacementController, PowerController, ProvisioningController, ZoneController,
};
use crate::hubs::Hubs;

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
        let (drivers, hubs) = (Arc::new(NetworkDrivers), Arc::new(Hubs::default()));
        vec![
            Arc::new(HostController),
            Arc::new(ClaimController),
            Arc::new(PowerController::new(drivers.clone())),
            Arc::new(OperationController::new(drivers)),
            Arc::new(ClusterController),
            Arc::new(HubController::new(hubs.clone())),
            Arc::new(PlacementController::new(hubs.clone())),
            Arc::new(ProvisioningController::new(hubs)),
            Arc::new(ZoneController::default()),
        ]
    }

    fn first_objects(&self) -> Vec<Object> {
        // It is there before the first credential, so that no undo of the commit with that one takes it away.
        let mut namespace = Object::new("v1", "Namespace");
        namespace.set_meta("name", Some(SEALED_NAMESPACE.into()));
        vec![namespace]
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
