//! Watches that go on: across cut connections, a restart of the server, and revisions that are gone.

use std::time::Duration;

use client::{Client, DeleteOptions, Event, ListOptions, Watch};
use krm::Object;
use testbed::server::Server;

use crate::relay::Relay;
use crate::{GROUNDPLANE, access, client_of, make_the_past_go, map, maps, word};

/// The events up to one that `is_last`, each in a word.
async fn told(watch: &mut Watch<Object>, is_last: impl Fn(&Event<Object>) -> bool) -> Vec<String> {
    let mut told = Vec::new();
    loop {
        let next = tokio::time::timeout(Duration::from_secs(60), watch.next()).await;
        let event = next.unwrap_or_else(|_| panic!("no more is told after {told:?}")).unwrap();
        told.push(match &event {
            Event::Added(map) => format!("+{}={}", map.name(), word(map)),
            Event::Changed(map) => format!("~{}={}", map.name(), word(map)),
            Event::Deleted { key, last } => match last {
                Some(last) => format!("-{}={}", key.name, word(last)),
                None => format!("-{}", key.name),
            },
            Event::Synced => "synced".to_owned(),
        });
        if is_last(&event) {
            return told;
        }
    }
}

fn is_synced(event: &Event<Object>) -> bool {
    matches!(event, Event::Synced)
}

/// Whether an event is that a map of this name came, changed or went.
fn of(name: &str) -> impl Fn(&Event<Object>) -> bool {
    move |event| match event {
        Event::Added(map) | Event::Changed(map) => map.name() == name,
        Event::Deleted { key, .. } => key.name == name,
        Event::Synced => false,
    }
}

/// The maps of the tests, on pages of two, without those that only fill.
fn selected() -> ListOptions {
    ListOptions {
        label_selector: Some("!filler".to_owned()),
        field_selector: Some("metadata.name!=kube-root-ca.crt".to_owned()),
        page: Some(2),
    }
}

async fn through(relay: &Relay, server: &Server) -> Client {
    let mut access = access(server).await;
    access.server = format!("https://{}", relay.address);
    Client::new(access).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_resumes_after_cut_connections_and_a_restart_without_telling_anything_twice() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let address = server.client().address().to_owned();
    let direct = client_of(&server).await;
    let relay = Relay::start(&address).await;
    let client = through(&relay, &server).await;
    for name in ["a", "b", "c"] {
        maps(&direct).create(&map(name, "1")).await.unwrap();
    }
    let mut watch = maps(&client).watch(selected());
    assert_eq!(told(&mut watch, is_synced).await, ["+a=1", "+b=1", "+c=1", "synced"]);

    for round in 0..3 {
        relay.cut();
        let word = format!("cut{round}");
        maps(&direct).managed_by("t").apply(&map("a", &word), true).await.unwrap();
        relay.mend(&address);
        maps(&direct).managed_by("t").apply(&map("b", &word), true).await.unwrap();
        assert_eq!(told(&mut watch, of("b")).await, [format!("~a={word}"), format!("~b={word}")]);
    }

    // The server goes while the watch is open; what is written before and after it is told.
    maps(&direct).delete("c", &DeleteOptions::default()).await.unwrap();
    server.kill();
    let server = Server::start_on(GROUNDPLANE, &data, &address, &[]).unwrap();
    let direct = client_of(&server).await;
    maps(&direct).create(&map("d", "new")).await.unwrap();
    assert_eq!(told(&mut watch, of("d")).await, ["-c=1", "+d=new"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_whose_version_is_gone_lists_again_and_tells_the_difference() {
    let server = Server::fresh(GROUNDPLANE, &["--watch-window-disk", "0"]).unwrap();
    let address = server.client().address().to_owned();
    let direct = client_of(&server).await;
    let relay = Relay::start(&address).await;
    let client = through(&relay, &server).await;
    for name in ["gone", "kept", "other", "stays"] {
        maps(&direct).create(&map(name, "1")).await.unwrap();
    }
    let mut watch = maps(&client).watch(selected());
    told(&mut watch, is_synced).await;

    relay.cut();
    maps(&direct).delete("gone", &DeleteOptions::default()).await.unwrap();
    maps(&direct).managed_by("t").apply(&map("other", "2"), true).await.unwrap();
    maps(&direct).create(&map("new", "1")).await.unwrap();
    make_the_past_go(&direct).await;
    relay.mend(&address);
    let mut difference = told(&mut watch, is_synced).await;
    assert_eq!(difference.pop().as_deref(), Some("synced"));
    difference.sort();
    assert_eq!(difference, ["+new=1", "-gone", "~other=2"], "nothing of what stayed as it was");

    maps(&direct).delete("kept", &DeleteOptions::default()).await.unwrap();
    assert_eq!(told(&mut watch, of("kept")).await, ["-kept=1"], "and it goes on from there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_may_not_be_is_an_error_and_goes_on_once_it_may() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let admin = client_of(&server).await;
    let mut access = access(&server).await;
    access.acts_as.0 = Some("ann".to_owned());
    let ann = Client::new(access).unwrap();
    maps(&admin).create(&map("a", "1")).await.unwrap();
    let mut watch = maps(&ann).watch(selected());
    let refused = watch.next().await.unwrap_err();
    assert_eq!(refused.code(), 403, "{refused}");
    let binding = crate::object(serde_json::json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "ann"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}],
    }));
    let bindings = admin.resource("rbac.authorization.k8s.io/v1", "rolebindings").in_namespace("default");
    bindings.create(&binding).await.unwrap();
    while let Err(error) = watch.next().await {
        assert_eq!(error.code(), 403, "{error}");
    }
    assert_eq!(told(&mut watch, is_synced).await, ["synced"]);
}
