//! Creates the ProtectedResources and roles of custom resources as objects.

use std::collections::BTreeSet;
use std::sync::Arc;

use apiserver::api::Api;
use apiserver::client::Client;
use apiserver::controllers::queue::Queue;
use apiserver::controllers::{Controller, Next};
use apiserver::definitions::{GROUP as DEFINITIONS, PLURAL};
use apiserver::plane::Plane;
use apiserver::write::delete::DeleteOptions;
use apiserver::{encode, keys};
use krm::Object;
use krm::kind::{Kind, Origin};
use krm::status::Status;
use serde_json::Value;
use store::{Entry, Key};

use super::authorizer::Iam;
use super::roles::SYSTEM_NAMESPACE;
use super::{GROUP, shipped};

/// On what is made for a definition, what it is made for: the definition, or the group.
const MADE_FOR: &str = "iam.miloapis.com/made-for";

/// Reconciles the objects created for custom resources.
pub struct DefinedController(pub Arc<Iam>);

impl Controller for DefinedController {
    const NAME: &'static str = "iam-definitions-controller";

    fn map(&self, _: &Api, key: &Key, _: Option<&Entry>, _: Option<&Entry>, queue: &Queue<Key>) {
        if keys::parts(key).is_some_and(|parts| parts.group == DEFINITIONS && parts.plural == PLURAL) {
            queue.add(key.clone());
        }
    }

    async fn reconcile(&self, client: &Client, key: &Key) -> Result<Next, Status> {
        let Some(parts) = keys::parts(key) else { return Ok(Next::Done) };
        let plane = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        let client = client.in_plane(&plane);
        let api = client.api().clone();
        api.caught_up(api.store().latest().version()).await;
        if apiserver::planes::takes_content(&api, &plane).is_err() {
            return Ok(Next::Done);
        }
        let group = parts.name.split_once('.').map_or("", |(_, group)| group);
        let catalog = api.kinds().of(&plane);
        let all: Vec<Arc<Kind>> = catalog.group(group).cloned().collect();
        let defined: Vec<&Kind> =
            all.iter().map(|kind| &**kind).filter(|kind| kind.origin != Origin::BuiltIn).collect();
        let mut wanted: Vec<Object> = Vec::new();
        for kind in &defined {
            let Origin::Custom { definition, .. } = &kind.origin else { continue };
            wanted.push(made_for(shipped::protected_resource(kind), definition));
        }
        // Where kinds of the group ship, so do its roles; what is defined counts beside them.
        if !defined.is_empty() && defined.len() == all.len() {
            wanted.extend(shipped::roles_of(group, &defined).into_iter().map(|role| made_for(role, group)));
        }
        if !wanted.is_empty() && !plane.is_root() {
            self.furnish(&client).await?;
        }
        for object in &wanted {
            let existing = client.get_like(object).await;
            if existing.is_none_or(|existing| existing.get("spec") != object.get("spec")) {
                client.apply(object.clone()).await?;
            }
        }
        self.sweep(&client, &plane, group, &wanted).await?;
        Ok(Next::Done)
    }
}

impl DefinedController {
    /// Roles of the system are in its namespace, in a project too.
    async fn furnish(&self, client: &Client) -> Result<(), Status> {
        let mut namespace = Object::new("v1", "Namespace");
        namespace.set_meta("name", Some(SYSTEM_NAMESPACE.into()));
        if client.get_like(&namespace).await.is_some() {
            return Ok(());
        }
        match client.create(namespace).await {
            Err(status) if status.code == 409 => Ok(()),
            made => made.map(|_| ()),
        }
    }

    /// Removes what was made for kinds of the group that are no longer there.
    async fn sweep(
        &self,
        client: &Client,
        plane: &Plane,
        group: &str,
        wanted: &[Object],
    ) -> Result<(), Status> {
        let kept: BTreeSet<(&str, &str)> =
            wanted.iter().map(|object| (object.kind(), object.name())).collect();
        let catalog = client.api().kinds().of(plane);
        for plural in ["protectedresources", "roles"] {
            let Some(kind) = catalog.resource(GROUP, plural) else { continue };
            let prefix = keys::of_kind(plane, GROUP, plural);
            let snapshot = client.api().store().latest();
            let stale: Vec<(String, String)> = snapshot
                .list(prefix.as_bytes())
                .filter_map(|(_, entry)| encode::read(entry.bytes()).ok())
                .filter(|object| {
                    let of = object.annotation(MADE_FOR).unwrap_or_default();
                    (of == group || of.split_once('.').is_some_and(|(_, of)| of == group))
                        && !kept.contains(&(object.kind(), object.name()))
                })
                .map(|object| (object.namespace().to_owned(), object.name().to_owned()))
                .collect();
            for (namespace, name) in stale {
                match client.delete(kind, &namespace, &name, &DeleteOptions::default()).await {
                    Err(status) if status.code != 404 => return Err(status),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

fn made_for(mut object: Object, what: &str) -> Object {
    let mut notes = object.meta("annotations").and_then(Value::as_object).cloned().unwrap_or_default();
    notes.insert(MADE_FOR.to_owned(), what.into());
    object.set_meta("annotations", Some(notes.into()));
    object
}
