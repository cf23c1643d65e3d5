//! Conversion webhooks of custom resources.

use serde_json::Value;

use crate::base64;

/// A conversion webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converter {
    /// Where it is.
    pub place: WebhookLocation,
    /// The CAs it is believed by, as PEM; those of the system where there are none.
    pub ca_bundle: Option<String>,
    /// The versions of reviews that it takes, the preferred first.
    pub review_versions: Vec<String>,
}

/// Where a webhook is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookLocation {
    /// At a URL.
    Url(String),
    /// At a Service of a cluster.
    Service {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// The path there, with its slash; may be empty.
        path: String,
        /// Its port.
        port: u16,
    },
}

impl Converter {
    /// Reads `spec.conversion.webhook` of a definition.
    pub fn read(webhook: &Value) -> Converter {
        let config = &webhook["clientConfig"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let service = &config["service"];
        let place = match config["url"].as_str() {
            Some(url) => WebhookLocation::Url(url.to_owned()),
            None => WebhookLocation::Service {
                namespace: text(&service["namespace"]),
                name: text(&service["name"]),
                path: text(&service["path"]),
                port: service["port"].as_u64().and_then(|port| u16::try_from(port).ok()).unwrap_or(443),
            },
        };
        let bundle = config["caBundle"].as_str().and_then(|text| base64::decode(text).ok());
        let bundle = bundle.and_then(|bytes| String::from_utf8(bytes).ok());
        let versions = webhook["conversionReviewVersions"].as_array().into_iter().flatten();
        Converter {
            place,
            ca_bundle: bundle.filter(|pem| !pem.trim().is_empty()),
            review_versions: versions.map(text).collect(),
        }
    }

    /// The URL that is asked.
    pub fn url(&self) -> String {
        match &self.place {
            WebhookLocation::Url(url) => url.clone(),
            WebhookLocation::Service { namespace, name, path, port } => {
                format!("https://{name}.{namespace}.svc:{port}{path}")
            }
        }
    }
}
