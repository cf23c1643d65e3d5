//! Decodes request bodies.

use bytes::Bytes;
use http::HeaderMap;
use krm::Object;
use krm::body::FieldValidation;
use krm::decode::{self, Complaints, Decoded, Refusal};
use krm::kind::api_version;
use krm::status::Status;
use serde_json::Value;

use crate::answer::object::NO_MESSAGE;
use crate::call::Call;
use crate::request::body::Format;
use crate::write::admit::{shape, unfit, wrong_type};
use crate::write::sealed;

/// Reads an object of the call's kind and brings it into shape; warns of what was dropped, or refuses it.
pub fn decode(
    call: &Call,
    headers: &HeaderMap,
    body: &Bytes,
    validation: FieldValidation,
) -> Result<(Object, Vec<String>), Status> {
    let (object, mut complaints) = read(call, headers, body).map_err(|status| unseal(call, body, status))?;
    let (mut object, dropped) = shape(call, object).map_err(|why| unfit(call, &why))?;
    complaints.fields.extend(dropped);
    let repeated = krm::meta::drop_duplicate_owners(&mut object);
    let repeated = krm::meta::duplicate_owners_warning(&repeated, false);
    if call.kind.shape.is_some() {
        complaints.sort_by_place(body);
    }
    match validation {
        FieldValidation::Ignore => Ok((object, repeated.into_iter().collect())),
        FieldValidation::Strict if !complaints.is_empty() => Err(unfit(call, &complaints.message())),
        FieldValidation::Strict | FieldValidation::Warn => {
            Ok((object, complaints.warnings().map(str::to_owned).chain(repeated).collect()))
        }
    }
}

/// A refusal that may repeat what was sent, without the values in it that are kept in Secrets.
fn unseal(call: &Call, body: &Bytes, mut status: Status) -> Status {
    if !call.kind.sealed.is_empty() {
        // What is not JSON is YAML; what is neither has no fields to tell apart, and its refusal says where it ends.
        let sent = serde_json::from_slice::<Value>(body).ok().or_else(|| {
            let yaml = decode::read(body, decode::Format::Yaml).ok()?;
            Some(Value::Object(yaml.object))
        });
        status.message = sealed::without_values(&call.kind, &sent.unwrap_or_default(), &status.message);
    }
    status
}

/// Reads an object of the call's kind as it came.
fn read(call: &Call, headers: &HeaderMap, body: &Bytes) -> Result<(Object, Complaints), Status> {
    let kind = &call.kind.names.kind;
    let refuse = |refusal: Refusal| refusal.status(kind, body);
    let decoded = match Format::of(headers)? {
        Format::Protobuf if call.kind.strategic => {
            let object = krm::proto::decode_as(body, &call.api_version(), kind)
                .map_err(|error| refuse(Refusal::from(error)))?;
            let (group, version) = krm::kind::split_api_version(object.api_version());
            Decoded {
                group: group.to_owned(),
                version: version.to_owned(),
                kind: object.kind().to_owned(),
                complaints: Complaints::default(),
                object: object.0,
            }
        }
        // The form is one that the server reads, and objects that users defined have no such.
        Format::Protobuf => {
            let refusal = krm::proto::without_message(body, &call.api_version(), kind, NO_MESSAGE);
            return Err(refuse(refusal));
        }
        format => {
            let format = if format == Format::Yaml { decode::Format::Yaml } else { decode::Format::Json };
            match call.kind.strategic {
                true => decode::read(body, format).map_err(refuse)?,
                false => decode::read_with_kind(body, format).map_err(refuse)?,
            }
        }
    };
    match call.kind.strategic {
        true => builtin(call, decoded),
        false => custom(call, decoded),
    }
}

/// A custom resource says exactly what it is.
fn custom(call: &Call, decoded: Decoded) -> Result<(Object, Complaints), Status> {
    let expected = call.api_version();
    let found = match decoded.version.is_empty() {
        true => String::new(),
        false => api_version(&decoded.group, &decoded.version),
    };
    if found != expected {
        return Err(Status::bad_request(format!(
            "the API version in the data ({found}) does not match the expected API version ({expected})"
        )));
    }
    // That its kind is the right one is checked with everything else about it.
    let object = Object(decoded.object);
    Ok((object, decoded.complaints))
}

/// An object of Kubernetes' own kinds may leave its type to the path.
fn builtin(call: &Call, decoded: Decoded) -> Result<(Object, Complaints), Status> {
    let expected = call.api_version();
    let kind = &call.kind.names.kind;
    let mut object = Object(decoded.object);
    let version = match decoded.version.is_empty() {
        true => expected.clone(),
        false => api_version(&decoded.group, &decoded.version),
    };
    let found = if decoded.kind.is_empty() { kind.clone() } else { decoded.kind };
    if version == expected && found == *kind {
        object.set_type(&expected, kind);
        return Ok((object, decoded.complaints));
    }
    let (_, short) = krm::kind::split_api_version(&version);
    let why = wrong_type(call, &version, &found);
    Err(Status::bad_request(format!("{found} in version {short:?} cannot be handled as a {kind}: {why}")))
}

/// Reads what somebody applies, and what is to be said about how it was written.
pub fn decode_applied(body: &Bytes, validation: FieldValidation) -> Result<(Object, Vec<String>), Status> {
    let (object, complaints) = decode::read_apply(body).map_err(Status::bad_request)?;
    let mut object = Value::Object(object);
    krm::number::loosen(&mut object);
    let object = Object::from_value(object).unwrap_or_default();
    match validation {
        FieldValidation::Ignore => Ok((object, Vec::new())),
        FieldValidation::Strict if !complaints.is_empty() => {
            Err(Status::bad_request(decode::strict_apply_message(&complaints)))
        }
        _ => Ok((object, complaints.warnings().map(str::to_owned).collect())),
    }
}

/// Reads the options of a deletion; nothing where there is no body.
pub fn decode_options(headers: &HeaderMap, body: &Bytes) -> Result<Option<Value>, Status> {
    if body.is_empty() {
        return Ok(None);
    }
    let decoded = match Format::of(headers)? {
        Format::Protobuf => {
            let object = krm::proto::decode(body).map_err(|error| Status::bad_request(error.to_string()))?;
            return Ok(Some(Value::Object(object.0)));
        }
        Format::Json => decode::read(body, decode::Format::Json),
        Format::Yaml => decode::read(body, decode::Format::Yaml),
    };
    let decoded = decoded.map_err(|refusal| Status::bad_request(refusal.why()))?;
    if !matches!(decoded.kind.as_str(), "" | "DeleteOptions") {
        return Err(Status::bad_request(format!(
            "no kind {:?} is registered for version {:?} in scheme \"pkg/apis/meta/internalversion/scheme/register.go:27\"",
            decoded.kind,
            api_version(&decoded.group, &decoded.version)
        )));
    }
    Ok(Some(Value::Object(decoded.object)))
}

/// Reads an object of a type that no kind has, in any format, and what is to be said about how it was written.
pub fn decode_part(
    (api_version, kind): (&str, &str),
    headers: &HeaderMap,
    body: &Bytes,
    validation: FieldValidation,
) -> Result<(Object, Vec<String>), Status> {
    let format = match Format::of(headers)? {
        Format::Protobuf => {
            let decoded = krm::proto::decode_as(body, api_version, kind);
            let object = decoded.map_err(|error| Refusal::from(error).status(kind, body))?;
            return Ok((object, Vec::new()));
        }
        Format::Json => decode::Format::Json,
        Format::Yaml => decode::Format::Yaml,
    };
    let decoded = decode::read(body, format).map_err(|refusal| refusal.status(kind, body))?;
    let (complaints, object) = (decoded.complaints, Object(decoded.object));
    match validation {
        FieldValidation::Ignore => Ok((object, Vec::new())),
        FieldValidation::Strict if !complaints.is_empty() => {
            let (_, version) = krm::kind::split_api_version(api_version);
            let why = complaints.message();
            Err(Status::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
            )))
        }
        _ => Ok((object, complaints.warnings().map(str::to_owned).collect())),
    }
}

/// Reads a scale.
pub fn decode_scale(
    call: &Call,
    headers: &HeaderMap,
    body: &Bytes,
    validation: FieldValidation,
) -> Result<(Object, Vec<String>), Status> {
    let (object, warnings) = decode_part(("autoscaling/v1", "Scale"), headers, body, validation)?;
    let is_scale = object.kind() == "Scale" && object.api_version() == "autoscaling/v1";
    let counts = object.at("spec.replicas").is_none_or(|replicas| replicas.is_i64() || replicas.is_null());
    if !is_scale || !counts {
        return Err(Status::bad_request(
            "no kind is registered for the type v1.Scale in scheme \"pkg/apiserver/customresource_handler.go:781\"",
        ));
    }
    crate::write::admit::matches_path(call, &object, true)?;
    Ok((object, warnings))
}
