//! Ports of an instance on the machine: a TCP proxy for each, into the instance's network.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::copy_bidirectional;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::machine::Machine;
use super::network::Target;
use crate::error::{Error, Result};
use crate::spec::InstanceSpec;
use crate::state::PublishedPort;

/// The published ports of an instance. Dropping it closes them, with their connections.
#[derive(Default)]
pub(super) struct Published {
    pub(super) ports: Vec<PublishedPort>,
    proxies: JoinSet<()>,
}

impl Published {
    /// Listens on every port that is to be published.
    pub(super) async fn open(machine: &Arc<Machine>, spec: &InstanceSpec, target: &Target) -> Result<Self> {
        let mut published = Self::default();
        for port in spec.containers.iter().flat_map(|container| &container.ports) {
            let Some(wanted) = port.publish else { continue };
            let listener = listen(wanted).await?;
            let failed = |error: std::io::Error| Error::machine(format!("publishing port {wanted}"), error);
            let address = listener.local_addr().map_err(failed)?;
            published.ports.push(PublishedPort { name: port.name.clone(), port: port.port, address });
            published.proxies.spawn(serve(machine.clone(), target.clone(), port.port, listener));
        }
        Ok(published)
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => Error::PortInUse { address },
        _ => Error::machine(format!("publishing port {address}"), error),
    })
}

async fn serve(machine: Arc<Machine>, target: Target, port: u16, listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((mut client, _)) = accepted else {
                    // Out of descriptors, mostly: others have to end first.
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                };
                let (machine, target) = (machine.clone(), target.clone());
                connections.spawn(async move {
                    if let Ok(mut server) = machine.networks.connect(&target, port).await {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
