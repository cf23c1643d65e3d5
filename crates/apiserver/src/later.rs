//! Work that is deferred until after the response was sent.

/// Frees something large: tens of thousands of objects take as long to free as to make, and nobody has to wait for it.
pub fn free<T: Send + 'static>(large: T) {
    tokio::task::spawn_blocking(move || drop(large));
}
