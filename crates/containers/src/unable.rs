//! A machine that can't run instances: everything that is asked of it is answered with what is missing.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::net::TcpStream;
use tokio::sync::broadcast;

use crate::error::{Error, Result};
use crate::id::InstanceId;
use crate::runtime::{Event, ExecRequest, ExecSession, LogRequest, LogStream, Runtime};
use crate::spec::InstanceSpec;
use crate::state::{Check, InstanceState, Usage};

/// Runs nothing, and says why.
pub struct Unable {
    check: Check,
    events: broadcast::Sender<Event>,
}

impl Unable {
    /// A machine that misses something.
    pub fn new(check: Check) -> Self {
        Self { check, events: broadcast::channel(1).0 }
    }

    fn error(&self) -> Error {
        let missing = self.check.missing().filter_map(|capability| capability.problem.clone()).collect();
        Error::MachineNotReady { missing }
    }

    fn refuse<T: Send + 'static>(&self) -> BoxFuture<'_, Result<T>> {
        async move { Err(self.error()) }.boxed()
    }
}

impl Runtime for Unable {
    fn ensure(&self, _: InstanceSpec) -> BoxFuture<'_, Result<()>> {
        self.refuse()
    }

    fn stop<'a>(&'a self, id: &'a InstanceId, _: Duration) -> BoxFuture<'a, Result<()>> {
        async move { Err(Error::NotFound { id: id.clone() }) }.boxed()
    }

    fn remove<'a>(&'a self, _: &'a InstanceId) -> BoxFuture<'a, Result<()>> {
        async move { Ok(()) }.boxed()
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<InstanceState>>> {
        async move { Ok(Vec::new()) }.boxed()
    }

    fn observe<'a>(&'a self, id: &'a InstanceId) -> BoxFuture<'a, Result<InstanceState>> {
        async move { Err(Error::NotFound { id: id.clone() }) }.boxed()
    }

    fn usage<'a>(&'a self, _: &'a InstanceId) -> BoxFuture<'a, Result<Usage>> {
        self.refuse()
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    fn logs(&self, _: LogRequest) -> BoxFuture<'_, Result<LogStream>> {
        self.refuse()
    }

    fn exec(&self, _: ExecRequest) -> BoxFuture<'_, Result<ExecSession>> {
        self.refuse()
    }

    fn connect<'a>(&'a self, _: &'a InstanceId, _: u16) -> BoxFuture<'a, Result<TcpStream>> {
        self.refuse()
    }

    fn check(&self) -> BoxFuture<'_, Check> {
        async move { self.check.clone() }.boxed()
    }
}
