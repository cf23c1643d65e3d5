//! REST: the same calls as in gRPC, as JSON over HTTP.

mod json;

use apiserver::answer::{self, Answer};
use apiserver::request::query::Query;
use apiserver::route::{Access, Claim, Requirement, Route, RouteRequest, Rules};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use http::Method;
use http::request::Parts;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use krm::status::Status;
use prost_reflect::{DynamicMessage, Value};
use serde_json::json;
use tonic::Code;

use crate::VERSION;
use crate::caller::Caller;
use crate::collection::{Collection, Face};
use crate::events;
use crate::failure::Failure;
use crate::objects::{Changes, Objects, Wanted};
use crate::openapi;

/// The path of the public events, which is not below that of the public API.
const PUBLIC_EVENTS: &str = "/api/events/v1/events";

/// The REST paths.
pub struct Rest;

/// What a path names.
#[derive(Debug, Clone, PartialEq)]
enum Place {
    Collection(Face, &'static Collection),
    Object(Face, &'static Collection, String),
    /// The kubeconfig or the password of a cluster.
    Credential(String, &'static str, &'static str),
    Events(Face),
    Capabilities,
    OpenApi(Face),
}

impl Place {
    fn of(path: &str) -> Option<Place> {
        if path == PUBLIC_EVENTS {
            return Some(Place::Events(Face::Public));
        }
        let face = [Face::Private, Face::Public].into_iter().find(|face| path.starts_with(face.path()))?;
        let rest = path.strip_prefix(face.path())?.strip_prefix('/')?;
        let segments: Vec<String> = rest.split('/').map(decoded).collect::<Option<_>>()?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        match segments.as_slice() {
            ["capabilities"] => return Some(Place::Capabilities),
            ["openapi.json"] => return Some(Place::OpenApi(face)),
            ["events", "watch"] if face == Face::Private => return Some(Place::Events(face)),
            _ => {}
        }
        let (name, rest) = segments.split_first()?;
        let collection = Collection::at_path(name).filter(|collection| collection.is_on(face))?;
        match (rest, face, collection.plural) {
            ([], ..) => Some(Place::Collection(face, collection)),
            ([id], ..) => Some(Place::Object(face, collection, (*id).to_owned())),
            ([id, "kubeconfig"], Face::Public, "clusters") => {
                Some(Place::Credential((*id).to_owned(), "kubeconfigRef", "application/yaml"))
            }
            ([id, "password"], Face::Public, "clusters") => {
                Some(Place::Credential((*id).to_owned(), "passwordRef", "text/plain"))
            }
            _ => None,
        }
    }

    /// Whether it needs no login.
    fn is_public(&self) -> bool {
        matches!(self, Place::Capabilities | Place::OpenApi(_))
    }
}

/// A segment of a path, with its percent-encoded bytes decoded.
fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = rest.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

impl Route for Rest {
    fn name(&self) -> &'static str {
        "fulfillment-rest"
    }

    fn claims(&self) -> Vec<Claim> {
        ["/api/private", "/api/fulfillment", "/api/events"].map(|path| Claim::Path(path.to_owned())).into()
    }

    fn access(&self, _: &Parts) -> Result<Access, Status> {
        // Who has no credentials is refused below, in the form of errors that this API has.
        Ok(Access::root(Requirement::Public))
    }

    fn rules(&self, head: &Parts) -> Rules {
        match Place::of(head.uri.path()) {
            Some(Place::Events(_)) => Rules::stream(),
            _ => Rules::default(),
        }
    }

    fn answer(&self, request: RouteRequest) -> BoxFuture<'_, Result<Answer, Status>> {
        Box::pin(async move { Ok(respond(request).await.unwrap_or_else(|failure| failed(&failure))) })
    }
}

fn failed(failure: &Failure) -> Answer {
    let mut answer = answer::json(failure.http_code(), failure.to_json().to_string());
    if let Some(seconds) = failure.retry_after {
        answer.headers_mut().insert(http::header::RETRY_AFTER, seconds.into());
    }
    answer
}

async fn respond(request: RouteRequest) -> Result<Answer, Failure> {
    let place = Place::of(request.head.uri.path());
    let place = place.ok_or_else(|| Failure::new(Code::NotFound, "there is nothing at this path"))?;
    if request.who.is_anonymous() && !place.is_public() {
        return Err(Failure::new(Code::Unauthenticated, "valid credentials are required"));
    }
    let caller = Caller::of(&request)?;
    let method = request.head.method.clone();
    let query = Query::parse(request.head.uri.query().unwrap_or_default())?;
    let body = match method {
        Method::POST | Method::PATCH => {
            request.body.read().await.map_err(|error| Failure::from(Status::from(error)))?
        }
        _ => Default::default(),
    };
    let wrong_method =
        || Failure::new(Code::Unimplemented, format!("{method} is not supported at this path"));
    match (place, &method) {
        (Place::Capabilities, &Method::GET) => Ok(answer::json(200, capabilities(&caller).to_string())),
        (Place::OpenApi(face), &Method::GET) => Ok(answer::json(200, openapi::document(face).to_string())),
        (Place::Events(face), &Method::GET) => watch(caller, face, &query).await,
        (Place::Collection(face, collection), &Method::GET) => {
            list(&Objects::of(caller, face, collection)?, &query).await
        }
        (Place::Collection(face, collection), &Method::POST) => {
            let objects = Objects::of(caller, face, collection)?;
            let (message, _) = json::read(objects.view().message(), &body)?;
            shown(&objects.create(message).await?)
        }
        (Place::Object(face, collection, id), &Method::GET) => {
            shown(&Objects::of(caller, face, collection)?.get(&id).await?)
        }
        (Place::Object(face, collection, id), &Method::PATCH) => {
            let objects = Objects::of(caller, face, collection)?;
            let (mut message, paths) = json::read(objects.view().message(), &body)?;
            message.set_field_by_name("id", Value::String(id));
            let lock = query.flag("lock").unwrap_or(false);
            let updated = match paths.is_empty() {
                true => objects.get(&text(&message, "id")).await?,
                false => objects.update(message, &Changes { mask: Some(paths), lock }).await?,
            };
            shown(&updated)
        }
        (Place::Object(face, collection, id), &Method::DELETE) => {
            Objects::of(caller, face, collection)?.delete(&id).await?;
            Ok(answer::json(200, "{}"))
        }
        (Place::Credential(id, reference, content_type), &Method::GET) => {
            let clusters = Collection::of_plural("clusters").ok_or_else(wrong_method)?;
            let value = Objects::of(caller, Face::Public, clusters)?.credential(&id, reference).await?;
            Ok(answer::bytes(200, content_type, value))
        }
        _ => Err(wrong_method()),
    }
}

fn text(message: &DynamicMessage, field: &str) -> String {
    message.get_field_by_name(field).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn shown(message: &DynamicMessage) -> Result<Answer, Failure> {
    Ok(answer::json(200, json::write(message)?.to_string()))
}

async fn list(objects: &Objects, query: &Query) -> Result<Answer, Failure> {
    let number = |key: &str| match query.get(key) {
        None | Some("") => Ok(None),
        Some(text) => {
            let number = text.parse().map(Some);
            number.map_err(|_| Failure::invalid(format!("query parameter '{key}': '{text}' is not a number")))
        }
    };
    let wanted = Wanted {
        offset: number("offset")?,
        limit: number("limit")?,
        filter: query.get("filter").unwrap_or_default().to_owned(),
        page_token: query.get("page_token").unwrap_or_default().to_owned(),
    };
    let listed = objects.list(&wanted).await?;
    let items = listed.items.iter().map(json::write).collect::<Result<Vec<_>, _>>()?;
    let mut page = json!({"size": items.len(), "total": listed.total, "items": items});
    if !listed.next_page_token.is_empty() {
        page["next_page_token"] = listed.next_page_token.into();
    }
    Ok(answer::json(200, page.to_string()))
}

fn capabilities(caller: &Caller) -> serde_json::Value {
    json!({"authn": {"trusted_token_issuers": caller.api.token_issuers()}, "version": VERSION})
}

/// Events, one JSON value in each line.
async fn watch(caller: Caller, face: Face, query: &Query) -> Result<Answer, Failure> {
    let wanted = events::Wanted {
        filter: query.get("filter").unwrap_or_default().to_owned(),
        resume_token: query.get("resume_token").map(str::to_owned),
    };
    let watch = events::Watch::open(caller, face, wanted).await?;
    let lines = watch.told().map(|told| {
        let line = match told {
            Ok(told) => {
                let mut result = json!({"resume_token": told.resume_token});
                if let Some(event) = told.event {
                    result["event"] = json::write(&event).unwrap_or_default();
                }
                json!({"result": result})
            }
            Err(failure) => json!({"error": failure.to_json()}),
        };
        Ok(Frame::data(format!("{line}\n").into()))
    });
    Ok(answer::stream(200, "application/json", StreamBody::new(lines).boxed_unsync()))
}
