//! Who makes a call, and what they may do: the same decisions as for requests about the resources themselves.

use std::sync::Arc;

use apiserver::api::{Api, store_failure};
use apiserver::authz::{Attributes, Only};
use apiserver::call::Call;
use apiserver::client::Client;
use apiserver::identity::Identity;
use apiserver::keys;
use apiserver::plane::Plane;
use apiserver::planes;
use apiserver::read::all_planes;
use apiserver::request::query::WriteOptions;
use apiserver::route::RouteRequest;
use apiserver::secrets::tokens::Tokens;
use apiserver::write::fence::HeldLease;
use http::HeaderMap;
use krm::kind::Kind;
use krm::status::Status;
use store::Snapshot;

use crate::collection::{Collection, GROUP};
use crate::failure::Failure;

/// The group of the identities of Sources. Their updates are applied: they keep to the fields that they own.
pub const SOURCES: &str = "fulfillment.groundplane.dev:sources";
/// The group of the service accounts that `groundplane source add` makes: they are identities of Sources too.
const SOURCE_ACCOUNTS: &str = "system:serviceaccounts:groundplane-sources";
/// The key of gRPC metadata, and the header, with which a Source takes over fields that others own.
const FORCE: &str = "x-force";
/// The header with which nothing is stored.
const DRY_RUN: &str = "x-dry-run";
/// The header with the reason of a change, for the history.
const MESSAGE: &str = "x-change-message";

/// Who makes a call.
#[derive(Clone)]
pub struct Caller {
    /// The server.
    pub api: Api,
    /// Their identity.
    pub who: Identity,
    really: Option<Identity>,
    agent: String,
    message: Option<String>,
    is_forced: bool,
    is_rehearsal: bool,
    /// The lease without which nothing must be written.
    held: Option<Arc<HeldLease>>,
}

impl Caller {
    /// Who makes a request. A lease that it names must be one that they may know of.
    pub fn of(request: &RouteRequest) -> Result<Caller, Status> {
        let headers = &request.head.headers;
        let held = HeldLease::read(headers)?;
        if let Some(held) = &held {
            held.may_be_named(&request.api, &Plane::root(), &request.who)?;
        }
        Ok(Caller {
            api: request.api.clone(),
            who: request.who.clone(),
            really: request.really.clone(),
            agent: text(headers, "user-agent").unwrap_or("fulfillment-api").to_owned(),
            message: text(headers, MESSAGE).map(str::to_owned),
            is_forced: is_true(headers, FORCE),
            is_rehearsal: is_true(headers, DRY_RUN),
            held: held.map(Arc::new),
        })
    }

    /// Whether it is the identity of a Source.
    pub fn is_source(&self) -> bool {
        self.who.is_in(SOURCES) || self.who.is_in(SOURCE_ACCOUNTS)
    }

    /// The state of everything now.
    pub async fn now(&self) -> Result<Snapshot, Failure> {
        self.api.store().current().await.map_err(|error| store_failure(&error).into())
    }

    /// The resources of a collection.
    pub fn kind(&self, collection: &Collection, plane: &Plane) -> Result<Arc<Kind>, Failure> {
        self.kind_of(collection.plural, plane)
    }

    /// The resources of a plural of the group.
    pub fn kind_of(&self, plural: &str, plane: &Plane) -> Result<Arc<Kind>, Failure> {
        let kind = self.api.kinds().of(plane).resource(GROUP, plural).cloned();
        kind.ok_or_else(|| Status::no_such_resource().into())
    }

    /// A request about an object, or a collection if the name is empty.
    pub fn call(&self, kind: &Arc<Kind>, plane: &Plane, name: &str) -> Call {
        let mut who = self.who.clone();
        planes::put_in_context(self.api.kinds(), plane, &mut who);
        Call {
            api: self.api.clone(),
            plane: plane.clone(),
            project: planes::project_of(&self.api, plane).map(|(_, uid)| uid),
            catalog: self.api.kinds().of(plane),
            version: kind.storage,
            kind: kind.clone(),
            namespace: String::new(),
            name: name.to_owned(),
            subresource: String::new(),
            who,
            really: self.really.clone(),
            agent: self.agent.clone(),
            message: self.message.clone(),
            only: None,
            redacts: false,
            tokens: Tokens::default(),
            fence: None,
            held: self.held.clone(),
            all_planes: false,
            depth: 0,
            asker: None,
            budget: Default::default(),
            conversions: None,
        }
    }

    /// The server's own client, for what a caller may see without a right to the resource.
    pub fn system(&self, plane: &Plane) -> Client {
        Client::system(&self.api, "fulfillment-api").in_plane(plane)
    }

    /// The planes whose objects of a collection the caller may read, with the part of them that they may.
    pub fn readable(
        &self,
        collection: &Collection,
        snapshot: &Snapshot,
        verb: &str,
    ) -> Vec<(Plane, Option<Arc<Only>>)> {
        let planes = match collection.in_projects {
            true => self.projects(snapshot),
            false => vec![Plane::root()],
        };
        planes
            .into_iter()
            .filter_map(|plane| Some((plane.clone(), self.reads(collection, &plane, verb)?)))
            .collect()
    }

    /// Projects that the caller belongs to.
    pub fn projects(&self, snapshot: &Snapshot) -> Vec<Plane> {
        // A name of one plane may be somebody else's in another.
        if planes::is_of_one_plane(&self.who) {
            return Vec::new();
        }
        let all = all_planes::all(self.api.kinds(), snapshot).into_iter();
        all.filter(|plane| !plane.is_root() && self.belongs_to(plane)).collect()
    }

    /// Whether a plane exists for the caller.
    pub fn belongs_to(&self, plane: &Plane) -> bool {
        let is_elsewhere = !plane.is_root() && planes::is_of_one_plane(&self.who);
        !is_elsewhere && planes::admit(&self.api, plane, &self.who).is_ok()
    }

    /// Whether the caller may read a collection in a plane: all of it, a part, or nothing.
    pub fn reads(&self, collection: &Collection, plane: &Plane, verb: &str) -> Option<Option<Arc<Only>>> {
        let what = Attributes::resource(verb, GROUP, collection.plural);
        let mut who = self.who.clone();
        planes::put_in_context(self.api.kinds(), plane, &mut who);
        let rights = &self.api.followers().rights;
        if rights.decide(plane, &who, &what).allowed {
            return Some(None);
        }
        rights.some_of(plane, &who, &what).map(|only| Some(Arc::new(only)))
    }

    /// Why the caller may not read a collection.
    pub fn refusal(&self, collection: &Collection, plane: &Plane, verb: &str) -> Failure {
        let what = Attributes::resource(verb, GROUP, collection.plural);
        let decision = self.api.followers().rights.decide(plane, &self.who, &what);
        what.forbidden(&self.who, &decision.reason).into()
    }

    /// How the caller's changes are written.
    pub fn options(&self) -> WriteOptions {
        WriteOptions {
            manager: if self.is_source() { self.who.user.to_string() } else { String::new() },
            force: Some(self.is_forced),
            dry_run: self.is_rehearsal,
            ..WriteOptions::default()
        }
    }

    /// The key of an object.
    pub fn key(&self, collection: &Collection, plane: &Plane, name: &str) -> Result<store::Key, Failure> {
        let at = krm::kind::Address {
            group: GROUP.to_owned(),
            plural: collection.plural.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
        };
        keys::object(plane, &at).map_err(|error| Failure::invalid(error.to_string()))
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn is_true(headers: &HeaderMap, name: &str) -> bool {
    text(headers, name).is_some_and(|text| text.eq_ignore_ascii_case("true"))
}
