//! Decodes request bodies.

use bytes::Bytes;
use http::HeaderMap;
use krm::Object;
use krm::body::FieldValidation;
use krm::decode::{self, Complaints, Decoded, Refusal};
use krm::kind::api_version;
use krm::status::Status;
use serde_json::{Map, Value};

use crate::call::Call;
use crate::request::body::Format;
use crate::write::admit::{shape, unfit, wrong_type};

/// Reads an object of the call's kind and brings it into shape; warns of what was dropped, or refuses it.
pub fn decode(
    call: &Call,
    headers: &HeaderMap,
    body: &Bytes,
    validation: FieldValidation,
) -> Result<(Object, Vec<String>), Status> {
    let (object, mut complaints) = read(call, headers, body)?;
    let (object, dropped) = shape(call, object).map_err(|why| unfit(call, &why))?;
    complaints.fields.extend(dropped);
    if call.kind.shape.is_some() {
        complaints.sort_by_place(body);
    }
    match validation {
        FieldValidation::Ignore => Ok((object, Vec::new())),
        FieldValidation::Strict if !complaints.is_empty() => Err(unfit(call, &complaints.message())),
        FieldValidation::Strict | FieldValidation::Warn => {
            Ok((object, complaints.warnings().map(str::to_owned).collect()))
        }
    }
}

/// Reads an object of the call's kind as it came.
fn read(call: &Call, headers: &HeaderMap, body: &Bytes) -> Result<(Object, Complaints), Status> {
    let kind = &call.kind.names.kind;
    let refuse = |refusal: Refusal| refusal.status(kind, body);
    let decoded = match Format::of(headers)? {
        Format::Protobuf if call.kind.strategic => {
            let object =
                krm::proto::decode(body).map_err(|error| refuse(Refusal::unrecognized(error.to_string())))?;
            let (group, version) = krm::kind::split_api_version(object.api_version());
            Decoded {
                group: group.to_owned(),
                version: version.to_owned(),
                kind: object.kind().to_owned(),
                complaints: Complaints::default(),
                object: object.0,
            }
        }
        Format::Protobuf => {
            return Err(Status::unsupported_media_type("application/json, application/yaml"));
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
    match validation {
        FieldValidation::Ignore => Ok((Object(object), Vec::new())),
        FieldValidation::Strict if !complaints.is_empty() => {
            Err(Status::bad_request(decode::strict_apply_message(&complaints)))
        }
        _ => Ok((Object(object), complaints.warnings().map(str::to_owned).collect())),
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

/// Reads a scale.
pub fn decode_scale(call: &Call, headers: &HeaderMap, body: &Bytes) -> Result<Object, Status> {
    let object: Map<String, Value> = match Format::of(headers)? {
        Format::Protobuf => {
            krm::proto::decode(body).map_err(|error| Status::bad_request(error.to_string()))?.0
        }
        Format::Json => read_scale(body, decode::Format::Json)?,
        Format::Yaml => read_scale(body, decode::Format::Yaml)?,
    };
    let object = Object(object);
    let is_scale = object.kind() == "Scale" && object.api_version() == "autoscaling/v1";
    let counts = object.at("spec.replicas").is_none_or(|replicas| replicas.is_i64() || replicas.is_null());
    if !is_scale || !counts {
        return Err(Status::bad_request(
            "no kind is registered for the type v1.Scale in scheme \"pkg/apiserver/customresource_handler.go:781\"",
        ));
    }
    crate::write::admit::matches_path(call, &object, true)?;
    Ok(object)
}

fn read_scale(body: &Bytes, format: decode::Format) -> Result<Map<String, Value>, Status> {
    let decoded = decode::read(body, format).map_err(|refusal| refusal.status("Scale", body))?;
    Ok(decoded.object)
}
