//! Recorded scenarios, replayed on a server that is nothing but kinds and a map of objects.

mod compare;

use std::collections::BTreeMap;

use krm::kind::{Kind, RawChange};
use krm::object::Object;
use krm::ownership::Applier;
use krm::patch::{json as json_patch, merge, strategic};
use krm::status::Status;
use krm::time::Moment;
use krm::{Path, body, meta};
use serde_json::{Value, json};

use crate::kinds::all;
use compare::{compare, without_links};

/// Replays one scenario; steps about other kinds, and answers that are not made by kinds, are left out.
pub fn replay(scenario: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/kube/scenarios");
    let text = std::fs::read_to_string(format!("{folder}/{scenario}.golden.json")).expect("a recording");
    let asked = std::fs::read_to_string(format!("{folder}/{scenario}.json")).expect("a scenario");
    let asked: Value =
        serde_json::from_str(&asked.replace("${ns}", "ns").replace("${x}", "x")).expect("JSON");
    let recorded: Value =
        serde_json::from_str(&text.replace("${ns}", "ns").replace("${x}", "x")).expect("JSON");
    let mut server = Server { kinds: all(), objects: BTreeMap::new() };
    server.objects.insert("/api/v1/namespaces/ns".into(), named_namespace());
    let mut compared = 0;
    for step in recorded["steps"].as_array().into_iter().flatten() {
        let number: usize = step["step"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
        let about = format!("{scenario}, step {number}");
        let fill = &asked["steps"][number.saturating_sub(1)]["fill"];
        compared += usize::from(server.step(step, fill, &about));
    }
    assert!(compared > 0, "nothing of {scenario} could be compared");
}

fn named_namespace() -> Object {
    let labels = json!({"kubernetes.io/metadata.name": "ns"});
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "labels": labels, "creationTimestamp": "1970-01-01T00:00:00Z"},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
    });
    Object::from_value(namespace).expect("an object")
}

struct Server {
    kinds: Vec<Kind>,
    objects: BTreeMap<String, Object>,
}

/// What a path names.
struct Target {
    kind: usize,
    /// The path of the object, or of the collection when there is no name.
    path: String,
    namespace: String,
    name: String,
    subresource: String,
}

/// What a write came to.
pub type Answer = Result<(Object, Vec<String>), Box<Status>>;

impl Server {
    fn step(&mut self, step: &Value, fill: &Value, about: &str) -> bool {
        let (request, response) = (&step["request"], &step["response"]);
        let Some(target) = self.target(request["path"].as_str().unwrap_or("")) else { return false };
        let expected = response["status"].as_u64().unwrap_or(0);
        let method = request["method"].as_str().unwrap_or("");
        let is_table =
            request["headers"]["Accept"].as_str().is_some_and(|accept| accept.contains("as=Table"));
        if is_table {
            self.table(&target, &response["body"], about);
            return true;
        }
        if method == "DELETE" {
            self.delete(&target);
            return false;
        }
        if !matches!(expected, 200 | 201 | 400 | 422 | 500) || matches!(method, "GET" | "HEAD") {
            return false;
        }
        let message = response["body"]["message"].as_str().unwrap_or("");
        // What the server answers before it knows the object, and what only a store can tell.
        let others =
            ["does not match the name on the URL", "must be specified for an update", "CreateOptions"];
        if others.iter().any(|words| message.contains(words)) || message.starts_with("the server") {
            return false;
        }
        let mut request = request.clone();
        if let Some(field) = fill["at"].as_str() {
            let pointer = format!("/{}", field.replace('.', "/"));
            let size = usize::try_from(fill["bytes"].as_u64().unwrap_or(0)).unwrap_or(0);
            if let Some(slot) = request["body"].pointer_mut(&pointer) {
                *slot = "x".repeat(size).into();
            }
        }
        let answer = match method {
            "POST" => self.create(&target, &request),
            "PUT" => self.update(&target, &request),
            "PATCH" => self.patch(&target, &request),
            _ => return false,
        };
        compare(answer, response, about);
        true
    }

    fn target(&self, path: &str) -> Option<Target> {
        let path = path.split('?').next().unwrap_or("");
        let mut parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let group = match *parts.first()? {
            "api" => String::new(),
            _ => parts.remove(1).to_owned(),
        };
        let rest = parts.get(2..)?;
        let (namespace, rest) = match rest {
            ["namespaces", namespace, plural @ ..] if !plural.is_empty() && !is_part(plural[0]) => {
                ((*namespace).to_owned(), plural)
            }
            rest => (String::new(), rest),
        };
        let plural = rest.first()?;
        let kind = self.kinds.iter().position(|kind| kind.group == group && kind.names.plural == *plural)?;
        let subresource = rest.get(2).copied().unwrap_or("").to_owned();
        Some(Target {
            kind,
            path: path.trim_end_matches(&format!("/{subresource}")).trim_end_matches('/').to_owned(),
            namespace,
            name: rest.get(1).copied().unwrap_or("").to_owned(),
            subresource,
        })
    }

    /// Decodes as the server does: into the type, and then with what the kind adds.
    fn decode(&self, target: &Target, mut value: Value) -> Result<(Object, Vec<String>), String> {
        let kind = &self.kinds[target.kind];
        let mut unknown = Vec::new();
        krm::shape::conform(&mut value, kind.shape.expect("a type"), &Path::ROOT, &mut unknown)?;
        let mut object = Object::from_value(value).expect("an object");
        object.set_type(&kind.api_version("v1"), &kind.names.kind);
        kind.complete.iter().for_each(|complete| complete(&mut object));
        Ok((object, unknown.iter().map(|field| format!("unknown field \"{field}\"")).collect()))
    }

    fn body(&self, target: &Target, request: &Value) -> Answer {
        let body = body::read(text(request).as_bytes()).map_err(|error| refused(error.to_string()))?;
        let kind = &self.kinds[target.kind].names.kind;
        let unfit =
            |why: String| refused(format!("{kind} in version \"v1\" cannot be handled as a {kind}: {why}"));
        let (object, unknown) = self.decode(target, body.value).map_err(unfit)?;
        let mut complaints = body.duplicates;
        complaints.extend(unknown);
        match request["query"]["fieldValidation"].as_str() {
            Some("Ignore") => Ok((object, Vec::new())),
            Some("Strict") if !complaints.is_empty() => {
                Err(unfit(format!("strict decoding error: {}", complaints.join(", "))))
            }
            _ => Ok((object, complaints)),
        }
    }

    fn create(&mut self, target: &Target, request: &Value) -> Answer {
        let (object, warnings) = self.body(target, request)?;
        let mut object = self.owned(target, None, object, request);
        meta::fill_on_create(&mut object, "u", Moment::of_seconds(0));
        self.finish_creation(target, object, warnings)
    }

    fn finish_creation(&mut self, target: &Target, mut object: Object, mut warnings: Vec<String>) -> Answer {
        let kind = &self.kinds[target.kind];
        if kind.is_namespaced() {
            object.set_meta("namespace", Some(target.namespace.as_str().into()));
        }
        if object.name().is_empty() && !object.meta_text("generateName").is_empty() {
            object.set_meta("name", Some("<gen:1>".into()));
        }
        kind.prepare.iter().for_each(|prepare| prepare(&mut object, None, ""));
        let is_generated = object.name() == "<gen:1>";
        let name_rule = if is_generated { krm::names::name_is_path_segment } else { kind.name_rule };
        let mut errors =
            meta::validate_create(object.metadata(), kind.is_namespaced(), name_rule, &Path::of("metadata"));
        if is_generated {
            // A name that stands for any is no good label.
            errors.clear();
        }
        let change = RawChange { old: None, new: Some(&object), subresource: "" };
        errors.extend(kind.validations.iter().flat_map(|validate| validate(&change)));
        if !errors.is_empty() {
            return Err(Box::new(Status::invalid(&kind.subject(), object.name(), &errors)));
        }
        warnings.extend(kind.warnings.iter().flat_map(|warn| warn(&change)));
        let path = match target.name.is_empty() {
            true => format!("{}/{}", target.path, object.name()),
            false => target.path.clone(),
        };
        self.objects.insert(path, object.clone());
        Ok((object, warnings))
    }

    fn update(&mut self, target: &Target, request: &Value) -> Answer {
        let (object, warnings) = self.body(target, request)?;
        let old = self.objects[&target.path].clone();
        self.replace(target, &old, object, warnings, Some(request))
    }

    fn patch(&mut self, target: &Target, request: &Value) -> Answer {
        let media = request["headers"]["Content-Type"].as_str().unwrap_or("");
        let patch = text(request);
        let failed = |error: krm::patch::PatchError| Box::new(error.status());
        let warn = body::FieldValidation::Warn;
        if media.contains("apply-patch") {
            return self.apply(target, request);
        }
        let old = self.objects[&target.path].clone();
        let mut value = Value::Object(old.0.clone());
        if media.contains("strategic") {
            let layout = self.kinds[target.kind].versions[0].layout.as_ref().expect("a layout");
            let patch = strategic::Patch::read(patch.as_bytes()).map_err(failed)?;
            value = patch.apply(&value, layout, warn).map_err(failed)?.0;
        } else if media.contains("json-patch") {
            let patch = json_patch::Patch::read(patch.as_bytes(), warn).map_err(failed)?;
            patch.apply(&mut value).map_err(failed)?;
        } else {
            let patch = merge::Patch::read(patch.as_bytes(), warn).map_err(failed)?;
            patch.apply(&mut value);
        }
        let shown = value.to_string();
        let bad = |why: String| failed(krm::patch::PatchError::BadResult { shown, why });
        let (new, warnings) = self.decode(target, value).map_err(bad)?;
        self.replace(target, &old, new, warnings, Some(request))
    }

    fn apply(&mut self, target: &Target, request: &Value) -> Answer {
        let kind = &self.kinds[target.kind];
        let wanted = Object::from_value(request["body"].clone()).expect("an object");
        let old = self.objects.get(&target.path).cloned();
        let api_version = kind.api_version("v1");
        let endpoint = kind.owned().endpoint(&api_version, &target.subresource);
        let manager = request["query"]["fieldManager"].as_str().unwrap_or("");
        let applier = Applier { manager, force: false };
        let merged = endpoint
            .apply(old.as_ref(), &wanted, applier, Moment::of_seconds(0))
            .map_err(|error| Box::new(error.status()))?;
        let (mut new, warnings) = self.decode(target, merged.into_value()).map_err(refused)?;
        match old {
            Some(old) => self.replace(target, &old, new, warnings, None),
            None => {
                meta::fill_on_create(&mut new, "u", Moment::of_seconds(0));
                self.finish_creation(target, new, warnings)
            }
        }
    }

    /// Writes `new` for `old`; the request tells who owns it, unless it was applied.
    fn replace(
        &mut self,
        target: &Target,
        old: &Object,
        mut new: Object,
        mut warnings: Vec<String>,
        request: Option<&Value>,
    ) -> Answer {
        let kind = &self.kinds[target.kind];
        meta::keep_on_update(&mut new, old);
        if kind.is_namespaced() {
            new.set_meta("namespace", Some(target.namespace.as_str().into()));
        }
        if let Some(request) = request {
            new = self.owned(target, Some(old), new, request);
        }
        kind.prepare.iter().for_each(|prepare| prepare(&mut new, Some(old), &target.subresource));
        new.set_meta("resourceVersion", Some("1".into()));
        let path = Path::of("metadata");
        let mut errors = meta::validate_update(new.metadata(), old.metadata(), &path);
        let change = RawChange { old: Some(old), new: Some(&new), subresource: &target.subresource };
        errors.extend(kind.validations.iter().flat_map(|validate| validate(&change)));
        if !errors.is_empty() {
            return Err(Box::new(Status::invalid(&kind.subject(), new.name(), &errors)));
        }
        warnings.extend(kind.warnings.iter().flat_map(|warn| warn(&change)));
        self.objects.insert(target.path.clone(), new.clone());
        Ok((new, warnings))
    }

    fn owned(&self, target: &Target, old: Option<&Object>, mut new: Object, request: &Value) -> Object {
        let kind = &self.kinds[target.kind];
        let api_version = kind.api_version("v1");
        let endpoint = kind.owned().endpoint(&api_version, &target.subresource);
        let manager = request["query"]["fieldManager"].as_str().unwrap_or("golden");
        // Fields that nobody can own are no reason to refuse them.
        let _ = endpoint.update(old, &mut new, manager, Moment::of_seconds(0));
        new
    }

    fn delete(&mut self, target: &Target) {
        if !target.path.starts_with("/api/v1/namespaces/") || !target.namespace.is_empty() {
            self.objects.retain(|path, _| !path.starts_with(&target.path));
        } else if let Some(namespace) = self.objects.get_mut(&target.path) {
            namespace.set_meta("deletionTimestamp", Some("2020-01-01T00:00:00Z".into()));
            let mut status = namespace.get("status").cloned().unwrap_or_else(|| json!({}));
            status["phase"] = "Terminating".into();
            namespace.set("status", Some(status));
        }
    }

    fn table(&self, target: &Target, expected: &Value, about: &str) {
        let kind = &self.kinds[target.kind];
        let columns = &kind.versions[0].columns;
        assert_eq!(without_links(columns.definitions()), expected["columnDefinitions"], "{about}");
        let here = self.objects.iter().filter(|(path, _)| path.starts_with(&target.path));
        let rows: Vec<Value> = here
            .filter(|(_, object)| object.kind() == kind.names.kind)
            .map(|(_, object)| columns.cells(&Value::Object(object.0.clone()), Moment::of_seconds(0)).into())
            .collect();
        let mut recorded: Vec<Value> = Vec::new();
        for row in expected["rows"].as_array().into_iter().flatten() {
            let cells = row["cells"].as_array().into_iter().flatten();
            recorded
                .push(cells.map(|cell| if cell == "<age>" { "0s".into() } else { cell.clone() }).collect());
        }
        // Definitions come with the scenario's fixtures, which are not here.
        if kind.names.kind != "CustomResourceDefinition" {
            assert_eq!(rows, recorded, "{about}");
        }
    }
}

fn is_part(name: &str) -> bool {
    matches!(name, "status" | "finalize")
}

/// The body of a request as it was sent.
fn text(request: &Value) -> String {
    request["raw"].as_str().map_or_else(|| request["body"].to_string(), str::to_owned)
}

fn refused(message: String) -> Box<Status> {
    Box::new(Status::bad_request(message))
}
