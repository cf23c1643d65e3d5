//! A server just large enough to put ownership to work.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::kinds::Kind;
use crate::object::Object;
use crate::ownership::*;
use crate::patch;
use crate::status::{Status, Subject};
use crate::time::Moment;

pub(super) struct Server {
    kinds: Vec<Kind>,
    objects: BTreeMap<(String, String), Object>,
    revision: u64,
    pub now: f64,
}

pub(super) struct Request<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub query: &'a Value,
    pub user_agent: &'a str,
    pub content_type: &'a str,
    pub body: Value,
}

/// What a request leads to; `None` when this server cannot answer it.
pub(super) type Answer = Option<(u16, Value)>;

impl Server {
    pub(super) fn new() -> Server {
        Server { kinds: Kind::all(), objects: BTreeMap::new(), revision: 0, now: 1_700_000_000.0 }
    }

    pub(super) fn handle(&mut self, request: Request<'_>) -> Answer {
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        let (api_version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ((*version).to_owned(), rest),
            ["apis", group, version, rest @ ..] => (format!("{group}/{version}"), rest),
            _ => return None,
        };
        let rest = match rest {
            ["namespaces", _, rest @ ..] if !rest.is_empty() => rest,
            rest => rest,
        };
        let (plural, name, subresource) = match rest {
            [plural] => (*plural, "", ""),
            [plural, name] => (*plural, *name, ""),
            [plural, name, subresource] => (*plural, *name, *subresource),
            _ => return None,
        };
        let namespace = if request.path.contains("/namespaces/ns/") { "ns" } else { "" };
        let kind = self.kinds.iter().position(|kind| kind.plural == plural)?;
        let at = self.kinds[kind].api_versions.iter().position(|version| *version == api_version)?;
        let call = Call { kind, at, api_version, namespace, name, subresource };
        match (request.method, subresource) {
            ("GET", "") => Some((200, self.read(&call)?.clone().into_value())),
            ("POST", "") => self.create(&call, request),
            ("PUT" | "PATCH", "" | "status") => self.change(&call, request),
            ("PUT", "scale") => self.scale(&call, request),
            ("DELETE", "") => self.delete(&call),
            _ => None,
        }
    }

    fn key(&self, call: &Call<'_>) -> (String, String) {
        (self.kinds[call.kind].plural.to_owned(), call.name.to_owned())
    }

    /// An object in the version asked for.
    fn read(&self, call: &Call<'_>) -> Option<Object> {
        let mut object = self.objects.get(&self.key(call))?.clone();
        let kind = object.kind().to_owned();
        object.set_type(&call.api_version, &kind);
        Some(object)
    }

    fn manager(request: &Request<'_>) -> String {
        manager_of(request.query["fieldManager"].as_str().unwrap_or(""), request.user_agent).into_owned()
    }

    fn timestamp(&self) -> Moment {
        #[expect(clippy::cast_possible_truncation, reason = "whole seconds are wanted")]
        Moment::of_seconds(self.now as i64)
    }

    fn create(&mut self, call: &Call<'_>, request: Request<'_>) -> Answer {
        let manager = Server::manager(&request);
        let mut new = Object::from_value(request.body)?;
        if new.api_version() != call.api_version || !matches!(new.resource_version(), "" | "0") {
            return None;
        }
        let name = new.name().to_owned();
        let call = Call { name: &name, ..call.clone() };
        if self.objects.contains_key(&self.key(&call)) {
            return None;
        }
        for field in
            ["uid", "creationTimestamp", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"]
        {
            new.set_meta(field, None);
        }
        self.read_in(&call, &mut new);
        call.endpoint(&self.kinds).update(None, &mut new, &manager, self.timestamp()).unwrap();
        self.insert(&call, new)
    }

    fn insert(&mut self, call: &Call<'_>, mut new: Object) -> Answer {
        let kind = &self.kinds[call.kind];
        if kind.has_status {
            new.set("status", None);
        }
        if kind.plural == "namespaces" {
            new.metadata_mut()["labels"]["kubernetes.io/metadata.name"] = call.name.into();
            new.set("spec", Some(json!({"finalizers": ["kubernetes"]})));
            new.set("status", Some(json!({"phase": "Active"})));
        }
        self.revision += 1;
        new.set_meta("uid", Some(format!("uid-{}", self.revision).into()));
        new.set_meta("creationTimestamp", Some(self.timestamp().to_string().into()));
        new.set_meta("generation", kind.custom.then(|| 1.into()));
        new.set_meta("resourceVersion", Some(self.revision.to_string().into()));
        if !call.namespace.is_empty() {
            new.set_meta("namespace", Some(call.namespace.into()));
        }
        self.store(call, None, new, 201)
    }

    fn change(&mut self, call: &Call<'_>, request: Request<'_>) -> Answer {
        let live = self.read(call);
        let endpoint = call.endpoint(&self.kinds);
        let manager = Server::manager(&request);
        let now = self.timestamp();
        let applies = request.content_type.starts_with("application/apply-patch+yaml");
        let no_status = call.subresource == "status" && !self.kinds[call.kind].has_status;
        if no_status || live.is_none() && (!applies || !call.subresource.is_empty()) {
            return None;
        }
        let mut new = match request.content_type.split(';').next().unwrap_or("") {
            "application/apply-patch+yaml" => {
                let applied = match request.body {
                    Value::Null => Object::default(),
                    body => Object::from_value(body)?,
                };
                let force = request.query.get("force").is_some_and(|force| force != "false");
                match endpoint.apply(live.as_ref(), &applied, Applier { manager: &manager, force }, now) {
                    Ok(new) => new,
                    Err(error) => return Some(failure(&error.status())),
                }
            }
            "application/merge-patch+json" => {
                let mut new = live.clone()?.into_value();
                patch::merge::apply(&request.body, &mut new);
                Object::from_value(new)?
            }
            "application/json-patch+json" => {
                let mut new = live.clone()?.into_value();
                patch::json::apply(&request.body, &mut new).ok()?;
                Object::from_value(new)?
            }
            "application/json" if request.method == "PUT" => Object::from_value(request.body)?,
            _ => return None,
        };
        if new.name() != call.name || !matches!(new.namespace(), "" | "ns") {
            return None;
        }
        if applies {
            self.default(call, &mut new);
        } else {
            self.read_in(call, &mut new);
        }
        let Some(live) = live else {
            return if new.uid().is_empty() { self.insert(call, new) } else { None };
        };
        if !applies {
            call.endpoint(&self.kinds).update(Some(&live), &mut new, &manager, now).unwrap_or(());
        }
        self.finish(call, &live, new)
    }

    /// Fills in what the server owns, and stores what has changed.
    fn finish(&mut self, call: &Call<'_>, live: &Object, mut new: Object) -> Answer {
        let kind = &self.kinds[call.kind];
        let rv = new.resource_version();
        if rv.is_empty() && kind.custom || !rv.is_empty() && rv != live.resource_version() {
            return None;
        }
        if !new.uid().is_empty() && new.uid() != live.uid() {
            return None;
        }
        if call.subresource == "status" {
            let mut kept = live.clone();
            kept.set("status", new.get("status").cloned());
            kept.set_meta("managedFields", new.meta("managedFields").cloned());
            new = kept;
        } else if kind.has_status {
            new.set("status", live.get("status").cloned());
        }
        for field in [
            "uid",
            "creationTimestamp",
            "generation",
            "resourceVersion",
            "namespace",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        ] {
            new.set_meta(field, live.meta(field).cloned());
        }
        let spec = |object: &Object| {
            let mut map = object.0.clone();
            map.retain(|field, _| field != "metadata" && (field != "status" || !kind.has_status));
            map
        };
        if kind.custom && spec(live) != spec(&new) {
            new.set_meta("generation", Some((live.generation() + 1).into()));
        }
        keep_times(live, &mut new);
        if new.is_deleting() && new.finalizers().is_empty() {
            self.objects.remove(&self.key(call));
            return Some((200, new.into_value()));
        }
        if new != *live {
            self.revision += 1;
            new.set_meta("resourceVersion", Some(self.revision.to_string().into()));
        }
        self.store(call, Some(live), new, 200)
    }

    /// Stores what is valid.
    fn store(&mut self, call: &Call<'_>, live: Option<&Object>, new: Object, status: u16) -> Answer {
        let value = new.clone().into_value();
        if let Some(schema) = self.kinds[call.kind].schemas.get(call.at) {
            let live = live.map(|live| live.clone().into_value());
            let errors = schema.validate(&value, live.as_ref());
            if !errors.is_empty() {
                return Some(failure(&Status::invalid(&Subject::new("", new.kind()), new.name(), &errors)));
            }
        }
        self.objects.insert(self.key(call), new);
        Some((status, value))
    }

    /// What decoding makes of an object.
    fn read_in(&self, call: &Call<'_>, object: &mut Object) {
        for field in ["labels", "annotations"] {
            if object.meta(field) == Some(&json!({})) {
                object.set_meta(field, None);
            }
        }
        if let Some(schema) = self.kinds[call.kind].schemas.get(call.at) {
            let mut value = std::mem::take(object).into_value();
            schema.prune(&mut value);
            *object = Object::from_value(value).unwrap();
        }
        self.default(call, object);
    }

    fn default(&self, call: &Call<'_>, object: &mut Object) {
        if let Some(schema) = self.kinds[call.kind].schemas.get(call.at) {
            let mut value = std::mem::take(object).into_value();
            schema.default(&mut value);
            *object = Object::from_value(value).unwrap();
        }
    }

    fn delete(&mut self, call: &Call<'_>) -> Answer {
        let mut object = self.read(call)?;
        if object.finalizers().is_empty() {
            self.objects.remove(&self.key(call));
            return None;
        }
        self.revision += 1;
        object.set_meta("deletionTimestamp", Some(self.timestamp().to_string().into()));
        object.set_meta("deletionGracePeriodSeconds", Some(0.into()));
        object.set_meta("generation", Some((object.generation() + 1).into()));
        object.set_meta("resourceVersion", Some(self.revision.to_string().into()));
        self.objects.insert(self.key(call), object.clone());
        Some((200, object.into_value()))
    }

    fn scale(&mut self, call: &Call<'_>, request: Request<'_>) -> Answer {
        let live = self.read(call)?;
        let mut paths = ReplicasPaths::default();
        for version in &self.kinds[call.kind].api_versions {
            paths = paths.with(version, Some(".spec.replicas"));
        }
        let mut old = Object::new(SCALE_VERSION, "Scale");
        for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
            old.set_meta(field, live.meta(field).cloned());
        }
        old.set_meta("managedFields", paths.of_scale(&live).unwrap());
        let replicas = live.at("spec.replicas").filter(|replicas| **replicas != json!(0));
        old.set("spec", Some(replicas.map_or(json!({}), |replicas| json!({"replicas": replicas}))));
        old.set("status", Some(json!({"replicas": 0})));
        let manager = Server::manager(&request);
        let mut scale = Object::from_value(request.body)?;
        let wrong = scale.kind() != "Scale"
            || scale.name() != call.name
            || scale.at("spec.replicas").is_some_and(|replicas| replicas.as_u64().is_none());
        if wrong || !matches!(scale.resource_version(), rv if rv.is_empty() || rv == live.resource_version())
        {
            return None;
        }
        scale.set("status", Some(json!({"replicas": 0})));
        let versions = scale_versions();
        let endpoint =
            Endpoint { versions: &versions, api_version: SCALE_VERSION, subresource: "scale", resets: &[] };
        endpoint.update(Some(&old), &mut scale, &manager, self.timestamp()).unwrap();
        let mut new = live.clone();
        let replicas = scale.at("spec.replicas").cloned().unwrap_or(json!(0));
        new.0["spec"]["replicas"] = replicas;
        new.set_meta("managedFields", paths.of_object(&live, &call.api_version, &scale).unwrap());
        let whole = Call { subresource: "", ..call.clone() };
        // The answer would be a scale.
        self.finish(&whole, &live, new)?;
        None
    }
}

#[derive(Clone)]
struct Call<'a> {
    kind: usize,
    at: usize,
    api_version: String,
    namespace: &'a str,
    name: &'a str,
    subresource: &'a str,
}

impl Call<'_> {
    fn endpoint<'s>(&'s self, kinds: &'s [Kind]) -> Endpoint<'s> {
        let kind = &kinds[self.kind];
        Endpoint {
            versions: &kind.versions,
            api_version: &self.api_version,
            subresource: self.subresource,
            resets: if self.subresource.is_empty() {
                &kind.main_resets[self.at]
            } else {
                &kind.status_resets
            },
        }
    }
}

fn failure(status: &Status) -> (u16, Value) {
    (status.code, serde_json::to_value(status).unwrap())
}
