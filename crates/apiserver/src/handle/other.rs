//! Non-resource paths: version, metrics, OpenAPI, and the public keys of service account tokens.

use bytes::Bytes;
use krm::status::Status;
use serde_json::{Value, json};

use crate::answer::{self, Answer, object};
use crate::authn::ServiceAccountTokens;
use crate::metrics::Metrics;
use crate::openapi;
use crate::pipeline::{Pipeline, RequestContext};
use crate::request::accept::Accept;
use crate::request::path::Route;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What these paths tell of.
pub struct Other {
    /// The version of this program.
    pub version: &'static str,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Who issues tokens for service accounts.
    pub tokens: Arc<ServiceAccountTokens>,
    /// Whether the server is about to stop.
    pub stopping: Arc<AtomicBool>,
    /// The OpenAPI documents, made when they are asked for.
    pub openapi: openapi::Documents,
}

/// The version of Kubernetes whose API this is.
const KUBERNETES: (&str, &str) = ("1", "36");
/// The oldest minor version of it that clients and servers go together with.
const COMPATIBLE: &str = "35";

impl Other {
    /// Answers a request to such a path.
    pub async fn answer(
        &self,
        pipeline: &Pipeline,
        known: &RequestContext,
        _body: Bytes,
    ) -> Result<Answer, Status> {
        let Route::Other(path) = &known.route else { return Ok(answer::page_not_found()) };
        // The server has health and metrics, not a project.
        let is_told_anywhere = path.starts_with("version") || path.starts_with("openapi/");
        if !known.plane.is_root() && !is_told_anywhere {
            return Ok(answer::page_not_found());
        }
        let accept = || Accept::negotiate(&known.headers, false);
        match path.as_str() {
            "" => Ok(object::value(&accept()?, 200, &paths(pipeline, known))),
            "version" | "version/" => Ok(object::value(&accept()?, 200, &self.version())),
            "metrics" => Ok(answer::bytes(
                200,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
                self.metrics.text(&pipeline.api, &pipeline.limits),
            )),
            "openid/v1/jwks" => Ok(object::value(&accept()?, 200, &self.tokens.key_set())),
            ".well-known/openid-configuration" => {
                let keys = format!("{}/openid/v1/jwks", self.tokens.issuer());
                Ok(object::value(&accept()?, 200, &self.tokens.discovery(&keys)))
            }
            "openapi/v2" => self.openapi.v2(&pipeline.api, &known.plane, &known.headers).await,
            "openapi/v3" | "openapi/v3/" => {
                self.openapi.v3_index(&pipeline.api, &known.plane, &known.headers).await
            }
            other => match other.strip_prefix("openapi/v3/") {
                Some(document) => {
                    self.openapi.v3(&pipeline.api, &known.plane, document, &known.query, &known.headers).await
                }
                None => Ok(self.health(&pipeline.api, other, known).await),
            },
        }
    }

    fn version(&self) -> Value {
        json!({
            "major": KUBERNETES.0,
            "minor": KUBERNETES.1,
            "emulationMajor": KUBERNETES.0,
            "emulationMinor": KUBERNETES.1,
            "minCompatibilityMajor": KUBERNETES.0,
            "minCompatibilityMinor": COMPATIBLE,
            "gitVersion": format!("v{}.{}.0+groundplane-{}", KUBERNETES.0, KUBERNETES.1, self.version),
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": "none",
            "compiler": "rustc",
            "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
        })
    }
}

/// The paths there are.
fn paths(pipeline: &Pipeline, known: &RequestContext) -> Value {
    let catalog = pipeline.api.kinds().of(&known.plane);
    let mut paths: Vec<String> = vec!["/api".into(), "/api/v1".into(), "/apis".into()];
    for kind in catalog.all().filter(|kind| !kind.group.is_empty()) {
        paths.push(format!("/apis/{}", kind.group));
        paths.extend(kind.versions.iter().map(|version| format!("/apis/{}/{}", kind.group, version.name)));
    }
    let fixed = ["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"];
    paths.extend(fixed.map(str::to_owned));
    if known.plane.is_root() {
        paths.extend(pipeline.routes.paths().map(str::to_owned));
    }
    paths.sort();
    paths.dedup();
    json!({ "paths": paths })
}
