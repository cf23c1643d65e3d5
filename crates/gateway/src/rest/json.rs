//! Messages as JSON, with the names of the .proto files.

use prost_reflect::{DeserializeOptions, DynamicMessage, Kind, MessageDescriptor, SerializeOptions};
use serde_json::Value as Json;

use crate::failure::Failure;

/// A message as JSON. What is not set is left out.
pub fn write(message: &DynamicMessage) -> Result<Json, Failure> {
    let options = SerializeOptions::new().use_proto_field_name(true);
    message
        .serialize_with_options(serde_json::value::Serializer, &options)
        .map_err(|error| Failure::new(tonic::Code::Internal, format!("the object can't be shown: {error}")))
}

/// A message from JSON, and the paths of the fields that the JSON has: the mask of a PATCH.
pub fn read(of: &MessageDescriptor, body: &[u8]) -> Result<(DynamicMessage, Vec<String>), Failure> {
    let json: Json = serde_json::from_slice(body)
        .map_err(|error| Failure::invalid(format!("the body is not JSON: {error}")))?;
    if !json.is_object() {
        return Err(Failure::invalid("the body must be a JSON object"));
    }
    let mut paths = Vec::new();
    gather(of, &json, "", &mut paths);
    let options = DeserializeOptions::new().deny_unknown_fields(true);
    let message = DynamicMessage::deserialize_with_options(of.clone(), json, &options)
        .map_err(|error| Failure::invalid(format!("the body is not a {}: {error}", of.full_name())))?;
    Ok((message, paths))
}

/// The paths of all keys. Lists, maps and messages of protobuf itself count as a whole; `null` clears a field.
fn gather(of: &MessageDescriptor, json: &Json, prefix: &str, paths: &mut Vec<String>) {
    for (key, value) in json.as_object().into_iter().flatten() {
        let field = of.get_field_by_name(key).or_else(|| of.get_field_by_json_name(key));
        let Some(field) = field else { continue };
        let path =
            if prefix.is_empty() { field.name().to_owned() } else { format!("{prefix}.{}", field.name()) };
        match (field.kind(), value) {
            (Kind::Message(inner), Json::Object(_))
                if !field.is_map() && !field.is_list() && inner.package_name() != "google.protobuf" =>
            {
                gather(&inner, value, &path, paths);
            }
            _ => paths.push(path),
        }
    }
}
