//! Kubernetes' messages as another library has them: as much of them as these tests look at.

use std::collections::BTreeMap;

use prost::Message;

/// The envelope.
#[derive(Clone, PartialEq, Message)]
pub struct Unknown {
    #[prost(message, optional, tag = "1")]
    pub type_meta: Option<TypeMeta>,
    #[prost(bytes = "vec", tag = "2")]
    pub raw: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TypeMeta {
    #[prost(string, tag = "1")]
    pub api_version: String,
    #[prost(string, tag = "2")]
    pub kind: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Timestamp {
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct ObjectMeta {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "3")]
    pub namespace: String,
    #[prost(string, tag = "5")]
    pub uid: String,
    #[prost(string, tag = "6")]
    pub resource_version: String,
    #[prost(int64, tag = "7")]
    pub generation: i64,
    #[prost(message, optional, tag = "8")]
    pub creation_timestamp: Option<Timestamp>,
    #[prost(btree_map = "string, string", tag = "11")]
    pub labels: BTreeMap<String, String>,
    #[prost(btree_map = "string, string", tag = "12")]
    pub annotations: BTreeMap<String, String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ListMeta {
    #[prost(string, tag = "2")]
    pub resource_version: String,
    #[prost(string, tag = "3")]
    pub r#continue: String,
    #[prost(int64, optional, tag = "4")]
    pub remaining_item_count: Option<i64>,
}

/// Whatever object: its metadata is its first field.
#[derive(Clone, PartialEq, Message)]
pub struct Partial {
    #[prost(message, optional, tag = "1")]
    pub metadata: Option<ObjectMeta>,
}

/// Whatever list.
#[derive(Clone, PartialEq, Message)]
pub struct List {
    #[prost(message, optional, tag = "1")]
    pub metadata: Option<ListMeta>,
    #[prost(message, repeated, tag = "2")]
    pub items: Vec<Partial>,
}

#[derive(Clone, PartialEq, Message)]
pub struct WatchEvent {
    #[prost(string, tag = "1")]
    pub r#type: String,
    #[prost(message, optional, tag = "2")]
    pub object: Option<RawExtension>,
}

#[derive(Clone, PartialEq, Message)]
pub struct RawExtension {
    #[prost(bytes = "vec", tag = "1")]
    pub raw: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Status {
    #[prost(string, tag = "2")]
    pub status: String,
    #[prost(string, tag = "3")]
    pub message: String,
    #[prost(string, tag = "4")]
    pub reason: String,
    #[prost(int32, tag = "6")]
    pub code: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct DeleteOptions {
    #[prost(string, optional, tag = "4")]
    pub propagation_policy: Option<String>,
    #[prost(string, repeated, tag = "5")]
    pub dry_run: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Definition {
    #[prost(message, optional, tag = "1")]
    pub metadata: Option<ObjectMeta>,
    #[prost(message, optional, tag = "2")]
    pub spec: Option<DefinitionSpec>,
    #[prost(message, optional, tag = "3")]
    pub status: Option<DefinitionStatus>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DefinitionSpec {
    #[prost(string, tag = "1")]
    pub group: String,
    #[prost(message, optional, tag = "3")]
    pub names: Option<Names>,
    #[prost(string, tag = "4")]
    pub scope: String,
    #[prost(message, repeated, tag = "7")]
    pub versions: Vec<Version>,
    #[prost(message, optional, tag = "9")]
    pub conversion: Option<Conversion>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Conversion {
    #[prost(string, tag = "1")]
    pub strategy: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Names {
    #[prost(string, tag = "1")]
    pub plural: String,
    #[prost(string, tag = "2")]
    pub singular: String,
    #[prost(string, tag = "4")]
    pub kind: String,
    #[prost(string, tag = "5")]
    pub list_kind: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Version {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(bool, tag = "2")]
    pub served: bool,
    #[prost(bool, tag = "3")]
    pub storage: bool,
    #[prost(message, optional, tag = "4")]
    pub schema: Option<Validation>,
    #[prost(message, optional, tag = "5")]
    pub subresources: Option<Subresources>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Validation {
    #[prost(message, optional, tag = "1")]
    pub open_api_v3_schema: Option<Schema>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Subresources {
    #[prost(message, optional, tag = "1")]
    pub status: Option<Nothing>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Nothing {}

#[derive(Clone, PartialEq, Message)]
pub struct Schema {
    #[prost(string, tag = "5")]
    pub r#type: String,
    #[prost(message, optional, tag = "8")]
    pub default: Option<Json>,
    #[prost(double, optional, tag = "9")]
    pub maximum: Option<f64>,
    #[prost(int64, optional, tag = "14")]
    pub min_length: Option<i64>,
    #[prost(message, repeated, tag = "20")]
    pub r#enum: Vec<Json>,
    #[prost(string, repeated, tag = "23")]
    pub required: Vec<String>,
    #[prost(message, optional, boxed, tag = "24")]
    pub items: Option<Box<SchemaOrArray>>,
    #[prost(btree_map = "string, message", tag = "29")]
    pub properties: BTreeMap<String, Schema>,
    #[prost(message, optional, boxed, tag = "30")]
    pub additional_properties: Option<Box<SchemaOrBool>>,
    #[prost(bool, optional, tag = "38")]
    pub preserve_unknown: Option<bool>,
    #[prost(bool, tag = "40")]
    pub int_or_string: bool,
    #[prost(message, repeated, tag = "44")]
    pub validations: Vec<Rule>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Json {
    #[prost(bytes = "vec", tag = "1")]
    pub raw: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SchemaOrArray {
    #[prost(message, optional, boxed, tag = "1")]
    pub schema: Option<Box<Schema>>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SchemaOrBool {
    #[prost(bool, tag = "1")]
    pub allows: bool,
    #[prost(message, optional, boxed, tag = "2")]
    pub schema: Option<Box<Schema>>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Rule {
    #[prost(string, tag = "1")]
    pub rule: String,
    #[prost(string, tag = "2")]
    pub message: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct DefinitionStatus {
    #[prost(message, repeated, tag = "1")]
    pub conditions: Vec<Condition>,
    #[prost(string, repeated, tag = "3")]
    pub stored_versions: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Condition {
    #[prost(string, tag = "1")]
    pub r#type: String,
    #[prost(string, tag = "2")]
    pub status: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct ApiResourceList {
    #[prost(string, tag = "1")]
    pub group_version: String,
    #[prost(message, repeated, tag = "2")]
    pub resources: Vec<ApiResource>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ApiResource {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "3")]
    pub kind: String,
    #[prost(message, optional, tag = "4")]
    pub verbs: Option<Verbs>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Verbs {
    #[prost(string, repeated, tag = "1")]
    pub items: Vec<String>,
}

const MAGIC: &[u8] = b"k8s\0";

/// A body as client-go sends it.
pub fn body(api_version: &str, kind: &str, message: &impl Message) -> Vec<u8> {
    let type_meta = Some(TypeMeta { api_version: api_version.to_owned(), kind: kind.to_owned() });
    let unknown = Unknown { type_meta, raw: message.encode_to_vec() };
    [MAGIC, &unknown.encode_to_vec()].concat()
}

/// What is in an envelope: its type, and the message.
pub fn open<M: Message + Default>(bytes: &[u8]) -> (TypeMeta, M) {
    let unknown = Unknown::decode(bytes.strip_prefix(MAGIC).unwrap()).unwrap();
    (unknown.type_meta.unwrap(), M::decode(&*unknown.raw).unwrap())
}

/// The events of a watch, each behind its length.
pub fn events(mut bytes: &[u8]) -> Vec<WatchEvent> {
    let mut events = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let (event, rest) = rest.split_at(u32::from_be_bytes(*length) as usize);
        events.push(WatchEvent::decode(event).unwrap());
        bytes = rest;
    }
    events
}
