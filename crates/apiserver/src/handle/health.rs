//! Health: `/livez`, `/readyz` and `/healthz`, as a whole and check by check.

use http::Method;

use super::other::Other;
use crate::answer::{self, Answer};
use crate::api::Api;
use crate::pipeline::RequestContext;
use crate::request::path::Route;

use std::sync::atomic::Ordering;

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    /// That there is an answer at all.
    Answers,
    /// That the threads run on which writes and watches depend.
    Runs,
    /// That kinds and rights follow what is stored.
    Follows,
    /// That the store can be written.
    Writes,
    /// That the server is not about to stop.
    Stays,
}

/// Whether a request asks for the health of the server.
pub fn is_about(known: &RequestContext) -> bool {
    let Route::Other(path) = &known.route else { return false };
    let asks = matches!(known.method, Method::GET | Method::HEAD);
    let which = path.split('/').next().unwrap_or_default();
    asks && known.plane.is_root() && known.claimed.is_none() && checks(which).is_some()
}

/// The checks by name. The names are those of Kubernetes where it has one for the same; `followers` and `store` are ours. A
/// hook has run by the time a server answers, or else what it started is looked at.
const LIVE: [(&str, Check); 11] = [
    ("ping", Check::Answers),
    ("log", Check::Answers),
    // What is stored is in memory and can be read; that it can't be written is not mended by a restart, unless a
    // thread is gone.
    ("etcd", Check::Runs),
    ("followers", Check::Follows),
    ("poststarthook/generic-apiserver-start-informers", Check::Follows),
    ("poststarthook/start-apiextensions-informers", Check::Follows),
    ("poststarthook/start-apiextensions-controllers", Check::Follows),
    ("poststarthook/crd-informer-synced", Check::Follows),
    ("poststarthook/rbac/bootstrap-roles", Check::Answers),
    ("poststarthook/start-system-namespaces-controller", Check::Answers),
    ("poststarthook/bootstrap-controller", Check::Answers),
];
const READY_BESIDES: [(&str, Check); 4] = [
    ("etcd-readiness", Check::Writes),
    ("informer-sync", Check::Follows),
    ("store", Check::Writes),
    ("shutdown", Check::Stays),
];

impl Other {
    /// Answers a request about the health of the server, if the path is one.
    pub(super) async fn health(&self, api: &Api, path: &str, known: &RequestContext) -> Answer {
        let (which, single) = path.split_once('/').unwrap_or((path, ""));
        let Some(checks) = checks(which) else { return answer::page_not_found() };
        if path.contains('/') {
            let Some((_, check)) = checks.iter().find(|(name, _)| *name == single) else {
                return answer::page_not_found();
            };
            return match self.check(api, *check).await {
                Ok(()) => answer::text(200, "ok"),
                Err(why) => answer::text(500, format!("internal server error: {why}\n")),
            };
        }
        let mut excluded = known.query.all("exclude");
        excluded.sort_unstable();
        excluded.dedup();
        let mut lines = String::new();
        let mut failed = false;
        for (name, check) in &checks {
            if let Ok(at) = excluded.binary_search(name) {
                excluded.remove(at);
                lines.push_str(&format!("[+]{name} excluded: ok\n"));
                continue;
            }
            match self.check(api, *check).await {
                Ok(()) => lines.push_str(&format!("[+]{name} ok\n")),
                Err(why) => {
                    lines.push_str(&format!("[-]{name} failed: {why}\n"));
                    failed = true;
                }
            }
        }
        // The server is ready nevertheless.
        for lacking in api.shortcomings() {
            lines.push_str(&format!("warn: {lacking}\n"));
        }
        if !excluded.is_empty() {
            let names: Vec<String> = excluded.iter().map(|name| krm::field::quote(name)).collect();
            lines.push_str(&format!(
                "warn: some health checks cannot be excluded: no matches for {}\n",
                names.join(", ")
            ));
        }
        if failed {
            return answer::text(500, format!("{lines}{which} check failed\n"));
        }
        match known.query.get("verbose").is_some() && known.method != Method::HEAD {
            true => answer::text(200, format!("{lines}{which} check passed\n")),
            false => answer::text(200, "ok"),
        }
    }

    async fn check(&self, api: &Api, check: Check) -> Result<(), String> {
        match check {
            Check::Answers => Ok(()),
            Check::Runs => api.store().alive().map_err(|error| error.to_string()),
            Check::Writes => api.store().healthy().await.map_err(|error| error.to_string()),
            Check::Follows if api.is_following() => Ok(()),
            Check::Follows => {
                Err("the watch on custom resource definitions and access rules has ended; restart the server"
                    .to_owned())
            }
            Check::Stays if self.stopping.load(Ordering::Relaxed) => {
                Err("the server is shutting down".to_owned())
            }
            Check::Stays => Ok(()),
        }
    }
}

/// The checks behind a path.
fn checks(which: &str) -> Option<Vec<(&'static str, Check)>> {
    match which {
        "healthz" | "livez" => Some(LIVE.to_vec()),
        "readyz" => {
            // Whether it can be written counts for who wants to send requests here.
            let ready = LIVE.map(|(name, check)| (name, if name == "etcd" { Check::Writes } else { check }));
            Some(ready.into_iter().chain(READY_BESIDES).collect())
        }
        _ => None,
    }
}
