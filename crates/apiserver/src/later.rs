//! Work that is deferred until after the response was sent.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Frees something large: tens of thousands of objects take as long to free as to make, and nobody has to wait for it.
/// On a runtime of one thread, as simulations have, it is freed at once: there everything happens in one order.
pub fn free<T: Send + 'static>(large: T) {
    if Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread {
        tokio::task::spawn_blocking(move || drop(large));
    }
}
