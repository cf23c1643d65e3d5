//! Instances that are played by a script, on an injected clock.
//!
//! A [`Script`] says, for an image, how long its pull takes, how it fails, when the container becomes ready and when and how
//! it exits. Images without a script are pulled at once, run and are ready. Nothing runs on the machine.

mod instance;
mod script;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::net::TcpStream;
use tokio::sync::broadcast;

pub use script::{Ending, Script};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::id::InstanceId;
use crate::runtime::{Event, ExecRequest, ExecSession, LogRequest, LogStream, Runtime};
use crate::spec::InstanceSpec;
use crate::state::{Capability, Check, ExitCause, InstanceState, Phase, Usage};

use instance::Instance;

/// How many events a receiver may be behind.
const EVENTS: usize = 1024;

/// A runtime whose instances are played by scripts.
///
/// Clones are the same runtime. Instances live as long as one of them; what is kept over a restart of its caller is what the
/// caller keeps of it, as a machine outlives its agent.
#[derive(Clone)]
pub struct Simulated(Arc<Inner>);

struct Inner {
    clock: Arc<dyn Clock>,
    events: broadcast::Sender<Event>,
    world: Mutex<World>,
}

#[derive(Default)]
struct World {
    scripts: BTreeMap<String, Script>,
    missing: Vec<Capability>,
    instances: BTreeMap<InstanceId, Instance>,
    served: BTreeMap<InstanceId, SocketAddr>,
    /// How often a container was started, by instance id: what really ran, for checks against what objects say.
    starts: Vec<(InstanceId, u64)>,
}

impl Simulated {
    /// A machine without instances.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let (events, _) = broadcast::channel(EVENTS);
        Self(Arc::new(Inner { clock, events, world: Mutex::default() }))
    }

    /// Plays `script` for every container that is started from `image` from now on.
    pub fn script(&self, image: impl Into<String>, script: Script) {
        self.world().scripts.insert(image.into(), script);
    }

    /// Lets the machine lack something: `ensure` is refused with it until it is there again.
    pub fn set_missing(&self, missing: Vec<Capability>) {
        self.world().missing = missing;
    }

    /// Ends a running container, as if its process had ended.
    pub fn end(&self, id: &InstanceId, container: &str, cause: ExitCause, last_lines: &[&str]) -> Result<()> {
        let mut world = self.world();
        let instance = world.instances.get_mut(id).ok_or_else(|| Error::NotFound { id: id.clone() })?;
        instance.end(container, cause, last_lines, self.0.clock.now())?;
        drop(world);
        self.play(id);
        Ok(())
    }

    /// Where connections to the instance go, whatever the port: a server that the test runs itself.
    pub fn serve_at(&self, id: InstanceId, address: SocketAddr) {
        self.world().served.insert(id, address);
    }

    /// Sets what an instance uses.
    pub fn set_usage(&self, id: &InstanceId, usage: Usage) -> Result<()> {
        let mut world = self.world();
        let instance = world.instances.get_mut(id).ok_or_else(|| Error::NotFound { id: id.clone() })?;
        instance.usage = usage;
        Ok(())
    }

    /// Every start of an instance so far, with its epoch, in order. Restarts of containers are not starts of the instance.
    pub fn starts(&self) -> Vec<(InstanceId, u64)> {
        self.world().starts.clone()
    }

    /// The instances that have a running container, with their epoch.
    pub fn running(&self) -> Vec<(InstanceId, u64)> {
        let world = self.world();
        let running = world.instances.values().filter(|instance| instance.is_running());
        running.map(|instance| (instance.spec.id.clone(), instance.spec.epoch)).collect()
    }

    fn world(&self) -> MutexGuard<'_, World> {
        // What is kept is consistent between any two statements, so a panic elsewhere does not spoil it.
        self.0.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(&self, spec: InstanceSpec) -> Result<()> {
        let id = spec.id.clone();
        let mut world = self.world();
        if !world.missing.is_empty() {
            let missing = world.missing.iter().filter_map(|capability| capability.problem.clone()).collect();
            return Err(Error::MachineNotReady { missing });
        }
        crate::spec::validate(&spec)?;
        match world.instances.get_mut(&id) {
            Some(known) if known.spec.epoch == spec.epoch => return Ok(()),
            Some(known) if known.spec.epoch > spec.epoch => {
                return Err(Error::StaleEpoch { id, running: known.spec.epoch, asked: spec.epoch });
            }
            Some(known) => known.replace_by(spec, self.0.clock.now()),
            None => {
                world.instances.insert(id.clone(), Instance::new(spec, self.0.clock.now()));
            }
        }
        drop(world);
        self.play(&id);
        Ok(())
    }

    /// Takes every step of the instance that is due, tells about it, and waits in the background for the next.
    fn play(&self, id: &InstanceId) {
        let now = self.0.clock.now();
        let mut world = self.world();
        let World { scripts, instances, starts, .. } = &mut *world;
        let Some(instance) = instances.get_mut(id) else { return };
        let has_changed = instance.advance(now, scripts, starts);
        let next = instance.next_step().map(|at| at.duration_since(now).unwrap_or_default());
        let turn = instance.next_turn();
        let event = Event { id: id.clone(), epoch: instance.spec.epoch, removed: false };
        drop(world);
        if has_changed {
            let _ = self.0.events.send(event);
        }
        if let Some(wait) = next {
            tokio::spawn(self.clone().play_later(id.clone(), turn, wait));
        }
    }

    /// Goes on with an instance after `wait`, unless something else has moved it on meanwhile.
    fn play_later(self, id: InstanceId, turn: u64, wait: Duration) -> BoxFuture<'static, ()> {
        async move {
            self.0.clock.sleep(wait).await;
            let is_current = self.world().instances.get(&id).is_some_and(|instance| instance.turn() == turn);
            if is_current {
                self.play(&id);
            }
        }
        .boxed()
    }

    fn state(&self, id: &InstanceId) -> Result<InstanceState> {
        let world = self.world();
        let now = self.0.clock.now();
        world
            .instances
            .get(id)
            .map(|instance| instance.state(now))
            .ok_or_else(|| Error::NotFound { id: id.clone() })
    }

    /// Completes when the instance is in one of the phases, or is gone.
    async fn reach(&self, id: &InstanceId, phase: Phase) {
        let mut events = self.events();
        loop {
            match self.state(id) {
                Ok(state) if state.phase != phase => {}
                _ => return,
            }
            if let Err(broadcast::error::RecvError::Closed) = events.recv().await {
                return;
            }
        }
    }
}

impl Runtime for Simulated {
    fn ensure(&self, spec: InstanceSpec) -> BoxFuture<'_, Result<()>> {
        async move { self.accept(spec) }.boxed()
    }

    fn stop<'a>(&'a self, id: &'a InstanceId, grace: Duration) -> BoxFuture<'a, Result<()>> {
        async move {
            let now = self.0.clock.now();
            {
                let mut world = self.world();
                let instance =
                    world.instances.get_mut(id).ok_or_else(|| Error::NotFound { id: id.clone() })?;
                instance.stop(now, grace);
            }
            self.play(id);
            self.reach(id, Phase::Stopped).await;
            Ok(())
        }
        .boxed()
    }

    fn remove<'a>(&'a self, id: &'a InstanceId) -> BoxFuture<'a, Result<()>> {
        async move {
            let removed = self.world().instances.remove(id);
            if let Some(instance) = removed {
                let _ =
                    self.0.events.send(Event { id: id.clone(), epoch: instance.spec.epoch, removed: true });
            }
            Ok(())
        }
        .boxed()
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<InstanceState>>> {
        async move {
            let now = self.0.clock.now();
            Ok(self.world().instances.values().map(|instance| instance.state(now)).collect())
        }
        .boxed()
    }

    fn observe<'a>(&'a self, id: &'a InstanceId) -> BoxFuture<'a, Result<InstanceState>> {
        async move { self.state(id) }.boxed()
    }

    fn usage<'a>(&'a self, id: &'a InstanceId) -> BoxFuture<'a, Result<Usage>> {
        async move {
            let world = self.world();
            world
                .instances
                .get(id)
                .map(|instance| instance.usage)
                .ok_or_else(|| Error::NotFound { id: id.clone() })
        }
        .boxed()
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.0.events.subscribe()
    }

    fn logs(&self, request: LogRequest) -> BoxFuture<'_, Result<LogStream>> {
        async move {
            let lines = {
                let world = self.world();
                let instance = world
                    .instances
                    .get(&request.id)
                    .ok_or_else(|| Error::NotFound { id: request.id.clone() })?;
                instance.lines(&request)?
            };
            let (sender, stream) = LogStream::new(lines.len().max(1));
            for line in lines {
                // The channel holds as many as there are lines.
                let _ = sender.try_send(Ok(line));
            }
            if request.follow {
                // Nothing is written later: the stream stays open until its reader drops it.
                tokio::spawn(async move { sender.closed().await });
            }
            Ok(stream)
        }
        .boxed()
    }

    fn exec(&self, request: ExecRequest) -> BoxFuture<'_, Result<ExecSession>> {
        async move {
            let output = {
                let world = self.world();
                let instance = world
                    .instances
                    .get(&request.id)
                    .ok_or_else(|| Error::NotFound { id: request.id.clone() })?;
                instance.echo(&request)?
            };
            let (resize, _) = tokio::sync::mpsc::channel(1);
            Ok(ExecSession {
                stdin: Some(Box::new(tokio::io::sink())),
                stdout: Box::new(std::io::Cursor::new(output)),
                stderr: request.terminal.is_none().then(|| Box::new(tokio::io::empty()) as _),
                resize,
                exit: async { Ok(ExitCause::Code(0)) }.boxed(),
            })
        }
        .boxed()
    }

    fn connect<'a>(&'a self, id: &'a InstanceId, port: u16) -> BoxFuture<'a, Result<TcpStream>> {
        async move {
            let refused = |reason: String| Error::NotReachable { id: id.clone(), port, reason };
            let is_running = self.state(id)?.phase == Phase::Running;
            let address = self.world().served.get(id).copied();
            match address {
                Some(address) if is_running => {
                    TcpStream::connect(address).await.map_err(|error| refused(error.to_string()))
                }
                Some(_) => Err(refused("it is not running".to_owned())),
                None => Err(refused("a simulated instance listens nowhere".to_owned())),
            }
        }
        .boxed()
    }

    fn check(&self) -> BoxFuture<'_, Check> {
        async move {
            let mut capabilities = self.world().missing.clone();
            capabilities.push(Capability {
                name: "simulation".to_owned(),
                required: true,
                found: "instances are simulated; nothing runs on this machine".to_owned(),
                problem: None,
            });
            Check { capabilities }
        }
        .boxed()
    }
}
