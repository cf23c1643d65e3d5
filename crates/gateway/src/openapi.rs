//! An OpenAPI document of the REST paths, made of the descriptors and their comments.

use std::collections::BTreeMap;

use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value as Json, json};

use crate::VERSION;
use crate::collection::{ALL, Collection, Face};

/// The document of a face.
pub fn document(face: Face) -> Json {
    let mut schemas = Schemas::default();
    let mut paths = Map::new();
    for collection in ALL.iter().filter(|collection| collection.is_on(face)) {
        add_paths(face, collection, &mut schemas, &mut paths);
    }
    let status = json!({"type": "object", "properties": {
        "code": {"type": "integer", "format": "int32", "description": "Code of gRPC."},
        "message": {"type": "string", "description": "What went wrong."},
        "details": {"type": "array", "items": {"type": "object"}, "description": "Details, each with its `@type`."},
    }});
    schemas.made.insert("google.rpc.Status".to_owned(), status);
    let issuers = json!({"type": "object", "properties": {
        "authn": {"type": "object", "properties": {
            "trusted_token_issuers": {"type": "array", "items": {"type": "string"}},
        }},
        "version": {"type": "string"},
    }});
    paths.insert(
        format!("{}/capabilities", face.path()),
        json!({"get": {
            "summary": "What this server can do. Needs no login.",
            "operationId": "Capabilities_Get",
            "security": [],
            "responses": {"200": answered("The capabilities.", issuers)},
        }}),
    );
    let events = match face {
        Face::Private => format!("{}/events/watch", face.path()),
        Face::Public => "/api/events/v1/events".to_owned(),
    };
    paths.insert(events, json!({"get": {
        "summary": "Events as they happen, one JSON value in each line.",
        "operationId": "Events_Watch",
        "parameters": [query("filter", "string"), query("resume_token", "string")],
        "responses": {"200": answered("A stream of events.", json!({"type": "object"})), "default": error()},
    }}));
    json!({
        "openapi": "3.0.3",
        "info": {"title": format!("Fulfillment API ({})", face.package()), "version": VERSION},
        "paths": paths,
        "components": {
            "schemas": schemas.made,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"bearer": []}],
    })
}

fn query(name: &str, kind: &str) -> Json {
    json!({"name": name, "in": "query", "schema": {"type": kind}})
}

fn answered(description: &str, schema: Json) -> Json {
    json!({"description": description, "content": {"application/json": {"schema": schema}}})
}

fn error() -> Json {
    answered("An error.", json!({"$ref": "#/components/schemas/google.rpc.Status"}))
}

fn add_paths(face: Face, collection: &Collection, schemas: &mut Schemas, paths: &mut Map<String, Json>) {
    let Some(message) = face.message(collection.message) else { return };
    let object = schemas.reference(&message);
    let service = collection.service;
    let list = json!({"type": "object", "properties": {
        "size": {"type": "integer", "description": "How many are in `items`."},
        "total": {"type": "integer", "description": "How many match."},
        "items": {"type": "array", "items": object},
        "next_page_token": {"type": "string", "description": "Token of the next page; missing on the last."},
    }});
    let body = json!({"required": true, "content": {"application/json": {"schema": object}}});
    let id = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}});
    let one = |description: &str| json!({"200": answered(description, object.clone()), "default": error()});
    let base = format!("{}/{}", face.path(), collection.rest);
    paths.insert(
        base.clone(),
        json!({
            "get": {
                "operationId": format!("{service}_List"),
                "summary": format!("Lists {}.", collection.rest.replace('_', " ")),
                "parameters": [
                    query("offset", "integer"), query("limit", "integer"), query("filter", "string"),
                    query("order", "string"), query("page_token", "string"),
                ],
                "responses": {"200": answered("A page.", list), "default": error()},
            },
            "post": {
                "operationId": format!("{service}_Create"),
                "summary": "Creates an object.",
                "requestBody": body.clone(),
                "responses": one("The object."),
            },
        }),
    );
    paths.insert(format!("{base}/{{id}}"), json!({
        "parameters": [id],
        "get": {"operationId": format!("{service}_Get"), "summary": "Gets an object.", "responses": one("The object.")},
        "patch": {
            "operationId": format!("{service}_Update"),
            "summary": "Changes the fields that the body has. `null` clears a field.",
            "parameters": [query("lock", "boolean")],
            "requestBody": body,
            "responses": one("The object."),
        },
        "delete": {
            "operationId": format!("{service}_Delete"),
            "summary": "Deletes an object.",
            "responses": {"200": answered("Nothing.", json!({"type": "object"})), "default": error()},
        },
    }));
    if face == Face::Public && collection.plural == "clusters" {
        for (part, content) in [("kubeconfig", "application/yaml"), ("password", "text/plain")] {
            let content = json!({content: {"schema": {"type": "string"}}});
            paths.insert(format!("{base}/{{id}}/{part}"), json!({
                "parameters": [id],
                "get": {
                    "operationId": format!("Clusters_Get_{part}"),
                    "summary": format!("Gets the {part} of a cluster."),
                    "responses": {"200": {"description": format!("The {part}."), "content": content}, "default": error()},
                },
            }));
        }
    }
}

/// The schemas of messages, each once.
#[derive(Default)]
struct Schemas {
    made: BTreeMap<String, Json>,
}

impl Schemas {
    fn reference(&mut self, message: &MessageDescriptor) -> Json {
        let name = message.full_name().to_owned();
        if !self.made.contains_key(&name) {
            // Its place is taken first: a message may have itself as a field.
            self.made.insert(name.clone(), Json::Null);
            let fields = message.fields().map(|field| (field.name().to_owned(), self.field(&field)));
            let fields: Map<String, Json> = fields.collect();
            let comment = comment(&message.parent_file(), message.path());
            self.made.insert(
                name.clone(),
                json!({"type": "object", "description": comment, "properties": fields}),
            );
        }
        json!({"$ref": format!("#/components/schemas/{name}")})
    }

    fn field(&mut self, field: &FieldDescriptor) -> Json {
        let mut schema = if field.is_map() {
            let value = field.kind().as_message().map(|entry| entry.map_entry_value_field().kind());
            let value = value.map_or_else(|| json!({}), |kind| self.kind(&kind));
            json!({"type": "object", "additionalProperties": value})
        } else if field.is_list() {
            json!({"type": "array", "items": self.kind(&field.kind())})
        } else {
            self.kind(&field.kind())
        };
        let comment = comment(&field.parent_file(), field.path());
        match schema.get("$ref").is_some() {
            // Beside a reference nothing else counts.
            true => json!({"allOf": [schema], "description": comment}),
            false => {
                schema["description"] = comment.into();
                schema
            }
        }
    }

    fn kind(&mut self, kind: &Kind) -> Json {
        match kind {
            Kind::Bool => json!({"type": "boolean"}),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 | Kind::Uint32 | Kind::Fixed32 => {
                json!({"type": "integer", "format": "int32"})
            }
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 | Kind::Uint64 | Kind::Fixed64 => {
                json!({"type": "string", "format": "int64"})
            }
            Kind::Float | Kind::Double => json!({"type": "number"}),
            Kind::String => json!({"type": "string"}),
            Kind::Bytes => json!({"type": "string", "format": "byte"}),
            Kind::Enum(of) => json!({"type": "string", "enum": names(of)}),
            Kind::Message(of) => match of.full_name() {
                "google.protobuf.Timestamp" => json!({"type": "string", "format": "date-time"}),
                "google.protobuf.Any" => {
                    json!({"type": "object", "properties": {"@type": {"type": "string"}}, "additionalProperties": true})
                }
                _ => self.reference(of),
            },
        }
    }
}

fn names(of: &EnumDescriptor) -> Vec<String> {
    of.values().map(|value| value.name().to_owned()).collect()
}

/// The comment before a declaration in its .proto file.
pub fn comment(file: &prost_reflect::FileDescriptor, path: &[i32]) -> String {
    let info = file.file_descriptor_proto().source_code_info.as_ref();
    let found = info.and_then(|info| info.location.iter().find(|location| location.path == path));
    let comment = found.and_then(|location| location.leading_comments.as_deref()).unwrap_or_default();
    comment.split_whitespace().collect::<Vec<_>>().join(" ")
}
