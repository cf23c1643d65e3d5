//! The inventory as a module.

use std::sync::Arc;

use krm::kind::Kind;
use reconcile::module::{Demo, ReferencePage};
use reconcile::reconciler::Reconciler;

use crate::controllers::InventoryController;
use crate::demo::{Size, fleet};

/// The seed of the demo's fleet.
const SEED: u64 = 1;

/// The physical inventory.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "inventory"
    }

    fn kinds(&self) -> Vec<Kind> {
        crate::all()
    }

    fn group_priorities(&self) -> Vec<(&'static str, i32)> {
        // Racks, nodes and clusters are those of the inventory, before those of any other group.
        vec![(crate::kinds::GROUP, 60), (crate::graph::GROUP, 10)]
    }

    fn controllers(&self) -> Vec<Arc<dyn Reconciler>> {
        vec![Arc::new(InventoryController)]
    }

    fn demo(&self) -> Option<Demo> {
        Some(Demo {
            objects: fleet(Size::SMALL, SEED),
            commands: &[
                "inventory summary",
                "inventory rack show --site fra1 --row A",
                "inventory trace fra1-a01-node01 eth0",
                "inventory impact networkdevice/fra1-spine1",
                "inventory find-space --units 2 --watts 500",
                "inventory export racks -o csv",
                "history rack.inventory.miloapis.com/fra1-a01",
                "delete rack fra1-a01",
            ],
            note: "The last one is refused, and the error says why. kubectl works too: kubectl get racks",
        })
    }

    fn reference_page(&self) -> Option<ReferencePage> {
        Some(ReferencePage { path: "inventory/reference.md", introduction: INTRODUCTION })
    }
}

const INTRODUCTION: &str = "\
# Inventory reference

Every field of the inventory kinds. [Inventory](../inventory.md) explains the model. **R** marks required fields.
`groundplane explain racks.spec` prints the same from a server.
";
