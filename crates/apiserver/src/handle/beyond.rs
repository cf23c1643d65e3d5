//! Handlers of `groundplane.dev`: transactions, plans, search, verification, checkpoints, backups.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};
use krm::Object;
use krm::decode;
use krm::status::Status;
use serde_json::Value;

use super::past::{message_of, text};
use super::resource::respond;
use super::{backup, controller_lease, controllers, feature_gates, key_rotation, verification};
use crate::answer::{self, Answer};
use crate::call::Call;
use crate::later;
use crate::pipeline::RequestContext;
use crate::request::accept::Accept;
use crate::request::body::{self, Format};
use crate::request::path::{Route, Target};
use crate::request::query::WriteOptions;
use crate::search;
use crate::transaction::report::{self, Detail};
use crate::transaction::{GROUP, MOST_BYTES, Spec, Work, operations, plan, preconditions, run};
use crate::write;

/// Who writes where a request does not say.
const MANAGER: &str = "groundplane";

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// Many objects in one commit.
    Transaction,
    /// What that would do.
    Plan,
    /// That it be done.
    ApplyPlan,
    /// Objects by words.
    Search,
    /// Whether history is as it was written.
    Verification,
    /// The newest statement about it.
    Checkpoint,
    /// Everything.
    Backup,
    /// A new key for what is sealed.
    KeyRotation,
    /// The state of the controllers.
    Controllers,
    /// The feature gates.
    FeatureGates,
    /// The external actions that a controller has begun.
    Operations,
    /// The lease of a controller.
    Lease,
}

/// What a call asks for, if it is anything of this.
pub fn of(call: &Call, target: &Target, method: &Method) -> Option<Beyond> {
    if call.kind.group != GROUP {
        return None;
    }
    match (call.kind.names.plural.as_str(), target.subresource.as_str(), method) {
        ("transactions", "", _) => Some(Beyond::Transaction),
        ("plans", "", &Method::POST) => Some(Beyond::Plan),
        ("plans", "apply", _) => Some(Beyond::ApplyPlan),
        ("search", "", _) => Some(Beyond::Search),
        ("verifications", "", _) => Some(Beyond::Verification),
        ("checkpoints", "", _) => Some(Beyond::Checkpoint),
        ("backups", "", _) => Some(Beyond::Backup),
        ("keyrotations", "", _) => Some(Beyond::KeyRotation),
        ("controllers", "", _) => Some(Beyond::Controllers),
        ("featuregates", "", _) => Some(Beyond::FeatureGates),
        ("controllers", "operations", _) => Some(Beyond::Operations),
        ("controllers", "lease", _) => Some(Beyond::Lease),
        _ => None,
    }
}

/// How many bytes the body of a request may have.
pub fn most_bytes(route: &Route) -> usize {
    match route {
        Route::Resource(target) if target.group == GROUP => match target.resource.as_str() {
            "transactions" | "plans" => MOST_BYTES,
            _ => body::LIMIT,
        },
        _ => body::LIMIT,
    }
}

/// Whether the answer is made while it is sent, for as long as that takes.
pub fn is_download(route: &Route) -> bool {
    matches!(route, Route::Resource(target) if target.group == GROUP && target.resource == "backups")
}

impl Beyond {
    /// Answers it.
    pub async fn answer(self, known: &RequestContext, call: Call, body: &Bytes) -> Result<Answer, Status> {
        let method = match self {
            Beyond::Search
            | Beyond::Checkpoint
            | Beyond::Controllers
            | Beyond::FeatureGates
            | Beyond::Operations => [Method::GET, Method::HEAD],
            Beyond::Lease => [Method::PUT, Method::PUT],
            _ => [Method::POST, Method::POST],
        };
        let is_named =
            matches!(self, Beyond::Checkpoint | Beyond::ApplyPlan | Beyond::Operations | Beyond::Lease);
        if !method.contains(&known.method) || call.name.is_empty() == is_named {
            return Err(Status::method_not_allowed());
        }
        match self {
            Beyond::Transaction => transaction(known, call, body).await,
            Beyond::Plan => make_plan(known, call, body).await,
            Beyond::ApplyPlan => apply_plan(known, call).await,
            Beyond::Search => {
                let accept = Accept::negotiate(&known.headers, true)?.with_query(&known.query)?;
                search::answer::answer(&call, &accept, &known.query).await
            }
            Beyond::Verification => verification::answer(known, &call, body).await,
            Beyond::Checkpoint => verification::checkpoint(known, &call).await,
            Beyond::Backup => Ok(backup::answer(&call)),
            Beyond::KeyRotation => key_rotation::answer(known, &call).await,
            Beyond::Controllers => controllers::answer(known, &call),
            Beyond::FeatureGates => feature_gates::answer(known, &call),
            Beyond::Operations => operations::answer(known, &call).await,
            Beyond::Lease => controller_lease::answer(known, &call, body).await,
        }
    }
}

async fn transaction(known: &RequestContext, mut call: Call, body: &Bytes) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
    let mut object = read_apart(known, body, "Transaction").await?;
    let spec = object.0.remove("spec").unwrap_or_default();
    let options = options(known, &mut call, &spec)?;
    let call = Arc::new(call);
    let preconditions = preconditions::read(&call, &spec)?;
    let (items, skipped) = Spec(spec).items(&call, &options).await?;
    let asked = |name: &str| known.query.flag(name).unwrap_or(false);
    let detail =
        Detail { diff: options.dry_run || asked("diff"), object: asked("object"), dry_run: options.dry_run };
    let work = Arc::new(Work { call: call.clone(), items, options });
    let ended = run(work, preconditions).await?;
    let status = report::leaving_out(report::status(&call, &ended, detail), &skipped);
    let told = report::transaction(status, call.message.as_deref());
    let answer = answer::object::value(&accept, if detail.dry_run { 200 } else { 201 }, &told);
    later::free((ended, told));
    Ok(answer)
}

async fn make_plan(known: &RequestContext, mut call: Call, body: &Bytes) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&known.headers, true)?.with_query(&known.query)?;
    let object = read_apart(known, body, "Plan").await?;
    if ["preconditions", "projectUid"].iter().any(|field| object.at(&format!("spec.{field}")).is_some()) {
        let why =
            "spec: preconditions and projectUid are for transactions; a plan keeps what it has read itself";
        return Err(Status::bad_request(why));
    }
    let options = options(known, &mut call, object.get("spec").unwrap_or(&Value::Null))?;
    let call = Arc::new(call);
    let object = plan::make(&call, object, &options).await?;
    write::admit::matches_path(&call, &object, false)?;
    let decided = options.clone();
    let written = write::run(&call, &options, move |call, view| {
        write::create::decide(call, view, &decided, object.clone(), Vec::new())
    });
    respond(&call, &accept, written.await?)
}

async fn apply_plan(known: &RequestContext, call: Call) -> Result<Answer, Status> {
    let accept = Accept::negotiate(&known.headers, false)?.with_query(&known.query)?;
    let mut options = WriteOptions::read(&known.query, "CreateOptions", false)?;
    if options.manager.is_empty() {
        options.manager = MANAGER.to_owned();
    }
    let code = if options.dry_run { 200 } else { 201 };
    let (told, _) = plan::apply(&Arc::new(call), &options).await?;
    Ok(answer::object::value(&accept, code, &told))
}

/// How everything in a transaction is written, and why.
fn options(known: &RequestContext, call: &mut Call, spec: &Value) -> Result<WriteOptions, Status> {
    if let Some(message) = text(spec, "message")? {
        call.message = Some(message_of(&message)?);
    }
    let mut options = WriteOptions::read(&known.query, "CreateOptions", false)?;
    if options.manager.is_empty() {
        options.manager = text(spec, "fieldManager")?.unwrap_or_else(|| MANAGER.to_owned());
    }
    options.force = options.force.or_else(|| spec.get("force").and_then(Value::as_bool));
    Ok(options)
}

/// The same as [`read`], on a thread for what takes long where the body is large.
async fn read_apart(known: &RequestContext, body: &Bytes, kind: &'static str) -> Result<Object, Status> {
    if body.len() <= body::LIMIT_WITHOUT_RIGHTS {
        return read(known, body, kind);
    }
    let (headers, body) = (known.headers.clone(), body.clone());
    store::decisions::apart(&known.who.user, move || read_with(&headers, &body, kind)).await
}

/// Reads the body as an object of one kind.
pub fn read(known: &RequestContext, body: &Bytes, kind: &str) -> Result<Object, Status> {
    read_with(&known.headers, body, kind)
}

fn read_with(headers: &HeaderMap, body: &Bytes, kind: &str) -> Result<Object, Status> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(Status::bad_request(format!("the request body is empty; it must be a {kind}")));
    }
    let format = match Format::of(headers)? {
        Format::Json => decode::Format::Json,
        Format::Yaml => decode::Format::Yaml,
        Format::Protobuf => return Err(Status::unsupported_media_type("application/json, application/yaml")),
    };
    let decoded = decode::read(body, format).map_err(|refusal| Status::bad_request(refusal.why()))?;
    if !decoded.kind.is_empty() && decoded.kind != kind {
        return Err(Status::bad_request(format!(
            "the request body has kind {}; expected {kind}",
            decoded.kind
        )));
    }
    let mut object = Object(decoded.object);
    object.set_type(crate::transaction::API_VERSION, kind);
    Ok(object)
}
