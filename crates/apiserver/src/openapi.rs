//! OpenAPI documents of the kinds of a plane, for explain, validation and generators.
//!
//! A document is made when it is first asked for, of the kinds of one version of a group, and kept until one of those
//! changes. Paths in documents are those of the root; a project's clients put the path of its plane before them.

mod content;
mod definitions;
mod document;
mod form;
mod gnostic;
mod kept;
pub mod names;
mod operation;
mod parameters;
mod paths;
mod schema;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, HeaderName, HeaderValue, IF_NONE_MATCH, LOCATION,
    VARY,
};
use krm::kind::Kind;
use krm::status::Status;

use self::document::{Document, Share};
use self::kept::Kept;
use crate::answer::{self, Answer};
use crate::api::Api;
use crate::catalog::Catalog;
use crate::plane::Plane;
use crate::request::query::Query;

/// How many bytes of documents are kept, and of what they are put together from.
const ROOM: usize = 64 << 20;
/// How long a document that is asked for by its hash is good.
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The documents, made when they are asked for.
#[derive(Clone)]
pub struct Documents(Arc<Made>);

struct Made {
    documents: Kept<Document>,
    shares: Kept<Share>,
}

impl Default for Documents {
    fn default() -> Documents {
        Documents(Arc::new(Made {
            documents: Kept::new(ROOM, |document| document.bytes.len()),
            shares: Kept::new(ROOM, |share| share.definitions.len() + share.paths.len()),
        }))
    }
}

impl Documents {
    /// `/openapi/v2`: everything in one document.
    pub async fn v2(&self, api: &Api, plane: &Plane, headers: &HeaderMap) -> Result<Answer, Status> {
        match preferred(headers) {
            None => Ok(empty(406)),
            Some(Written::Json) => {
                let document = self.make(api.kinds().of(plane), |made, catalog| made.v2(catalog)).await?;
                Ok(send(&document, headers))
            }
            Some(Written::Protobuf) => {
                let document =
                    self.make(api.kinds().of(plane), |made, catalog| made.v2_protobuf(catalog)).await?;
                let mut answer = send(&document, headers);
                if answer.headers().contains_key(CONTENT_TYPE) {
                    put(&mut answer, CONTENT_TYPE, gnostic::MEDIA[0]);
                }
                Ok(answer)
            }
        }
    }

    /// `/openapi/v3`: which documents there are.
    pub async fn v3_index(&self, api: &Api, plane: &Plane, headers: &HeaderMap) -> Result<Answer, Status> {
        let prefix = api.kinds().path_of(plane);
        let index = self.make(api.kinds().of(plane), move |made, catalog| made.v3_index(catalog, &prefix));
        Ok(send(&index.await?, headers))
    }

    /// `/openapi/v3/<document>`.
    pub async fn v3(
        &self,
        api: &Api,
        plane: &Plane,
        name: &str,
        query: &Query,
        headers: &HeaderMap,
    ) -> Result<Answer, Status> {
        if !takes_json(headers) {
            return Ok(empty(406));
        }
        let wanted = name.to_owned();
        let document =
            self.make(api.kinds().of(plane), move |made, catalog| made.v3(catalog, &wanted)).await?;
        let Some(document) = document else { return Ok(empty(404)) };
        Ok(match query.get("hash").filter(|hash| !hash.is_empty()) {
            None => send(&document, headers),
            Some(hash) if hash == document.hash => forever(send(&document, headers)),
            Some(_) => moved(&document, &url(&api.kinds().path_of(plane), name, &document.hash)),
        })
    }

    /// Large documents take their time: others are not to wait for it.
    async fn make<T: Send + 'static>(
        &self,
        catalog: Arc<Catalog>,
        make: impl FnOnce(&Made, &Catalog) -> T + Send + 'static,
    ) -> Result<T, Status> {
        let made = self.0.clone();
        tokio::task::spawn_blocking(move || make(&made, &catalog)).await.map_err(Status::internal)
    }
}

impl Made {
    fn v2(&self, catalog: &Catalog) -> Arc<Document> {
        let all: Vec<Arc<Kind>> = catalog.all().cloned().collect();
        self.documents.get("openapi/v2", &all, || {
            let pages = pages(catalog);
            let shares = pages.iter().filter_map(|(name, page)| match page {
                Page::Front => Share::of_front(name).map(Arc::new),
                Page::Version { group, version, kinds } => {
                    Some(self.shares.get(name, kinds, || Share::of_version(group, version, kinds)))
                }
            });
            document::whole(&shares.collect::<Vec<_>>())
        })
    }

    fn v2_protobuf(&self, catalog: &Catalog) -> Arc<Document> {
        let all: Vec<Arc<Kind>> = catalog.all().cloned().collect();
        self.documents.get("openapi/v2 in protobuf", &all, || {
            let document = self.v2(catalog);
            Document::of(gnostic::encode(&serde_json::from_slice(&document.bytes).unwrap_or_default()))
        })
    }

    fn v3_index(&self, catalog: &Catalog, prefix: &str) -> Document {
        let pages = pages(catalog);
        document::index(pages.iter().filter_map(|(name, page)| {
            let document = self.page(name, page)?;
            Some((name.clone(), url(prefix, name, &document.hash)))
        }))
    }

    fn v3(&self, catalog: &Catalog, name: &str) -> Option<Arc<Document>> {
        self.page(name, pages(catalog).get(name)?)
    }

    fn page(&self, name: &str, page: &Page<'_>) -> Option<Arc<Document>> {
        match page {
            Page::Front => document::of_front(name).map(Arc::new),
            Page::Version { group, version, kinds } => {
                Some(self.documents.get(name, kinds, || document::of_version(group, version, kinds)))
            }
        }
    }
}

/// What a document is about.
enum Page<'a> {
    /// What is above the versions.
    Front,
    /// One version of a group.
    Version { group: &'a str, version: &'a str, kinds: Vec<Arc<Kind>> },
}

/// The documents of a catalog, by their names.
fn pages(catalog: &Catalog) -> BTreeMap<String, Page<'_>> {
    let mut pages: BTreeMap<String, Page<'_>> = BTreeMap::new();
    for kind in catalog.all() {
        for version in kind.versions.iter().filter(|version| version.served) {
            let name = names::root(&kind.group, &version.name)[1..].to_owned();
            let empty = || Page::Version { group: &kind.group, version: &version.name, kinds: Vec::new() };
            if let Page::Version { kinds, .. } = pages.entry(name).or_insert_with(empty) {
                kinds.push(kind.clone());
            }
        }
    }
    let groups = pages.values().filter_map(|page| match page {
        Page::Version { group, kinds, .. } if !group.is_empty() && content::ship(kinds) => Some(*group),
        _ => None,
    });
    let groups: Vec<String> = groups.map(|group| format!("apis/{group}")).collect();
    let fronts = ["api", "apis", "version"].map(str::to_owned);
    pages.extend(groups.into_iter().chain(fronts).map(|name| (name, Page::Front)));
    pages
}

fn url(prefix: &str, name: &str, hash: &str) -> String {
    format!("{prefix}/openapi/v3/{name}?hash={hash}")
}

/// What a document can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Json,
    Protobuf,
}

fn takes_json(headers: &HeaderMap) -> bool {
    accepted(headers).contains(&Written::Json)
}

/// The form that a client names first of those that it does not refuse.
fn preferred(headers: &HeaderMap) -> Option<Written> {
    accepted(headers).first().copied()
}

fn accepted(headers: &HeaderMap) -> Vec<Written> {
    let accepted: Vec<&str> =
        headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let accepted = accepted.join(",");
    if accepted.trim().is_empty() {
        return vec![Written::Json];
    }
    let written = |clause: &str| {
        let mut parts = clause.split(';').map(str::trim);
        let refused = |part: &str| part.strip_prefix("q=").and_then(|q| q.parse().ok()) == Some(0.0);
        let written = match parts.next()? {
            "application/json" | "application/*" | "*/*" => Written::Json,
            media if gnostic::MEDIA.contains(&media) => Written::Protobuf,
            _ => return None,
        };
        (!parts.any(refused)).then_some(written)
    };
    accepted.split(',').filter_map(|clause| written(clause.trim())).collect()
}

fn empty(code: u16) -> Answer {
    let mut answer = answer::json(code, "");
    answer.headers_mut().remove(CONTENT_TYPE);
    answer
}

/// Sends a document, unless the client has it.
fn send(document: &Document, headers: &HeaderMap) -> Answer {
    let tag = format!("\"{}\"", document.hash);
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let is_known = known
        .flat_map(|tags| tags.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag);
    let mut answer = if is_known { empty(304) } else { answer::json(200, document.bytes.clone()) };
    put(&mut answer, ETAG, &tag);
    put(&mut answer, VARY, "Accept");
    answer
}

/// What is asked for by its hash never changes.
fn forever(mut answer: Answer) -> Answer {
    put(&mut answer, CACHE_CONTROL, "public, immutable");
    put(&mut answer, EXPIRES, &httpdate::fmt_http_date(SystemTime::now() + YEAR));
    answer
}

/// The hash is of another time; this is where the document is now.
fn moved(document: &Document, location: &str) -> Answer {
    let mut answer = answer::json(301, "");
    put(&mut answer, ETAG, &format!("\"{}\"", document.hash));
    put(&mut answer, VARY, "Accept");
    put(&mut answer, LOCATION, location);
    answer
}

fn put(answer: &mut Answer, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}

#[cfg(test)]
mod tests;
