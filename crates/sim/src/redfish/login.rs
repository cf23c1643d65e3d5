//! Who may: sessions, tokens, passwords.

use http::HeaderMap;
use krm::base64;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};

use super::Options;
use super::model::Model;
use super::serve::{Answer, refusal};

/// Whether a request may be answered: by its token, or by name and password.
pub fn is_allowed(model: &mut Model, options: &Options, headers: &HeaderMap) -> bool {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(token) = header("x-auth-token") {
        return model.sessions.values().any(|known| known == token);
    }
    let Some(encoded) = header("authorization").and_then(|value| value.strip_prefix("Basic ")) else {
        return false;
    };
    let decoded =
        base64::decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let (user, password) = decoded.split_once(':').unwrap_or_default();
    model.check(user, password, options.lockout_after)
}

/// Opens a session.
pub fn log_in(model: &mut Model, options: &Options, body: &Value) -> Answer {
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    let (user, password) = (text("UserName"), text("Password"));
    if !model.check(user, password, options.lockout_after) {
        return refusal(401, "The user name or password is wrong.");
    }
    let mut bytes = [0; 24];
    // Without randomness tokens could be guessed: this is a simulation.
    let _ = SystemRandom::new().fill(&mut bytes);
    let token = base64::url(&bytes);
    let path = format!("/redfish/v1/SessionService/Sessions/{}", model.open_session(token.clone()));
    let body = json!({ "@odata.id": path, "Name": "User Session", "UserName": user });
    Answer::json(201, &body).with("x-auth-token", &token).with("location", &path)
}
