//! Puts the demo fleet into a store that holds nothing else.

use std::sync::Arc;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::first_start::ADMIN_USER;
use apiserver::keys;
use apiserver::plane::Plane;
use apiserver::request::query::WriteOptions;
use apiserver::transaction::{self, GROUP, Spec, Work};
use krm::Object;
use serde_json::{Value, json};
use store::{DeedMark, Version};

use super::MANAGER;
use crate::failure::Failure;

/// The ConfigMap that marks a store as one with the demo fleet. It is created in the same commit as the fleet.
pub const MARKER_NAMESPACE: &str = "kube-system";
/// Its name.
pub const MARKER: &str = "groundplane-demo";
/// Changes that are read from the history at a time.
const PAGE: usize = 1_000;

/// What a store holds, as far as the demo is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing but what the server itself creates: the fleet may be loaded.
    Unused,
    /// The fleet was loaded before, and may have been changed since.
    Loaded,
}

/// Looks whether the demo may use this store. Writes nothing: a refused store stays as it is.
pub async fn check(api: &Api) -> Result<State, Failure> {
    let client = Client::system(api, "groundplane");
    if client.get_like(&marker()).await.is_some() {
        return Ok(State::Loaded);
    }
    match other_data(api).await? {
        None => Ok(State::Unused),
        Some(found) => Err(Failure::new(
            "loading the demo",
            format_args!(
                "this store holds other data: {found}. The demo needs a store of its own: leave out --data and --etcd, \
                 or name an empty folder with --data"
            ),
        )),
    }
}

/// Creates the fleet and its marker in one commit: all of it is there, or none of it.
pub async fn load(api: &Api) -> Result<(), Failure> {
    let client = Client::system(api, "groundplane").called(MANAGER);
    let objects = super::objects().chain([marker()]);
    let items: Vec<Value> =
        objects.map(|object| json!({"operation": "create", "object": Value::Object(object.0)})).collect();
    commit(&client, items).await.map_err(|status| {
        Failure::new(
            "loading the demo",
            format_args!(
                "{status}; none of it was loaded. On etcd, the fleet has to fit into one transaction: raise \
                 --max-txn-ops of etcd and of this server"
            ),
        )
    })
}

async fn commit(client: &Client, items: Vec<Value>) -> Result<(), krm::Status> {
    let catalog = client.api().kinds().of(&Plane::root());
    let kind = catalog.resource(GROUP, "transactions").ok_or_else(krm::Status::no_such_resource)?;
    let call = Arc::new(client.call(kind, "", "", ""));
    let options = WriteOptions { manager: MANAGER.to_owned(), ..WriteOptions::default() };
    let (items, _) = Spec(json!({ "items": items })).items(&call, &options).await?;
    transaction::run(Arc::new(Work { call, items, options }), None).await?;
    Ok(())
}

fn marker() -> Object {
    let mut marker = Object::new("v1", "ConfigMap");
    marker.set_meta("namespace", Some(MARKER_NAMESPACE.into()));
    marker.set_meta("name", Some(MARKER.into()));
    let about =
        "This store holds the fleet of \"groundplane serve --demo\". \"groundplane demo remove\" removes it.";
    marker.set("data", Some(json!({ "about": about })));
    marker
}

/// The first object that somebody else than the server itself has written and that is still there.
async fn other_data(api: &Api) -> Result<Option<String>, Failure> {
    let failed = |error: store::Error| Failure::new("reading the history of the store", error);
    let store = api.store();
    let now = store.latest();
    let mut after = DeedMark { version: Version::ZERO, time: 0 };
    loop {
        let deeds = store.deeds_after(after, PAGE).await.map_err(failed)?;
        let Some(last) = deeds.last() else { return Ok(None) };
        after = DeedMark { version: last.version, time: last.time };
        let foreign = deeds.iter().find(|deed| !is_server(&deed.user) && now.get(&deed.key).is_some());
        if let Some(deed) = foreign {
            let named = keys::parts(&deed.key).map(|parts| match parts.group {
                "" => format!("{}/{}", parts.plural, parts.name),
                group => format!("{}.{group}/{}", parts.plural, parts.name),
            });
            return Ok(Some(format!("{} of {}", named.unwrap_or_default(), deed.user)));
        }
    }
}

/// Whether a user is a part of the server, and no person or program that uses it.
fn is_server(user: &str) -> bool {
    user.starts_with("system:")
        && user != ADMIN_USER
        && user != "system:anonymous"
        && !user.starts_with("system:serviceaccount:")
        && !user.starts_with("system:node:")
}
