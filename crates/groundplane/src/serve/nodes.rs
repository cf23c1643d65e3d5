//! The node listener, as `--node-listen` and its other flags describe it.

use std::path::PathBuf;
use std::sync::Arc;

use apiserver::node::{self, NodePipeline, NodeServer};
use apiserver::server;
use apiserver::server_module::Parts;
use apiserver::tls::ServerTls;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::listen::Listen;
use crate::failure::Failure;

/// Flags of the node listener.
#[derive(clap::Args)]
pub struct NodeFlags {
    /// Second address to listen on, for what booting nodes fetch. Plain HTTP, unless one of the flags for TLS is given.
    #[arg(long, value_name = "HOST:PORT")]
    node_listen: Option<Listen>,

    /// Serve nodes over TLS with the certificate of the server.
    #[arg(long, requires = "node_listen", conflicts_with = "node_tls_cert")]
    node_tls: bool,

    /// Serve nodes over TLS with this certificate chain, in PEM.
    #[arg(long, value_name = "FILE", requires_all = ["node_listen", "node_tls_key"])]
    node_tls_cert: Option<PathBuf>,

    /// Private key of that certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "node_tls_cert")]
    node_tls_key: Option<PathBuf>,

    /// Maximum number of concurrent requests of all nodes.
    #[arg(long, value_name = "NUMBER", default_value_t = node::Settings::default().requests)]
    max_node_requests: usize,

    /// Maximum number of concurrent requests of one node.
    #[arg(long, value_name = "NUMBER", default_value_t = node::Settings::default().requests_per_node)]
    max_requests_per_node: usize,
}

/// A node listener that is yet to be served.
pub struct NodeListener {
    listener: TcpListener,
    tls: Option<Arc<ServerTls>>,
    pipeline: Arc<NodePipeline>,
    url: String,
}

impl NodeFlags {
    /// Listens for nodes, if that is asked for. `of_the_server` is the TLS of the API.
    pub async fn listen(
        &self,
        parts: &Parts,
        server: NodeServer,
        of_the_server: &Arc<ServerTls>,
    ) -> Result<Option<NodeListener>, Failure> {
        let Some(listen) = &self.node_listen else { return Ok(None) };
        let settings = node::Settings {
            requests: self.max_node_requests,
            requests_per_node: self.max_requests_per_node,
            ..node::Settings::default()
        };
        let (authenticators, routes) = (parts.node_authenticators.clone(), parts.node_routes.clone());
        let pipeline = NodePipeline::new(server, authenticators, routes, settings)
            .map_err(|error| Failure::new("setting up the node listener", error))?;
        let tls = match (&self.node_tls_cert, &self.node_tls_key) {
            (Some(cert), Some(key)) => Some(Arc::new(tls_of(cert, key)?)),
            _ => self.node_tls.then(|| of_the_server.clone()),
        };
        let listener = listen.bind().await?;
        let address = listener.local_addr().map_err(|error| Failure::new("listening for nodes", error))?;
        let url = match tls.is_some() {
            true => listen.url(address),
            false => listen.url(address).replacen("https", "http", 1),
        };
        Ok(Some(NodeListener { listener, tls, pipeline: Arc::new(pipeline), url }))
    }
}

impl NodeListener {
    /// Serves until `stop` says so.
    pub fn serve(self, stop: watch::Receiver<bool>) -> (Arc<NodePipeline>, JoinHandle<()>) {
        tracing::info!(url = self.url, "serving nodes");
        let pipeline = self.pipeline.clone();
        (pipeline, tokio::spawn(server::serve_nodes(self.listener, self.tls, self.pipeline, stop)))
    }
}

fn tls_of(cert: &PathBuf, key: &PathBuf) -> Result<ServerTls, Failure> {
    let read = |path: &PathBuf| {
        std::fs::read(path).map_err(|error| Failure::new(format_args!("reading {}", path.display()), error))
    };
    ServerTls::of_pem(&read(cert)?, &read(key)?)
        .map_err(|error| Failure::new(format_args!("using {} and {}", cert.display(), key.display()), error))
}
