//! The configuration file of a synchronizer.

use std::net::SocketAddr;
use std::path::Path;

use cli::Failure;
use serde_json::Value;
use sources::http::Credentials;

/// What a configuration file says.
#[derive(Debug, Default)]
pub struct Config {
    /// Endpoint that counts before that of the Source.
    pub endpoint: Option<String>,
    /// Interval that counts before that of the Source.
    pub interval: Option<String>,
    /// Credentials that count before those of the Source.
    pub credentials: Credentials,
    /// Address for metrics and health.
    pub metrics: Option<SocketAddr>,
    /// Address for a webhook.
    pub webhook: Option<SocketAddr>,
    /// Token that callers of the webhook send.
    pub webhook_token: Option<String>,
    /// Filter of the log.
    pub log: Option<String>,
}

/// Reads a file; without one, nothing is configured.
pub fn read(path: Option<&Path>) -> Result<Config, Failure> {
    let Some(path) = path else { return Ok(Config::default()) };
    let shown = path.display();
    let text = std::fs::read(path).map_err(|error| Failure::other(format!("reading {shown}: {error}")))?;
    let wrong = |why: String| Failure::other(format!("{shown}: {why}"));
    let value = krm::decode::read_apply(&text).map_err(&wrong)?.0;
    let mut config = Config::default();
    for (key, value) in &value {
        let text = || match value {
            Value::String(text) => Ok(text.clone()),
            _ => Err(wrong(format!("{key} must be a text"))),
        };
        let address = || {
            let text = text()?;
            text.parse()
                .map_err(|_| wrong(format!("{key}: {text:?} is no address and port, such as 127.0.0.1:9469")))
        };
        match key.as_str() {
            "endpoint" => config.endpoint = Some(text()?),
            "interval" => config.interval = Some(text()?),
            "metrics" => config.metrics = Some(address()?),
            "webhook" => config.webhook = Some(address()?),
            "webhookTokenFile" => config.webhook_token = Some(file(&text()?, &wrong)?),
            "log" => config.log = Some(text()?),
            "credentials" => {
                let files = value
                    .as_object()
                    .ok_or_else(|| wrong("credentials must name files by key".to_owned()))?;
                for (key, path) in files {
                    let path =
                        path.as_str().ok_or_else(|| wrong(format!("credentials.{key} must name a file")))?;
                    config.credentials.set(key, file(path, &wrong)?);
                }
            }
            _ => {
                let known = "endpoint, interval, credentials, metrics, webhook, webhookTokenFile, log";
                return Err(wrong(format!("{key} is not known; there are {known}")));
            }
        }
    }
    if config.webhook.is_some() && config.webhook_token.as_deref().is_none_or(str::is_empty) {
        return Err(wrong("webhook needs webhookTokenFile: callers have to be told apart".to_owned()));
    }
    Ok(config)
}

fn file(path: &str, wrong: &impl Fn(String) -> Failure) -> Result<String, Failure> {
    let content = std::fs::read_to_string(path).map_err(|error| wrong(format!("reading {path}: {error}")))?;
    Ok(content.trim_end_matches(['\r', '\n']).to_owned())
}
