//! Sessions of browsers and one-time links, kept as Secrets in `kube-system` so that all servers of a store know them.
//!
//! A cookie or a link holds 32 random bytes. The Secret is named after their hash: who reads it can't sign in with it.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use apiserver::api::Api;
use apiserver::authn::Sessions;
use apiserver::client::Client;
use apiserver::identity::{AUTHENTICATED, Identity, MASTERS};
use apiserver::plane::Plane;
use bytes::Bytes;
use http::header::COOKIE;
use http::{HeaderMap, Method};
use krm::time::Moment;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::PATH;
use crate::address;
use crate::refusal::Refusal;
use crate::viewer::{Ask, ask};

/// The cookie of a session. Browsers take a cookie of this prefix only from the host itself and over TLS.
pub const NAME: &str = "__Host-groundplane";
/// How long a session goes on, unless the credentials that it was made with expire before.
const LONGEST: Duration = Duration::from_secs(12 * 3600);
/// How long a link can be used.
const LINK: Duration = Duration::from_secs(10 * 60);
/// How many sessions one user may have; the oldest end first.
const MOST: usize = 32;
const NAMESPACE: &str = "kube-system";
const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";
/// The label with a hash of the user's name, by which sessions are found.
const USER: &str = "portal.groundplane.dev/user";

/// What a Secret of ours is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Session,
    Link,
}

impl Purpose {
    fn kind(self) -> &'static str {
        match self {
            Purpose::Session => "portal.groundplane.dev/session",
            Purpose::Link => "portal.groundplane.dev/link",
        }
    }

    fn name(self, secret: &str) -> String {
        let prefix = match self {
            Purpose::Session => "portal-session",
            Purpose::Link => "portal-link",
        };
        format!("{prefix}-{}", hash(secret))
    }
}

/// Somebody who has signed in with a browser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Name of its Secret.
    #[serde(skip)]
    pub name: String,
    user: String,
    uid: String,
    groups: Vec<String>,
    extra: std::collections::BTreeMap<String, Vec<String>>,
    /// The token that every write of this session has to name.
    pub csrf: String,
    /// Seconds since 1970 at which it began.
    pub started: i64,
    /// Seconds since 1970 at which it ends.
    pub expires: i64,
    /// The browser, as it calls itself.
    pub agent: String,
    /// How the user signed in.
    pub by: String,
}

impl Session {
    /// Who signed in.
    pub fn identity(&self) -> Identity {
        let groups: Vec<&str> = self.groups.iter().map(String::as_str).collect();
        let seconds = u64::try_from(self.expires).unwrap_or(0);
        Identity {
            uid: self.uid.as_str().into(),
            extra: self.extra.clone(),
            expires: Some(UNIX_EPOCH + Duration::from_secs(seconds)),
            ..Identity::new(&self.user, &groups)
        }
    }

    /// The name of who signed in.
    pub fn user(&self) -> &str {
        &self.user
    }
}

/// The sessions of this server, as authentication asks for them.
pub struct Browsers;

impl Sessions for Browsers {
    fn path(&self) -> &str {
        PATH
    }

    fn identity(&self, api: &Api, headers: &HeaderMap) -> Option<Identity> {
        Some(of(api, headers)?.identity())
    }
}

/// The session of a request.
pub fn of(api: &Api, headers: &HeaderMap) -> Option<Session> {
    let token = cookie(headers, NAME)?;
    let name = Purpose::Session.name(token);
    let session = stored(api, Purpose::Session, &name)?.0;
    Some(session)
}

/// A cookie of a request.
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// Makes a link with which somebody can sign in once, and tells its secret.
pub async fn link(api: &Api, who: &Identity) -> Result<String, Refusal> {
    let now = api.now().seconds;
    let expires = ends(who, now, LINK);
    create(api, Purpose::Link, who, now, expires, "", "link").await
}

/// Who a link signs in, without using it up.
pub fn linked(api: &Api, secret: &str) -> Option<String> {
    stored(api, Purpose::Link, &Purpose::Link.name(secret)).map(|(link, ..)| link.user)
}

/// Uses a link up, and tells the secret of the new session.
pub async fn redeem(api: &Api, secret: &str, agent: &str) -> Result<String, Refusal> {
    let used_up =
        || Refusal::new(403, "This link was used already, or is older than ten minutes. Make a new one.");
    let name = Purpose::Link.name(secret);
    let (link, uid, credentials) = stored(api, Purpose::Link, &name).ok_or_else(used_up)?;
    // Of several who use it at once, one deletes it.
    delete(api, &name, Some(&uid)).await.map_err(|_| used_up())?;
    let mut who = link.identity();
    who.expires = credentials;
    begin(api, &who, agent, "one-time link").await
}

/// Begins a session, and tells its secret.
pub async fn begin(api: &Api, who: &Identity, agent: &str, by: &str) -> Result<String, Refusal> {
    let now = api.now().seconds;
    let mut old = all_of(api, &who.user).await?;
    old.sort_by_key(|session| std::cmp::Reverse(session.started));
    for session in old.iter().skip(MOST - 1).chain(old.iter().filter(|session| session.expires <= now)) {
        // Another server may have ended it meanwhile.
        let _ = delete(api, &session.name, None).await;
    }
    create(api, Purpose::Session, who, now, ends(who, now, LONGEST), agent, by).await
}

/// The sessions of a user.
pub async fn all_of(api: &Api, user: &str) -> Result<Vec<Session>, Refusal> {
    let selector = format!("{USER}={}", hash(user));
    let path = SECRETS.to_owned() + &address::query(&[("labelSelector", selector.as_str())]);
    let list = asked(api, Ask::get(&path)).await?;
    let items = crate::text::items(&list, "/items").iter();
    Ok(items.filter_map(|item| read(item, Purpose::Session)).map(|(session, ..)| session).collect())
}

/// Ends a session of a user.
pub async fn end(api: &Api, user: &str, name: &str) -> Result<(), Refusal> {
    let is_theirs = all_of(api, user).await?.iter().any(|session| session.name == name);
    match is_theirs {
        true => delete(api, name, None).await,
        false => Err(Refusal::new(404, "You have no such session; it may have ended.")),
    }
}

/// When what is made now for somebody ends: not after the credentials that they showed.
fn ends(who: &Identity, now: i64, longest: Duration) -> i64 {
    let latest = now.saturating_add(i64::try_from(longest.as_secs()).unwrap_or(i64::MAX));
    who.expires.and_then(seconds_of).map_or(latest, |end| end.min(latest))
}

fn seconds_of(moment: SystemTime) -> Option<i64> {
    i64::try_from(moment.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

async fn create(
    api: &Api,
    purpose: Purpose,
    who: &Identity,
    now: i64,
    expires: i64,
    agent: &str,
    by: &str,
) -> Result<String, Refusal> {
    let secret = krm::base64::url(&api.random::<32>());
    let session = Session {
        name: String::new(),
        user: who.user.to_string(),
        uid: who.uid.to_string(),
        groups: who.groups.iter().map(ToString::to_string).collect(),
        extra: who.extra.clone(),
        csrf: krm::base64::url(&api.random::<24>()),
        started: now,
        expires,
        agent: crate::text::limited(agent, 200),
        by: by.to_owned(),
    };
    let mut content = serde_json::to_value(&session).unwrap_or_default();
    content["credentialsExpire"] = json!(who.expires.and_then(seconds_of));
    let object = json!({
        "apiVersion": "v1", "kind": "Secret", "type": purpose.kind(),
        "metadata": {"name": purpose.name(&secret), "labels": {USER: hash(&who.user)}},
        "data": {"session": krm::base64::encode(&krm::encode::to_json(&content))},
    });
    asked(api, Ask::send(Method::POST, SECRETS, "application/json", krm::encode::to_json(&object))).await?;
    Ok(secret)
}

async fn delete(api: &Api, name: &str, uid: Option<&str>) -> Result<(), Refusal> {
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid}});
    let path = format!("{SECRETS}/{name}");
    let body = krm::encode::to_json(&options);
    asked(api, Ask::send(Method::DELETE, &path, "application/json", body)).await.map(drop)
}

/// Asks the API about sessions, which belong to the server and not to their users.
async fn asked(api: &Api, request: Ask) -> Result<Value, Refusal> {
    let portal = Identity::new("system:portal", &[MASTERS, AUTHENTICATED]);
    let from = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let body: Bytes = ask(api, &portal, from, request).await?;
    serde_json::from_slice(&body).map_err(|error| Refusal::new(500, error.to_string()))
}

/// What a Secret of ours says, unless it is over: with its uid, and when the credentials behind it expire.
fn stored(api: &Api, purpose: Purpose, name: &str) -> Option<(Session, String, Option<SystemTime>)> {
    let catalog = api.kinds().of(&Plane::root());
    let secrets = catalog.resource("", "secrets")?;
    let object = Client::system(api, "portal").read(secrets, NAMESPACE, name)?;
    let found = read(&object.into_value(), purpose)?;
    (found.0.expires > api.now().seconds).then_some(found)
}

fn read(secret: &Value, purpose: Purpose) -> Option<(Session, String, Option<SystemTime>)> {
    if secret["type"] != purpose.kind() {
        return None;
    }
    let content = krm::base64::decode(secret.pointer("/data/session")?.as_str()?).ok()?;
    let content: Value = serde_json::from_slice(&content).ok()?;
    let credentials = content["credentialsExpire"].as_u64();
    let credentials = credentials.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
    let mut session: Session = serde_json::from_value(content).ok()?;
    session.name = crate::text::at(secret, "/metadata/name").to_owned();
    Some((session, crate::text::at(secret, "/metadata/uid").to_owned(), credentials))
}

/// The first 20 bytes of the SHA-256 of a text, in hex.
fn hash(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    digest.as_ref().iter().take(20).map(|byte| format!("{byte:02x}")).collect()
}

/// Seconds since 1970 as the API writes moments.
pub fn written(seconds: i64) -> String {
    Moment::of_seconds(seconds).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("theme=dark; __Host-groundplane=abc"));
        headers.append(COOKIE, HeaderValue::from_static("x=y"));
        assert_eq!(cookie(&headers, NAME), Some("abc"));
        assert_eq!(cookie(&headers, "x"), Some("y"));
        assert_eq!(cookie(&headers, "groundplane"), None);
    }

    #[test]
    fn a_session_ends_with_the_credentials_it_was_made_with() {
        let who =
            Identity { expires: Some(UNIX_EPOCH + Duration::from_secs(1_100)), ..Identity::new("ann", &[]) };
        assert_eq!(ends(&who, 1_000, LONGEST), 1_100);
        assert_eq!(ends(&Identity::new("ann", &[]), 1_000, LINK), 1_600);
    }
}
