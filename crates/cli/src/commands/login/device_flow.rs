//! The device flow: a code to enter on any other device.

use std::time::Duration;

use client::login::Issuer;

use super::Given;
use crate::failure::Failure;
use crate::session::Session;

/// Logs in with a code that is entered elsewhere.
pub async fn run(issuer: &Issuer, scope: &str, session: &mut Session) -> Given {
    let (code, begun) = issuer.post("device_authorization_endpoint", &[("scope", scope)]).await?;
    let text = |field: &str| begun[field].as_str().unwrap_or_default();
    if code != 200 || text("device_code").is_empty() {
        return Err(Failure::other(format!(
            "{}: starting the device flow failed: {}",
            issuer.url,
            text("error")
        )));
    }
    let page =
        if text("verification_uri").is_empty() { text("verification_url") } else { text("verification_uri") };
    session
        .console
        .say(&format!("To log in, open {page} on any device and enter the code {}", text("user_code")));
    if !text("verification_uri_complete").is_empty() {
        session.console.say(&format!("or open {}", text("verification_uri_complete")));
    }
    let mut interval = begun["interval"].as_u64().unwrap_or(5).clamp(1, 60);
    let mut left = begun["expires_in"].as_u64().unwrap_or(600);
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("device_code", text("device_code")),
    ];
    loop {
        tokio::time::sleep(Duration::from_secs(interval)).await;
        left = left.saturating_sub(interval);
        match issuer.tokens(&form).await? {
            Ok(tokens) => return Ok(tokens),
            Err(error) if error == "authorization_pending" && left > 0 => {}
            Err(error) if error == "slow_down" && left > 0 => interval += 5,
            Err(error) if error == "access_denied" => {
                return Err(Failure::other("the login was denied"));
            }
            Err(error)
                if matches!(error.as_str(), "expired_token" | "authorization_pending" | "slow_down") =>
            {
                return Err(Failure::other("the code has expired; run the command again"));
            }
            Err(error) => {
                return Err(Failure::other(format!("{}: no tokens were issued: {error}", issuer.url)));
            }
        }
    }
}
