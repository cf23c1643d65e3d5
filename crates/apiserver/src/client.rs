//! The in-process client of controllers: the same code path as for requests, without sockets.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Kind, Resource, split_api_version};
use krm::status::Status;
use reconcile::reconciler::Reconciler;
use serde_json::Value;
use store::{Author, Fence};

use crate::api::Api;
use crate::call::Call;
use crate::encode;
use crate::identity::{AUTHENTICATED, Identity, MASTERS};
use crate::plane::Plane;
use crate::planes;
use crate::present::Presenter;
use crate::request::query::WriteOptions;
use crate::secrets::tokens::Tokens;
use crate::write::patch::Patch;
use crate::write::{self, Written, delete::DeleteOptions};

/// Reads and writes objects in somebody's name.
#[derive(Clone)]
pub struct Client {
    api: Api,
    plane: Plane,
    who: Identity,
    agent: String,
    fence: Option<Fence>,
}

impl Client {
    /// A part of the server itself, in the root plane.
    pub fn system(api: &Api, part: &str) -> Client {
        Client {
            api: api.clone(),
            plane: Plane::root(),
            who: Identity::new(&format!("system:{part}"), &[MASTERS, AUTHENTICATED]),
            agent: part.to_owned(),
            fence: None,
        }
    }

    /// A controller, in the root plane.
    pub fn controller(api: &Api, reconciler: &dyn Reconciler) -> Client {
        Client {
            api: api.clone(),
            plane: Plane::root(),
            who: Identity::controller(&reconciler.user(), reconciler.role()),
            agent: reconciler.manager().to_owned(),
            fence: None,
        }
    }

    /// Who it is.
    pub fn who(&self) -> &Identity {
        &self.who
    }

    /// Its field manager.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// Who its writes are by, for the history.
    pub fn author(&self) -> Author {
        Author::new(&*self.who.user, &*self.agent)
    }

    /// The same in another plane.
    pub fn in_plane(&self, plane: &Plane) -> Client {
        Client { plane: plane.clone(), ..self.clone() }
    }

    /// The same under another name, as the manager of fields.
    pub fn called(&self, name: &str) -> Client {
        Client { agent: name.to_owned(), ..self.clone() }
    }

    /// The same, whose writes land only while a lease is held.
    pub fn fenced(&self, fence: Fence) -> Client {
        Client { fence: Some(fence), ..self.clone() }
    }

    /// The lease without which its writes must not land.
    pub fn fence(&self) -> Option<&Fence> {
        self.fence.as_ref()
    }

    /// The server it works on.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// A call about objects of a kind, at the version they are stored in.
    pub fn call(&self, kind: &Arc<Kind>, namespace: &str, name: &str, subresource: &str) -> Call {
        Call {
            api: self.api.clone(),
            plane: self.plane.clone(),
            project: planes::project_of(&self.api, &self.plane).map(|(_, uid)| uid),
            catalog: self.api.kinds().of(&self.plane),
            version: kind.storage,
            kind: kind.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: subresource.to_owned(),
            who: self.who.clone(),
            really: None,
            agent: self.agent.clone(),
            message: None,
            only: None,
            redacts: false,
            tokens: Tokens::default(),
            fence: self.fence.clone(),
            held: None,
            all_planes: false,
            depth: 0,
            asker: None,
            budget: Arc::default(),
            conversions: None,
        }
    }

    /// An object of a kind of ours.
    pub async fn get<T: Resource>(&self, namespace: &str, name: &str) -> Option<T> {
        let kind = self.api.kinds().of(&self.plane).resource(T::GROUP, T::PLURAL)?.clone();
        let object = self.read(&kind, namespace, name)?;
        T::deserialize(&Value::Object(object.0)).ok()
    }

    /// The stored object that has the type and the name of this one.
    pub async fn get_like(&self, object: &Object) -> Option<Object> {
        let kind = self.kind_of(object).ok()?;
        self.read(&kind, object.namespace(), object.name())
    }

    /// An object as it is now in memory.
    pub fn read(&self, kind: &Arc<Kind>, namespace: &str, name: &str) -> Option<Object> {
        let call = self.call(kind, namespace, name, "");
        let key = call.key().ok()?;
        let snapshot = self.api.store().latest();
        let entry = snapshot.get(&key)?;
        Presenter::new(&self.api, kind, kind.storage).object(&key, entry).ok()
    }

    /// Makes an object.
    pub async fn create(&self, object: Object) -> Result<Object, Status> {
        let call = self.call_for(&object, "")?;
        let options = self.options();
        let decided = options.clone();
        let written = write::run(&call, &options, move |call, view| {
            write::create::decide(call, view, &decided, object.clone(), Vec::new())
        });
        read(&written.await?)
    }

    /// Replaces an object.
    pub async fn update(&self, object: Object) -> Result<Object, Status> {
        self.replace(object, "").await
    }

    /// Replaces what is observed of an object.
    pub async fn update_status(&self, object: Object) -> Result<Object, Status> {
        self.replace(object, "status").await
    }

    /// Replaces a part of an object.
    pub async fn replace(&self, object: Object, subresource: &str) -> Result<Object, Status> {
        let call = self.call_for(&object, subresource)?;
        let options = self.options();
        let decided = options.clone();
        let written = write::run(&call, &options, move |call, view| {
            write::update::decide(call, view, &decided, object.clone(), Vec::new())
        });
        read(&written.await?)
    }

    /// Makes what this client wants to be there, whoever else does, and takes away what it wanted before and no longer
    /// does.
    pub async fn apply(&self, wanted: Object) -> Result<Object, Status> {
        let call = self.call_for(&wanted, "")?;
        let options = WriteOptions { force: Some(true), ..self.options() };
        let (decided, patch) = (options.clone(), Patch::Apply(wanted, Vec::new()));
        let written =
            write::run(&call, &options, move |call, view| write::patch::decide(call, view, &decided, &patch));
        read(&written.await?)
    }

    /// Deletes an object.
    pub async fn delete(
        &self,
        kind: &Arc<Kind>,
        namespace: &str,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<(), Status> {
        let call = Arc::new(self.call(kind, namespace, name, ""));
        write::delete::delete(&call, options).await.map(|_| ())
    }

    /// The kind of an object.
    pub fn kind_of(&self, object: &Object) -> Result<Arc<Kind>, Status> {
        let (group, _) = split_api_version(object.api_version());
        let catalog = self.api.kinds().of(&self.plane);
        let kind = catalog.kind(group, object.kind()).cloned();
        kind.ok_or_else(Status::no_such_resource)
    }

    fn call_for(&self, object: &Object, subresource: &str) -> Result<Arc<Call>, Status> {
        let kind = self.kind_of(object)?;
        Ok(Arc::new(self.call(&kind, object.namespace(), object.name(), subresource)))
    }

    fn options(&self) -> WriteOptions {
        WriteOptions { manager: self.agent.clone(), ..WriteOptions::default() }
    }
}

fn read(written: &Written) -> Result<Object, Status> {
    encode::read(&written.bytes)
}
