//! A server just large enough to put ownership to work: it keeps objects, fills in a few defaults, validates nothing.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::object::Object;
use crate::ownership::*;
use crate::status::Status;

pub(super) struct Server {
    kinds: Vec<Kind>,
    objects: BTreeMap<(String, String), Object>,
    revision: u64,
    pub now: f64,
}

struct Kind {
    plural: &'static str,
    versions: Versions,
    custom: bool,
    has_status: bool,
    main_resets: Vec<Vec<(String, FieldSet)>>,
    status_resets: Vec<(String, FieldSet)>,
    api_versions: Vec<String>,
    schemas: Vec<Value>,
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

fn fixture(name: &str) -> Value {
    let path = format!("{}/../../tests/cases/kube/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn custom(plural: &'static str) -> Kind {
    let crd = fixture(plural);
    let (group, kind) =
        (crd["spec"]["group"].as_str().unwrap(), crd["spec"]["names"]["kind"].as_str().unwrap());
    let mut versions = Versions::new(kind, Origin::Custom);
    let (mut api_versions, mut schemas) = (vec![], vec![]);
    let (mut main_resets, mut status_resets) = (vec![], vec![]);
    let mut has_status = false;
    for version in crd["spec"]["versions"].as_array().unwrap() {
        let api_version = format!("{group}/{}", version["name"].as_str().unwrap());
        let schema = &version["schema"]["openAPIV3Schema"];
        versions = versions.with(&api_version, Type::from_schema(schema));
        schemas.push(schema.clone());
        let mut resets = vec![];
        if version["subresources"]["status"].is_object() {
            has_status = true;
            resets.push((api_version.clone(), FieldSet::of(&[&["status"]])));
            status_resets.push((api_version.clone(), FieldSet::of(&[&["metadata"], &["spec"]])));
        }
        main_resets.push(resets);
        api_versions.push(api_version);
    }
    Kind { plural, versions, custom: true, has_status, main_resets, status_resets, api_versions, schemas }
}

fn built_in(plural: &'static str, kind: &str, api_version: &str, properties: Value, blank: Value) -> Kind {
    let schema = json!({"type": "object", "properties": properties});
    Kind {
        plural,
        versions: Versions::new(kind, Origin::BuiltIn)
            .with(api_version, Type::from_schema(&schema))
            .blank(Object::from_value(blank).unwrap()),
        custom: false,
        has_status: false,
        main_resets: vec![vec![]],
        status_resets: vec![],
        api_versions: vec![api_version.to_owned()],
        schemas: vec![Value::Null],
    }
}

impl Server {
    pub(super) fn new() -> Server {
        let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let reference = json!({"type": "object", "properties": {"name": {"type": "string"}}, "x-kubernetes-map-type": "atomic"});
        let kinds = vec![
            custom("widgets"),
            custom("gadgets"),
            built_in(
                "configmaps",
                "ConfigMap",
                "v1",
                json!({"data": texts, "binaryData": texts, "immutable": {"type": "boolean"}}),
                json!({}),
            ),
            built_in(
                "serviceaccounts",
                "ServiceAccount",
                "v1",
                json!({
                    "secrets": {"type": "array", "items": reference, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
                    "imagePullSecrets": {"type": "array", "items": reference, "x-kubernetes-list-type": "atomic"},
                }),
                json!({}),
            ),
            built_in(
                "leases",
                "Lease",
                "coordination.k8s.io/v1",
                json!({"spec": {"type": "object", "properties": {
                    "holderIdentity": {"type": "string"}, "leaseDurationSeconds": {"type": "integer"},
                }}}),
                json!({"spec": {}}),
            ),
            built_in(
                "namespaces",
                "Namespace",
                "v1",
                json!({
                    "spec": {"type": "object", "properties": {"finalizers": {"type": "array", "items": {"type": "string"}}}},
                    "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
                }),
                json!({"spec": {}, "status": {}}),
            ),
        ];
        Server { kinds, objects: BTreeMap::new(), revision: 0, now: 1_700_000_000.0 }
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

    fn timestamp(&self) -> Timestamp {
        #[expect(clippy::cast_possible_truncation, reason = "whole seconds are wanted")]
        Timestamp::from_unix(self.now as i64)
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
        self.default(&call, &mut new);
        call.endpoint(&self.kinds).update(None, &mut new, &manager, self.timestamp()).unwrap();
        Some((201, self.insert(&call, new)))
    }

    fn insert(&mut self, call: &Call<'_>, mut new: Object) -> Value {
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
        self.objects.insert(self.key(call), new.clone());
        new.into_value()
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
                merge_patch(&mut new, &request.body);
                Object::from_value(new)?
            }
            "application/json-patch+json" => {
                let mut new = live.clone()?.into_value();
                request.body.as_array()?.iter().try_for_each(|op| json_patch(&mut new, op))?;
                Object::from_value(new)?
            }
            "application/json" if request.method == "PUT" => Object::from_value(request.body)?,
            _ => return None,
        };
        if new.name() != call.name || !matches!(new.namespace(), "" | "ns") {
            return None;
        }
        self.default(call, &mut new);
        let Some(live) = live else {
            return new.uid().is_empty().then(|| (201, self.insert(call, new)));
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
            self.objects.insert(self.key(call), new.clone());
        }
        Some((200, new.into_value()))
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
        let entries = paths.entries_of_scale(&live).unwrap();
        old.set_meta("managedFields", (!entries.is_empty()).then_some(Value::Array(entries)));
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
        let entries = scale.meta("managedFields").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let entries = paths.entries_of_object(&live, &call.api_version, entries).unwrap();
        new.set_meta("managedFields", Some(Value::Array(entries)));
        let whole = Call { subresource: "", ..call.clone() };
        self.finish(&whole, &live, new)?;
        None
    }

    /// The defaults of the fixtures; what they do not know goes.
    fn default(&self, call: &Call<'_>, object: &mut Object) {
        for field in ["labels", "annotations"] {
            if object.meta(field) == Some(&json!({})) {
                object.set_meta(field, None);
            }
        }
        let schema = &self.kinds[call.kind].schemas[call.at];
        for field in ["spec", "status"] {
            if let Some(value) = object.0.get_mut(field) {
                prune(value, &schema["properties"][field]);
            }
        }
        if self.kinds[call.kind].plural != "widgets" {
            return;
        }
        let Some(Value::Object(spec)) = object.0.get_mut("spec") else { return };
        for (field, value) in [("size", json!(1)), ("color", json!("red"))] {
            if spec.get(field).is_none_or(Value::is_null) {
                spec.insert(field.to_owned(), value);
            }
        }
        for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Value::Object(port) = port {
                port.entry("protocol").or_insert(json!("TCP"));
            }
        }
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

fn prune(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(map) => {
            if let Some(properties) = schema["properties"].as_object() {
                map.retain(|name, _| properties.contains_key(name));
            }
            for (name, value) in map {
                prune(value, &schema["properties"][name.as_str()]);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| prune(item, &schema["items"])),
        _ => {}
    }
}

fn failure(status: &Status) -> (u16, Value) {
    (status.code, serde_json::to_value(status).unwrap())
}

fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    for (name, value) in patch {
        let map = target.as_object_mut().unwrap();
        if value.is_null() {
            map.remove(name);
        } else {
            merge_patch(map.entry(name.as_str()).or_insert(Value::Null), value);
        }
    }
}

fn json_patch(target: &mut Value, op: &Value) -> Option<()> {
    let path = op["path"].as_str()?;
    let value = match op["op"].as_str()? {
        "remove" => return take(target, path).map(drop),
        "test" => return (target.pointer(path).unwrap_or(&Value::Null) == &op["value"]).then_some(()),
        "move" => take(target, op["from"].as_str()?)?,
        "copy" => target.pointer(op["from"].as_str()?)?.clone(),
        "replace" => {
            take(target, path);
            op["value"].clone()
        }
        _ => op["value"].clone(),
    };
    let (parent, last) = path.rsplit_once('/')?;
    match target.pointer_mut(parent)? {
        Value::Object(map) => {
            map.insert(unescape(last), value);
        }
        Value::Array(items) if last == "-" => items.push(value),
        Value::Array(items) => items.insert(last.parse().ok()?, value),
        _ => return None,
    }
    Some(())
}

fn take(target: &mut Value, path: &str) -> Option<Value> {
    let (parent, last) = path.rsplit_once('/')?;
    match target.pointer_mut(parent)? {
        Value::Object(map) => map.remove(&unescape(last)),
        Value::Array(items) => Some(items.remove(last.parse().ok()?)),
        _ => None,
    }
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}
