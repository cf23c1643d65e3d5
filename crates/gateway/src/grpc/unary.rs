//! The methods of collections.

use prost_reflect::{DynamicMessage, MessageDescriptor, Value};
use tonic::Code;

use crate::caller::Caller;
use crate::collection::{Collection, Face};
use crate::failure::Failure;
use crate::objects::{Changes, Listed, Objects, Wanted};

/// Answers a call about objects.
pub async fn answer(
    caller: Caller,
    face: Face,
    collection: &'static Collection,
    method: &str,
    request: DynamicMessage,
    output: MessageDescriptor,
) -> Result<DynamicMessage, Failure> {
    let objects = Objects::of(caller, face, collection)?;
    let mut answer = DynamicMessage::new(output);
    let id = text(&request, "id");
    match method {
        "List" => fill_list(&mut answer, objects.list(&wanted(&request)).await?),
        "Get" => set(&mut answer, "object", Value::Message(objects.get(&id).await?)),
        "Create" => {
            let created = objects.create(object(&request)?).await?;
            set(&mut answer, "object", Value::Message(created));
        }
        "Update" => {
            let updated = objects.update(object(&request)?, &changes(&request)).await?;
            set(&mut answer, "object", Value::Message(updated));
        }
        "Delete" => objects.delete(&id).await?,
        "Signal" => objects.signal(&id).await?,
        "GetKubeconfig" => {
            let kubeconfig = objects.credential(&id, "kubeconfigRef").await?;
            set(&mut answer, "kubeconfig", Value::String(kubeconfig));
        }
        "GetPassword" => {
            let password = objects.credential(&id, "passwordRef").await?;
            set(&mut answer, "password", Value::String(password));
        }
        "GetKubeconfigViaHttp" => {
            let kubeconfig = objects.credential(&id, "kubeconfigRef").await?;
            set(&mut answer, "content_type", Value::String("application/yaml".to_owned()));
            set(&mut answer, "data", Value::Bytes(kubeconfig.into()));
        }
        "GetPasswordViaHttp" => {
            let password = objects.credential(&id, "passwordRef").await?;
            set(&mut answer, "content_type", Value::String("text/plain".to_owned()));
            set(&mut answer, "data", Value::Bytes(password.into()));
        }
        method => return Err(Failure::new(Code::Unimplemented, format!("unknown method {method}"))),
    }
    Ok(answer)
}

fn set(message: &mut DynamicMessage, field: &str, value: Value) {
    // The answers of all methods have these fields; a test of the .proto files says so.
    let _ = message.try_set_field_by_name(field, value);
}

fn text(message: &DynamicMessage, field: &str) -> String {
    message.get_field_by_name(field).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn object(request: &DynamicMessage) -> Result<DynamicMessage, Failure> {
    let object = request.has_field_by_name("object").then(|| request.get_field_by_name("object")).flatten();
    match object.map(|object| object.into_owned()) {
        Some(Value::Message(object)) => Ok(object),
        _ => Err(Failure::invalid("field 'object': an object is required")),
    }
}

fn wanted(request: &DynamicMessage) -> Wanted {
    let number = |field: &str| {
        let is_set = request.has_field_by_name(field);
        is_set.then(|| request.get_field_by_name(field)?.as_i32()).flatten()
    };
    Wanted {
        offset: number("offset"),
        limit: number("limit"),
        filter: text(request, "filter"),
        page_token: text(request, "page_token"),
    }
}

/// The mask and the lock of an update.
pub fn changes(request: &DynamicMessage) -> Changes {
    let lock = request.get_field_by_name("lock").and_then(|lock| lock.as_bool()).unwrap_or(false);
    Changes { mask: mask(request), lock }
}

/// The paths of a request's mask, if it has one.
pub fn mask(request: &DynamicMessage) -> Option<Vec<String>> {
    if !request.has_field_by_name("update_mask") {
        return None;
    }
    let mask = request.get_field_by_name("update_mask")?.into_owned();
    let paths = mask.as_message()?.get_field_by_name("paths")?.into_owned();
    let paths: Vec<String> =
        paths.as_list()?.iter().filter_map(|path| path.as_str().map(str::to_owned)).collect();
    // Some clients send an empty mask where they mean none.
    (!paths.is_empty()).then_some(paths)
}

/// Writes a page into the answer of a list.
pub fn fill_list(answer: &mut DynamicMessage, listed: Listed) {
    let number = |count: usize| Value::I32(i32::try_from(count).unwrap_or(i32::MAX));
    set(answer, "size", number(listed.items.len()));
    set(answer, "total", number(listed.total));
    set(answer, "items", Value::List(listed.items.into_iter().map(Value::Message).collect()));
    set(answer, "next_page_token", Value::String(listed.next_page_token));
}
