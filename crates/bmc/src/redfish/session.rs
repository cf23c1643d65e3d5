//! Sessions: logged in once, reused by token, ended on request. BMCs without sessions get the password with each request.

use base64::encode;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::json;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::service::{Service, header, is_absent};
use super::transport::Received;
use crate::credentials::Credentials;
use crate::error::{Cause, Result};
use crate::login::LoginGuard;

/// The credentials of a client, and the session that they opened.
pub struct Sessions {
    credentials: Credentials,
    guard: LoginGuard,
    state: Mutex<State>,
}

#[derive(Clone)]
enum State {
    LoggedOut,
    Session(Session),
    /// The BMC has no sessions.
    Basic,
}

#[derive(Clone)]
struct Session {
    token: HeaderValue,
    path: Option<String>,
}

impl Sessions {
    pub fn new(credentials: Credentials, guard: LoginGuard) -> Sessions {
        Sessions { credentials, guard, state: Mutex::new(State::LoggedOut) }
    }

    pub fn user(&self) -> &str {
        &self.credentials.user
    }

    /// One request with a token or password. A session that has expired is replaced once.
    pub async fn authenticated(
        &self,
        service: &Service,
        method: &Method,
        path: &str,
        headers: HeaderMap,
        body: &Bytes,
    ) -> Result<Received> {
        let mut is_renewed = false;
        loop {
            match self.current(service).await? {
                State::Basic | State::LoggedOut => {
                    return self.with_password(service, method, path, headers, body).await;
                }
                State::Session(session) => {
                    let mut with_token = headers.clone();
                    with_token.insert("x-auth-token", session.token.clone());
                    let sent = service.follow(method, path, &with_token, body).await;
                    let received = sent.map_err(|lost| service.lost(&format!("{method} {path}"), lost))?;
                    if received.status != StatusCode::UNAUTHORIZED || is_renewed {
                        return Ok(received);
                    }
                    is_renewed = true;
                    self.forget(&session).await;
                }
            }
        }
    }

    /// Ends the session. A BMC that does not answer ends it by itself later.
    pub async fn end(&self, service: &Service) -> Result<()> {
        let mut state = self.state.lock().await;
        let State::Session(session) = &*state else { return Ok(()) };
        let session = session.clone();
        *state = State::LoggedOut;
        let Some(path) = session.path else { return Ok(()) };
        let mut headers = HeaderMap::new();
        headers.insert("x-auth-token", session.token);
        let sent = service.follow(&Method::DELETE, &path, &headers, &Bytes::new()).await;
        sent.map(|_| ()).map_err(|lost| service.lost("log out", lost))
    }

    async fn current(&self, service: &Service) -> Result<State> {
        // Held while logging in: requests of one client log in once.
        let mut state = self.state.lock().await;
        if matches!(*state, State::LoggedOut) {
            *state = self.log_in(service).await?;
        }
        Ok(state.clone())
    }

    async fn forget(&self, expired: &Session) {
        let mut state = self.state.lock().await;
        if matches!(&*state, State::Session(session) if session.token == expired.token) {
            *state = State::LoggedOut;
        }
    }

    async fn log_in(&self, service: &Service) -> Result<State> {
        let root = service.root().await?;
        let listed = root.link_at(&["Links", "Sessions"]).map(str::to_owned);
        let path = match (listed, root.link("SessionService")) {
            (Some(path), _) => path,
            (None, Some(service)) => format!("{}/Sessions", service.trim_end_matches('/')),
            (None, None) => return Ok(State::Basic),
        };
        let made = self.guard.attempt(self.open(service, &path)).await;
        match made {
            Ok(session) => Ok(State::Session(session)),
            Err(error) if is_absent(&error) => Ok(State::Basic),
            Err(error) => Err(error),
        }
    }

    async fn open(&self, service: &Service, path: &str) -> Result<Session> {
        let Credentials { user, password } = &self.credentials;
        let body = Zeroizing::new(json!({ "UserName": user, "Password": password.reveal() }).to_string());
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        let body = Bytes::copy_from_slice(body.as_bytes());
        let received = service.follow(&Method::POST, path, &headers, &body).await;
        let received = received.map_err(|lost| service.lost("log in", lost))?;
        // Some BMCs answer a wrong password with 400.
        if received.status == StatusCode::BAD_REQUEST {
            return Err(service.failed("log in", Cause::Unauthorized { user: user.clone() }));
        }
        if let Some(cause) = service.refusal(path, &received) {
            return Err(service.failed("log in", cause));
        }
        let Some(token) = received.headers.get("x-auth-token") else {
            let why = "the new session has no X-Auth-Token".to_owned();
            return Err(service.failed("log in", Cause::WrongShape { why }));
        };
        let mut token = token.clone();
        token.set_sensitive(true);
        let path = header(&received.headers, "location").and_then(|url| service.local_path(&url));
        Ok(Session { token, path })
    }

    /// Every such request is a login, and the guard counts it.
    async fn with_password(
        &self,
        service: &Service,
        method: &Method,
        path: &str,
        mut headers: HeaderMap,
        body: &Bytes,
    ) -> Result<Received> {
        let Credentials { user, password } = &self.credentials;
        let pair = Zeroizing::new(format!("{user}:{}", password.reveal()));
        let encoded = Zeroizing::new(format!("Basic {}", encode(pair.as_bytes())));
        let mut value = HeaderValue::from_str(&encoded)
            .map_err(|_| service.failed("log in", Cause::Invalid { why: "invalid user name".to_owned() }))?;
        value.set_sensitive(true);
        headers.insert("authorization", value);
        let action = format!("{method} {path}");
        let request = async {
            let sent = service.follow(method, path, &headers, body).await;
            let received = sent.map_err(|lost| service.lost(&action, lost))?;
            match received.status {
                StatusCode::UNAUTHORIZED => {
                    Err(service.failed(&action, Cause::Unauthorized { user: user.clone() }))
                }
                _ => Ok(received),
            }
        };
        self.guard.attempt(request).await
    }
}

mod base64 {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    /// Base64 with padding, as HTTP's basic authentication has it.
    pub fn encode(bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for chunk in bytes.chunks(3) {
            let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for at in 0..4 {
                let index = (bits >> (18 - 6 * at)) & 63;
                // Six bits: always in the alphabet.
                text.push(if at <= chunk.len() { char::from(ALPHABET[index as usize]) } else { '=' });
            }
        }
        text
    }

    #[test]
    fn basic_authentication_is_encoded_as_in_rfc_7617() {
        assert_eq!(encode(b"Aladdin:open sesame"), "QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(
            (encode(b"a"), encode(b"ab"), encode(b"abc")),
            ("YQ==".into(), "YWI=".into(), "YWJj".into())
        );
    }
}
