//! The client library against the real server: objects, watches that go on, leases and fences.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "client/credentials.rs"]
mod credentials;
#[path = "client/fenced.rs"]
mod fenced;
#[path = "client/objects.rs"]
mod objects;
#[path = "client/past.rs"]
mod past;
#[path = "client/planes.rs"]
mod planes;
#[path = "client/relay.rs"]
mod relay;
#[path = "client/watching.rs"]
mod watching;

use client::{Access, Client, Collection, Overrides};
use krm::Object;
use serde_json::{Value, json};
use testbed::server::Server;

const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");

/// The administrator's access to a server.
async fn access(server: &Server) -> Access {
    let kubeconfig = Some(server.kubeconfig().to_owned());
    Access::load(&Overrides { kubeconfig, ..Overrides::default() }).await.unwrap()
}

async fn client_of(server: &Server) -> Client {
    Client::new(access(server).await).unwrap()
}

/// The ConfigMaps of the namespace `default`.
fn maps(client: &Client) -> Collection<Object> {
    client.resource("v1", "configmaps").in_namespace("default")
}

fn map(name: &str, word: &str) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"word": word}}),
    )
}

fn object(value: Value) -> Object {
    Object::from_value(value).unwrap()
}

fn word(map: &Object) -> &str {
    map.at("data.word").and_then(Value::as_str).unwrap_or("")
}

/// Writes until the server has let go of the revisions before: it keeps 64 MiB of replaced objects.
async fn make_the_past_go(client: &Client) {
    let large = "x".repeat(900_000);
    for number in 0..85 {
        let mut filler = map("filler", &format!("{number}{large}"));
        filler.set_meta("labels", Some(json!({"filler": "yes"})));
        maps(client).managed_by("filler").apply(&filler, true).await.unwrap();
    }
}
