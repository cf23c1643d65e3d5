//! A request with its user, plane and route.

use std::sync::Arc;

use http::{HeaderMap, Method};

use store::Uid;

use crate::api::Api;
use crate::authz::{Attributes, Only};
use crate::handle::verb::Verb;
use crate::identity::Identity;
use crate::plane::Plane;
use crate::read::all_planes;
use crate::request::body;
use crate::request::path::Route;
use crate::request::query::Query;
use crate::route::Requirement;
use crate::route::table::Claimed;
use crate::secrets;

/// A request with its user, plane and route.
pub struct RequestContext {
    /// The plane it is for.
    pub plane: Plane,
    /// The life of the project whose plane it is; nothing in the root.
    pub project: Option<Uid>,
    /// Where it goes.
    pub route: Route,
    /// Who makes it.
    pub who: Identity,
    /// The part of the collection that may be seen, where it is not all of it.
    pub only: Option<Arc<Only>>,
    /// Whether values of secrets are left out unless they may be seen.
    pub redacts: bool,
    /// Who asked to act as that one, if anybody.
    pub really: Option<Identity>,
    /// The method.
    pub method: Method,
    /// The query.
    pub query: Query,
    /// The headers.
    pub headers: HeaderMap,
    /// The path, below the plane's.
    pub path: String,
    /// The route of a module that answers it, if one does.
    pub(crate) claimed: Option<Claimed>,
}

impl RequestContext {
    /// Whether what is sent or answered is sealed at rest; the audit policy itself knows of Kubernetes' own secrets.
    pub(super) fn is_about_secrets(&self, api: &Api) -> bool {
        let Route::Resource(target) = &self.route else { return false };
        let catalog = api.kinds().of(&self.plane);
        let kind = catalog.resource(&target.group, &target.resource);
        kind.is_some_and(|kind| kind.secret)
    }

    /// Whether it is about objects that have values to reveal.
    pub(super) fn is_about_values(&self, api: &Api) -> bool {
        let Route::Resource(target) = &self.route else { return false };
        let catalog = api.kinds().of(&self.plane);
        let kind = catalog.resource(&target.group, &target.resource);
        kind.is_some_and(|kind| secrets::is_secret(kind))
    }

    /// Whether what is sent may have values that are kept in Secrets.
    pub(super) fn may_hold_sealed(&self, api: &Api) -> bool {
        let Route::Resource(target) = &self.route else { return false };
        let catalog = api.kinds().of(&self.plane);
        catalog.resource(&target.group, &target.resource).is_some_and(|kind| !kind.sealed.is_empty())
    }

    /// Whether it asks for such values.
    pub(super) fn reveals_sealed(&self, api: &Api) -> bool {
        let Route::Resource(target) = &self.route else { return false };
        target.subresource == krm::kind::CREDENTIALS && self.may_hold_sealed(api)
    }

    /// What the caller of a route needs, where the path does not say it.
    pub(super) fn requirement(&self) -> Option<&Requirement> {
        Some(&self.claimed.as_ref()?.access.as_ref()?.requirement)
    }

    /// What the request wants to do, as authorization sees it.
    pub fn attributes(&self) -> Attributes<'_> {
        if let Some(Requirement::Resource(attributes)) = self.requirement() {
            return attributes.borrowed();
        }
        let Route::Resource(target) = &self.route else {
            let verb = match self.method.as_str() {
                "GET" => "get",
                "HEAD" => "head",
                "POST" => "post",
                "PUT" => "put",
                "PATCH" => "patch",
                "DELETE" => "delete",
                _ => "options",
            };
            return Attributes::path(verb, &self.path);
        };
        let verb = Verb::of(&self.method, target, self.is_watch()).map_or("", Verb::as_str);
        Attributes {
            verb,
            group: &target.group,
            version: &target.version,
            resource: &target.resource,
            subresource: &target.subresource,
            name: &target.name,
            namespace: &target.namespace,
            path: None,
        }
    }

    /// What the request is counted as.
    pub(super) fn metric_verb(&self) -> String {
        let is_apply = body::media_type(&self.headers) == Some("application/apply-patch+yaml");
        let attributes = self.attributes();
        match (self.method.as_str(), attributes.path.is_some()) {
            ("GET" | "HEAD", false) => attributes.verb.to_uppercase(),
            ("PATCH", false) if is_apply => "APPLY".to_owned(),
            (method, _) => method.to_owned(),
        }
    }

    /// The query, with what an old path asks for put into it.
    pub(super) fn watch_query(&self) -> Query {
        match &self.route {
            Route::Resource(target) if target.is_watch => self.query.with("watch", "1"),
            _ => self.query.clone(),
        }
    }

    /// Whether it asks for the objects of all planes.
    pub(super) fn is_in_all_planes(&self) -> bool {
        let Route::Resource(target) = &self.route else { return false };
        let is_collection = target.name.is_empty() && target.subresource.is_empty();
        let reads = matches!(self.method, Method::GET | Method::HEAD);
        is_collection && reads && self.query.flag(all_planes::PARAMETER).unwrap_or(false)
    }

    /// Whether it goes on until it is ended.
    pub(super) fn is_long_running(&self) -> bool {
        self.is_watch() || self.claimed.as_ref().is_some_and(|claimed| claimed.rules.is_long_running)
    }

    /// Whether it asks for changes as they happen.
    pub fn is_watch(&self) -> bool {
        let Route::Resource(target) = &self.route else { return false };
        let asks = target.is_watch || (target.name.is_empty() && self.query.flag("watch").unwrap_or(false));
        asks && matches!(self.method, Method::GET | Method::HEAD)
    }
}
