//! Seats, in projects: each takes a desk of the root as it is made, and gives it back as it goes.

use krm::kind::{Change, Declaration, Effect, Metadata, Missing, Planes, Reference, Refusal, Resource, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NameRef;
use super::desk::{Desk, FREE, Taker};
use super::desk_class::{DeskClass, TAKEN};

/// The label of a desk that says which project has it.
pub const TAKEN_BY: &str = "example.groundplane.dev/taken-by";

/// A seat at a desk.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Seat {
    pub metadata: Metadata,
    pub spec: SeatSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SeatStatus>,
}

/// Which desk a seat wants.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatSpec {
    /// The class of the desk.
    pub class_ref: NameRef,
    /// A desk that it is to be near.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_to_ref: Option<NameRef>,
}

/// Which desk a seat has.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatStatus {
    /// The desk that it has taken.
    pub desk_ref: NameRef,
}

impl Resource for Seat {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Seat";
    const PLURAL: &'static str = "seats";

    fn declare() -> Declaration<Seat> {
        let desks = |path: &str| Reference::to::<Desk>(path).in_root();
        Declaration::namespaced()
            .planes(Planes::Project)
            .status()
            .refers(Reference::to::<DeskClass>("spec.classRef.name").shared().immutable())
            .refers(desks("spec.nextToRef.name"))
            .refers(desks("status.deskRef.name").missing(Missing::Ignore))
            .effects(takes_a_desk)
    }
}

fn takes_a_desk(change: &Change<Seat>, view: &mut View<'_>) -> Result<Vec<Effect>, Refusal> {
    match (change.before(), change.after()) {
        (_, Some(seat)) if seat.status.is_none() => take(seat, view),
        (Some(seat), None) => Ok(give_back(seat, view)),
        _ => Ok(Vec::new()),
    }
}

fn take(seat: &Seat, view: &mut View<'_>) -> Result<Vec<Effect>, Refusal> {
    let project = view.project().ok_or_else(|| Refusal::Forbidden("seats are of projects".into()))?;
    let taker = Taker { project: project.name, project_uid: project.uid, uid: seat.metadata.uid.clone() };
    let mut root = view.root();
    let class = &seat.spec.class_ref.name;
    let chosen = root.choose(FREE, class, &seat.metadata.uid, |root, at| root.take::<Desk>(at));
    let Some(desk) = chosen else {
        // That there is none decides it: one that comes free meanwhile is taken after all.
        root.bucket(FREE, class);
        return Err(Refusal::Conflict("no desk is free".into()));
    };
    let desk_ref = NameRef { name: desk.metadata.name.clone() };
    let at = Desk::address("", &desk.metadata.name);
    let mut effects = vec![
        Effect::own_status(&SeatStatus { desk_ref }),
        Effect::labels(at, [(TAKEN_BY, Some(&taker.project))]).in_root(),
        Effect::status(&desk.taken_by(Some(taker))).in_root(),
    ];
    if let Some(limit) = limit_of(class, &mut root) {
        let full = Refusal::Conflict(format!("at most {limit} desks may be taken"));
        effects.push(TAKEN.add_within("", class, 1, limit, full).in_root());
    }
    Ok(effects)
}

fn give_back(seat: &Seat, view: &mut View<'_>) -> Vec<Effect> {
    let mut root = view.root();
    let Some(status) = &seat.status else { return Vec::new() };
    let taken = root.get::<Desk>(&status.desk_ref.name);
    let Some(desk) = taken.filter(|desk| desk.taker().is_some_and(|taker| taker.uid == seat.metadata.uid))
    else {
        return Vec::new();
    };
    let (class, at) = (&seat.spec.class_ref.name, Desk::address("", &desk.metadata.name));
    let mut effects = vec![
        Effect::status(&desk.taken_by(None)).in_root(),
        Effect::labels(at, [(TAKEN_BY, None::<&str>)]).in_root(),
    ];
    if limit_of(class, &mut root).is_some() {
        effects.push(TAKEN.subtract("", class, 1).in_root());
    }
    effects
}

fn limit_of(class: &str, root: &mut View<'_>) -> Option<i64> {
    root.get::<DeskClass>(class)?.spec.limit.map(i64::from)
}
