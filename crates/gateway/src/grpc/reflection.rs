//! Server reflection: the descriptors of everything that is served.

use std::collections::BTreeSet;

use prost_reflect::{DynamicMessage, FileDescriptor, Kind, MethodDescriptor, ReflectMessage, Value};
use tokio_stream::StreamExt;
use tonic::Code;
use tonic::codec::Streaming;

use super::{Messages, Service};
use crate::schema;

/// Answers each question of a stream.
pub fn answer(method: &MethodDescriptor, questions: Streaming<DynamicMessage>) -> Messages {
    let output = method.output();
    Box::pin(questions.map(move |question| {
        let question = question?;
        let mut answer = DynamicMessage::new(output.clone());
        let host = question.get_field_by_name("host").map(|host| host.into_owned());
        set(&mut answer, "valid_host", host.unwrap_or_else(|| Value::String(String::new())));
        set(&mut answer, "original_request", Value::Message(question.clone()));
        let (field, value) = respond(&question, &output);
        set(&mut answer, field, value);
        Ok(answer)
    }))
}

fn set(message: &mut DynamicMessage, field: &str, value: Value) {
    let _ = message.try_set_field_by_name(field, value);
}

/// A message of a field of the answer.
fn part(output: &prost_reflect::MessageDescriptor, field: &str) -> Option<DynamicMessage> {
    match output.get_field_by_name(field)?.kind() {
        Kind::Message(of) => Some(DynamicMessage::new(of)),
        _ => None,
    }
}

fn respond(question: &DynamicMessage, output: &prost_reflect::MessageDescriptor) -> (&'static str, Value) {
    let text = |field: &str| {
        let is_set = question.has_field_by_name(field);
        is_set.then(|| question.get_field_by_name(field)?.as_str().map(str::to_owned)).flatten()
    };
    if text("list_services").is_some() {
        return services(output);
    }
    let file = match (text("file_by_filename"), text("file_containing_symbol")) {
        (Some(name), _) => schema::pool().get_file_by_name(&name),
        (_, Some(symbol)) => file_of(&symbol),
        _ if text("all_extension_numbers_of_type").is_some() => {
            let message = part(output, "all_extension_numbers_response");
            return message.map_or_else(
                || refusal(output, Code::Unimplemented, ""),
                |mut message| {
                    let name = text("all_extension_numbers_of_type").unwrap_or_default();
                    set(&mut message, "base_type_name", Value::String(name));
                    ("all_extension_numbers_response", Value::Message(message))
                },
            );
        }
        _ => return refusal(output, Code::NotFound, "there are no extensions"),
    };
    let Some(file) = file else { return refusal(output, Code::NotFound, "there is no such file or symbol") };
    let mut files = Vec::new();
    gather(&file, &mut BTreeSet::new(), &mut files);
    let Some(mut message) = part(output, "file_descriptor_response") else {
        return refusal(output, Code::Internal, "");
    };
    let files = files.into_iter().map(|file| Value::Bytes(file.into())).collect();
    set(&mut message, "file_descriptor_proto", Value::List(files));
    ("file_descriptor_response", Value::Message(message))
}

fn services(output: &prost_reflect::MessageDescriptor) -> (&'static str, Value) {
    let Some(mut message) = part(output, "list_services_response") else {
        return refusal(output, Code::Internal, "");
    };
    let Some(one) = part(&message.descriptor(), "service") else {
        return refusal(output, Code::Internal, "");
    };
    let names = schema::pool().services().map(|service| service.full_name().to_owned());
    let mut names: Vec<String> = names.filter(|name| Service::of(name).is_some()).collect();
    names.sort();
    let services = names.into_iter().map(|name| {
        let mut one = one.clone();
        set(&mut one, "name", Value::String(name));
        Value::Message(one)
    });
    set(&mut message, "service", Value::List(services.collect()));
    ("list_services_response", Value::Message(message))
}

fn refusal(output: &prost_reflect::MessageDescriptor, code: Code, why: &str) -> (&'static str, Value) {
    let Some(mut message) = part(output, "error_response") else {
        return ("valid_host", Value::String(String::new()));
    };
    set(&mut message, "error_code", Value::I32(code as i32));
    set(&mut message, "error_message", Value::String(why.to_owned()));
    ("error_response", Value::Message(message))
}

/// The file that declares a service, a method, a message, a field or an enum.
fn file_of(symbol: &str) -> Option<FileDescriptor> {
    let pool = schema::pool();
    let mut name = symbol.trim_start_matches('.');
    loop {
        let found = pool
            .get_service_by_name(name)
            .map(|service| service.parent_file())
            .or_else(|| pool.get_message_by_name(name).map(|message| message.parent_file()))
            .or_else(|| pool.get_enum_by_name(name).map(|of| of.parent_file()));
        if found.is_some() {
            return found;
        }
        name = name.rsplit_once('.')?.0;
    }
}

/// A file and what it imports, each once.
fn gather(file: &FileDescriptor, seen: &mut BTreeSet<String>, into: &mut Vec<Vec<u8>>) {
    if !seen.insert(file.name().to_owned()) {
        return;
    }
    into.push(file.encode_to_vec());
    for import in file.dependencies() {
        gather(&import, seen, into);
    }
}
