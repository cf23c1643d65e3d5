//! TokenReview.

use krm::{Object, Status};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::subject::user_info;
use super::{read, write};
use crate::authn::Authenticator;

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Spec {
    #[serde(skip_serializing_if = "String::is_empty")]
    token: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    audiences: Vec<String>,
}

/// A `TokenReview`: whose token is this, and for whom is it good?
pub async fn token(authenticator: &Authenticator, plane: &str, mut review: Object) -> Result<Object, Status> {
    let spec: Spec = read(&review, "spec")?;
    if spec.token.is_empty() {
        return Err(Status::bad_request("token is required for TokenReview in authentication"));
    }
    let status = match authenticator.review(&spec.token, plane, &spec.audiences).await {
        Ok(proven) => {
            let mut status = json!({"authenticated": true, "user": user_info(&proven.identity)});
            if !proven.audiences.is_empty() {
                status["audiences"] = proven.audiences.into();
            }
            status
        }
        Err(reason) => json!({"error": reason, "user": {}}),
    };
    write(&mut review, "spec", &spec)?;
    review.set("status", Some(status));
    Ok(review)
}
