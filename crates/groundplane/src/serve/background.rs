//! The threads of the controllers: apart from those that answer requests, at a lower priority, and on half of the processors
//! where there are four or more.
//!
//! A request that comes in finds a processor without controllers. Where it does not, the kernel still lets a running thread go on
//! for some milliseconds, however low its priority: that is why priority alone is not enough.

use std::time::Duration;

use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::failure::Failure;

/// How far controllers give way to requests, on the scale of nice(1): they get about a quarter of a processor that a request
/// wants too, and all of one that nobody wants.
const FURTHER: i32 = 5;
/// The end of that scale.
const NICEST: i32 = 19;

/// Processors from which on controllers keep to half of them.
const ENOUGH: usize = 4;

/// How long the end of the process waits for what can't be cancelled.
const PATIENCE: Duration = Duration::from_secs(1);

/// A runtime whose threads give way to all others of the process.
pub struct Background {
    runtime: Option<Runtime>,
    handle: Handle,
}

impl Background {
    /// Starts the threads: one for each of their processors, and two at least, so that a plan that takes long does not hold
    /// up all other controllers.
    pub fn start() -> Result<Background, Failure> {
        let processors = sched_getaffinity(None).ok().and_then(|all| half(&all));
        let count = processors.as_ref().map_or(1, |processors| processors.count() as usize);
        let runtime = Builder::new_multi_thread()
            .worker_threads(count.max(2))
            .thread_name("controllers")
            .on_thread_start(move || give_way(processors.as_ref()))
            .enable_all()
            .build()
            .map_err(|error| Failure::new("starting the threads of the controllers", error))?;
        Ok(Background { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    /// What starts work on these threads.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(PATIENCE);
        }
    }
}

/// On Linux priority and processors are those of the thread, not of the process.
fn give_way(processors: Option<&CpuSet>) {
    let given_way = getpriority_process(None)
        .and_then(|niceness| setpriority_process(None, (niceness + FURTHER).min(NICEST)));
    if let Err(error) = given_way {
        tracing::warn!(%error, "controllers have the same priority as requests");
    }
    if let Some(Err(error)) = processors.map(|processors| sched_setaffinity(None, processors)) {
        tracing::warn!(%error, "controllers use all processors");
    }
}

/// The second half of some processors; `None` where they are few: other programs could then hold up all controllers.
fn half(all: &CpuSet) -> Option<CpuSet> {
    let count = all.count() as usize;
    if count < ENOUGH {
        return None;
    }
    let mut half = CpuSet::new();
    let set = (0..CpuSet::MAX_CPU).filter(|processor| all.is_set(*processor));
    set.skip(count - count / 2).for_each(|processor| half.set(processor));
    Some(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(processors: &[usize]) -> CpuSet {
        let mut set = CpuSet::new();
        processors.iter().for_each(|processor| set.set(*processor));
        set
    }

    #[test]
    fn controllers_get_half_of_the_processors_that_the_process_may_use() {
        assert_eq!(half(&set(&[3])), None);
        assert_eq!(half(&set(&[0, 1])), None);
        assert_eq!(half(&set(&[0, 1, 2, 3])), Some(set(&[2, 3])));
        assert_eq!(half(&set(&[1, 2, 5, 7, 9])), Some(set(&[7, 9])));
    }
}
