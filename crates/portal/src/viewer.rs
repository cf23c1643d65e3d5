//! Who looks at a page, and what they ask the API for it.

use std::net::SocketAddr;

use apiserver::answer::{Answer, Body};
use apiserver::api::Api;
use apiserver::authz::Attributes;
use apiserver::identity::Identity;
use apiserver::plane::Plane;
use apiserver::planes;
use apiserver::read::all_planes;
use apiserver::request::query::Query;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request};
use http_body_util::BodyExt;
use krm::kind::Kind;
use krm::time::Moment;
use serde_json::Value;

use crate::address;
use crate::refusal::Refusal;
use crate::session::Session;

/// Objects as rows with the columns of their kind.
pub const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
/// The field manager of what people write in the portal.
const AGENT: &str = "groundplane-portal";

/// A request to the API.
pub struct Ask {
    method: Method,
    path: String,
    accept: &'static str,
    content_type: &'static str,
    body: Vec<u8>,
}

impl Ask {
    /// Reads a path, with its query.
    pub fn get(path: &str) -> Ask {
        Ask::send(Method::GET, path, "", Vec::new())
    }

    /// Sends a body.
    pub fn send(method: Method, path: &str, content_type: &'static str, body: Vec<u8>) -> Ask {
        let path = path.to_owned();
        Ask { method, path, accept: "application/json", content_type, body }
    }

    /// In another form.
    pub fn accept(self, accept: &'static str) -> Ask {
        Ask { accept, ..self }
    }
}

/// Somebody who looks at a page.
#[derive(Clone)]
pub struct Viewer {
    /// The server.
    pub api: Api,
    /// Who it is.
    pub who: Identity,
    /// Their session.
    pub session: Session,
    /// Where they are.
    pub from: SocketAddr,
    /// What the address of the page says after its path.
    pub query: Query,
    /// The path of the page, as it was asked for.
    pub path: String,
    /// The time at which everything is shown, if it is not now.
    pub as_of: Option<String>,
    /// The version of the store when the page was asked for: changes after it refresh the page.
    pub version: String,
    /// The moment of the request.
    pub now: Moment,
    /// The colours that were chosen: `light`, `dark`, or nothing.
    pub theme: &'static str,
}

impl Viewer {
    /// A parameter of the page.
    pub fn parameter(&self, name: &str) -> &str {
        self.query.get(name).unwrap_or_default()
    }

    /// The address of a page, at the time that is looked at.
    pub fn page(&self, segments: &[&str], parameters: &[(&str, &str)]) -> String {
        let mut all = parameters.to_vec();
        if let Some(as_of) = &self.as_of {
            all.push(("asOf", as_of));
        }
        address::page(segments, &all)
    }

    /// The address of this page with other parameters; one without a value is left out.
    pub fn here(&self, changes: &[(&str, &str)]) -> String {
        let kept = self.query.pairs().filter(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
        let mut all: Vec<(&str, &str)> = kept.map(|(name, value)| (name.as_str(), value.as_str())).collect();
        all.extend_from_slice(changes);
        self.path.clone() + &address::query(&all)
    }

    /// Reads from the API, at the time that is looked at.
    pub async fn get(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Value, Refusal> {
        self.read(path, parameters, "application/json").await
    }

    /// The same in the form of a table.
    pub async fn table(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Value, Refusal> {
        self.read(path, parameters, TABLE).await
    }

    async fn read(
        &self,
        path: &str,
        parameters: &[(&str, &str)],
        accept: &'static str,
    ) -> Result<Value, Refusal> {
        let mut all = parameters.to_vec();
        if let Some(as_of) = &self.as_of {
            all.push(("asOf", as_of));
        }
        let path = path.to_owned() + &address::query(&all);
        self.value(Ask::get(&path).accept(accept)).await
    }

    /// Reads from the API as it is now, whatever time is looked at.
    pub async fn get_now(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Value, Refusal> {
        self.value(Ask::get(&(path.to_owned() + &address::query(parameters)))).await
    }

    /// Sends JSON to the API.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, Refusal> {
        let body = krm::encode::to_json(body);
        self.value(Ask::send(Method::POST, path, "application/json", body)).await
    }

    /// Asks the API for JSON.
    pub async fn value(&self, request: Ask) -> Result<Value, Refusal> {
        let body = self.bytes(request).await?;
        serde_json::from_slice(&body)
            .map_err(|error| Refusal::new(500, format!("reading an answer: {error}")))
    }

    /// Asks the API.
    pub async fn bytes(&self, request: Ask) -> Result<Bytes, Refusal> {
        ask(&self.api, &self.who, self.from, request).await
    }

    /// Asks the API for something that comes bit by bit.
    pub async fn stream(&self, request: Ask) -> Result<Body, Refusal> {
        let answer = send(&self.api, &self.who, self.from, request).await?;
        let code = answer.status().as_u16();
        if code < 300 {
            return Ok(answer.into_body());
        }
        let body = answer.into_body().collect().await.map(http_body_util::Collected::to_bytes);
        Err(Refusal::of_answer(code, &body.unwrap_or_default()))
    }

    /// Whether something is allowed. The API decides again when it is done.
    pub fn may(&self, plane: &Plane, verb: &str, kind: &Kind, subresource: &str, namespace: &str) -> bool {
        let what = Attributes {
            subresource,
            namespace,
            ..Attributes::resource(verb, &kind.group, &kind.names.plural)
        };
        let rights = &self.api.followers().rights;
        let who = self.in_plane(plane);
        rights.decide(plane, &who, &what).allowed
            || (verb == "list" && rights.some_of(plane, &who, &what).is_some())
    }

    /// Whether an object may be read.
    pub fn may_get(&self, plane: &Plane, kind: &Kind, namespace: &str, name: &str) -> bool {
        let what =
            Attributes { namespace, name, ..Attributes::resource("get", &kind.group, &kind.names.plural) };
        self.api.followers().rights.decide(plane, &self.in_plane(plane), &what).allowed
    }

    /// Whether a control plane exists for the viewer.
    pub fn belongs_to(&self, plane: &Plane) -> bool {
        plane.is_root()
            || (!planes::is_of_one_plane(&self.who) && planes::admit(&self.api, plane, &self.who).is_ok())
    }

    /// The projects that the viewer belongs to, by name.
    pub fn projects(&self) -> Vec<Plane> {
        let all = all_planes::all(self.api.kinds(), &self.api.store().latest());
        all.into_iter().filter(|plane| !plane.is_root() && self.belongs_to(plane)).collect()
    }

    fn in_plane(&self, plane: &Plane) -> Identity {
        let mut who = self.who.clone();
        planes::put_in_context(self.api.kinds(), plane, &mut who);
        who
    }
}

/// Asks the API in somebody's name.
pub async fn ask(api: &Api, who: &Identity, from: SocketAddr, request: Ask) -> Result<Bytes, Refusal> {
    let answer = send(api, who, from, request).await?;
    let code = answer.status().as_u16();
    let body = answer.into_body().collect().await;
    let body = body.map_err(|cut| Refusal::new(503, cut.to_string()))?.to_bytes();
    if code < 300 { Ok(body) } else { Err(Refusal::of_answer(code, &body)) }
}

async fn send(api: &Api, who: &Identity, from: SocketAddr, asked: Ask) -> Result<Answer, Refusal> {
    let public =
        api.public().ok_or_else(|| Refusal::new(503, "The server is starting. Try again in a moment."))?;
    let mut request = Request::builder()
        .method(asked.method)
        .uri(&asked.path)
        .header(ACCEPT, asked.accept)
        .header(USER_AGENT, AGENT);
    if !asked.content_type.is_empty() {
        request = request.header(CONTENT_TYPE, asked.content_type);
    }
    let request = request.body(Bytes::from(asked.body));
    let request = request.map_err(|error| Refusal::new(400, format!("{}: {error}", asked.path)))?;
    Ok(public.answer(who, from, request).await?)
}
