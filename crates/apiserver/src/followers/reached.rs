//! How far the store was followed, and who waits for more.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// A number that others wait for. They are woken in the order in which they came, so that a simulation repeats itself: a
/// channel of tokio wakes them in one that it draws at random.
#[derive(Default)]
pub struct Reached {
    number: AtomicU64,
    changed: Notify,
}

impl Reached {
    /// It is this now.
    pub fn set(&self, number: u64) {
        self.number.store(number, Ordering::Release);
        self.changed.notify_waiters();
    }

    /// Whether it is at least this.
    pub fn is(&self, number: u64) -> bool {
        self.number.load(Ordering::Acquire) >= number
    }

    /// Waits until it is at least this.
    pub async fn wait_for(&self, number: u64) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            if self.is(number) {
                return;
            }
            changed.await;
        }
    }
}
