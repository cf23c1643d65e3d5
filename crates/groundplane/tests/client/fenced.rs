//! Leases, and writes of a holder that has lost its lease.

use std::time::Duration;

use client::{Client, DeleteOptions, Error, Fence, Lease, Patch, Request};
use http::Method;
use reconcile::lease::{Acquired, Keeper};
use serde_json::{Value, json};
use testbed::server::Server;

use crate::{GROUNDPLANE, access, client_of, map, maps, object};

const TERM: Duration = Duration::from_secs(2);

async fn taken(lease: &Lease) -> Fence {
    match lease.acquire(TERM).await.unwrap() {
        Acquired::Taken(fence) => fence,
        Acquired::HeldElsewhere(left) => panic!("held elsewhere for {left:?}"),
    }
}

/// Every kind of write, by name.
async fn every_write(client: &Client) -> Vec<(&'static str, Result<(), Error>)> {
    let maps = maps(client);
    let transaction = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction",
        "spec": {"items": [{"operation": "apply", "object": map("many", "x")}], "fieldManager": "t"}});
    let transaction =
        Request::new(Method::POST, "/apis/groundplane.dev/v1alpha1/transactions").json(&transaction);
    let collection = Request::new(Method::DELETE, "/api/v1/namespaces/default/configmaps")
        .query("labelSelector", "collected=yes");
    let undo = Request::new(Method::POST, "/api/v1/namespaces/default/configmaps/old/undo").json(&json!({}));
    let spaces = client.resource("v1", "namespaces");
    let space = spaces.get("fenced").await.unwrap();
    let drop = |_: krm::Object| ();
    let unread = |_: Value| ();
    vec![
        ("create", maps.create(&map("new", "x")).await.map(drop)),
        ("update", maps.replace(&map("old", "updated")).await.map(drop)),
        ("patch", maps.patch("old", &Patch::Merge(json!({"data": {"word": "patched"}}))).await.map(drop)),
        ("apply", maps.clone().managed_by("t").apply(&map("applied", "x"), true).await.map(drop)),
        ("status", spaces.replace_status(&space).await.map(drop)),
        ("undo", client.value(&undo).await.map(unread)),
        ("transaction", client.value(&transaction).await.map(unread)),
        ("delete", maps.delete("doomed", &DeleteOptions::default()).await),
        ("delete of many", client.value(&collection).await.map(unread)),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stale_holder_s_writes_are_refused_whatever_they_are() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = client_of(&server).await;
    let space = object(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fenced"}}));
    client.resource("v1", "namespaces").create(&space).await.unwrap();
    maps(&client).create(&map("old", "0")).await.unwrap();
    maps(&client).replace(&map("old", "1")).await.unwrap();
    maps(&client).create(&map("doomed", "1")).await.unwrap();
    let mut collected = map("collected", "1");
    collected.set_meta("labels", Some(json!({"collected": "yes"})));
    maps(&client).create(&collected).await.unwrap();

    let first = Lease::new(&client, "default", "sync", "host; 1 ä");
    let second = Lease::new(&client, "default", "sync", "host-2");
    let stale = taken(&first).await;
    assert!(matches!(second.acquire(TERM).await.unwrap(), Acquired::HeldElsewhere(left) if left <= TERM));
    assert!(first.renew(&stale).await.unwrap());
    // The first stops renewing; the second has seen no change for a whole term, and takes over.
    let fence = loop {
        match second.acquire(TERM).await.unwrap() {
            Acquired::Taken(fence) => break fence,
            Acquired::HeldElsewhere(left) => tokio::time::sleep(left).await,
        }
    };
    assert!(!first.renew(&stale).await.unwrap(), "it is lost");

    for (name, written) in every_write(&client.fenced(&stale)).await {
        let error = written.expect_err(name);
        assert!(error.is_fenced_off() && error.code() == 409, "{name}: {error}");
        let text = error.to_string();
        assert!(
            text.contains("held by \"host-2\"") && text.contains("nothing was written"),
            "{name}: {text}"
        );
    }
    assert_eq!(crate::word(&maps(&client).get("old").await.unwrap()), "1");

    assert!(second.renew(&fence).await.unwrap());
    for (name, written) in every_write(&client.fenced(&fence)).await {
        assert!(written.is_ok(), "{name}: {written:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn renewals_disturb_no_fenced_write_and_a_release_ends_them() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = client_of(&server).await;
    let lease = Lease::new(&client, "default", "sync", "host-1");
    let fence = taken(&lease).await;
    let fenced = client.fenced(&fence);
    let writing = async {
        for number in 0..60 {
            maps(&fenced).managed_by("t").apply(&map("a", &number.to_string()), true).await.unwrap();
        }
    };
    let renewing = async {
        for _ in 0..60 {
            assert!(lease.renew(&fence).await.unwrap());
        }
    };
    tokio::join!(writing, renewing);

    lease.release(&fence).await;
    assert!(maps(&fenced).create(&map("b", "x")).await.unwrap_err().is_fenced_off());
    // The same holder again: what it began under its earlier lease stays fenced off.
    let again = taken(&lease).await;
    assert!(maps(&fenced).create(&map("b", "x")).await.unwrap_err().is_fenced_off());
    maps(&client.fenced(&again)).create(&map("b", "x")).await.unwrap();

    let leases = client.resource("coordination.k8s.io/v1", "leases").in_namespace("default");
    leases.delete("sync", &DeleteOptions::default()).await.unwrap();
    let error = maps(&client.fenced(&again)).create(&map("c", "x")).await.unwrap_err();
    assert!(error.is_fenced_off() && error.to_string().contains("does not exist"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_of_the_root_fences_writes_in_a_project_and_must_be_visible_to_the_writer() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = client_of(&server).await;
    let project = object(json!({"apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project",
        "metadata": {"name": "web"}}));
    client.resource("resourcemanager.miloapis.com/v1alpha1", "projects").create(&project).await.unwrap();
    let lease = Lease::new(&client, "default", "sync", "host-1");
    let fence = taken(&lease).await;
    let in_web = client.fenced(&fence).in_plane("web");
    maps(&in_web).create(&map("a", "x")).await.unwrap();
    lease.release(&fence).await;
    assert!(maps(&in_web).create(&map("b", "x")).await.unwrap_err().is_fenced_off());

    // Ann may write maps, and not see the lease.
    let role = object(
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "maps"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]}),
    );
    let rbac = |plural| client.resource("rbac.authorization.k8s.io/v1", plural).in_namespace("default");
    rbac("roles").create(&role).await.unwrap();
    let binding = object(json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "maps"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "maps"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}]}));
    rbac("rolebindings").create(&binding).await.unwrap();
    let mut access = access(&server).await;
    access.acts_as.0 = Some("ann".to_owned());
    let ann = Client::new(access).unwrap();
    maps(&ann).create(&map("hers", "x")).await.unwrap();
    let fence = taken(&lease).await;
    let error = maps(&ann.fenced(&fence)).create(&map("c", "x")).await.unwrap_err();
    assert_eq!(error.code(), 403, "{error}");
}
