//! Handlers of access and token reviews, and of service account tokens. Nothing is stored.

use std::time::SystemTime;

use bytes::Bytes;
use krm::Object;
use krm::status::Status;
use serde_json::Value;

use super::body::{decode, decode_part};
use crate::answer::{self, Answer};
use crate::authn::{Account, service_account};
use crate::authz::Attributes;
use crate::call::Call;
use crate::pipeline::{InPlane, Pipeline, RequestContext};
use crate::request::accept::Accept;
use crate::request::path::Target;
use crate::request::query::WriteOptions;
use crate::review;
use crate::write::admit;

/// The type of what a token is asked for with.
const TOKEN_REQUEST: (&str, &str) = ("authentication.k8s.io/v1", "TokenRequest");

/// A question that is answered at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Review {
    /// May I?
    SelfAccess,
    /// May she?
    Access,
    /// May she, in this namespace?
    LocalAccess,
    /// What may I?
    SelfRules,
    /// Who am I?
    SelfSubject,
    /// Whose token is this?
    Token,
    /// A token for a service account.
    TokenRequest,
    /// Why may I, or why not?
    Explanation,
}

/// The question that a call asks, if it asks one.
pub fn of(call: &Call, target: &Target) -> Option<Review> {
    match (call.kind.group.as_str(), call.kind.names.plural.as_str(), target.subresource.as_str()) {
        ("authorization.k8s.io", "selfsubjectaccessreviews", "") => Some(Review::SelfAccess),
        ("authorization.k8s.io", "subjectaccessreviews", "") => Some(Review::Access),
        ("authorization.k8s.io", "localsubjectaccessreviews", "") => Some(Review::LocalAccess),
        ("authorization.k8s.io", "selfsubjectrulesreviews", "") => Some(Review::SelfRules),
        ("authentication.k8s.io", "selfsubjectreviews", "") => Some(Review::SelfSubject),
        ("authentication.k8s.io", "tokenreviews", "") => Some(Review::Token),
        ("", "serviceaccounts", "token") => Some(Review::TokenRequest),
        ("groundplane.dev", "accessexplanations", "") => Some(Review::Explanation),
        _ => None,
    }
}

impl Review {
    /// Answers it.
    pub async fn answer(
        self,
        pipeline: &Pipeline,
        known: &RequestContext,
        call: &Call,
        body: &Bytes,
    ) -> Result<Answer, Status> {
        if self != Review::Explanation && call.kind.is_namespaced() == call.namespace.is_empty() {
            return Err(Status::no_such_resource());
        }
        if known.method != http::Method::POST {
            let named = self != Review::TokenRequest && !call.name.is_empty();
            return Err(if named { Status::no_such_resource() } else { Status::method_not_allowed() });
        }
        let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
        let options = WriteOptions::read(&known.query, "CreateOptions", false)?;
        let rights = InPlane { api: &pipeline.api, plane: &known.plane };
        let (object, warnings) = match self {
            Review::TokenRequest => decode_part(TOKEN_REQUEST, &known.headers, body, options.validation)?,
            _ => decode(call, &known.headers, body, options.validation)?,
        };
        let mut object = object;
        if self != Review::TokenRequest {
            admit::matches_path(call, &object, false)?;
            let namespace = Some(call.namespace.as_str()).filter(|namespace| !namespace.is_empty());
            object.set_meta("namespace", namespace.map(Value::from));
            crate::write::ownership::on_write(call, None, &mut object, &options);
        }
        let answered = match self {
            Review::SelfAccess => review::self_subject_access(&rights, &known.who, object)?,
            Review::Access => review::subject_access(&rights, object)?,
            Review::LocalAccess => review::local_subject_access(&rights, &call.namespace, object)?,
            Review::SelfRules => review::self_subject_rules(&rights, &known.who, &object)?,
            Review::SelfSubject => review::self_subject(&call.api_version(), &known.who, pipeline.api.now()),
            Review::Token => review::token(&pipeline.authenticator, known.plane.as_str(), object).await?,
            Review::TokenRequest => token(pipeline, call, object)?,
            Review::Explanation => review::explanation(&rights, &known.who, object)?,
        };
        let mut answer = answer::object::value(&accept, 201, &Value::Object(answered.0));
        answer::warn(&mut answer, &warnings);
        Ok(answer)
    }
}

/// Issues a token for the service account that the call names.
fn token(pipeline: &Pipeline, call: &Call, request: Object) -> Result<Object, Status> {
    let key = call.key()?;
    let snapshot = pipeline.api.store().latest();
    let entry = snapshot.get(&key).ok_or_else(|| call.not_found())?;
    let object = crate::encode::read(&pipeline.api.reveal(&key, entry)?)?;
    let account = Account {
        plane: call.plane.as_str(),
        namespace: &call.namespace,
        name: &call.name,
        uid: object.uid(),
        secret: None,
    };
    may_act_as(call)?;
    let accounts = crate::accounts::Accounts::new(pipeline.api.clone());
    let secret_uid = |name: &str| {
        crate::authn::ServiceAccounts::secret_uid(&accounts, call.plane.as_str(), &call.namespace, name)
    };
    let answer =
        review::token_request(&pipeline.other.tokens, &account, &secret_uid, request, SystemTime::now())?;
    Ok(answer.object)
}

/// Whether who makes a call may have a token of the service account that it names: a token gives all that the account may do, so
/// it takes holding all of that, or the right to impersonate the account.
fn may_act_as(call: &Call) -> Result<(), Status> {
    let impersonate = Attributes {
        verb: "impersonate",
        version: "v1",
        ..Attributes::resource("impersonate", "", "serviceaccounts")
    };
    let rights = &call.api.followers().rights;
    let impersonate = impersonate.in_namespace(&call.namespace).named(&call.name);
    if rights.decide(&call.plane, &call.who, &impersonate).allowed {
        return Ok(());
    }
    let account = service_account(&call.namespace, &call.name);
    match rights.lacks(&call.plane, &call.who, &account) {
        None => Ok(()),
        Some(missing) => {
            let why = format!(
                "user {:?} is attempting to get a token with permissions not currently held: {missing}",
                call.who.user
            );
            Err(Status::forbidden(&call.kind.resource(), &call.name, why))
        }
    }
}
