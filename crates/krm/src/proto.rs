//! Kubernetes' protobuf: bodies are read into the JSON objects they stand for, and answers written from those.

mod decode;
mod encode;
mod message;
mod messages;
mod wire;

use crate::decode::Refusal;
use crate::field::quote;
use crate::object::Object;
pub use encode::{encode, encode_event, has_message};
pub(crate) use message::{Holds, Message};
pub(crate) use messages::find as message_of;
use wire::{Fault, Reader};

/// What every such body begins with.
const MAGIC: &[u8] = b"k8s\0";

/// What Kubernetes calls the list of all it knows.
const SCHEME: &str = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30";

/// Reads a body. The object has the type that its envelope names.
pub fn decode(body: &[u8]) -> Result<Object, ProtoError> {
    decode_as(body, "", "")
}

/// Reads a body whose envelope may leave out its type, which then is this one.
pub fn decode_as(body: &[u8], api_version: &str, kind: &str) -> Result<Object, ProtoError> {
    let envelope = Envelope::open(body).map_err(|why| ProtoError(Refusal::unrecognized(why)))?;
    let (api_version, kind) = envelope.named(api_version, kind);
    let refuse = |why: String| ProtoError(unfit(api_version, kind, why));
    if kind.is_empty() {
        return Err(refuse(envelope.lacks("Kind")));
    }
    if api_version.is_empty() {
        return Err(refuse(envelope.lacks("apiVersion")));
    }
    let message = message_of(api_version, kind).ok_or_else(|| {
        refuse(format!(
            "no kind {} is registered for version {} in scheme \"{SCHEME}\"",
            quote(kind),
            quote(api_version)
        ))
    })?;
    let fields = decode::decode(message, envelope.raw).map_err(|fault| refuse(fault.to_string()))?;
    let mut object = Object(fields);
    object.set_type(api_version, kind);
    Ok(object)
}

/// What is held against a body of a kind that has no message, in the words of `why`; the type may be left out as in
/// [`decode_as`].
pub fn without_message(body: &[u8], api_version: &str, kind: &str, why: &str) -> Refusal {
    match Envelope::open(body) {
        Err(why) => Refusal::unrecognized(why),
        Ok(envelope) => {
            let (api_version, kind) = envelope.named(api_version, kind);
            unfit(api_version, kind, why.to_owned())
        }
    }
}

fn unfit(api_version: &str, kind: &str, why: String) -> Refusal {
    Refusal::unfit(kind, api_version.rsplit('/').next().unwrap_or_default(), why)
}

/// Why a body could not be read. As a [`Refusal`] it makes the answer to the request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.why())]
pub struct ProtoError(Refusal);

impl From<ProtoError> for Refusal {
    fn from(error: ProtoError) -> Refusal {
        error.0
    }
}

/// What an object travels in.
#[derive(Default)]
struct Envelope<'a> {
    api_version: String,
    kind: String,
    raw: &'a [u8],
}

impl<'a> Envelope<'a> {
    fn open(body: &'a [u8]) -> Result<Envelope<'a>, String> {
        if body.is_empty() {
            return Err("empty data".to_owned());
        }
        match body.strip_prefix(MAGIC) {
            None => Err(format!(
                "provided data does not appear to be a protobuf message, expected prefix [{}]",
                MAGIC.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
            )),
            Some([]) => Err("empty body".to_owned()),
            Some(envelope) => Envelope::read(envelope).map_err(|fault| fault.to_string()),
        }
    }

    /// The type that it names, or else this one.
    fn named<'t>(&'t self, api_version: &'t str, kind: &'t str) -> (&'t str, &'t str) {
        let api_version = if self.api_version.is_empty() { api_version } else { &self.api_version };
        (api_version, if self.kind.is_empty() { kind } else { &self.kind })
    }

    fn lacks(&self, field: &str) -> String {
        let (api_version, kind) = (quote(&self.api_version), quote(&self.kind));
        format!("Object '{field}' is missing in 'runtime.TypeMeta{{APIVersion:{api_version}, Kind:{kind}}}'")
    }

    fn read(bytes: &'a [u8]) -> Result<Envelope<'a>, Fault> {
        let mut envelope = Envelope::default();
        let mut reader = Reader::new("Unknown", bytes);
        while let Some((number, wire_type)) = reader.tag()? {
            match number {
                1 => envelope.read_type(reader.bytes("TypeMeta", wire_type)?)?,
                2 => envelope.raw = reader.bytes("Raw", wire_type)?,
                _ => reader.skip(wire_type)?,
            }
        }
        Ok(envelope)
    }

    fn read_type(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut reader = Reader::new("TypeMeta", bytes);
        while let Some((number, wire_type)) = reader.tag()? {
            match number {
                1 => self.api_version = reader.text("APIVersion", wire_type)?,
                2 => self.kind = reader.text("Kind", wire_type)?,
                _ => reader.skip(wire_type)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
