//! One address in front of many instances: a TCP proxy whose endpoints change while it serves.
//!
//! A new connection goes to the ready endpoint with the fewest connections. An endpoint that drains gets nothing new at once,
//! and keeps what it has. A connection that an endpoint does not take goes to the next one, so a caller sees a failure only if
//! no endpoint takes it.

mod endpoints;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use endpoints::{Endpoint, Readiness};

use crate::error::Result;
use crate::id::InstanceId;
use crate::runtime::Runtime;
use endpoints::Endpoints;

/// How long an endpoint may take to accept a connection before the next one is tried.
const CONNECT: Duration = Duration::from_secs(2);
/// How long a client waits for an endpoint when there is none, as in the moment between two of a roll.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes connections to endpoints.
pub trait Dial: Send + Sync + 'static {
    /// Connects to a port of an instance.
    fn dial<'a>(&'a self, id: &'a InstanceId, port: u16) -> BoxFuture<'a, Result<TcpStream>>;
}

impl<R: Runtime + ?Sized> Dial for R {
    fn dial<'a>(&'a self, id: &'a InstanceId, port: u16) -> BoxFuture<'a, Result<TcpStream>> {
        self.connect(id, port)
    }
}

/// A TCP proxy. Clones are the same proxy; it serves until [`Proxy::close`], or until the last of them is dropped.
#[derive(Clone)]
pub struct Proxy(Arc<Shared>);

struct Shared {
    address: SocketAddr,
    endpoints: Endpoints,
    dial: Arc<dyn Dial>,
    tasks: TaskTracker,
    closed: CancellationToken,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

impl Proxy {
    /// Listens at an address. Port 0 lets the system choose.
    pub async fn open(address: SocketAddr, dial: Arc<dyn Dial>) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let shared = Arc::new(Shared {
            address: listener.local_addr()?,
            endpoints: Endpoints::default(),
            dial,
            tasks: TaskTracker::new(),
            closed: CancellationToken::new(),
        });
        // The task holds no clone: the proxy ends with the last one.
        let (weak, closed) = (Arc::downgrade(&shared), shared.closed.clone());
        tokio::spawn(async move {
            loop {
                let accepted = tokio::select! {
                    () = closed.cancelled() => return,
                    accepted = listener.accept() => accepted,
                };
                let Some(shared) = weak.upgrade() else { return };
                match accepted {
                    Ok((client, from)) => {
                        let tracker = shared.tasks.clone();
                        tracker.spawn(serve(shared, client, from.ip().to_canonical()));
                    }
                    // Out of descriptors, mostly: others have to end first.
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                }
            }
        });
        Ok(Self(shared))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    /// Replaces the endpoints. Connections to those that are gone or drain go on.
    pub fn set(&self, endpoints: impl IntoIterator<Item = Endpoint>) {
        self.0.endpoints.set(endpoints);
    }

    /// Connections to an instance that are open now.
    pub fn connections(&self, id: &InstanceId) -> usize {
        self.0.endpoints.connections(id)
    }

    /// Sends nothing new to an instance, and completes when its connections have ended or `grace` is over. Returns how many
    /// are still open; the instance can be stopped now.
    pub async fn drain(&self, id: &InstanceId, grace: Duration) -> usize {
        self.0.endpoints.drain(id);
        let until = Instant::now() + grace;
        loop {
            let changed = self.0.endpoints.changed();
            let open = self.0.endpoints.connections(id);
            if open == 0 || tokio::time::timeout_at(until, changed).await.is_err() {
                return open;
            }
        }
    }

    /// Stops listening. Connections that are open go on until they end or `grace` is over.
    pub async fn close(&self, grace: Duration) {
        self.0.closed.cancel();
        self.0.tasks.close();
        let _ = timeout(grace, self.0.tasks.wait()).await;
    }
}

async fn serve(shared: Arc<Shared>, mut client: TcpStream, from: IpAddr) {
    let _ = client.set_nodelay(true);
    let until = Instant::now() + PATIENCE;
    let mut tried: Vec<InstanceId> = Vec::new();
    loop {
        let changed = shared.endpoints.changed();
        if shared.endpoints.refuses(from) {
            return;
        }
        let Some(lease) = shared.endpoints.choose(from, &tried) else {
            // All have refused, or there are none: whoever comes next may take it.
            tried.clear();
            let pause = tokio::time::timeout(Duration::from_millis(100), changed);
            if Instant::now() > until {
                return;
            }
            let _ = pause.await;
            continue;
        };
        match timeout(CONNECT, shared.dial.dial(&lease.id, lease.port)).await {
            Ok(Ok(mut server)) => {
                let _ = server.set_nodelay(true);
                let _ = copy_bidirectional(&mut client, &mut server).await;
                return;
            }
            _ => tried.push(lease.id.clone()),
        }
    }
}
