//! Kinds that cross planes: the root has desks of some classes, and a seat of a project takes one of them.

pub mod booking;
pub mod desk;
pub mod desk_class;
pub mod request;
pub mod seat;

use krm::kind::{Kind, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kinds::{GROUP, VERSION};

/// Where classes of desks are.
pub const CLASSES: &str = "/apis/example.groundplane.dev/v1alpha1/deskclasses";
/// Where desks are.
pub const DESKS: &str = "/apis/example.groundplane.dev/v1alpha1/desks";
/// Where seats of the default namespace are.
pub const SEATS: &str = "/apis/example.groundplane.dev/v1alpha1/namespaces/default/seats";

/// Where requests for seats of the default namespace are.
pub const REQUESTS: &str = "/apis/example.groundplane.dev/v1alpha1/namespaces/default/seatrequests";
/// Where bookings of the default namespace are.
pub const BOOKINGS: &str = "/apis/example.groundplane.dev/v1alpha1/namespaces/default/bookings";

/// All of them.
pub fn all() -> Vec<Kind> {
    vec![
        desk_class::DeskClass::kind(),
        desk::Desk::kind(),
        seat::Seat::kind(),
        booking::Booking::kind(),
        request::SeatRequest::kind(),
    ]
}

/// An object by its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NameRef {
    #[schemars(length(min = 1))]
    pub name: String,
}

/// A class, of which at most so many desks may be taken.
pub fn class(name: &str, limit: Option<u32>) -> Value {
    object("DeskClass", name, limit.map_or(json!({}), |limit| json!({"limit": limit})))
}

/// A desk of a class.
pub fn desk(name: &str, class: &str) -> Value {
    object("Desk", name, json!({"classRef": {"name": class}}))
}

/// A seat at some desk of a class.
pub fn seat(name: &str, class: &str) -> Value {
    object("Seat", name, json!({"classRef": {"name": class}}))
}

/// A request for a seat at some desk of a class, which waits until one is free.
pub fn request(name: &str, class: &str) -> Value {
    object("SeatRequest", name, json!({"classRef": {"name": class}}))
}

/// A booking of so many seats.
pub fn booking(name: &str, class: &str, seats: u32) -> Value {
    object("Booking", name, json!({"classRef": {"name": class}, "seats": seats}))
}

/// The same next to a certain desk.
pub fn seat_next_to(name: &str, class: &str, desk: &str) -> Value {
    object("Seat", name, json!({"classRef": {"name": class}, "nextToRef": {"name": desk}}))
}

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": format!("{GROUP}/{VERSION}"), "kind": kind, "metadata": {"name": name}, "spec": spec})
}
