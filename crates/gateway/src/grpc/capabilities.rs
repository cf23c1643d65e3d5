//! What this server can do, and how clients log in.

use apiserver::api::Api;
use prost_reflect::{DynamicMessage, Kind, MessageDescriptor, Value};
use tonic::Code;

use crate::VERSION;
use crate::failure::Failure;

/// Answers Capabilities/Get.
pub fn get(
    api: &Api,
    request: &DynamicMessage,
    output: MessageDescriptor,
) -> Result<DynamicMessage, Failure> {
    let client = request.get_field_by_name("client_version");
    let client = client.and_then(|version| version.as_str().map(str::to_owned)).unwrap_or_default();
    agrees(&client)?;
    let mut answer = metadata(api, output);
    let _ = answer.try_set_field_by_name("version", Value::String(VERSION.to_owned()));
    Ok(answer)
}

/// Answers Metadata/Get: the issuers whose tokens are accepted.
pub fn metadata(api: &Api, output: MessageDescriptor) -> DynamicMessage {
    let mut answer = DynamicMessage::new(output.clone());
    let authn = output.get_field_by_name("authn").map(|field| field.kind());
    if let Some(Kind::Message(of)) = authn {
        let mut authn = DynamicMessage::new(of);
        let issuers = api.token_issuers().iter().cloned().map(Value::String).collect();
        let _ = authn.try_set_field_by_name("trusted_token_issuers", Value::List(issuers));
        let _ = answer.try_set_field_by_name("authn", Value::Message(authn));
    }
    answer
}

/// Refuses clients of another major version.
pub fn agrees(client: &str) -> Result<(), Failure> {
    let major = |version: &str| version.split('.').next().unwrap_or_default().to_owned();
    if client.is_empty() || major(client) == major(VERSION) {
        return Ok(());
    }
    let why = format!(
        "the client was made for version {client} of this API, and the server has version {VERSION}; use a client of \
         version {}",
        major(VERSION)
    );
    Err(Failure::new(Code::FailedPrecondition, why))
}
