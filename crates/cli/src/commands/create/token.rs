//! Tokens of service accounts.

use std::io::Write;

use http::Method;
use serde_json::json;

use crate::client::{Ask, segment};
use crate::failure::Failure;
use crate::flags;
use crate::session::Session;

/// Request a token for a ServiceAccount, and print it.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane create serviceaccount ci\n  groundplane create token ci --duration 24h"
)]
pub struct Token {
    /// Name of the ServiceAccount.
    #[arg(value_name = "NAME")]
    name: String,

    /// Lifetime of the token. The server may shorten it.
    #[arg(long, value_name = "TIME")]
    duration: Option<String>,

    /// Audience of the token. Can be repeated.
    #[arg(long, value_name = "NAME")]
    audience: Vec<String>,
}

impl Token {
    /// Asks for it and prints it.
    pub async fn run(&self, namespace: &str, session: &mut Session) -> Result<(), Failure> {
        let mut spec = json!({});
        if let Some(text) = &self.duration {
            let time = flags::duration(text)
                .ok_or_else(|| Failure::usage(format!("--duration {text}: use a duration such as 24h")))?;
            spec["expirationSeconds"] = time.as_secs().into();
        }
        if !self.audience.is_empty() {
            spec["audiences"] = json!(self.audience);
        }
        let path = format!(
            "/api/v1/namespaces/{}/serviceaccounts/{}/token",
            segment(namespace),
            segment(&self.name)
        );
        let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec});
        let answer = session.client().await?.value(&Ask::new(Method::POST, path).json(&body)).await;
        let answer = answer.map_err(|failure| {
            match failure.refusal().map(|refusal| refusal.message().to_owned()) {
                Some(message) => Failure::other(format!("failed to create token: {message}")),
                None => failure,
            }
        })?;
        let token = answer["status"]["token"]
            .as_str()
            .ok_or_else(|| Failure::other("failed to create token: no token in server response"))?;
        writeln!(session.console.out, "{token}")?;
        Ok(())
    }
}
