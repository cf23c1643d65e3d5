//! Finds objects by their identifiers, and shows them.

use std::sync::Arc;

use apiserver::keys::{self, Parts};
use apiserver::plane::Plane;
use apiserver::write::uid_of;
use apiserver::{encode, index};
use krm::Object;
use prost_reflect::DynamicMessage;
use serde_json::Value as Json;
use store::{Entry, Key};

use super::Objects;
use crate::collection::{Collection, Face, GROUP, Public};
use crate::failure::Failure;
use crate::view::{About, Names};

/// An object that the caller may read.
#[derive(Clone)]
pub struct Found {
    /// Where it is.
    pub key: Key,
    /// What is stored.
    pub entry: Arc<Entry>,
}

impl Found {
    /// The plane that it is in.
    pub fn plane(&self) -> Plane {
        keys::parts(&self.key).map_or_else(Plane::root, |parts| parts.plane())
    }

    /// Its name as a resource.
    pub fn name(&self) -> &str {
        keys::parts(&self.key).map_or("", |parts| parts.name)
    }
}

impl Objects {
    /// The object with an identifier. To callers who may not read it, it does not exist.
    pub fn find(&self, id: &str, names: &Names) -> Result<Found, Failure> {
        if id.is_empty() {
            return Err(Failure::invalid("field 'id': an identifier is required"));
        }
        let found = match self.view.collection.in_projects {
            true => self.find_in_projects(id, names),
            false => self.find_in_root(id, names)?,
        };
        let Some(found) = found else { return Err(self.missing(id)) };
        self.may_read(&found, id, names)?;
        Ok(found)
    }

    /// Why there is no object with an identifier: who may not read any is told so, whether there is one or not.
    fn missing(&self, id: &str) -> Failure {
        let (collection, root) = (self.view.collection, Plane::root());
        if collection.in_projects || self.view.face == Face::Public {
            return Failure::not_found(id);
        }
        let kind = self.caller.kind(collection, &root);
        let call = kind.map(|kind| self.caller.call(&kind, &root, &fulfillment::identity::name_of(id)));
        match call.map(|call| call.may_get()) {
            Ok(Err(refused)) if refused.code != 404 => refused.into(),
            _ => Failure::not_found(id),
        }
    }

    fn find_in_root(&self, id: &str, names: &Names) -> Result<Option<Found>, Failure> {
        let name = fulfillment::identity::name_of(id);
        let key = self.caller.key(self.view.collection, &Plane::root(), &name)?;
        let entry = names.snapshot().get(&key).cloned();
        Ok(entry.map(|entry| Found { key, entry }))
    }

    /// A chosen identifier is in an index; any other is the uid of its object.
    fn find_in_projects(&self, id: &str, names: &Names) -> Option<Found> {
        let snapshot = names.snapshot();
        let (collection, uid) = (self.view.collection, uid_of(id));
        for plane in self.caller.projects(snapshot) {
            let of = Parts {
                plane: plane.as_str(),
                group: GROUP,
                plural: collection.plural,
                namespace: "",
                name: "",
            };
            let chosen = snapshot.having(&index::field_is(&of, "id", id)).next();
            if let Some((key, entry)) = chosen.and_then(|key| Some((key, snapshot.get(key)?))) {
                return Some(Found { key: key.clone(), entry: entry.clone() });
            }
            let prefix = keys::of_kind(&plane, GROUP, collection.plural);
            let mut all = snapshot.list(prefix.as_bytes());
            // The uid of an object with a chosen identifier is not its identifier.
            let is_it = |entry: &Entry| {
                entry.uid() == uid
                    && encode::read(entry.bytes()).is_ok_and(|object| self.view.id(&object) == id)
            };
            if let Some((key, entry)) = all.find(|(_, entry)| is_it(entry)) {
                return Some(Found { key: key.clone(), entry: entry.clone() });
            }
        }
        None
    }

    /// Refuses who may not read an object: as if it were not there, unless they may list others.
    fn may_read(&self, found: &Found, id: &str, names: &Names) -> Result<(), Failure> {
        let collection = self.view.collection;
        if self.view.face == Face::Public {
            match collection.public {
                Public::Everybody => return Ok(()),
                Public::ReadersOfCluster => {
                    return match self.sees_cluster_of(&found.entry, names) {
                        true => Ok(()),
                        false => Err(Failure::not_found(id)),
                    };
                }
                Public::Readers | Public::Nobody => {}
            }
        }
        let kind = self.caller.kind(collection, &found.plane())?;
        let call = self.caller.call(&kind, &found.plane(), found.name());
        call.may_get().map_err(|refused| match (refused.code, self.view.face) {
            (404, _) | (_, Face::Public) => Failure::not_found(id),
            _ => refused.into(),
        })
    }

    /// Whether a host is assigned to a cluster that the caller may read.
    pub(crate) fn sees_cluster_of(&self, entry: &Entry, names: &Names) -> bool {
        let Ok(host) = encode::read(entry.bytes()) else { return false };
        self.sees_cluster(&host, names)
    }

    /// The same of a host that was read already.
    pub(crate) fn sees_cluster(&self, host: &Object, names: &Names) -> bool {
        let text = |path: &str| host.at(path).and_then(Json::as_str).filter(|text| !text.is_empty());
        let (Some(project), Some(cluster)) = (text("status.project"), text("status.cluster")) else {
            return false;
        };
        let plane = Plane::project(project);
        let Some(clusters) = Collection::of_plural("clusters") else { return false };
        if !self.caller.belongs_to(&plane) {
            return false;
        }
        match self.caller.reads(clusters, &plane, "get") {
            None => false,
            Some(None) => true,
            Some(Some(only)) => {
                let own = Objects::of(self.caller.clone(), Face::Private, clusters);
                let found = own.ok().and_then(|own| own.find_in_projects(cluster, names));
                found.is_some_and(|found| only.has("", found.name()))
            }
        }
    }

    /// Whether a host is assigned to a cluster that the caller may change.
    pub(super) fn may_change_cluster_of(&self, found: &Found, names: &Names) -> bool {
        let Ok(host) = encode::read(found.entry.bytes()) else { return false };
        let cluster = host.at("status.cluster").and_then(Json::as_str);
        let clusters = Collection::of_plural("clusters");
        let Some((cluster, clusters)) = cluster.zip(clusters) else { return false };
        let Ok(clusters) = Objects::of(self.caller.clone(), Face::Private, clusters) else { return false };
        let Some(cluster) = clusters.find_in_projects(cluster, names) else { return false };
        let kind = self.caller.kind(clusters.view.collection, &cluster.plane());
        let call = kind.map(|kind| self.caller.call(&kind, &cluster.plane(), cluster.name()));
        call.is_ok_and(|call| call.may("update", cluster.name()).is_ok())
    }

    /// The message of an object.
    pub fn show(&self, found: &Found, names: &Names) -> Result<DynamicMessage, Failure> {
        let object = encode::read(found.entry.bytes())?;
        Ok(self.show_object(&object, found, names))
    }

    /// The message of an object that was read already.
    pub(crate) fn show_object(&self, object: &Object, found: &Found, names: &Names) -> DynamicMessage {
        let plane = found.plane();
        let placement = self.placement_of(object, names);
        let about = About {
            plane: plane.as_str(),
            version: i32::try_from(found.entry.sequence().saturating_sub(1)).unwrap_or(i32::MAX),
            placement: placement.as_ref(),
        };
        self.view.show(object, &about, names)
    }
}
