//! Desks, in the root: each of a class, and free or taken by the seat of a project.

use krm::kind::{Bucket, Declaration, Metadata, Planes, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NameRef;
use super::desk_class::DeskClass;

/// The bucket of the free desks of a class.
pub const FREE: Bucket = Bucket::new("example.groundplane.dev/free-desks");

/// A desk.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Desk {
    pub metadata: Metadata,
    pub spec: DeskSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<DeskStatus>,
}

/// What a desk is.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeskSpec {
    /// Its class.
    pub class_ref: NameRef,
}

/// Who has a desk.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub struct DeskStatus {
    /// The seat that has taken it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<Taker>,
}

/// A seat of a project.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Taker {
    pub project: String,
    pub project_uid: String,
    pub uid: String,
}

impl Resource for Desk {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Desk";
    const PLURAL: &'static str = "desks";

    fn declare() -> Declaration<Desk> {
        Declaration::cluster()
            .planes(Planes::Root)
            .status()
            .refers(Reference::to::<DeskClass>("spec.classRef.name"))
            .bucket(FREE, |desk: &Desk| match desk.taker() {
                None => vec![desk.spec.class_ref.name.clone()],
                Some(_) => Vec::new(),
            })
    }
}

impl Desk {
    /// Who has taken it.
    pub fn taker(&self) -> Option<&Taker> {
        self.status.as_ref()?.seat.as_ref()
    }

    /// The same, taken by somebody or nobody.
    pub fn taken_by(self, seat: Option<Taker>) -> Desk {
        Desk { status: Some(DeskStatus { seat }), ..self }
    }
}
