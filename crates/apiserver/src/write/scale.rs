//! The scale subresource.

use krm::Object;
use krm::field::{FieldError, Path};
use krm::kind::Scale;
use krm::meta::OBJECT_META;
use krm::ownership::{Applier, Endpoint, ReplicasPaths, SCALE_VERSION, Versions, manager_of, scale_versions};
use krm::patch::PatchError;
use krm::shape::{Field, INT32, STRING, Shape, Struct};
use krm::status::Status;
use krm::table::{Column, ColumnDefinition, Columns};
use serde_json::{Map, Value, json};

use super::admit;
use super::patch::Patch;
use crate::call::Call;
use crate::request::query::WriteOptions;

/// The smallest number of 32 bits stands for none.
const NO_NUMBER: i64 = i32::MIN as i64;

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "Scale",
    type_name: "v1.Scale",
    fields: &[
        Field::if_empty("kind", STRING),
        Field::if_empty("apiVersion", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("spec", Shape::Struct(&SPEC)),
        Field::always("status", Shape::Struct(&STATUS)),
    ],
});

static SPEC: Struct =
    Struct { name: "ScaleSpec", type_name: "v1.ScaleSpec", fields: &[Field::if_empty("replicas", INT32)] };

static STATUS: Struct = Struct {
    name: "ScaleStatus",
    type_name: "v1.ScaleStatus",
    fields: &[Field::always("replicas", INT32), Field::if_empty("selector", STRING)],
};

/// What a table of scales shows.
pub fn columns() -> Columns {
    let column = |name: &str, description: &str, cell| {
        let definition = ColumnDefinition {
            name: name.to_owned(),
            type_name: "integer".to_owned(),
            format: String::new(),
            description: description.to_owned(),
            priority: 0,
        };
        Column::own(definition, cell)
    };
    Columns::new(vec![
        Column::name(),
        column("Desired", "Number of desired replicas", |object, _| {
            object.pointer("/spec/replicas").cloned().unwrap_or_else(|| 0.into())
        }),
        column("Available", "Number of actual replicas", |object, _| {
            object.pointer("/status/replicas").cloned().unwrap_or_else(|| 0.into())
        }),
        Column::age(),
    ])
}

/// What is wrong with the numbers that a scale of an object would show.
pub fn faults(scale: &Scale, object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for path in [&scale.spec_replicas, &scale.status_replicas] {
        let field = Path::of(path);
        match find(object, path) {
            Ok(None) => {}
            Ok(Some(value)) => match value.as_i64() {
                Some(number) if number < 0 => {
                    let why = "should be a non-negative integer";
                    errors.push(FieldError::invalid(&field, &Value::from(number), why));
                }
                Some(_) => {}
                None => errors.push(accessor_error(&field, path, value, "int64")),
            },
            Err(value) => errors.push(accessor_error(&field, path, value, "map[string]interface{}")),
        }
    }
    if let Some(path) = &scale.selector {
        let field = Path::of(path);
        match find(object, path) {
            Ok(Some(value)) if !value.is_string() => {
                errors.push(accessor_error(&field, path, value, "string"));
            }
            Err(value) => errors.push(FieldError::invalid(
                &field,
                &Value::from(""),
                accessor_words(path, value, "map[string]interface{}"),
            )),
            Ok(_) => {}
        }
    }
    errors
}

fn accessor_error(field: &Path<'_>, path: &str, found: &Value, wanted: &str) -> FieldError {
    let value = if wanted == "string" { Value::from("") } else { Value::from(0) };
    FieldError::invalid(field, &value, accessor_words(path, found, wanted))
}

fn accessor_words(path: &str, found: &Value, wanted: &str) -> String {
    let shown = match found {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let kind = match found {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    format!("{path} accessor error: {shown} is of the type {kind}, expected {wanted}")
}

/// The value at a path; an error is what stands in the way of getting there.
fn find<'a>(object: &'a Object, path: &str) -> Result<Option<&'a Value>, &'a Value> {
    let mut steps = path.strip_prefix('.').unwrap_or(path).split('.');
    let Some(mut value) = steps.next().and_then(|first| object.0.get(first)) else { return Ok(None) };
    for step in steps {
        match value {
            Value::Object(map) => match map.get(step) {
                Some(found) => value = found,
                None => return Ok(None),
            },
            other => return Err(other),
        }
    }
    Ok(Some(value))
}

/// Who owns the number of replicas of a kind's objects.
pub fn paths(call: &Call) -> ReplicasPaths {
    let mut paths = ReplicasPaths::default();
    for version in &call.kind.versions {
        let path = version.scale().map(|scale| scale.spec_replicas.as_str());
        paths = paths.with(call.kind.api_version(&version.name), path);
    }
    paths
}

/// Notes down in `object` who owns its number of replicas, now that its scale was changed from `live` to `asked`.
pub fn own(call: &Call, options: &WriteOptions, live: &Object, asked: &Object, object: &mut Object) {
    let mut new = asked.clone();
    new.set_type(SCALE_VERSION, "Scale");
    new.set_meta("managedFields", None);
    let versions = scale_versions();
    let manager = manager_of(&options.manager, &call.agent);
    if endpoint(&versions).update(Some(live), &mut new, &manager, call.api.now()).is_ok() {
        take_over(call, &new, object);
    }
}

/// Notes down in `object` that those own its number of replicas who own it in its scale.
pub fn take_over(call: &Call, scale: &Object, object: &mut Object) {
    if let Ok(entries) = paths(call).of_object(object, &call.api_version(), scale) {
        object.set_meta("managedFields", entries);
    }
}

/// The scale of a stored object, with who owns the number of replicas. One that has no number yet has one that no scale
/// can ask for.
pub fn live(call: &Call, scale: &Scale, object: &Object) -> Result<Object, Status> {
    let mut live = match number(object, &scale.spec_replicas) {
        Some(_) => of(scale, object)?,
        None => {
            let mut numbered = object.clone();
            set(&mut numbered.0, &scale.spec_replicas, Value::from(NO_NUMBER));
            of(scale, &numbered)?
        }
    };
    live.set_meta("managedFields", paths(call).of_scale(object).ok().flatten());
    Ok(live)
}

/// The scale that a patch makes of the present one.
pub fn patched(
    call: &Call,
    options: &WriteOptions,
    live: &Object,
    patch: &Patch,
    warnings: &mut Vec<String>,
) -> Result<Object, Status> {
    if let Patch::Apply(wanted, complaints) = patch {
        warnings.extend(complaints.iter().cloned());
        let applier = Applier { manager: &options.manager, force: options.force.unwrap_or(false) };
        let versions = scale_versions();
        let applied = endpoint(&versions).apply(Some(live), wanted, applier, call.api.now());
        let applied = applied.map_err(|error| error.status())?;
        admit::matches_path(call, &applied, true)?;
        return Ok(applied);
    }
    let (changed, mut complaints) =
        patch.changed(call, live, options.validation).map_err(|error| error.status())?;
    let bad = |why: String| {
        let shown = patch.shown(SCALE_VERSION, "Scale", &changed);
        PatchError::BadResult { shown, why }.status()
    };
    let mut value = changed.clone();
    let mut unknown = Vec::new();
    krm::shape::conform(&mut value, &SHAPE, &Path::ROOT, &mut unknown).map_err(bad)?;
    complaints.extend(unknown.iter().map(|field| format!("unknown field {}", krm::field::quote(field))));
    admit::complain(complaints, options.validation, warnings).map_err(bad)?;
    let Some(asked) = Object::from_value(value) else {
        return Err(bad("the patch result is not a Scale".to_owned()));
    };
    admit::matches_path(call, &asked, true)?;
    Ok(asked)
}

fn endpoint(versions: &Versions) -> Endpoint<'_> {
    Endpoint { versions, api_version: SCALE_VERSION, subresource: "scale", resets: &[] }
}

/// The scale of an object.
pub fn of(scale: &Scale, object: &Object) -> Result<Object, Status> {
    let wanted = number(object, &scale.spec_replicas);
    let Some(wanted) = wanted else {
        let why = format!("the spec replicas field {:?} does not exist", scale.spec_replicas);
        return Err(Status::internal(why));
    };
    let mut status = json!({ "replicas": number(object, &scale.status_replicas).unwrap_or(0) });
    let selector = scale.selector.as_deref().and_then(|path| at(object, path)).and_then(Value::as_str);
    if let Some(selector) = selector.filter(|text| !text.is_empty()) {
        status["selector"] = selector.into();
    }
    let mut made = Object::new("autoscaling/v1", "Scale");
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        made.set_meta(field, object.meta(field).cloned());
    }
    let spec = if wanted == 0 { json!({}) } else { json!({ "replicas": wanted }) };
    made.set("spec", Some(spec));
    made.set("status", Some(status));
    Ok(made)
}

/// The object with the number that a scale asks for.
pub fn apply(scale: &Scale, mut object: Object, asked: &Object) -> Result<Object, Status> {
    let replicas = match asked.at("spec.replicas") {
        None | Some(Value::Null) => 0,
        Some(value) => value
            .as_i64()
            .ok_or_else(|| Status::bad_request("spec.replicas of the Scale must be an integer"))?,
    };
    if replicas == NO_NUMBER {
        let why = format!("the spec replicas field {:?} cannot be empty", scale.spec_replicas);
        return Err(Status::bad_request(why));
    }
    set(&mut object.0, &scale.spec_replicas, Value::from(replicas));
    for field in ["resourceVersion", "uid"] {
        if !asked.meta_text(field).is_empty() {
            object.set_meta(field, asked.meta(field).cloned());
        }
    }
    Ok(object)
}

fn number(object: &Object, path: &str) -> Option<i64> {
    at(object, path)?.as_i64()
}

fn at<'a>(object: &'a Object, path: &str) -> Option<&'a Value> {
    object.at(path.strip_prefix('.').unwrap_or(path))
}

fn set(map: &mut Map<String, Value>, path: &str, value: Value) {
    let path = path.strip_prefix('.').unwrap_or(path);
    let mut map = map;
    let Some((parents, last)) = path.rsplit_once('.') else {
        map.insert(path.to_owned(), value);
        return;
    };
    for step in parents.split('.') {
        let below = map.entry(step).or_insert_with(|| Value::Object(Map::new()));
        if !below.is_object() {
            *below = Value::Object(Map::new());
        }
        let Value::Object(below) = below else { return };
        map = below;
    }
    map.insert(last.to_owned(), value);
}
