//! The objects of one kind: typed by a Rust type, or as they are.

use std::marker::PhantomData;

use http::Method;
use krm::Object;
use krm::kind::Resource;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::pages::{ListOptions, Pages};
use crate::planes::InPlane;
use crate::request::{Request, segment};
use crate::sending::Client;
use crate::watch::Watch;

/// The objects of one kind in one namespace, in all of them, or without any.
pub struct Collection<T> {
    client: Client,
    api_version: String,
    plural: String,
    /// The kind of objects whose type does not say it.
    kind: Option<&'static str>,
    namespace: String,
    manager: Option<String>,
    message: Option<String>,
    is_dry_run: bool,
    of: PhantomData<fn() -> T>,
}

impl Client {
    /// The objects of a kind that is declared in Rust.
    pub fn kind<T: Resource>(&self) -> Collection<T> {
        let api_version = match T::GROUP {
            "" => T::VERSION.to_owned(),
            group => format!("{group}/{}", T::VERSION),
        };
        Collection::new(self.clone(), api_version, T::PLURAL.to_owned(), Some(T::KIND))
    }

    /// The objects of any resource, such as `configmaps` of `v1`.
    pub fn resource(&self, api_version: &str, plural: &str) -> Collection<Object> {
        Collection::new(self.clone(), api_version.to_owned(), plural.to_owned(), None)
    }
}

impl<T> Clone for Collection<T> {
    fn clone(&self) -> Collection<T> {
        Collection {
            client: self.client.clone(),
            api_version: self.api_version.clone(),
            plural: self.plural.clone(),
            kind: self.kind,
            namespace: self.namespace.clone(),
            manager: self.manager.clone(),
            message: self.message.clone(),
            is_dry_run: self.is_dry_run,
            of: PhantomData,
        }
    }
}

/// A change of parts of an object.
#[derive(Debug, Clone)]
pub enum Patch {
    /// RFC 7386: fields that are null are removed.
    Merge(Value),
    /// RFC 6902: a list of operations.
    Json(Value),
    /// Kubernetes' own: lists are merged by their keys, where a kind declares them.
    Strategic(Value),
}

/// What has to hold before an object is deleted, and what becomes of what it owns.
#[derive(Debug, Clone, Default)]
pub struct DeleteOptions {
    /// Only the object with this UID.
    pub uid: Option<String>,
    /// Only the object at this resource version.
    pub resource_version: Option<String>,
    /// What becomes of what it owns. Defaults to what the kind says.
    pub propagation: Option<Propagation>,
}

/// What becomes of the objects that a deleted object owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Propagation {
    /// They are deleted afterwards.
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay.
    Orphan,
}

impl<T: Serialize + DeserializeOwned> Collection<T> {
    fn new(client: Client, api_version: String, plural: String, kind: Option<&'static str>) -> Collection<T> {
        let of = PhantomData;
        let (namespace, manager, message) = (String::new(), None, None);
        Collection { client, api_version, plural, kind, namespace, manager, message, is_dry_run: false, of }
    }

    /// The same in a namespace.
    pub fn in_namespace(mut self, namespace: &str) -> Collection<T> {
        namespace.clone_into(&mut self.namespace);
        self
    }

    /// The same under the name of a field manager.
    pub fn managed_by(mut self, manager: &str) -> Collection<T> {
        self.manager = Some(manager.to_owned());
        self
    }

    /// The same with a reason that is kept in the history of what it changes.
    pub fn because(mut self, message: &str) -> Collection<T> {
        self.message = Some(message.to_owned());
        self
    }

    /// The same, whose writes are checked and answered, and not made.
    pub fn dry_run(mut self) -> Collection<T> {
        self.is_dry_run = true;
        self
    }

    /// The client below.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Gets an object.
    pub async fn get(&self, name: &str) -> Result<T> {
        self.client.read(&Request::get(self.path(&self.namespace, name))).await
    }

    /// Gets an object if it exists.
    pub async fn find(&self, name: &str) -> Result<Option<T>> {
        match self.get(name).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lists objects page by page.
    pub fn list(&self, options: ListOptions) -> Pages<T> {
        Pages::new(self.client.clone(), self.path(&self.namespace, ""), options)
    }

    /// Watches objects: those that there are, then what changes. See [`Watch`].
    pub fn watch(&self, options: ListOptions) -> Watch<T> {
        Watch::new(self.client.clone(), self.path(&self.namespace, ""), options)
    }

    /// Lists the objects of all control planes, page by page. It takes the permission `read` on `<plural>/allplanes` in the
    /// root, where the client must be.
    pub fn list_all_planes(&self, options: ListOptions) -> Pages<InPlane<T>> {
        Pages::new(self.client.clone(), self.across(), options)
    }

    /// Watches the objects of all control planes. See [`list_all_planes`](Self::list_all_planes) and [`Watch`].
    pub fn watch_all_planes(&self, options: ListOptions) -> Watch<InPlane<T>> {
        Watch::across_planes(self.client.clone(), self.across(), options)
    }

    fn across(&self) -> String {
        self.path(&self.namespace, "") + "?allPlanes=true"
    }

    /// Creates an object.
    pub async fn create(&self, object: &T) -> Result<T> {
        let (value, path) = self.written(object, false)?;
        self.client.read(&self.writing(Method::POST, path).json(&value)).await
    }

    /// Replaces an object. If it has a resource version, only at that one.
    ///
    /// With a resource version the request is repeated when the connection is lost; a conflict can then be with the first
    /// attempt.
    pub async fn replace(&self, object: &T) -> Result<T> {
        self.put(object, "").await
    }

    /// Replaces the status of an object. See [`replace`](Self::replace).
    pub async fn replace_status(&self, object: &T) -> Result<T> {
        self.put(object, "/status").await
    }

    async fn put(&self, object: &T, subresource: &str) -> Result<T> {
        let (value, path) = self.written(object, true)?;
        let has_version =
            value["metadata"]["resourceVersion"].as_str().is_some_and(|version| !version.is_empty());
        let request = self.writing(Method::PUT, path + subresource).json(&value);
        let request = if has_version { request.repeatable() } else { request };
        self.client.read(&request).await
    }

    /// Server-side apply: makes the fields of `object` be as they are there, and removes those that the same manager
    /// applied before and no longer does. Fields of other managers are a conflict, unless `force` takes them over.
    pub async fn apply(&self, object: &T, force: bool) -> Result<T> {
        self.apply_to(object, "", force).await
    }

    /// Server-side apply of the status. See [`apply`](Self::apply).
    pub async fn apply_status(&self, object: &T, force: bool) -> Result<T> {
        self.apply_to(object, "/status", force).await
    }

    async fn apply_to(&self, object: &T, subresource: &str, force: bool) -> Result<T> {
        let (mut value, path) = self.written(object, true)?;
        if let Some(metadata) = value["metadata"].as_object_mut() {
            metadata.remove("managedFields");
        }
        let mut request = self.writing(Method::PATCH, path + subresource);
        if self.manager.is_none() {
            request = request.query("fieldManager", "groundplane");
        }
        let request = request
            .query("force", force.to_string())
            .body("application/apply-patch+yaml", value.to_string())
            .repeatable();
        self.client.read(&request).await
    }

    /// Patches an object.
    pub async fn patch(&self, name: &str, patch: &Patch) -> Result<T> {
        self.patch_at(name, "", patch).await
    }

    /// Patches the status of an object.
    pub async fn patch_status(&self, name: &str, patch: &Patch) -> Result<T> {
        self.patch_at(name, "/status", patch).await
    }

    async fn patch_at(&self, name: &str, subresource: &str, patch: &Patch) -> Result<T> {
        let (media, body) = match patch {
            Patch::Merge(body) => ("application/merge-patch+json", body),
            Patch::Json(body) => ("application/json-patch+json", body),
            Patch::Strategic(body) => ("application/strategic-merge-patch+json", body),
        };
        let request = self.writing(Method::PATCH, self.path(&self.namespace, name) + subresource);
        self.client.read(&request.body(media, body.to_string())).await
    }

    /// Deletes an object. It may stay for as long as it has finalizers.
    ///
    /// With a UID or a resource version the request is repeated when the connection is lost; that there is no such object
    /// can then be the doing of the first attempt.
    pub async fn delete(&self, name: &str, options: &DeleteOptions) -> Result<()> {
        let mut body = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        for (field, value) in [("uid", &options.uid), ("resourceVersion", &options.resource_version)] {
            if let Some(value) = value {
                body["preconditions"][field] = value.as_str().into();
            }
        }
        if let Some(propagation) = options.propagation {
            body["propagationPolicy"] = format!("{propagation:?}").into();
        }
        let request = self.writing(Method::DELETE, self.path(&self.namespace, name)).json(&body);
        let request = if body["preconditions"].is_null() { request } else { request.repeatable() };
        self.client.value(&request).await.map(drop)
    }

    /// The path of an object.
    pub fn path_of(&self, name: &str) -> String {
        self.path(&self.namespace, name)
    }

    fn writing(&self, method: Method, path: String) -> Request {
        self.parameters(Request::new(method, path))
    }

    /// A write as this collection makes it: under its manager, with its reason, and as a dry run if it is one.
    pub(crate) fn parameters(&self, request: Request) -> Request {
        request
            .query_if("fieldManager", self.manager.as_deref())
            .query_if("dryRun", self.is_dry_run.then_some("All"))
            .message(self.message.as_deref())
    }

    /// An object as JSON with its type, and the path that it is sent to.
    fn written(&self, object: &T, is_there: bool) -> Result<(Value, String)> {
        let failed = |why: &dyn std::fmt::Display| {
            Error::Invalid(format!("{} of {}: {why}", self.plural, self.api_version))
        };
        let mut value = serde_json::to_value(object).map_err(|error| failed(&error))?;
        if let (Some(map), Some(kind)) = (value.as_object_mut(), self.kind) {
            map.insert("apiVersion".to_owned(), self.api_version.as_str().into());
            map.insert("kind".to_owned(), kind.into());
        }
        let text = |field: &str| value["metadata"][field].as_str().unwrap_or("");
        if is_there && text("name").is_empty() {
            return Err(failed(&"the object has no metadata.name"));
        }
        let namespace = if self.namespace.is_empty() { text("namespace") } else { &self.namespace };
        let path = self.path(namespace, if is_there { text("name") } else { "" });
        Ok((value, path))
    }

    fn path(&self, namespace: &str, name: &str) -> String {
        let mut path = match self.api_version.contains('/') {
            true => format!("/apis/{}", self.api_version),
            false => format!("/api/{}", self.api_version),
        };
        if !namespace.is_empty() {
            path += &format!("/namespaces/{}", segment(namespace));
        }
        path += &format!("/{}", self.plural);
        if !name.is_empty() {
            path += &format!("/{}", segment(name));
        }
        path
    }
}
