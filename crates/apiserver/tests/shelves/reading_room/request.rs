//! Requests for seats, in projects: each waits in line until a desk is free, and then has a seat.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Declaration, Metadata, OwnerReference, Planes, Resource};
use reconcile::context::Context;
use reconcile::line::Line;
use reconcile::plan::{Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::NameRef;
use super::desk::FREE;
use super::seat::{Seat, SeatSpec};

/// A request for a seat.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct SeatRequest {
    pub metadata: Metadata,
    pub spec: SeatRequestSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SeatRequestStatus>,
}

/// What is requested.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatRequestSpec {
    /// The class of the desk.
    pub class_ref: NameRef,
}

/// What came of a request.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct SeatRequestStatus {
    /// Whether it has its seat.
    pub granted: bool,
}

impl Resource for SeatRequest {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "SeatRequest";
    const PLURAL: &'static str = "seatrequests";

    fn declare() -> Declaration<SeatRequest> {
        Declaration::namespaced().planes(Planes::Project).status()
    }
}

/// Gives seats to those who request one, first come, first served.
pub struct Porter;

impl Reconciler for Porter {
    fn name(&self) -> &'static str {
        "porter"
    }

    fn scope(&self) -> Scope {
        Scope::of::<SeatRequest>(Planes::Project)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(super::GROUP, &["seats"], &["create"]),
            Rule::new(super::GROUP, &["seatrequests/status"], &["update"]),
        ]
    }

    fn settings(&self) -> Settings {
        // One at a time: of several that are called at once, any could be the first.
        Settings { workers: 1, ..Settings::new(self.name()) }
    }

    fn waits_in_line(&self) -> bool {
        true
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let Ok(request) = serde_json::from_value::<SeatRequest>(object.0.clone().into()) else { return plan };
        if request.status.is_some_and(|status| status.granted) {
            return plan;
        }
        let line = Line::new("", FREE, &request.spec.class_ref.name);
        if !context.may_take(&line) {
            return plan.in_line(line).waiting_for("a desk to be free");
        }
        let owner = OwnerReference {
            api_version: object.api_version().to_owned(),
            kind: object.kind().to_owned(),
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
            ..OwnerReference::default()
        };
        let (name, namespace) = (request.metadata.name, request.metadata.namespace);
        let metadata = Metadata { name, namespace, owner_references: vec![owner], ..Metadata::default() };
        let spec = SeatSpec { class_ref: request.spec.class_ref, next_to_ref: None };
        let seat = json!(Seat { metadata, spec, status: None });
        let mut seat = Object::from_value(seat).unwrap_or_default();
        seat.set_type(object.api_version(), Seat::KIND);
        plan.write(Write::Create(target.plane.clone(), seat));
        let mut granted = Object::clone(object);
        granted.set("status", Some(json!({"granted": true})));
        plan.change(&target.plane, object, granted);
        plan
    }
}
