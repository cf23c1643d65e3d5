//! Follows the objects of a hub: one watch for each kind, and a probe that tells whether the hub answers at all.

use std::sync::Arc;
use std::time::Duration;

use client::{Event, ListOptions, Request};
use krm::Object;

use super::link::Link;
use crate::provisioners::Watched;

/// How often a hub is asked whether it is there. Changes come through watches, which say nothing when a hub is cut off.
const PROBE: Duration = Duration::from_secs(5);
/// Pause after a refusal.
const PAUSE: Duration = Duration::from_secs(5);

/// Follows a hub until its connection ends.
pub fn begin(link: &Arc<Link>) {
    for watched in link.watches() {
        let (link, stopped) = (link.clone(), link.stopped());
        tokio::spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = watch(&link, watched) => {}
            }
        });
    }
    let (link, stopped) = (link.clone(), link.stopped());
    tokio::spawn(async move {
        tokio::select! {
            () = stopped.cancelled() => {}
            () = probe(&link) => {}
        }
    });
}

async fn watch(link: &Link, watched: &'static Watched) {
    loop {
        let client = match link.client().await {
            Ok(client) => client,
            Err(why) => {
                link.troubled(watched.plural, why);
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let all = client.resource(watched.api_version, watched.plural);
        let (all, options) = match watched.is_namespaced {
            true => (all.in_namespace(link.namespace()), ListOptions::default()),
            false => {
                let field_selector = Some(format!("metadata.name={}", link.namespace()));
                (all, ListOptions { field_selector, ..ListOptions::default() })
            }
        };
        let mut watch = all.watch(options);
        loop {
            match watch.next().await {
                Ok(Event::Added(object) | Event::Changed(object)) => {
                    let name = Object::name(&object).to_owned();
                    link.saw(watched.plural, &name, Some(object));
                }
                Ok(Event::Deleted { key, .. }) => link.saw(watched.plural, &key.name, None),
                Ok(Event::Synced) => link.synced(watched.plural),
                Err(error) => {
                    link.troubled(watched.plural, error.to_string());
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

async fn probe(link: &Link) {
    loop {
        let answered = async {
            let client = link.client().await?;
            client.answer(&Request::get("/version")).await.map(drop).map_err(|error| error.to_string())
        };
        match answered.await {
            Ok(()) => link.probed(Ok(())),
            Err(first) => {
                // One lost request is no outage.
                tokio::time::sleep(PROBE / 5).await;
                let again = async {
                    let client = link.client().await?;
                    client
                        .answer(&Request::get("/version"))
                        .await
                        .map(drop)
                        .map_err(|error| error.to_string())
                };
                link.probed(again.await.map_err(|_| first));
            }
        }
        tokio::time::sleep(PROBE).await;
    }
}
