//! Quota as a module.

use std::sync::Arc;

use krm::kind::{EffectPlugin, Kind};
use reconcile::module::ReferencePage;
use reconcile::reconciler::Reconciler;

use crate::controller::QuotaController;
use crate::metering::Metering;

/// Grants, buckets, claims, and the policies that create them.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "quota"
    }

    fn kinds(&self) -> Vec<Kind> {
        crate::all()
    }

    fn controllers(&self) -> Vec<Arc<dyn Reconciler>> {
        vec![Arc::new(QuotaController)]
    }

    fn effects(&self) -> Vec<Arc<dyn EffectPlugin>> {
        vec![Arc::new(Metering::default())]
    }

    fn reference_page(&self) -> Option<ReferencePage> {
        Some(ReferencePage { path: "quota/reference.md", introduction: INTRODUCTION })
    }
}

const INTRODUCTION: &str = "\
# Quota reference

Every field of the quota kinds. **R** marks required fields. `groundplane explain resourceclaims.spec` prints the same from a
server.
";
