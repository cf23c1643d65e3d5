//! Handlers of read-only subresources that kinds declare, in JSON, YAML, text or SVG.
//!
//! A question is answered from the objects that whoever asks may read. If others would have mattered, the answer says that it
//! is incomplete, and neither which nor how many.

mod seen;

use std::sync::Arc;

use http::header::ACCEPT;
use krm::kind::{Answered, Form, Lazy, QueryContext, Question, Questioned};
use krm::status::Status;
use serde_json::{Value, json};

pub use seen::{Seen, shown_in_root};

use super::resource::Asked;
use crate::answer::{self, Answer};
use crate::call::Call;
use crate::past::as_of::{self, AsOf};
use crate::request::accept::{Accept, Media};

/// The name that means all objects of the kind.
const ALL: &str = "-";
/// How often an answer is computed again because the permissions of whoever asks changed meanwhile.
const TRIES: usize = 4;
/// What an incomplete answer says in words.
const INCOMPLETE: &str =
    "Incomplete: something may be missing here, because you may not read everything that this depends on.";

/// Answers a question about an object, or about all of them.
pub async fn answer(call: &Call, question: &Question, asked: &Asked) -> Result<Answer, Status> {
    let form = form(asked);
    let accept = match form {
        Form::Json => Accept::negotiate(&asked.headers, false)?.with_query(&asked.query)?,
        _ => Accept::default(),
    };
    if call.name != ALL {
        call.may_get()?;
    }
    let (snapshot, root) = match asked.query.get("asOf") {
        None => (as_of::present(call).await?, None),
        // All of the plane, since a question may look at any kind of it.
        Some(text) => {
            let (snapshot, root) = AsOf::parse(text, call.api.now())?.plane(call).await?;
            (snapshot, Some(Arc::new(root)))
        }
    };
    if call.name != ALL && snapshot.get(&call.key()?).is_none() {
        return Err(call.not_found());
    }
    let options: Vec<(String, String)> = asked.query.pairs().cloned().collect();
    let (body, asking, call_of) = (asked.body.clone(), question.answer.clone(), call.clone());
    // A large fleet takes a while to look at: others are answered meanwhile.
    let answered = tokio::task::spawn_blocking(move || {
        let (name, namespace) = (call_of.name.as_str(), call_of.namespace.as_str());
        let asked = Questioned { name, namespace, body: &body, options: &options, form };
        for _ in 0..TRIES {
            let seen = Seen::by(&call_of, snapshot.clone(), root.clone());
            let answered = asking(&asked, &seen);
            if seen.still_holds() {
                return answered.map(|answered| (answered, seen.is_incomplete()));
            }
        }
        Err(Status::too_many_requests("your permissions are being changed; please try again", 1))
    });
    let (answered, is_incomplete) = answered.await.map_err(Status::internal)??;
    match with_notice(answered, is_incomplete) {
        Answered::Json(mut value) => {
            if let Some(map) = value.as_object_mut() {
                map.insert("apiVersion".into(), "groundplane.dev/v1alpha1".into());
                map.insert("kind".into(), question.answer_kind.into());
            }
            Ok(answer::object::value(&accept, 200, &value))
        }
        Answered::Text(text) => Ok(answer::text(200, text)),
        Answered::Svg(drawing) => Ok(answer::bytes(200, "image/svg+xml", drawing)),
        Answered::Members { field, members } => {
            Ok(object_of_members(&accept, question, field, &members, is_incomplete))
        }
        Answered::Pieces(pieces) => {
            let notice = is_incomplete.then(|| format!("{INCOMPLETE}\n"));
            let pieces = notice.into_iter().chain(pieces.parts());
            Ok(answer::stream(200, "text/plain; charset=utf-8", answer::pieces(pieces)))
        }
    }
}

/// An object whose members are sent as they are made. Forms that need all of it at once collect them.
fn object_of_members(
    accept: &Accept,
    question: &Question,
    field: &str,
    members: &Lazy<(String, Value)>,
    is_incomplete: bool,
) -> Answer {
    let mut head = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": question.answer_kind});
    if is_incomplete {
        head["incomplete"] = true.into();
    }
    if accept.media != Media::Json || accept.pretty {
        head[field] = members.parts().collect();
        return answer::object::value(accept, 200, &head);
    }
    let mut opening = head.to_string();
    opening.truncate(opening.len() - 1);
    opening.push_str(&format!(",{}:{{", Value::from(field)));
    let mut is_first = true;
    let members = members.parts().map(move |(name, value)| {
        let comma = if std::mem::take(&mut is_first) { "" } else { "," };
        format!("{comma}{}:{value}", Value::from(name))
    });
    let text = std::iter::once(opening).chain(members).chain(["}}\n".to_owned()]);
    answer::stream(200, accept.content_type(), answer::pieces(text))
}

/// An answer that says that it is incomplete, if it is.
fn with_notice(answered: Answered, is_incomplete: bool) -> Answered {
    match answered {
        complete if !is_incomplete => complete,
        Answered::Json(mut value) => {
            if let Some(map) = value.as_object_mut() {
                map.insert("incomplete".into(), true.into());
            }
            Answered::Json(value)
        }
        // They say it where they begin.
        lazy @ (Answered::Members { .. } | Answered::Pieces(_)) => lazy,
        // First, so that nobody reads the rest without it.
        Answered::Text(text) => Answered::Text(format!("{INCOMPLETE}\n{text}")),
        Answered::Svg(drawing) => {
            let notice = format!("<text x=\"4\" y=\"12\" font-size=\"10\">{INCOMPLETE}</text>\n</svg>");
            Answered::Svg(match drawing.rsplit_once("</svg>") {
                Some((before, after)) => format!("{before}{notice}{after}"),
                None => drawing,
            })
        }
    }
}

/// The form that is asked for: by `?output=`, which a browser and `kubectl get --raw` can say, or by the header.
fn form(asked: &Asked) -> Form {
    match asked.query.get("output") {
        Some("text") => return Form::Text,
        Some("svg") => return Form::Svg,
        Some(_) => return Form::Json,
        None => {}
    }
    let accepted = asked.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match accepted.split([',', ';']).next().unwrap_or_default().trim() {
        "text/plain" => Form::Text,
        "image/svg+xml" => Form::Svg,
        _ => Form::Json,
    }
}
