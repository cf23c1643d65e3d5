//! kube-rs, as controllers in Rust use it: typed objects, watchers, reflectors, a controller with a finalizer, events,
//! leases.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "kube_rs/controlling.rs"]
mod controlling;
#[path = "kube_rs/electing.rs"]
mod electing;
#[path = "kube_rs/everyday.rs"]
mod everyday;
#[path = "kube_rs/following.rs"]
mod following;
#[path = "kube_rs/kettle.rs"]
mod kettle;
#[path = "kube_rs/ruled.rs"]
mod ruled;

use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use testbed::server::Server;
use testbed::{need, parts};

/// No ConfigMap is in a namespace but those that a test makes.
pub const WITHOUT_OWN_MAPS: [&str; 1] = ["--controllers=all,-root-ca-certificate-publisher-controller"];

/// A server of its own and the administrator's client; `None`, said plainly, when there is no binary.
async fn start() -> Option<(Server, Client)> {
    let Some(binary) = parts::groundplane() else {
        need::passed_over("the server was not built; `cargo test --workspace` does that");
        return None;
    };
    let server = Server::first_start(binary.to_str().unwrap(), &WITHOUT_OWN_MAPS).unwrap();
    let client = connect(&server).await;
    Some((server, client))
}

/// The administrator's client of a server.
async fn connect(server: &Server) -> Client {
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}
