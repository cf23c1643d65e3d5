//! The interface itself: its .proto files, field masks, filters and the OpenAPI document.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test a failed step is a failed test"
)]

mod filters;
mod lint;
mod masks;
mod numbers;
mod oracle;
mod page;

use gateway::collection::{ALL, Face};
use gateway::openapi;
use gateway::schema;
use prost_reflect::DynamicMessage;
use serde_json::Value;

/// A host of the private API.
fn host(value: Value) -> DynamicMessage {
    let of = schema::message("osac.private.v1.Host").unwrap();
    DynamicMessage::deserialize(of, value).unwrap()
}

#[test]
fn the_openapi_document_has_every_path_and_every_schema_that_it_names() {
    for face in [Face::Private, Face::Public] {
        let document = openapi::document(face);
        for collection in ALL.iter().filter(|collection| collection.is_on(face)) {
            let path = format!("{}/{}", face.path(), collection.rest);
            assert!(document["paths"][&path]["get"].is_object(), "{path}");
            assert!(document["paths"][format!("{path}/{{id}}")]["patch"].is_object(), "{path}");
        }
        let text = document.to_string();
        for reference in text.split("\"#/components/schemas/").skip(1) {
            let name = reference.split('"').next().unwrap();
            assert!(document["components"]["schemas"][name].is_object(), "{name} is missing");
        }
        let host = &document["components"]["schemas"][format!("{}.HostSpec", face.package())];
        let power = &host["properties"]["power_state"];
        assert_eq!(power["enum"][1], "HOST_POWER_STATE_ON");
        assert!(power["description"].as_str().unwrap().starts_with("Desired power."), "{power}");
    }
    assert!(
        openapi::document(Face::Public).to_string().find("Hub").is_none(),
        "tenants learn nothing of hubs"
    );
}

#[test]
fn secrets_are_named_where_the_protocol_has_them() {
    let secret = |message: &str, field: &str| {
        schema::is_secret(&schema::message(message).unwrap().get_field_by_name(field).unwrap())
    };
    assert!(secret("osac.private.v1.BMC", "password"));
    assert!(secret("osac.private.v1.HubSpec", "kubeconfig"));
    assert!(secret("osac.private.v1.HubSpec", "pull_secret"));
    assert!(!secret("osac.private.v1.BMC", "user"));
    // Whatever else is called so must be named too.
    for message in schema::pool().all_messages() {
        for field in message.fields() {
            let is_suspect =
                ["password", "kubeconfig", "pull_secret", "token", "private_key"].contains(&field.name());
            assert!(
                !is_suspect || schema::is_secret(&field),
                "{} is not named as a secret",
                field.full_name()
            );
        }
    }
}
