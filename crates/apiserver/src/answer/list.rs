//! Lists as responses: stored bytes are concatenated while they are sent.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use krm::kind::Origin;
use krm::status::Status;
use serde_json::{Value, json};
use store::{Entry, Key};

use super::{Aborted, Answer, object};
use crate::call::Call;
use crate::encode;
use crate::present::Presenter;
use crate::read::list::Listed;
use crate::request::accept::{Accept, Form, Media};

/// How many bytes are made at a time.
const CHUNK: usize = 64 << 10;

/// The list in the form that was asked for.
pub fn list(call: &Call, accept: &Accept, listed: Listed) -> Result<Answer, Status> {
    if accept.form == Form::Whole && accept.media == Media::Json && !accept.pretty {
        return Ok(spliced(call, listed));
    }
    if accept.form == Form::Partial {
        let what = super::go_type(call, &call.kind.names.list_kind, "UnstructuredList");
        let why = format!("you requested PartialObjectMetadata, but the requested object is a list ({what})");
        return Err(Status::failure(406, "NotAcceptable", why));
    }
    let presenter = Presenter::of(call);
    let objects = listed.items.iter().map(|(key, entry)| presenter.object(key, entry));
    let objects: Vec<_> = objects.collect::<Result<_, _>>()?;
    let metadata = metadata(call, &listed, accept.form == Form::Whole);
    let whole = match accept.form {
        Form::Table => super::table::of_many(call, accept, objects, metadata),
        Form::Partial | Form::PartialList => {
            let partial = |object| krm::table::partial_metadata(object, accept.version);
            let items: Vec<Value> = objects.into_iter().map(partial).collect();
            let metadata = metadata.as_object().cloned().unwrap_or_default();
            krm::table::partial_metadata_list(accept.version, metadata, items)
        }
        Form::Whole => {
            let items: Vec<Value> = objects.into_iter().map(|object| Value::Object(object.0)).collect();
            json!({
                "apiVersion": call.api_version(), "kind": call.kind.names.list_kind,
                "metadata": metadata, "items": items,
            })
        }
    };
    Ok(object::value(accept, 200, &whole))
}

/// A list's own metadata.
fn metadata(call: &Call, listed: &Listed, is_whole: bool) -> Value {
    let mut metadata = json!({ "resourceVersion": listed.version });
    // Only whole lists of kinds that users defined have it where there is nothing to go on from.
    if !listed.resume.is_empty() || (is_whole && call.kind.origin != Origin::BuiltIn) {
        metadata["continue"] = listed.resume.as_str().into();
    }
    if let Some(remaining) = listed.remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    metadata
}

fn spliced(call: &Call, listed: Listed) -> Answer {
    let mut head = encode::beginning(&call.api_version(), &call.kind.names.list_kind);
    head.push_str(&format!(",\"metadata\":{},\"items\":[", metadata(call, &listed, true)));
    // Items of Kubernetes' own kinds don't repeat their type.
    let cut = match call.kind.strategic {
        true => encode::beginning(&call.api_version(), &call.kind.names.kind).len() + 1,
        false => 0,
    };
    let items =
        Items { call: call.clone(), cut, head: Some(head), items: listed.items.into(), is_done: false };
    super::stream(200, "application/json", items.boxed_unsync())
}

/// A list that is written out chunk by chunk.
struct Items {
    call: Call,
    /// Bytes of each item's beginning that are left out, but for the brace.
    cut: usize,
    head: Option<String>,
    items: VecDeque<(Key, Arc<Entry>)>,
    is_done: bool,
}

impl Items {
    fn chunk(&mut self) -> Option<Bytes> {
        if self.is_done {
            return None;
        }
        let presenter = Presenter::of(&self.call);
        let mut chunk = BytesMut::with_capacity(CHUNK + (8 << 10));
        let mut is_first = false;
        if let Some(head) = self.head.take() {
            chunk.extend_from_slice(head.as_bytes());
            is_first = true;
        }
        while chunk.len() < CHUNK {
            let Some((key, entry)) = self.items.pop_front() else {
                chunk.extend_from_slice(b"]}");
                self.is_done = true;
                break;
            };
            let made;
            let bytes = match presenter.stored(&entry) {
                Some(bytes) => bytes,
                None => {
                    // An object that can't be opened has no bytes to show; leaving it out beats ending the list.
                    let Ok(bytes) = presenter.bytes(&key, &entry) else {
                        tracing::error!(%key, "failed to decode a stored object; omitting it from the list");
                        continue;
                    };
                    made = bytes;
                    &made[..]
                }
            };
            if !is_first {
                chunk.extend_from_slice(b",");
            }
            is_first = false;
            match self.cut {
                0 => chunk.extend_from_slice(bytes),
                cut => {
                    chunk.extend_from_slice(b"{");
                    chunk.extend_from_slice(bytes.get(cut..).unwrap_or(b"}"));
                }
            }
        }
        Some(chunk.freeze())
    }
}

impl http_body::Body for Items {
    type Data = Bytes;
    type Error = Aborted;

    fn size_hint(&self) -> SizeHint {
        let bytes: usize =
            self.items.iter().map(|(_, entry)| entry.bytes().len().saturating_sub(self.cut)).sum();
        let mut hint = SizeHint::new();
        hint.set_lower(u64::try_from(bytes).unwrap_or(u64::MAX));
        hint
    }

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        Poll::Ready(self.get_mut().chunk().map(|chunk| Ok(Frame::data(chunk))))
    }
}
