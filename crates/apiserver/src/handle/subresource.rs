//! Handlers of subresources: status, scale, finalize, referrers, history.

use std::sync::Arc;

use krm::Object;
use krm::status::Status;
use serde_json::{Value, json};

use super::body::decode;
use super::past;
use super::resource::{Asked, not_supported, patch, respond};
use super::verb::Verb;
use crate::answer::{self, Answer};
use crate::call::Call;
use crate::encode;
use crate::read;
use crate::request::accept::{Accept, Form};
use crate::request::body::media_type;
use crate::request::path::Target;
use crate::request::query::WriteOptions;
use crate::write::patch::{Patch, Style};
use crate::write::references::{Mention, mentioners, referrers};
use crate::write::{self, Written};

/// Answers a request about a part of an object.
pub async fn answer(mut call: Call, target: &Target, verb: Verb, asked: Asked) -> Result<Answer, Status> {
    let has_status = call.version().has_status();
    if target.subresource == krm::kind::CREDENTIALS && target.rest.is_empty() && !call.kind.sealed.is_empty()
    {
        return match verb {
            Verb::Get => super::credentials::answer(&call, &asked).await,
            _ => Err(not_supported(&call.kind, verb.as_str())),
        };
    }
    let question = call.kind.questions.iter().find(|question| question.name == target.subresource);
    if let Some(question) = question.filter(|_| target.rest.is_empty()) {
        return match verb {
            Verb::Get => super::question::answer(&call, question, &asked).await,
            Verb::Create if question.takes_body => super::question::answer(&call, question, &asked).await,
            _ => Err(not_supported(&call.kind, verb.as_str())),
        };
    }
    let is_namespace = call.kind.group.is_empty() && call.kind.names.plural == "namespaces";
    let known = target.rest.is_empty()
        && match target.subresource.as_str() {
            "status" => has_status,
            "scale" => call.version().scale().is_some(),
            "finalize" => is_namespace,
            "referrers" => true,
            "history" | "undo" | "restore" => call.kind.takes("get"),
            "rollout-history" => call.kind.rollout.is_some(),
            _ => false,
        };
    if !known {
        return Err(if call.kind.strategic { Status::no_such_resource() } else { call.not_found() });
    }
    let deprecated = call.version().deprecated.clone();
    let mut answer = match (target.subresource.as_str(), verb) {
        ("history", Verb::Get) => past::tell_history(&call, &asked).await?,
        ("rollout-history", Verb::Get) => past::tell_rollouts(&call, &asked).await?,
        ("undo", Verb::Create) => past::undo(call, &asked).await?,
        ("restore", Verb::Create) => past::bring_back(call, &asked).await?,
        ("referrers", Verb::Get) => who_refers(&call, &asked).await?,
        ("scale", Verb::Get | Verb::Update | Verb::Patch) => scale(Arc::new(call), verb, asked).await?,
        ("finalize", Verb::Update) => replace(Arc::new(call), asked).await?,
        ("status", Verb::Get) => {
            call.subresource = "status".into();
            let accept = asked.accept(&call)?;
            let version = asked.query.get("resourceVersion").unwrap_or_default();
            let bytes = match asked.query.get("asOf") {
                None => read::get::get(&call, version).await?,
                Some(text) => read::get::as_of(&call, text, version).await?,
            };
            answer::object::stored(&call, &accept, 200, bytes)?
        }
        ("status", Verb::Update) => replace(Arc::new(call), asked).await?,
        ("status", Verb::Patch) => patch(&Arc::new(call), &asked).await?,
        _ => return Err(not_supported(&call.kind, verb.as_str())),
    };
    if let Some(warning) = deprecated.filter(|warning| !warning.is_empty()) {
        answer::warn(&mut answer, &[warning]);
    }
    Ok(answer)
}

async fn replace(call: Arc<Call>, asked: Asked) -> Result<Answer, Status> {
    let accept = asked.accept(&call)?;
    let options = WriteOptions::read(&asked.query, "UpdateOptions", false)?;
    let (object, warnings) = decode(&call, &asked.headers, &asked.body, options.validation)?;
    write::admit::matches_path(&call, &object, true)?;
    let decided = options.clone();
    let written = write::run(&call, &options, move |call, view| {
        write::update::decide(call, view, &decided, object.clone(), warnings.clone())
    });
    respond(&call, &accept, written.await?)
}

/// Everybody who points at the object, by kind and field.
async fn who_refers(call: &Call, asked: &Asked) -> Result<Answer, Status> {
    call.may("get", &call.name)?;
    let accept = Accept::negotiate(&asked.headers, false)?;
    let snapshot = call.api.store().current().await.map_err(|error| crate::api::store_failure(&error))?;
    if snapshot.get(&call.key()?).is_none() {
        return Err(call.not_found());
    }
    let to = call.address();
    let term = crate::index::referring_to(&call.plane, &to);
    let mut members = Vec::new();
    for key in snapshot.having(&term) {
        if let Some(entry) = snapshot.get(key) {
            let object = encode::read(&call.api.reveal(key, entry)?)?;
            members.push((key.clone(), call.api.kinds().in_storage_version(key, object)));
        }
    }
    let mut found = referrers(call, &to, members.iter().map(|(key, object)| (key, object)));
    let mention =
        Mention { group: &to.group, kind: &call.kind.names.kind, namespace: &to.namespace, name: &to.name };
    let mut members = Vec::new();
    for key in snapshot.having(&crate::index::mentioning(&call.plane, &mention)) {
        if let Some(entry) = snapshot.get(key) {
            let object = encode::read(&call.api.reveal(key, entry)?)?;
            members.push((key.clone(), call.api.kinds().in_storage_version(key, object)));
        }
    }
    let members = members.iter().map(|(key, object)| (key, object));
    found.extend(mentioners(&call.catalog, (&to, &call.kind.names.kind), members));
    // Of those that may not be seen it is told that there are some, and no more.
    let all = found.len();
    found.retain(|referrer| call.may_see_in(&referrer.plane, &referrer.at));
    let is_incomplete = found.len() < all;
    let items: Vec<Value> = found
        .iter()
        .map(|referrer| {
            let mut item = json!({
                "apiVersion": referrer.api_version,
                "kind": referrer.kind,
                "namespace": referrer.at.namespace,
                "name": referrer.at.name,
                "fieldPath": referrer.field,
                "blocksDeletion": referrer.blocks,
            });
            if referrer.plane != call.plane {
                item["project"] = referrer.plane.as_str().into();
            }
            item
        })
        .collect();
    let mut list = json!({
        "apiVersion": "groundplane.dev/v1alpha1",
        "kind": "ReferrerList",
        "metadata": { "resourceVersion": snapshot.version().to_string() },
        "items": items,
    });
    if is_incomplete {
        list["incomplete"] = true.into();
    }
    Ok(answer::object::value(&accept, 200, &list))
}

async fn scale(call: Arc<Call>, verb: Verb, asked: Asked) -> Result<Answer, Status> {
    let accept = asked.accept(&call)?;
    let Some(scale) = call.version().scale().cloned() else { return Err(call.not_found()) };
    if verb == Verb::Get {
        let bytes = read::get::get(&call, asked.query.get("resourceVersion").unwrap_or_default()).await?;
        let made = write::scale::of(&scale, &encode::read(&bytes)?)?;
        return Ok(scale_answer(&call, &accept, &made));
    }
    let style = match verb {
        Verb::Patch => Some(Style::of(media_type(&asked.headers), &call)?),
        _ => None,
    };
    let kind = if style.is_some() { "PatchOptions" } else { "UpdateOptions" };
    let options = WriteOptions::read(&asked.query, kind, style == Some(Style::Apply))?;
    let patch = match style {
        Some(Style::Apply) => {
            let (wanted, warnings) = super::body::decode_applied(&asked.body, options.validation)?;
            Some(Patch::Apply(wanted, warnings))
        }
        style => style.map(|style| Patch::read(style, &asked.body, options.validation)),
    };
    let (given, said) = match patch {
        Some(_) => (None, Vec::new()),
        None => {
            let (given, said) =
                super::body::decode_scale(&call, &asked.headers, &asked.body, options.validation)?;
            (Some(given), said)
        }
    };
    let decided = options.clone();
    let wanted = scale.clone();
    let written = write::run(&call, &options, move |call, view| {
        write::admit::kind_is_current(call, view, None)?;
        let (entry, old) = write::current(call, view)?.ok_or_else(|| call.not_found())?;
        let live = write::scale::live(call, &wanted, &old)?;
        let mut warnings = said.clone();
        let asked = match (&given, &patch) {
            (Some(given), _) => given.clone(),
            (None, Some(patch)) => write::scale::patched(call, &decided, &live, patch, &mut warnings)?,
            (None, None) => return Err(Status::internal("a scale without a body")),
        };
        let mut new = write::scale::apply(&wanted, old.clone(), &asked)?;
        match &patch {
            Some(Patch::Apply(..)) => write::scale::take_over(call, &asked, &mut new),
            _ => write::scale::own(call, &decided, &live, &asked, &mut new),
        }
        let found = (entry, old);
        write::update::begin(call, view, &decided, found, new, "scale", warnings)?.settle(call, view)
    });
    let Written { bytes, warnings, .. } = written.await?;
    let made = write::scale::of(&scale, &encode::read(&bytes)?)?;
    let mut answer = scale_answer(&call, &accept, &made);
    answer::warn(&mut answer, &warnings);
    Ok(answer)
}

fn scale_answer(call: &Call, accept: &Accept, made: &Object) -> Answer {
    let value = match accept.form {
        Form::Table => {
            let row = write::scale::columns().row(
                Value::Object(made.0.clone()),
                accept.include,
                accept.version,
                call.api.now(),
            );
            let metadata = json!({ "resourceVersion": made.resource_version() });
            let metadata = metadata.as_object().cloned().unwrap_or_default();
            krm::table::table(
                accept.version,
                metadata,
                write::scale::columns().definitions().clone(),
                vec![row],
            )
        }
        Form::Partial | Form::PartialList => krm::table::partial_metadata(made.clone(), accept.version),
        Form::Whole => Value::Object(made.0.clone()),
    };
    answer::object::value(accept, 200, &value)
}
