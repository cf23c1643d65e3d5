//! Which route a request belongs to.

use std::collections::HashMap;
use std::sync::Arc;

use http::request::Parts;
use krm::status::Status;
use tokio_util::sync::CancellationToken;

use super::{Access, Claim, Requirement, Route, Rules, grpc};
use crate::request::path::{self, Target};

/// Paths below `/api` that are no versions of the core group: a route may claim these.
const RESERVED: [&str; 4] = ["/api/private", "/api/fulfillment", "/api/events", "/api/v1.0"];
/// Paths that the server answers for itself.
const OWN: [&str; 10] = [
    "/api",
    "/apis",
    "/openapi",
    "/openid",
    "/.well-known",
    "/version",
    "/metrics",
    "/healthz",
    "/livez",
    "/readyz",
];

/// The routes of all modules.
#[derive(Default)]
pub struct Routes {
    paths: Paths<dyn Route>,
    services: HashMap<String, Arc<dyn Route>>,
    subresources: HashMap<[String; 3], Arc<dyn Route>>,
    stopping: CancellationToken,
}

/// Why the routes of the modules can't be served together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteConflict {
    /// Two routes answer for the same.
    #[error("the routes {first} and {second} both answer for {what}")]
    Both {
        /// The one that came first.
        first: &'static str,
        /// The other one.
        second: &'static str,
        /// What they answer for.
        what: String,
    },
    /// A route answers for what Kubernetes' clients expect of the server itself.
    #[error("the route {route} answers for {path}, which hides the server's own {own}")]
    Shadows {
        /// The route.
        route: &'static str,
        /// Its path.
        path: String,
        /// The path of the server.
        own: &'static str,
    },
    /// A path is not written as requests have it.
    #[error("the route {route} answers for {path:?}, which is no absolute path of clean segments")]
    Unclean {
        /// The route.
        route: &'static str,
        /// Its path.
        path: String,
    },
}

/// Routes by the paths that they answer for.
pub(crate) struct Paths<R: ?Sized>(Vec<(String, &'static str, Arc<R>)>);

impl<R: ?Sized> Default for Paths<R> {
    fn default() -> Paths<R> {
        Paths(Vec::new())
    }
}

impl<R: ?Sized> Paths<R> {
    /// Adds a route for a path, unless another one, or the server itself, answers for it.
    pub(crate) fn add(
        &mut self,
        name: &'static str,
        path: String,
        route: Arc<R>,
    ) -> Result<(), RouteConflict> {
        check_path(name, &path)?;
        let taken = self.0.iter().find(|(other, ..)| is_below(other, &path) || is_below(&path, other));
        if let Some((_, first, _)) = taken {
            return Err(RouteConflict::Both { first, second: name, what: path });
        }
        self.0.push((path, name, route));
        Ok(())
    }

    /// The route that answers for a path.
    pub(crate) fn find(&self, path: &str) -> Option<&Arc<R>> {
        self.0.iter().find(|(prefix, ..)| is_below(path, prefix)).map(|(.., route)| route)
    }
}

/// A route, and what it says about one request.
pub(crate) struct Claimed {
    /// The route. `None` for a gRPC service that nobody serves.
    pub(crate) route: Option<Arc<dyn Route>>,
    /// What the caller needs; `None` where the path says it.
    pub(crate) access: Option<Access>,
    pub(crate) rules: Rules,
    /// Why the request can't be answered, told once the caller is known.
    pub(crate) refusal: Option<Status>,
}

impl Routes {
    /// These routes, if they go together.
    pub fn new(routes: Vec<Arc<dyn Route>>) -> Result<Routes, RouteConflict> {
        let mut all = Routes::default();
        for route in routes {
            for claim in route.claims() {
                all.add(&route, claim)?;
            }
        }
        Ok(all)
    }

    fn add(&mut self, route: &Arc<dyn Route>, claim: Claim) -> Result<(), RouteConflict> {
        let second = route.name();
        let both = |first: Option<Arc<dyn Route>>, what: String| match first {
            Some(first) => Err(RouteConflict::Both { first: first.name(), second, what }),
            None => Ok(()),
        };
        match claim {
            Claim::Path(path) => self.paths.add(second, path, route.clone()),
            Claim::Grpc(service) => {
                let what = format!("the gRPC service {service}");
                both(self.services.insert(service, route.clone()), what)
            }
            Claim::Subresource { group, plural, subresource } => {
                let what = format!("{plural}/{subresource} of the group {group:?}");
                both(self.subresources.insert([group, plural, subresource], route.clone()), what)
            }
        }
    }

    /// The paths that routes answer for.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.0.iter().map(|(path, ..)| path.as_str())
    }

    /// The subresources of a kind that routes answer for, with their verbs.
    pub fn subresources_of(&self, group: &str, plural: &str) -> Vec<(&str, &'static [&'static str])> {
        let of_kind = self.subresources.iter().filter(|([of, kind, _], _)| of == group && kind == plural);
        let mut found: Vec<_> =
            of_kind.map(|([.., name], route)| (name.as_str(), route.subresource_verbs(name))).collect();
        found.sort_unstable();
        found
    }

    /// Ends the streams that go on until they are ended.
    pub fn stop(&self) {
        self.stopping.cancel();
    }

    pub(crate) fn stopping(&self) -> CancellationToken {
        self.stopping.clone()
    }

    /// The route that answers a request by its content type or path.
    pub(crate) fn find(&self, head: &Parts) -> Result<Option<Claimed>, Status> {
        let path = head.uri.path();
        if grpc::is_call(&head.headers) {
            let service = grpc::named(path).map_or("", |(service, _)| service);
            return Ok(Some(match self.services.get(service) {
                Some(route) => Claimed::by(route, head),
                None => Claimed::unimplemented(path),
            }));
        }
        let Some(route) = self.paths.find(path) else { return Ok(None) };
        match path::segments(path)? {
            Some(_) => Ok(Some(Claimed::by(route, head))),
            None => Err(Status::bad_request("the path has empty or relative segments")),
        }
    }

    /// The route that answers for a subresource.
    pub(crate) fn of_subresource(&self, target: &Target, head: &Parts) -> Option<Claimed> {
        if self.subresources.is_empty() || target.subresource.is_empty() {
            return None;
        }
        let key = [target.group.clone(), target.resource.clone(), target.subresource.clone()];
        let route = self.subresources.get(&key)?;
        Some(Claimed { route: Some(route.clone()), access: None, rules: route.rules(head), refusal: None })
    }
}

impl Claimed {
    fn by(route: &Arc<dyn Route>, head: &Parts) -> Claimed {
        let (access, refusal) = match route.access(head) {
            Ok(access) => (access, None),
            Err(refusal) => (Access::root(Requirement::Public), Some(refusal)),
        };
        let rules = route.rules(head);
        Claimed { route: Some(route.clone()), access: Some(access), rules, refusal }
    }

    fn unimplemented(path: &str) -> Claimed {
        let why = match grpc::named(path) {
            Some((service, _)) => format!("unknown service {service}"),
            None => format!("the path {path} names no service and method"),
        };
        Claimed {
            route: None,
            access: Some(Access::root(Requirement::Public)),
            rules: Rules::default(),
            refusal: Some(Status::failure(501, "NotImplemented", why)),
        }
    }
}

fn check_path(route: &'static str, path: &str) -> Result<(), RouteConflict> {
    let is_clean =
        matches!(path::segments(path), Ok(Some(segments)) if segments.iter().all(|it| !it.is_empty()));
    if !is_clean || path.ends_with('/') {
        return Err(RouteConflict::Unclean { route, path: path.to_owned() });
    }
    if RESERVED.iter().any(|reserved| is_below(path, reserved)) {
        return Ok(());
    }
    match OWN.into_iter().find(|own| is_below(path, own) || is_below(own, path)) {
        Some(own) => Err(RouteConflict::Shadows { route, path: path.to_owned(), own }),
        None => Ok(()),
    }
}

/// Whether a path is a prefix or below it.
fn is_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;

    use super::*;
    use crate::answer::Answer;
    use crate::route::RouteRequest;

    struct Named(&'static str, Vec<Claim>);

    impl Route for Named {
        fn name(&self) -> &'static str {
            self.0
        }

        fn claims(&self) -> Vec<Claim> {
            self.1.clone()
        }

        fn access(&self, _: &Parts) -> Result<Access, Status> {
            Ok(Access::root(Requirement::Authenticated))
        }

        fn answer(&self, _: RouteRequest) -> BoxFuture<'_, Result<Answer, Status>> {
            Box::pin(async { Err(Status::method_not_allowed()) })
        }
    }

    fn together(claims: &[(&'static str, Claim)]) -> Result<(), String> {
        let routes = claims
            .iter()
            .map(|(name, claim)| -> Arc<dyn Route> { Arc::new(Named(name, vec![claim.clone()])) });
        Routes::new(routes.collect()).map(drop).map_err(|conflict| conflict.to_string())
    }

    fn path(path: &str) -> Claim {
        Claim::Path(path.to_owned())
    }

    #[test]
    fn what_one_route_answers_for_no_other_does() {
        let twice = together(&[("gateway", path("/api/private")), ("portal", path("/api/private"))]);
        assert_eq!(twice.unwrap_err(), "the routes gateway and portal both answer for /api/private");
        assert!(together(&[("gateway", path("/api/private")), ("portal", path("/api/private/v1"))]).is_err());
        assert!(together(&[("gateway", path("/api/private")), ("portal", path("/api/privates"))]).is_err());
        assert_eq!(together(&[("gateway", path("/api/private")), ("portal", path("/ui"))]), Ok(()));
        let service = || Claim::Grpc("osac.v1.Clusters".to_owned());
        let twice = together(&[("one", service()), ("two", service())]).unwrap_err();
        assert_eq!(twice, "the routes one and two both answer for the gRPC service osac.v1.Clusters");
    }

    #[test]
    fn no_route_hides_the_paths_of_kubernetes() {
        for hidden in
            ["/api", "/api/v1", "/api/v2", "/apis", "/apis/apps/v1", "/openapi/v2", "/metrics/x", "/version"]
        {
            let refused = together(&[("portal", path(hidden))]).unwrap_err();
            assert!(refused.contains("hides the server's own"), "{hidden}: {refused}");
        }
        for reserved in RESERVED {
            assert_eq!(together(&[("gateway", path(reserved))]), Ok(()));
        }
        for unclean in ["/", "", "ui", "/ui/", "/ui//x", "/ui/../x"] {
            assert!(together(&[("portal", path(unclean))]).unwrap_err().contains("clean"), "{unclean}");
        }
    }
}
