//! Watchers and reflectors: a copy of a collection that keeps up.

use std::pin::pin;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::core::PartialObjectMeta;
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch};
use kube::{Client, ResourceExt};
use serde_json::json;
use testbed::server::Server;
use testbed::{need, parts};

async fn make(client: &Client, name: &str) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let map = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    maps.create(&PostParams::default(), &map).await.unwrap();
}

#[tokio::test]
async fn both_ways_to_begin_tell_the_same() {
    let Some((_server, client)) = crate::start().await else { return };
    for number in 0..25 {
        make(&client, &format!("map-{number:02}")).await;
    }
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    for (round, config) in
        [watcher::Config::default().page_size(10), watcher::Config::default().streaming_lists()]
            .into_iter()
            .enumerate()
    {
        let mut stream = pin!(watch(maps.clone(), config));
        let mut there = Vec::new();
        loop {
            match next(&mut stream).await {
                Event::Init => there.clear(),
                Event::InitApply(map) => there.push(map.name_any()),
                Event::InitDone => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(there.len(), 25, "{there:?}");
        let name = format!("new-{round}");
        make(&client, &name).await;
        maps.patch(&name, &PatchParams::default(), &Patch::Merge(json!({"data": {"a": "b"}}))).await.unwrap();
        maps.delete(&name, &DeleteParams::default()).await.unwrap();
        assert!(matches!(next(&mut stream).await, Event::Apply(map) if map.data.is_none()));
        assert!(matches!(next(&mut stream).await, Event::Apply(map) if map.data.is_some()));
        assert!(matches!(next(&mut stream).await, Event::Delete(map) if map.name_any() == name));
    }
    let heads: Api<PartialObjectMeta<ConfigMap>> = Api::default_namespaced(client);
    let heads = watch(heads, watcher::Config::default().fields("metadata.name=map-07")).applied_objects();
    let head = tokio::time::timeout(Duration::from_secs(10), pin!(heads).try_next()).await.unwrap();
    assert_eq!(head.unwrap().unwrap().name_any(), "map-07");
}

async fn next<S>(stream: &mut S) -> Event<ConfigMap>
where
    S: futures_util::Stream<Item = watcher::Result<Event<ConfigMap>>> + Unpin,
{
    let told = tokio::time::timeout(Duration::from_secs(10), stream.try_next()).await;
    told.expect("nothing was told").unwrap().expect("the stream ended")
}

#[tokio::test]
async fn a_reflector_keeps_up() {
    let Some((_server, client)) = crate::start().await else { return };
    make(&client, "before").await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let (reader, writer) = reflector::store();
    let following = reflector::reflector(writer, watch(maps.clone(), watcher::Config::default()));
    let following = tokio::spawn(following.default_backoff().touched_objects().for_each(|_| async {}));
    reader.wait_until_ready().await.unwrap();
    assert_eq!(reader.len(), 1);
    make(&client, "after").await;
    maps.delete("before", &DeleteParams::default()).await.unwrap();
    let reference = ObjectRef::new("after").within("default");
    for _ in 0..200 {
        if reader.len() == 1 && reader.get(&reference).is_some() {
            following.abort();
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the copy does not keep up: {:?}", reader.state());
}

#[tokio::test]
async fn a_copy_outlives_the_server() {
    let Some(binary) = parts::groundplane() else {
        return need::passed_over("the server was not built; `cargo test --workspace` does that");
    };
    let binary = binary.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(binary, &data, &crate::WITHOUT_OWN_MAPS).unwrap();
    let address = server.client().address().to_owned();
    let client = crate::connect(&server).await;
    make(&client, "before").await;
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let (reader, writer) = reflector::store();
    let following = reflector::reflector(writer, watch(maps, watcher::Config::default()));
    let following = tokio::spawn(following.default_backoff().touched_objects().for_each(|_| async {}));
    reader.wait_until_ready().await.unwrap();
    assert!(server.stop().unwrap().success());
    let server = Server::start_on(binary, &data, &address, &crate::WITHOUT_OWN_MAPS).unwrap();
    make(&crate::connect(&server).await, "after").await;
    let reference = ObjectRef::new("after").within("default");
    for _ in 0..1_000 {
        if reader.len() == 2 && reader.get(&reference).is_some() {
            following.abort();
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the copy does not go on after a restart: {:?}", reader.state());
}
