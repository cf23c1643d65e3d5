//! Single objects as responses.

use bytes::Bytes;
use krm::Object;
use krm::status::Status;
use serde_json::Value;

use super::Answer;
use crate::call::Call;
use crate::request::accept::{Accept, Form, Media};

/// An object that was made for this answer.
pub fn object(call: &Call, accept: &Accept, code: u16, object: &Object) -> Result<Answer, Status> {
    match accept.form {
        Form::Whole => Ok(value(accept, code, &Value::Object(object.0.clone()))),
        Form::Partial | Form::PartialList => {
            Ok(value(accept, code, &krm::table::partial_metadata(object.clone(), accept.version)))
        }
        Form::Table => {
            let table = super::table::of_one(call, accept, object);
            Ok(value(accept, code, &table))
        }
    }
}

/// An object whose bytes are at hand.
pub fn stored(call: &Call, accept: &Accept, code: u16, bytes: Bytes) -> Result<Answer, Status> {
    if accept.form == Form::Whole && accept.media == Media::Json && !accept.pretty {
        return Ok(super::json(code, bytes));
    }
    object(call, accept, code, &crate::encode::read(&bytes)?)
}

/// Any JSON in the form that was asked for.
pub fn value(accept: &Accept, code: u16, value: &Value) -> Answer {
    let bytes = match (accept.media, accept.pretty) {
        (Media::Yaml, _) => krm::encode::to_yaml(value).into_bytes(),
        (Media::Json, true) => krm::encode::to_json_indented(value),
        (Media::Json, false) => krm::encode::to_json(value),
        (Media::Protobuf, _) => match (krm::proto::encode(value), accept.instead) {
            (Some(bytes), _) => bytes,
            (None, Some(media)) => return self::value(&Accept { media, ..*accept }, code, value),
            (None, None) => return super::failure_as(accept, &no_message()),
        },
    };
    super::bytes(code, accept.content_type(), bytes)
}

/// There is no protobuf of kinds that users defined, nor of ours.
fn no_message() -> Status {
    Status::failure(406, "NotAcceptable", NO_MESSAGE)
}

/// What is said of objects that have no protobuf.
pub const NO_MESSAGE: &str = "object *unstructured.Unstructured does not implement the protobuf marshalling interface and \
    cannot be encoded to a protobuf message";
