//! The platform services as a module of the server.

use std::sync::Arc;

use apiserver::api::Api;
use apiserver::controllers::planes::PlaneController;
use apiserver::plane::PlaneKind;
use apiserver::server_module::{Bootstrapping, Environment, Parts, Plugins, ServerModule};
use krm::kind::Kind;

use crate::activity::answers::{Activities, Answers};
use crate::iam::controller::IamController;
use crate::iam::defined_controller::DefinedController;
use crate::iam::{self, Iam};
use crate::tenancy::PLANES;
use crate::tenancy::controller::TenancyController;

/// The platform services.
pub struct Module;

impl reconcile::module::Module for Module {
    fn name(&self) -> &'static str {
        "platform"
    }

    fn kinds(&self) -> Vec<Kind> {
        crate::all()
    }

    fn group_priorities(&self) -> Vec<(&'static str, i32)> {
        // A role is one of RBAC's for whoever does not say more, as everywhere.
        vec![(iam::GROUP, -10)]
    }
}

impl ServerModule for Module {
    fn planes(&self) -> Option<PlaneKind> {
        Some(PLANES)
    }

    fn parts(&self, environment: &Environment) -> Parts {
        let iam = Arc::new(Iam::new(environment.kinds.clone()).for_audience(&environment.audience));
        let activities = Activities::new(environment.audit_log.clone(), environment.is_one_of_several);
        Parts {
            plugins: Plugins { authorizers: vec![iam.clone()], ..Plugins::default() },
            signers: Some(iam.clone()),
            virtual_resources: vec![Arc::new(Answers(activities))],
            controllers: vec![
                Arc::new(PlaneController {
                    name: "project-controller",
                    description: "Empties the control planes of projects that are being deleted.",
                    planes: PLANES,
                    writes: &["projects", "projects/status"],
                }),
                Arc::new(IamController(iam.clone())),
                Arc::new(DefinedController),
                Arc::new(TenancyController(iam)),
            ],
            ..Parts::default()
        }
    }

    fn bootstrap<'a>(&'a self, api: &'a Api) -> Bootstrapping<'a> {
        Box::pin(crate::bootstrap::run(api))
    }
}
