//! Status responses: why a request failed, in Kubernetes' words.

use serde::Serialize;

use crate::field::FieldError;

/// Why a request failed, or that it succeeded: `kind: Status`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    kind: &'static str,
    api_version: &'static str,
    metadata: Metadata,
    /// `Success` or `Failure`.
    pub status: &'static str,
    /// For people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// For programs.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'static str,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
    /// The HTTP status.
    #[serde(skip_serializing_if = "is_zero")]
    pub code: u16,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
struct Metadata {
    #[serde(rename = "continue", skip_serializing_if = "String::is_empty")]
    resume: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(code: &u16) -> bool {
    *code == 0
}

/// What a [`Status`] is about.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// The object's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Its kind, or its resource.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Its identity.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Everything that is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Seconds to wait before another try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Cause {
    /// What kind of thing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// For people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Where.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// A resource of a group, as messages name it: `widgets.example.com`, or `configmaps`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The group; empty for the core one.
    pub group: String,
    /// The plural, or the kind where a message is about a kind.
    pub resource: String,
}

impl Subject {
    /// A resource, or a kind, of a group.
    pub fn new(group: impl Into<String>, resource: impl Into<String>) -> Subject {
        Subject { group: group.into(), resource: resource.into() }
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.group.is_empty() {
            true => f.write_str(&self.resource),
            false => write!(f, "{}.{}", self.resource, self.group),
        }
    }
}

impl Status {
    /// A failure without details.
    pub fn failure(code: u16, reason: &'static str, message: impl Into<String>) -> Status {
        Status {
            kind: "Status",
            api_version: "v1",
            metadata: Metadata::default(),
            status: "Failure",
            message: message.into(),
            reason,
            details: None,
            code,
        }
    }

    /// It was done, and `details` says to what.
    pub fn success(details: Option<Details>) -> Status {
        Status {
            status: "Success",
            details: details.map(Box::new),
            code: 0,
            ..Status::failure(0, "", String::new())
        }
    }

    /// The same with details.
    pub fn about(mut self, details: Details) -> Status {
        self.details = Some(Box::new(details));
        self
    }

    /// The same with a place from where a list may go on nevertheless.
    pub fn resuming(mut self, token: String) -> Status {
        self.metadata.resume = token;
        self
    }

    fn naming(self, subject: &Subject, name: &str) -> Status {
        self.about(Details {
            name: name.to_owned(),
            group: subject.group.clone(),
            kind: subject.resource.clone(),
            ..Details::default()
        })
    }

    /// 400: the request makes no sense.
    pub fn bad_request(message: impl Into<String>) -> Status {
        Status::failure(400, "BadRequest", message)
    }

    /// 401: nobody we know.
    pub fn unauthorized() -> Status {
        Status::failure(401, "Unauthorized", "Unauthorized")
    }

    /// 403: not allowed; `why` comes after "is forbidden: ".
    pub fn forbidden(subject: &Subject, name: &str, why: impl std::fmt::Display) -> Status {
        let message = match (subject.resource.is_empty(), name.is_empty()) {
            (true, _) => format!("forbidden: {why}"),
            (false, true) => format!("{subject} is forbidden: {why}"),
            (false, false) => format!("{subject} \"{name}\" is forbidden: {why}"),
        };
        Status::failure(403, "Forbidden", message).naming(subject, name)
    }

    /// 404: there is no such object.
    pub fn not_found(subject: &Subject, name: &str) -> Status {
        Status::failure(404, "NotFound", format!("{subject} \"{name}\" not found")).naming(subject, name)
    }

    /// 404: there is no such path.
    pub fn no_such_resource() -> Status {
        let message = "the server could not find the requested resource";
        Status::failure(404, "NotFound", message).about(Details::default())
    }

    /// 405: the path takes other methods.
    pub fn method_not_allowed() -> Status {
        let message = "the server does not allow this method on the requested resource";
        Status::failure(405, "MethodNotAllowed", message).about(Details::default())
    }

    /// 406: none of the forms asked for can be given.
    pub fn not_acceptable(accepted: &str) -> Status {
        let message = format!("only the following media types are accepted: {accepted}");
        Status::failure(406, "NotAcceptable", message)
    }

    /// 409: there is one of that name.
    pub fn already_exists(subject: &Subject, name: &str) -> Status {
        let message = format!("{subject} \"{name}\" already exists");
        Status::failure(409, "AlreadyExists", message).naming(subject, name)
    }

    /// 409: somebody else was first.
    pub fn conflict(subject: &Subject, name: &str, why: impl std::fmt::Display) -> Status {
        let message = format!("Operation cannot be fulfilled on {subject} \"{name}\": {why}");
        Status::failure(409, "Conflict", message).naming(subject, name)
    }

    /// 410: that past is no longer kept.
    pub fn expired(message: impl Into<String>) -> Status {
        Status::failure(410, "Expired", message)
    }

    /// 413: too large a body.
    pub fn too_large(message: impl Into<String>) -> Status {
        Status::failure(413, "RequestEntityTooLarge", message)
    }

    /// 415: a body in a form we don't read.
    pub fn unsupported_media_type(accepted: &str) -> Status {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {accepted}"
        );
        Status::failure(415, "UnsupportedMediaType", message)
    }

    /// 422: every field that is wrong. `subject` names the kind, not the resource.
    pub fn invalid(subject: &Subject, name: &str, errors: &[FieldError]) -> Status {
        let mut texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        // Kubernetes says the same thing about the same field once.
        let mut seen = std::collections::BTreeSet::new();
        texts.retain(|text| seen.insert(text.clone()));
        let what = match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let causes = errors.iter().map(|error| Cause {
            reason: error.fault.reason().to_owned(),
            message: error.message(),
            field: if error.field.is_empty() { "<nil>".to_owned() } else { error.field.clone() },
        });
        Status::failure(422, "Invalid", format!("{subject} \"{name}\" is invalid: {what}")).about(Details {
            name: name.to_owned(),
            group: subject.group.clone(),
            kind: subject.resource.clone(),
            causes: causes.collect(),
            ..Details::default()
        })
    }

    /// 429: too much at once; try again in `seconds`.
    pub fn too_many_requests(message: impl Into<String>, seconds: u32) -> Status {
        Status::failure(429, "TooManyRequests", message)
            .about(Details { retry_after_seconds: Some(seconds), ..Details::default() })
    }

    /// 500: our fault.
    pub fn internal(what: impl std::fmt::Display) -> Status {
        Status::failure(500, "InternalError", format!("Internal error occurred: {what}")).about(Details {
            causes: vec![Cause { message: what.to_string(), ..Cause::default() }],
            ..Details::default()
        })
    }

    /// 503: not now.
    pub fn unavailable(message: impl Into<String>) -> Status {
        Status::failure(503, "ServiceUnavailable", message)
    }

    /// 504: it took too long.
    pub fn timeout(message: impl std::fmt::Display, seconds: u32) -> Status {
        Status::failure(504, "Timeout", format!("Timeout: {message}"))
            .about(Details { retry_after_seconds: Some(seconds), ..Details::default() })
    }

    /// As JSON.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}
