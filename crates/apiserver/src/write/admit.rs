//! Admission of a write: definition, namespace, schema, references and rules.

use krm::Object;
use krm::field::{FieldError, Path};
use krm::kind::{Address, Origin, RawChange, Refusal};
use krm::status::{Cause, Status};
use serde_json::Value;
use store::View;

use super::guarded::{Guarded, Shown};
use super::stored_change::StoredChange;
use super::{references, refusals};
use crate::authz::{Attributes, RBAC_GROUP, check_escalation};
use crate::call::Call;
use crate::encode;
use crate::keys;
use crate::pipeline::InPlane;
use crate::shipped;
use krm::body::FieldValidation;
use krm::cel::{self, Old};

/// The reason of a refusal that means: this server's reading of the kind is behind; read it again and try again.
pub const STALE_KIND: &str = "StaleKind";

/// The kind must still be what this call took it for: its definition guards the commit. `creates` is the name of the
/// object that a creation would make.
pub fn kind_is_current(call: &Call, view: &mut View, creates: Option<&str>) -> Result<(), Status> {
    let Origin::Custom { definition, version, terminating } = &call.kind.origin else { return Ok(()) };
    let at = Address {
        group: "apiextensions.k8s.io".into(),
        plural: "customresourcedefinitions".into(),
        namespace: String::new(),
        name: definition.clone(),
    };
    let key = keys::object(&call.plane, &at).map_err(|error| Status::bad_request(error.to_string()))?;
    let Some(entry) = view.get(&key) else { return Err(Status::no_such_resource()) };
    if entry.version().get() != *version {
        return Err(Status::failure(503, STALE_KIND, format!("the definition of {definition} has changed")));
    }
    if let Some(name) = creates.filter(|_| *terminating) {
        let why = "create not allowed while custom resource definition is terminating";
        return Err(Status::forbidden(&call.kind.resource(), name, why));
    }
    Ok(())
}

/// New content needs a namespace that is there to stay.
pub fn namespace_takes_content(call: &Call, view: &mut View, name: &str) -> Result<(), Status> {
    if !call.kind.is_namespaced() {
        return Ok(());
    }
    let at = Address {
        group: String::new(),
        plural: "namespaces".into(),
        namespace: String::new(),
        name: call.namespace.clone(),
    };
    let missing = || Status::not_found(&krm::status::Subject::new("", "namespaces"), &call.namespace);
    let Ok(key) = keys::object(&call.plane, &at) else { return Err(missing()) };
    let namespace = view.get(&key).ok_or_else(missing)?;
    if !encode::is_deleting(&namespace) {
        return Ok(());
    }
    let why = format_args!(
        "unable to create new content in namespace {} because it is being terminated",
        call.namespace
    );
    let mut status = Status::forbidden(&call.kind.resource(), name, why);
    if let Some(details) = &mut status.details {
        details.causes.push(Cause {
            reason: "NamespaceTerminating".into(),
            message: format!("namespace {} is being terminated", call.namespace),
            field: "metadata.namespace".into(),
        });
    }
    Err(status)
}

/// Brings an object that came in into the shape of its version: drops what its type or schema does not know, adds
/// defaults. Tells what was dropped; an error says, in Go's words, what can't be of the type.
pub fn shape(call: &Call, object: Object) -> Result<(Object, Vec<String>), String> {
    let mut value = object.into_value();
    let mut unknown = Vec::new();
    match call.kind.shape {
        Some(shape) => krm::shape::conform(&mut value, shape, &Path::ROOT, &mut unknown)?,
        None => {
            krm::number::settle(&mut value);
            if let Some(metadata) = value.get_mut("metadata") {
                krm::meta::coerce(metadata, &Path::of("metadata"), &mut unknown)?;
            }
            let schema = &call.version().schema;
            unknown.extend(schema.prune(&mut value));
            unknown.extend(schema.coerce_embedded(&mut value).map_err(|error| error.to_string())?);
        }
    }
    call.version().schema.default(&mut value);
    let mut object = Object::from_value(value).unwrap_or_default();
    for complete in &call.kind.complete {
        complete(&mut object);
    }
    Ok((object, unknown.iter().map(|field| format!("unknown field {}", krm::field::quote(field))).collect()))
}

/// The same for what an apply has made: what is null in it stays, and is refused where it may not be.
pub fn shape_applied(call: &Call, object: Object) -> Result<(Object, Vec<String>), String> {
    if call.kind.shape.is_some() {
        return shape(call, object);
    }
    let mut value = object.into_value();
    krm::number::settle(&mut value);
    let schema = &call.version().schema;
    let mut unknown = Vec::new();
    if let Some(metadata) = value.get_mut("metadata") {
        krm::meta::coerce(metadata, &Path::of("metadata"), &mut unknown)?;
    }
    unknown.extend(schema.coerce_embedded(&mut value).map_err(|error| error.to_string())?);
    schema.default(&mut value);
    let object = Object::from_value(value).unwrap_or_default();
    Ok((object, unknown.iter().map(|field| format!("unknown field {}", krm::field::quote(field))).collect()))
}

/// Why an object of this type can't be taken for one of Kubernetes' kind that the call is about.
pub fn wrong_type(call: &Call, api_version: &str, kind: &str) -> String {
    let (group, version) = krm::kind::split_api_version(api_version);
    let known = call.catalog.kind(group, kind);
    if !known.is_some_and(|kind| kind.strategic && kind.served(version).is_some()) {
        return format!(
            "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/api/legacyscheme/scheme.go:30\""
        );
    }
    let package = go_package(&call.kind.group);
    format!("converting ({version}.{kind}) to ({package}.{}): unknown conversion", call.kind.names.kind)
}

/// The package of Kubernetes that holds the kinds of a group, whatever their version.
pub fn go_package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        group => group.split('.').next().unwrap_or(group),
    }
}

/// An object that can't be read as its kind.
pub fn unfit(call: &Call, why: &str) -> Status {
    let (kind, version) = (&call.kind.names.kind, &call.version().name);
    Status::bad_request(format!("{kind} in version {version:?} cannot be handled as a {kind}: {why}"))
}

/// What becomes of complaints about fields: nothing, warnings, or a refusal in these words.
pub fn complain(
    complaints: Vec<String>,
    validation: FieldValidation,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    match validation {
        FieldValidation::Ignore => Ok(()),
        FieldValidation::Warn => {
            warnings.extend(complaints);
            Ok(())
        }
        FieldValidation::Strict if complaints.is_empty() => Ok(()),
        FieldValidation::Strict => Err(format!("strict decoding error: {}", complaints.join(", "))),
    }
}

/// Everything that is wrong with a change, at once.
pub fn check(
    call: &Call,
    view: &mut View,
    change: &RawChange<'_>,
    warnings: &mut Vec<String>,
) -> Result<(), Status> {
    if let Some(why) = shipped::refusal(call, change) {
        let name = change.old.map_or("", Object::name);
        return Err(Status::forbidden(&call.kind.resource(), name, why));
    }
    let converted = StoredChange::of(call, change);
    // Of one that can't be converted only the schema of its own version has something to say.
    let nothing = RawChange { old: None, new: None, subresource: change.subresource };
    let (converted, unconvertible) = match converted {
        Ok(converted) => (converted, None),
        Err(status) => (None, Some(status)),
    };
    let stored = match (&converted, &unconvertible) {
        (Some(converted), _) => converted.as_change(change.subresource),
        (None, None) => *change,
        (None, Some(_)) => nothing,
    };
    let Some(new) = change.new else { return rules(call, view, &stored) };
    let old = change.old.and_then(Object::metadata);
    let mut errors = metadata_faults(call, change, new);
    let of_type = type_faults(call, new);
    if !of_type.is_empty() {
        // What is of another type is looked at no further; what every object has is checked apart from that on an update.
        errors = if change.old.is_some() { common_faults(call, change, new) } else { Vec::new() };
        errors.extend(of_type);
        return Err(Status::invalid(&call.kind.subject_of(new.kind()), new.name(), &errors));
    }
    if call.kind.shape.is_none() {
        warnings.extend(krm::meta::finalizer_warnings(new.metadata(), old));
    }
    warnings.extend(call.kind.warnings.iter().flat_map(|warn| warn(&stored)));
    errors.extend(fields(call, change, warnings));
    errors.extend(call.kind.validations.iter().flat_map(|validate| validate(&stored)));
    if call.subresource.is_empty() {
        errors.extend(references::check(call, view, &stored));
    }
    nothing_is_given_away(call, view, change)?;
    if call.subresource.is_empty() {
        references::may_refer(call, change)?;
    }
    if !errors.is_empty() {
        return Err(Status::invalid(&call.kind.subject_of(new.kind()), new.name(), &errors));
    }
    if let Some(status) = unconvertible {
        return Err(status);
    }
    if call.subresource.is_empty() {
        references::targets_exist(call, view, &stored)?;
    }
    rules(call, view, &stored)
}

/// What is wrong with metadata, as often as it is found: by what is checked of every object that changes, and by the code of
/// its kind.
fn metadata_faults(call: &Call, change: &RawChange<'_>, new: &Object) -> Vec<FieldError> {
    let (checks, path) = (call.kind.metadata_checks, Path::of("metadata"));
    let bare = without_bare_annotations(call, new);
    let (metadata, old) = (bare.as_ref().unwrap_or(new).metadata(), change.old.and_then(Object::metadata));
    let of_finalizers = || match checks.finalizers {
        true => krm::meta::finalizer_faults(metadata, &path),
        false => Vec::new(),
    };
    let whole = || {
        let rule = call.kind.name_rule;
        let mut errors = krm::meta::validate_create(metadata, call.kind.is_namespaced(), rule, &path);
        errors.extend(of_finalizers());
        errors
    };
    if change.old.is_none() {
        return whole();
    }
    let mut errors = common_faults(call, change, new);
    if checks.whole_on_update && call.subresource.is_empty() {
        errors.extend(whole());
    }
    if checks.changes {
        errors.extend(krm::meta::validate_update(metadata, old, &path));
        errors.extend(of_finalizers());
    }
    errors
}

/// What is checked of every object that changes.
fn common_faults(call: &Call, change: &RawChange<'_>, new: &Object) -> Vec<FieldError> {
    let path = Path::of("metadata");
    let bare = without_bare_annotations(call, new);
    let (metadata, old) = (bare.as_ref().unwrap_or(new).metadata(), change.old.and_then(Object::metadata));
    let rule = krm::names::name_is_path_segment;
    let mut errors = krm::meta::validate_create(metadata, call.kind.is_namespaced(), rule, &path);
    errors.extend(krm::meta::validate_update(metadata, old, &path));
    errors
}

/// The object without annotations whose keys are prefixes alone, if its kind may have such and it does.
fn without_bare_annotations(call: &Call, object: &Object) -> Option<Object> {
    let is_bare = |key: &str| key.len() > 1 && key.ends_with('/');
    if !call.kind.bare_annotations || !object.annotations().any(|(key, _)| is_bare(key)) {
        return None;
    }
    let kept = object.annotations().filter(|(key, _)| !is_bare(key));
    let kept: serde_json::Map<String, Value> =
        kept.map(|(key, value)| (key.to_owned(), value.into())).collect();
    let mut object = object.clone();
    object.set_meta("annotations", Some(kept.into()));
    Some(object)
}

/// An object of a kind that users defined says itself of which kind and version it is.
fn type_faults(call: &Call, new: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (kind, version) = (&call.kind.names.kind, call.api_version());
    if call.kind.shape.is_none() && new.kind() != kind {
        errors.push(FieldError::invalid_text(&Path::of("kind"), new.kind(), format!("must be {kind}")));
    }
    if call.kind.shape.is_none() && new.api_version() != version {
        let why = format!("must be {version}");
        errors.push(FieldError::invalid_text(&Path::of("apiVersion"), new.api_version(), why));
    }
    errors
}

/// Nobody grants rights that they don't have.
fn nothing_is_given_away(call: &Call, view: &mut View, change: &RawChange<'_>) -> Result<(), Status> {
    let Some(new) = change.new else { return Ok(()) };
    let rights = InPlane { api: &call.api, plane: &call.plane };
    for other in call.api.followers().rights.others() {
        other.admits(&rights, call, view, change.old, new)?;
    }
    if call.kind.group != RBAC_GROUP {
        return Ok(());
    }
    let request = Attributes {
        verb: if change.old.is_some() { "update" } else { "create" },
        group: &call.kind.group,
        version: &call.version().name,
        resource: &call.kind.names.plural,
        namespace: &call.namespace,
        name: new.name(),
        ..Attributes::default()
    };
    call.api
        .followers()
        .rights
        .in_plane(&call.plane, |rbac| check_escalation(rbac, &rights, &call.who, &request, change.old, new))
}

fn fields(call: &Call, change: &RawChange<'_>, warnings: &mut Vec<String>) -> Vec<FieldError> {
    let Some(new) = change.new else { return Vec::new() };
    let value = checked(call, new);
    let old = change.old.map(|old| checked(call, old));
    let schema = &call.version().schema;
    let mut errors = match call.subresource.as_str() {
        "status" if call.kind.shape.is_none() => schema.validate_status(&value, old.as_ref()),
        _ => schema.validate(&value, old.as_ref()),
    };
    let version = call.version();
    if !version.rules.is_empty() {
        match cel::blocked_by(&errors) {
            Some(blocked) => errors.push(blocked),
            None => {
                // What was written under this schema has passed its rules.
                let written = change.old.and_then(|old| old.resource_version().parse().ok()).unwrap_or(0);
                let passed = written >= version.since;
                let old = old.as_ref().map(|object| Old { object, passed });
                let verdict = version.rules.check(&version.schema, &value, old);
                errors.extend(verdict.errors);
                warnings.extend(verdict.warnings);
            }
        }
    }
    if let Some(scale) = call.version().scale() {
        errors.extend(super::scale::faults(scale, new));
    }
    errors
}

/// An object as schemas and rules see it. Those of kinds that users defined can say nothing of who owns its fields,
/// which is most of what would have to be copied.
fn checked(call: &Call, object: &Object) -> Value {
    if call.kind.shape.is_some() {
        return Value::Object(object.0.clone());
    }
    let fields = object.0.iter().map(|(field, value)| match (field.as_str(), value) {
        ("metadata", Value::Object(metadata)) => {
            let kept = metadata.iter().filter(|(field, _)| *field != "managedFields");
            (field.clone(), kept.map(|(field, value)| (field.clone(), value.clone())).collect())
        }
        _ => (field.clone(), value.clone()),
    });
    Value::Object(fields.collect())
}

fn rules(call: &Call, view: &mut View, change: &RawChange<'_>) -> Result<(), Status> {
    let name = change.new.or(change.old).map_or("", Object::name);
    let newcomer = change.old.is_none().then(|| call.key_of(name).ok()).flatten();
    let mut guarded = Guarded::of(view, call).making(newcomer);
    let shown = guarded.shown();
    let mut view = krm::kind::View::new(&mut guarded);
    let refusals: Vec<Refusal> =
        call.kind.rules.iter().filter_map(|rule| rule(change, &mut view).err()).collect();
    refused(call, name, refusals, &shown)
}

/// What a client is told when the code of a kind, which was shown these objects, says no.
pub fn refused(call: &Call, name: &str, refusals: Vec<Refusal>, shown: &Shown) -> Result<(), Status> {
    let (mut errors, mut forbidden, mut conflicts) = (Vec::new(), Vec::new(), Vec::new());
    let refusals = refusals::as_seen(call, name, refusals, shown);
    for refusal in refusals {
        match refusal {
            Refusal::Invalid(found) => errors.extend(found),
            Refusal::Forbidden(why) => forbidden.push(why),
            Refusal::Conflict(why) => conflicts.push(why),
            Refusal::Denied(why) => return Err(denied(call, &why)),
        }
    }
    if !forbidden.is_empty() {
        return Err(Status::forbidden(&call.kind.resource(), name, forbidden.join("; ")));
    }
    if !errors.is_empty() {
        return Err(Status::invalid(&call.kind.subject(), name, &errors));
    }
    match conflicts.is_empty() {
        true => Ok(()),
        false => Err(Status::conflict(&call.kind.resource(), name, conflicts.join("; "))),
    }
}

/// Turned down as the kind's webhook would.
pub fn denied(call: &Call, why: &str) -> Status {
    Status::bad_request(
        call.kind.webhook.as_ref().map_or_else(|| why.to_owned(), |webhook| webhook.denies(why)),
    )
}

/// The name and namespace in a body must be those of the path.
pub fn matches_path(call: &Call, object: &Object, named: bool) -> Result<(), Status> {
    let namespace = object.namespace();
    if call.kind.is_namespaced() && !namespace.is_empty() && namespace != call.namespace {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if !named {
        return Ok(());
    }
    match object.name() {
        "" => Err(Status::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            call.name
        ))),
        name if name != call.name => Err(Status::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            call.name
        ))),
        _ => Ok(()),
    }
}
