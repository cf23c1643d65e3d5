//! One of the servers that a simulated store has.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::engine::Engine;
use crate::embedded::committer::Job;
use crate::embedded::jobs::Route;
use crate::memory::Memory;

/// What belongs to one server alone: its memory, with its watches and what is held back from them.
pub(super) struct Server {
    pub name: Arc<str>,
    pub memory: Memory,
    engine: Arc<Engine>,
    closed: AtomicBool,
}

impl Server {
    pub fn of(engine: &Arc<Engine>, name: &str) -> Arc<Server> {
        let memory = engine.memory_of_server();
        Arc::new(Server { name: name.into(), memory, engine: engine.clone(), closed: AtomicBool::new(false) })
    }

    /// Takes nothing more; the last server closes the store.
    pub fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.engine.leave(&self.memory);
        }
    }
}

impl Route for Server {
    /// The job is done by a task of its own: also for a caller who no longer waits, and after those who came before.
    fn send(&self, job: Job) -> bool {
        if self.closed.load(Ordering::Acquire) {
            return false;
        }
        let (engine, name, memory) = (self.engine.clone(), self.name.clone(), self.memory.clone());
        tokio::spawn(async move { engine.process(&name, &memory, job).await });
        true
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}
