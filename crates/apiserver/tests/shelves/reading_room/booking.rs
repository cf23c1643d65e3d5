//! Bookings, in projects: each makes its seats as it is made, and they go with it.

use krm::kind::{Change, Declaration, Effect, Metadata, Planes, Refusal, Resource, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NameRef;
use super::seat::{Seat, SeatSpec};

/// A booking of seats.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Booking {
    pub metadata: Metadata,
    pub spec: BookingSpec,
}

/// What is booked.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BookingSpec {
    /// The class of the desks.
    pub class_ref: NameRef,
    /// How many seats.
    pub seats: u32,
}

impl Resource for Booking {
    const GROUP: &'static str = super::GROUP;
    const VERSION: &'static str = super::VERSION;
    const KIND: &'static str = "Booking";
    const PLURAL: &'static str = "bookings";

    fn declare() -> Declaration<Booking> {
        Declaration::namespaced().planes(Planes::Project).effects(makes_seats)
    }
}

fn makes_seats(change: &Change<Booking>, _: &mut View<'_>) -> Result<Vec<Effect>, Refusal> {
    let seats = |booking: &Booking| -> Vec<Seat> {
        let name = |number| format!("{}-{number}", booking.metadata.name);
        let namespace = &booking.metadata.namespace;
        let metadata =
            |number| Metadata { name: name(number), namespace: namespace.clone(), ..Metadata::default() };
        let spec = || SeatSpec { class_ref: booking.spec.class_ref.clone(), next_to_ref: None };
        let seat = |number| Seat { metadata: metadata(number), spec: spec(), status: None };
        (0..booking.spec.seats).map(seat).collect()
    };
    Ok(match (change.before(), change.after()) {
        (None, Some(booking)) => seats(booking).iter().map(Effect::create).collect(),
        (Some(booking), None) => {
            let all = seats(booking);
            let at = |seat: &Seat| Seat::address(&seat.metadata.namespace, &seat.metadata.name);
            all.iter().map(|seat| Effect::delete(at(seat))).collect()
        }
        _ => Vec::new(),
    })
}
