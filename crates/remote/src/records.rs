//! The external actions that a controller has begun, as the server keeps them.
//!
//! They are read once, when the lease was taken: only its holder writes them. Controllers in the server have the same records,
//! so one that moves out of the server finds what it has begun there.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use client::{Client, Request, segment};
use reconcile::operation::Operations;
use serde_json::Value;

use crate::place::Place;

/// The records of one controller.
#[derive(Default)]
pub(crate) struct Records(Mutex<HashMap<Place, Operations>>);

impl Records {
    /// Reads all of them.
    pub async fn load(client: &Client, controller: &str) -> client::Result<Records> {
        let path = format!("/apis/groundplane.dev/v1alpha1/controllers/{}/operations", segment(controller));
        let list = client.in_root().value(&Request::get(path)).await?;
        let read = |item: &Value| {
            let place = Place::parse(item["object"].as_str()?)?;
            Some((place, Operations::read(&item["operations"])))
        };
        let items = list["items"].as_array().into_iter().flatten();
        Ok(Records(Mutex::new(items.filter_map(read).collect())))
    }

    /// The operations of an object.
    pub fn of(&self, place: &Place) -> Operations {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(place).cloned().unwrap_or_default()
    }

    /// Notes what was recorded.
    pub fn set(&self, place: &Place, operations: Operations) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match operations.is_empty() {
            true => drop(all.remove(place)),
            false => drop(all.insert(place.clone(), operations)),
        }
    }
}
