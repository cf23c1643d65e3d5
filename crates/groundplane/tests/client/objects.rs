//! Reads and writes, typed and dynamic, in the root and in projects.

use client::{Client, DeleteOptions, ListOptions, Patch, Propagation, Retries};
use inventory::kinds::Site;
use serde_json::json;
use testbed::server::Server;

use crate::relay::Relay;
use crate::{GROUNDPLANE, access, client_of, make_the_past_go, map, maps, object, word};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_is_created_read_changed_and_deleted() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = client_of(&server).await;
    let maps = maps(&client);
    assert!(maps.find("a").await.unwrap().is_none());
    let made = maps.clone().because("first").create(&map("a", "one")).await.unwrap();
    assert!(maps.create(&map("a", "one")).await.unwrap_err().already_exists());

    let mut changed = made.clone();
    changed.set("data", Some(json!({"word": "two"})));
    let replaced = maps.replace(&changed).await.unwrap();
    assert_eq!(word(&replaced), "two");
    assert!(maps.replace(&changed).await.unwrap_err().is_conflict(), "it is at another version by now");
    assert_eq!(word(&maps.get("a").await.unwrap()), "two");

    let patched = maps.patch("a", &Patch::Merge(json!({"data": {"word": "three"}}))).await.unwrap();
    assert_eq!(word(&patched), "three");
    let operation = json!([{"op": "replace", "path": "/data/word", "value": "four"}]);
    assert_eq!(word(&maps.patch("a", &Patch::Json(operation)).await.unwrap()), "four");
    let rehearsed = maps.clone().dry_run();
    let patch = Patch::Strategic(json!({"data": {"word": "five"}}));
    assert_eq!(word(&rehearsed.patch("a", &patch).await.unwrap()), "five");
    assert_eq!(word(&maps.get("a").await.unwrap()), "four", "a dry run changes nothing");

    let applied = maps.clone().managed_by("other").apply(&map("a", "six"), false).await;
    assert!(applied.unwrap_err().is_conflict(), "another manager has the field");
    assert_eq!(word(&maps.clone().managed_by("other").apply(&map("a", "six"), true).await.unwrap()), "six");

    let other =
        DeleteOptions { uid: Some("00000000-0000-4000-8000-000000000000".into()), ..Default::default() };
    assert!(maps.delete("a", &other).await.unwrap_err().is_conflict());
    let this = DeleteOptions {
        uid: Some(made.uid().to_owned()),
        propagation: Some(Propagation::Background),
        ..DeleteOptions::default()
    };
    maps.delete("a", &this).await.unwrap();
    assert!(maps.get("a").await.unwrap_err().is_not_found());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_of_ours_is_its_type_and_a_project_has_its_own_objects() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = client_of(&server).await;
    let project = object(json!({"apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project",
        "metadata": {"name": "web"}}));
    client.resource("resourcemanager.miloapis.com/v1alpha1", "projects").create(&project).await.unwrap();
    let dynamic = object(json!({"apiVersion": "inventory.miloapis.com/v1alpha1", "kind": "Site",
        "metadata": {"name": "fra1"}, "spec": {"displayName": "Frankfurt 1", "regionRef": {"name": "eu"}, "type": "Datacenter"}}));
    let made = client.resource("inventory.miloapis.com/v1alpha1", "sites").create(&dynamic).await.unwrap();

    let sites = client.kind::<Site>();
    // A controller writes its status at the same time.
    loop {
        let mut site = sites.get("fra1").await.unwrap();
        assert_eq!(site.metadata.uid, made.uid());
        site.spec.display_name = "Frankfurt".into();
        match sites.replace(&site).await {
            Err(error) if error.is_conflict() => {}
            replaced => break drop(replaced.unwrap()),
        }
    }
    let listed = sites.list(ListOptions::default()).all().await.unwrap();
    let names: Vec<&str> = listed.iter().map(|site| site.spec.display_name.as_str()).collect();
    assert_eq!(names, ["Frankfurt"]);

    let in_web = client.in_plane("web");
    maps(&in_web).create(&map("a", "of the project")).await.unwrap();
    assert!(maps(&client).find("a").await.unwrap().is_none());
    assert!(maps(&in_web.in_root()).find("a").await.unwrap().is_none());
    assert_eq!(word(&maps(&in_web).get("a").await.unwrap()), "of the project");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_comes_in_pages_and_begins_again_when_its_revision_is_gone() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let client = client_of(&server).await;
    for number in 0..7 {
        maps(&client).create(&map(&format!("m{number}"), "x")).await.unwrap();
    }
    let only = ListOptions {
        field_selector: Some("metadata.name!=kube-root-ca.crt".into()),
        page: Some(3),
        ..Default::default()
    };
    let mut pages = maps(&client).list(only);
    let first = pages.next().await.unwrap().unwrap();
    assert_eq!((first.items.len(), first.is_first, first.items[0].kind()), (3, true, "ConfigMap"));
    let second = pages.next().await.unwrap().unwrap();
    assert!(!second.is_first && second.resource_version == first.resource_version, "one revision");

    maps(&client).delete("m0", &DeleteOptions::default()).await.unwrap();
    make_the_past_go(&client).await;
    let again = pages.next().await.unwrap().unwrap();
    assert!(again.is_first && again.resource_version != first.resource_version);
    let mut names: Vec<String> = again.items.iter().map(|item| item.name().to_owned()).collect();
    while let Some(page) = pages.next().await.unwrap() {
        assert!(!page.is_first);
        names.extend(page.items.iter().map(|item| item.name().to_owned()));
    }
    assert_eq!(names, ["filler", "m1", "m2", "m3", "m4", "m5", "m6"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_requests_share_one_connection_and_a_cut_one_is_replaced() {
    let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
    let address = server.client().address().to_owned();
    let relay = Relay::start(&address).await;
    let mut access = access(&server).await;
    access.server = format!("https://{}", relay.address);
    let client = Client::new(access.clone()).unwrap();
    let maps = maps(&client);
    maps.create(&map("a", "one")).await.unwrap();
    let _watch =
        client.lines(&client::Request::get("/api/v1/configmaps").query("watch", "true")).await.unwrap();
    let asked = (0..50).map(|_| {
        let maps = maps.clone();
        tokio::spawn(async move { maps.get("a").await.unwrap() })
    });
    for asked in asked.collect::<Vec<_>>() {
        asked.await.unwrap();
    }
    assert_eq!(relay.connections(), 1, "HTTP/2: one connection for all");

    relay.cut();
    let impatient = Client::new(access).unwrap().with_retries(Retries::when_busy());
    let error = crate::maps(&impatient).get("a").await.unwrap_err();
    assert!(error.is_passing() && !error.is_unanswered(), "{error}");
    let mended = async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        relay.mend(&address);
    };
    let (read, ()) = tokio::join!(maps.get("a"), mended);
    assert_eq!(word(&read.unwrap()), "one", "a read is repeated until the server is there again");
}
