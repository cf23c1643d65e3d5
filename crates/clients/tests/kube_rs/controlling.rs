//! A controller as people write them: what a kettle owns is made, its status is told, and it is emptied before it goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::events::v1::Event;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::events::{Event as Told, EventType, Recorder, Reporter};
use kube::runtime::finalizer::{Event as Finalizer, finalizer};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::watcher;
use kube::{Client, Resource, ResourceExt};
use serde_json::json;

use crate::kettle::{self, Kettle, KettleSpec};

const KETTLES: usize = 40;

struct Kitchen {
    client: Client,
    recorder: Recorder,
    emptied: AtomicUsize,
}

#[derive(Debug, thiserror::Error)]
enum Spilt {
    #[error(transparent)]
    Api(#[from] kube::Error),
    #[error(transparent)]
    Finalizer(#[from] Box<kube::runtime::finalizer::Error<kube::Error>>),
}

async fn reconcile(kettle: Arc<Kettle>, kitchen: Arc<Kitchen>) -> Result<Action, Spilt> {
    let kettles: Api<Kettle> = Api::default_namespaced(kitchen.client.clone());
    let looked_after = finalizer(&kettles, "kitchen.example.com/empty", kettle, |event| async {
        match event {
            Finalizer::Apply(kettle) => boil(&kitchen, &kettle).await,
            Finalizer::Cleanup(_) => {
                kitchen.emptied.fetch_add(1, Ordering::Relaxed);
                Ok(Action::await_change())
            }
        }
    });
    Ok(looked_after.await.map_err(Box::new)?)
}

async fn boil(kitchen: &Kitchen, kettle: &Kettle) -> Result<Action, kube::Error> {
    let name = kettle.name_any();
    let maps: Api<ConfigMap> = Api::default_namespaced(kitchen.client.clone());
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "ownerReferences": [kettle.controller_owner_ref(&())]},
        "data": {"litres": kettle.spec.litres.to_string()},
    });
    maps.patch(&name, &PatchParams::apply("kitchen").force(), &Patch::Apply(map)).await?;
    if kettle.status.as_ref().is_none_or(|status| !status.boils) {
        let kettles: Api<Kettle> = Api::default_namespaced(kitchen.client.clone());
        let status = json!({"status": {"boils": true}});
        kettles.patch_status(&name, &PatchParams::default(), &Patch::Merge(status)).await?;
        let told = Told {
            type_: EventType::Normal,
            reason: "Boils".to_owned(),
            note: Some(format!("{} litres boil", kettle.spec.litres)),
            action: "Boil".to_owned(),
            secondary: None,
        };
        kitchen.recorder.publish(&told, &kettle.object_ref(&())).await?;
    }
    Ok(Action::await_change())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kettles_are_boiled_and_emptied() {
    let Some((_server, client)) = crate::start().await else { return };
    kettle::define(&client).await;
    let kettles: Api<Kettle> = Api::default_namespaced(client.clone());
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let recorder =
        Recorder::new(client.clone(), Reporter { controller: "example.com/kitchen".into(), instance: None });
    let kitchen = Arc::new(Kitchen { client: client.clone(), recorder, emptied: AtomicUsize::new(0) });
    let controlling = Controller::new(kettles.clone(), watcher::Config::default())
        .owns(maps.clone(), watcher::Config::default())
        .run(
            reconcile,
            |_, error, _| {
                eprintln!("again, because {error}");
                Action::requeue(Duration::from_millis(200))
            },
            kitchen.clone(),
        )
        .for_each(|_| async {});
    let controlling = tokio::spawn(controlling);

    for number in 0..KETTLES {
        let kettle = Kettle::new(&format!("kettle-{number}"), KettleSpec { litres: 2, degrees: None });
        kettles.create(&PostParams::default(), &kettle).await.unwrap();
    }
    for number in 0..KETTLES {
        let boils = |kettle: Option<&Kettle>| {
            kettle.and_then(|kettle| kettle.status.as_ref()).is_some_and(|status| status.boils)
        };
        let waiting = await_condition(kettles.clone(), &format!("kettle-{number}"), boils).await;
        waiting.unwrap();
    }
    // What somebody takes away is made again.
    maps.delete("kettle-0", &DeleteParams::default()).await.unwrap();
    await_condition(maps.clone(), "kettle-0", conditions::is_created()).await.unwrap();
    let events: Api<Event> = Api::default_namespaced(client);
    let told = events.list(&ListParams::default().fields("reason=Boils")).await.unwrap();
    assert_eq!(told.items.len(), KETTLES);

    for number in 0..KETTLES {
        let name = format!("kettle-{number}");
        let uid = kettles.get(&name).await.unwrap().uid().unwrap();
        kettles.delete(&name, &DeleteParams::default()).await.unwrap();
        let gone = await_condition(kettles.clone(), &name, conditions::is_deleted(&uid));
        tokio::time::timeout(Duration::from_secs(10), gone).await.expect("it does not go").unwrap();
    }
    assert_eq!(kitchen.emptied.load(Ordering::Relaxed), KETTLES, "each was emptied once");
    for _ in 0..200 {
        if maps.list(&ListParams::default()).await.unwrap().items.is_empty() {
            controlling.abort();
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("what the kettles owned is still there");
}
