//! Why a call failed: a code of gRPC, a message and details, as `google.rpc.Status` has them.

use apiserver::route::grpc;
use krm::status::Status;
use prost::Message;
use serde_json::{Value as Json, json};
use tonic::Code;

/// The domain of reasons in details.
const DOMAIN: &str = "groundplane.dev";

/// Why a call failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The code.
    pub code: Code,
    /// What the caller is told.
    pub message: String,
    /// A reason for programs.
    pub reason: String,
    /// Fields that are wrong, and why.
    pub fields: Vec<(String, String)>,
    /// Seconds after which another try makes sense.
    pub retry_after: Option<u32>,
}

impl Failure {
    /// A failure without details.
    pub fn new(code: Code, message: impl Into<String>) -> Failure {
        let reason = format!("{code:?}");
        Failure { code, message: message.into(), reason, fields: Vec::new(), retry_after: None }
    }

    /// The request makes no sense.
    pub fn invalid(message: impl Into<String>) -> Failure {
        Failure::new(Code::InvalidArgument, message)
    }

    /// There is no object with an identifier, or the caller may not know of it.
    pub fn not_found(id: &str) -> Failure {
        Failure::new(Code::NotFound, format!("object with identifier '{id}' not found"))
    }

    /// As `google.rpc.Status` in protobuf.
    fn encoded(&self) -> Vec<u8> {
        let info = ErrorInfo { reason: self.reason.clone(), domain: DOMAIN.to_owned() };
        let mut details = vec![Any::of("google.rpc.ErrorInfo", &info)];
        if !self.fields.is_empty() {
            let violation = |(field, why): &(String, String)| FieldViolation {
                field: field.clone(),
                description: why.clone(),
            };
            let bad = BadRequest { field_violations: self.fields.iter().map(violation).collect() };
            details.push(Any::of("google.rpc.BadRequest", &bad));
        }
        if let Some(seconds) = self.retry_after {
            let retry = RetryInfo { retry_delay: Some(Duration { seconds: seconds.into() }) };
            details.push(Any::of("google.rpc.RetryInfo", &retry));
        }
        RpcStatus { code: self.code as i32, message: self.message.clone(), details }.encode_to_vec()
    }

    /// As `google.rpc.Status` in JSON.
    pub fn to_json(&self) -> Json {
        let type_url = |name: &str| format!("type.googleapis.com/google.rpc.{name}");
        let mut details =
            vec![json!({"@type": type_url("ErrorInfo"), "reason": self.reason, "domain": DOMAIN})];
        if !self.fields.is_empty() {
            let fields: Vec<Json> =
                self.fields.iter().map(|(field, why)| json!({"field": field, "description": why})).collect();
            details.push(json!({"@type": type_url("BadRequest"), "fieldViolations": fields}));
        }
        if let Some(seconds) = self.retry_after {
            details.push(json!({"@type": type_url("RetryInfo"), "retryDelay": format!("{seconds}s")}));
        }
        json!({"code": self.code as i32, "message": self.message, "details": details})
    }

    /// The code of HTTP that says the same.
    pub fn http_code(&self) -> u16 {
        match self.code {
            Code::Cancelled => 499,
            Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => 400,
            Code::DeadlineExceeded => 504,
            code => grpc::http_code(u16::try_from(code as i32).unwrap_or(13)),
        }
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Failure {
        let code = Code::from(i32::from(grpc::code(&status)));
        let details = status.details.as_ref();
        let causes = details.into_iter().flat_map(|details| &details.causes);
        let fields = causes.filter(|cause| !cause.field.is_empty());
        Failure {
            code,
            fields: fields.map(|cause| (cause.field.clone(), cause.message.clone())).collect(),
            retry_after: details.and_then(|details| details.retry_after_seconds),
            reason: if status.reason.is_empty() { format!("{code:?}") } else { status.reason.to_string() },
            message: status.message,
        }
    }
}

impl From<Failure> for tonic::Status {
    fn from(failure: Failure) -> tonic::Status {
        let details = failure.encoded();
        tonic::Status::with_details(failure.code, failure.message, details.into())
    }
}

#[derive(Clone, PartialEq, Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

#[derive(Clone, PartialEq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

impl Any {
    fn of(name: &str, message: &impl Message) -> Any {
        Any { type_url: format!("type.googleapis.com/{name}"), value: message.encode_to_vec() }
    }
}

#[derive(Clone, PartialEq, Message)]
struct ErrorInfo {
    #[prost(string, tag = "1")]
    reason: String,
    #[prost(string, tag = "2")]
    domain: String,
}

#[derive(Clone, PartialEq, Message)]
struct BadRequest {
    #[prost(message, repeated, tag = "1")]
    field_violations: Vec<FieldViolation>,
}

#[derive(Clone, PartialEq, Message)]
struct FieldViolation {
    #[prost(string, tag = "1")]
    field: String,
    #[prost(string, tag = "2")]
    description: String,
}

#[derive(Clone, PartialEq, Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<Duration>,
}

#[derive(Clone, PartialEq, Message)]
struct Duration {
    #[prost(int64, tag = "1")]
    seconds: i64,
}
