//! Changes to objects: JSON patch, merge patch and strategic merge patch, with Kubernetes' answers when one fails.

pub mod json;
pub mod merge;
pub mod strategic;
mod written;

use crate::field::{FieldError, Path};
use crate::status::{Details, Status, Subject};

/// Why a patch was not applied.
///
/// Kubernetes looks at a patch only once it has the object to apply it to: where there is no such object, it answers
/// that, whatever the patch says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// 400: it is no patch of its kind.
    #[error("{0}")]
    Malformed(String),
    /// 413: it has more operations than are worth one request.
    #[error("The allowed maximum operations in a JSON patch is {most}, got {found}")]
    TooManyOperations {
        /// How many are allowed.
        most: usize,
        /// How many it has.
        found: usize,
    },
    /// 422: it does not fit the object. The text is for our logs; clients are told no more than the code.
    #[error("{0}")]
    Inapplicable(String),
    /// 422: what came out of it is not an object of the kind.
    #[error("{why}")]
    BadResult {
        /// The result, or the patch, as the answer shows it.
        shown: String,
        /// What is wrong with it.
        why: String,
    },
    /// 500: it says what cannot be done, in a way that Kubernetes takes for its own fault.
    #[error("{0}")]
    Failed(String),
}

impl PatchError {
    /// That a strict reader does not have what came out, for all these reasons.
    pub fn strict(shown: String, complaints: &[String]) -> PatchError {
        PatchError::BadResult { shown, why: format!("strict decoding error: {}", complaints.join(", ")) }
    }

    /// The answer that says so.
    pub fn status(&self) -> Status {
        match self {
            PatchError::Malformed(message) => Status::bad_request(message),
            PatchError::TooManyOperations { .. } => {
                Status::too_large(format!("Request entity too large: {self}"))
            }
            PatchError::Inapplicable(_) => {
                let message = "the server rejected our request due to an error in our request";
                Status::failure(422, "Invalid", message).about(Details::default())
            }
            PatchError::BadResult { shown, why } => {
                let error = FieldError::invalid_text(&Path::of("patch"), shown, why.clone());
                Status::invalid(&Subject::default(), "", &[error])
            }
            PatchError::Failed(message) => Status::failure(500, "", message),
        }
    }
}

#[cfg(test)]
mod goldens;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_failure_answers_as_kubernetes_does() {
        let answer = |error: PatchError| {
            let mut value: serde_json::Value = serde_json::from_slice(&error.status().to_json()).unwrap();
            for field in ["kind", "apiVersion", "metadata", "status"] {
                value.as_object_mut().unwrap().remove(field);
            }
            value
        };
        assert_eq!(
            answer(PatchError::Malformed("x".into())),
            json!({"message": "x", "reason": "BadRequest", "code": 400})
        );
        assert_eq!(
            answer(PatchError::TooManyOperations { most: 10_000, found: 10_001 }),
            json!({
                "message": "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
                "reason": "RequestEntityTooLarge",
                "code": 413
            })
        );
        assert_eq!(
            answer(PatchError::Inapplicable("x".into())),
            json!({
                "message": "the server rejected our request due to an error in our request",
                "reason": "Invalid",
                "details": {},
                "code": 422
            })
        );
        assert_eq!(
            answer(PatchError::BadResult {
                shown: "map[secrets:x]".into(),
                why: "cannot restore slice from string".into()
            }),
            json!({
                "message": " \"\" is invalid: patch: Invalid value: \"map[secrets:x]\": cannot restore slice from string",
                "reason": "Invalid",
                "details": {"causes": [{
                    "reason": "FieldValueInvalid",
                    "message": "Invalid value: \"map[secrets:x]\": cannot restore slice from string",
                    "field": "patch"
                }]},
                "code": 422
            })
        );
        assert_eq!(
            answer(PatchError::Failed("unknown patch type: zap in map: map[$patch:zap]".into())),
            json!({"message": "unknown patch type: zap in map: map[$patch:zap]", "code": 500})
        );
    }
}
