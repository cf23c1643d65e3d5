//! The connections of one listener: how many there may be, and how many of one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Room for connections.
pub(super) struct Pool {
    room: Arc<Semaphore>,
    addresses: Arc<Mutex<HashMap<IpAddr, usize>>>,
    per_address: usize,
}

/// A connection that goes on; it counts until this is dropped.
pub(super) struct Place {
    _room: Option<OwnedSemaphorePermit>,
    addresses: Arc<Mutex<HashMap<IpAddr, usize>>>,
    address: IpAddr,
}

impl Pool {
    pub(super) fn new(connections: usize, per_address: usize) -> Pool {
        Pool { room: Arc::new(Semaphore::new(connections)), addresses: Arc::default(), per_address }
    }

    /// Waits until there is room for one more connection.
    pub(super) async fn room(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        self.room.clone().acquire_owned().await.ok()
    }

    /// A place for a connection from an address, unless that has too many.
    pub(super) fn place(&self, room: Option<OwnedSemaphorePermit>, address: IpAddr) -> Option<Place> {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let count = addresses.entry(address).or_default();
        if *count >= self.per_address {
            return None;
        }
        *count += 1;
        Some(Place { _room: room, addresses: self.addresses.clone(), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = addresses.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                addresses.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_address_cannot_take_the_places_of_others() {
        let pool = Pool::new(3, 2);
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let first = pool.place(pool.room().await, one).unwrap();
        let _second = pool.place(pool.room().await, one).unwrap();
        assert!(pool.place(pool.room().await, one).is_none());
        let _other = pool.place(pool.room().await, other).unwrap();
        assert_eq!(pool.room.available_permits(), 0);
        drop(first);
        assert!(pool.place(pool.room().await, one).is_some());
    }
}
