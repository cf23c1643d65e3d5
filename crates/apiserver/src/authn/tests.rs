mod impersonating;
mod odd_input;
mod service_accounts;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use http::{HeaderName, HeaderValue};

use super::*;
use crate::identity::MASTERS;

pub(super) fn headers(list: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in list {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

/// Accounts by plane, namespace and name; secrets likewise.
#[derive(Default)]
pub(super) struct Known {
    pub accounts: Mutex<BTreeMap<(String, String, String), String>>,
    pub secrets: Mutex<BTreeMap<(String, String, String), String>>,
}

impl ServiceAccounts for Known {
    fn account_uid(&self, plane: &str, namespace: &str, name: &str) -> Option<String> {
        self.accounts.lock().unwrap().get(&(plane.into(), namespace.into(), name.into())).cloned()
    }

    fn secret_uid(&self, plane: &str, namespace: &str, name: &str) -> Option<String> {
        self.secrets.lock().unwrap().get(&(plane.into(), namespace.into(), name.into())).cloned()
    }
}

fn token_file(text: &str) -> (tempfile::TempDir, TokenFile) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tokens.csv");
    std::fs::write(&path, text).unwrap();
    (dir, TokenFile::open(path).unwrap())
}

fn admin_file() -> (tempfile::TempDir, Authenticator) {
    let (dir, file) = token_file("s3cret,admin,1,system:masters\n");
    (dir, Authenticator::new(vec!["us".into()]).with_token_file(file))
}

async fn who(
    authenticator: &Authenticator,
    list: &[(&str, &str)],
    peer: &Peer,
) -> Result<Identity, Unauthorized> {
    let headers = headers(list);
    let presented = Presented { headers: &headers, peer, path: "/api", plane: "" };
    authenticator.authenticate(&presented).await
}

fn known_peer(user: &str, until: SystemTime) -> Peer {
    Peer::Known { identity: Arc::new(Identity::new(user, &["staff"])), until }
}

#[tokio::test]
async fn whoever_presents_nothing_is_anonymous_where_that_is_allowed() {
    let open = Authenticator::new(vec![]);
    assert_eq!(who(&open, &[], &Peer::Unknown).await.unwrap(), Identity::anonymous());
    let only_health = Anonymous { enabled: true, paths: ["/healthz".to_owned()].into() };
    let some = Authenticator::new(vec![]).with_anonymous(only_health);
    assert!(who(&some, &[], &Peer::Unknown).await.is_err());
    let none = Authenticator::new(vec![]).with_anonymous(Anonymous { enabled: false, paths: [].into() });
    assert!(who(&none, &[], &Peer::Unknown).await.is_err());
    // What is no credential of ours is none at all, as in Kubernetes.
    assert!(who(&open, &[("authorization", "Basic YTpi")], &Peer::Unknown).await.unwrap().is_anonymous());
    assert!(who(&open, &[("authorization", "Bearer ")], &Peer::Unknown).await.unwrap().is_anonymous());
}

#[tokio::test]
async fn a_client_certificate_is_believed_until_it_ends() {
    let authenticator = Authenticator::new(vec![]);
    let soon = SystemTime::now() + Duration::from_secs(60);
    let found = who(&authenticator, &[], &known_peer("ann", soon)).await.unwrap();
    let ann = Identity::new("ann", &["staff", "system:authenticated"]);
    assert_eq!(found, Identity { expires: Some(soon), ..ann }, "and what it opens ends with it");

    let over = SystemTime::now() - Duration::from_secs(1);
    assert!(who(&authenticator, &[], &known_peer("ann", over)).await.is_err());
    let refused = Peer::Refused { reason: "unknown issuer".into() };
    assert_eq!(who(&authenticator, &[], &refused).await.unwrap_err().reason, "unknown issuer");
}

#[tokio::test]
async fn a_good_token_makes_up_for_a_bad_certificate_but_not_the_other_way_round() {
    let (_dir, authenticator) = admin_file();
    let refused = Peer::Refused { reason: "unknown issuer".into() };
    let found = who(&authenticator, &[("authorization", "Bearer s3cret")], &refused).await.unwrap();
    assert_eq!(&*found.user, "admin");
    let soon = SystemTime::now() + Duration::from_secs(60);
    let by_certificate =
        who(&authenticator, &[("authorization", "Bearer wrong")], &known_peer("ann", soon)).await;
    assert_eq!(&*by_certificate.unwrap().user, "ann", "a certificate comes first");
    let neither = who(&authenticator, &[("authorization", "Bearer wrong")], &refused).await.unwrap_err();
    assert_eq!(neither.reason, "unknown issuer; invalid bearer token");
}

#[tokio::test]
async fn a_token_of_the_file_is_its_user() {
    let (_dir, authenticator) = admin_file();
    for header in ["Bearer s3cret", "bearer s3cret", "  BEARER s3cret  ", "Bearer s3cret trailing"] {
        let found = who(&authenticator, &[("authorization", header)], &Peer::Unknown).await.unwrap();
        assert_eq!((&*found.user, &*found.uid), ("admin", "1"), "{header}");
        assert!(found.is_in(MASTERS) && found.is_in("system:authenticated"));
    }
    for header in ["Bearer s3cre", "Bearer s3crett", "Bearer S3CRET", "Bearer s3cret\u{7f}"] {
        let Ok(value) = HeaderValue::from_str(header) else { continue };
        let mut headers = HeaderMap::new();
        headers.insert("authorization", value);
        let presented = Presented { headers: &headers, peer: &Peer::Unknown, path: "/", plane: "" };
        assert!(authenticator.authenticate(&presented).await.is_err(), "{header}");
    }
}

#[tokio::test]
async fn a_websocket_may_carry_its_token_as_a_protocol() {
    let (_dir, authenticator) = admin_file();
    let bearer = "base64url.bearer.authorization.k8s.io.czNjcmV0";
    let upgrade = ("upgrade", "WebSocket");
    let ask = |list: Vec<(&'static str, String)>| {
        let authenticator = &authenticator;
        async move {
            let list: Vec<(&str, &str)> = list.iter().map(|(name, value)| (*name, value.as_str())).collect();
            who(authenticator, &list, &Peer::Unknown).await
        }
    };
    let protocols = |text: String| vec![("upgrade", upgrade.1.to_owned()), ("sec-websocket-protocol", text)];
    assert_eq!(&*ask(protocols(format!("{bearer}, v4.channel.k8s.io"))).await.unwrap().user, "admin");
    assert!(ask(protocols(bearer.to_owned())).await.is_err(), "one protocol must be left to answer with");
    assert!(ask(protocols(format!("{bearer},{bearer},x"))).await.is_err());
    assert!(ask(protocols("base64url.bearer.authorization.k8s.io.***,x".to_owned())).await.is_err());
    assert!(ask(protocols("base64url.bearer.authorization.k8s.io._-,x".to_owned())).await.is_err());
    assert!(ask(protocols("base64url.bearer.authorization.k8s.io.d3Jvbmc,x".to_owned())).await.is_err());
    let plain = vec![("sec-websocket-protocol", format!("{bearer},x"))];
    assert!(ask(plain).await.unwrap().is_anonymous(), "only a WebSocket may");
}

#[test]
fn credentials_are_gone_after_authentication() {
    let mut list = headers(&[
        ("authorization", "Bearer x"),
        ("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.eA, v4.channel.k8s.io"),
        ("x-remote-user", "root"),
        ("x-remote-extra-a", "b"),
        ("accept", "*/*"),
    ]);
    strip_credentials(&mut list);
    let left: Vec<(&str, &[u8])> =
        list.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!(list["sec-websocket-protocol"], "v4.channel.k8s.io");
}

#[tokio::test]
async fn a_review_asks_for_audiences() {
    let (_dir, authenticator) = admin_file();
    let proven = authenticator.review("s3cret", "", &[]).await.unwrap();
    assert_eq!(proven.audiences, ["us"]);
    let both = ["them".to_owned(), "us".to_owned()];
    assert_eq!(authenticator.review("s3cret", "", &both).await.unwrap().audiences, ["us"]);
    assert_eq!(authenticator.review("s3cret", "", &both[..1]).await.unwrap_err(), "invalid bearer token");
    assert_eq!(authenticator.review("wrong", "", &[]).await.unwrap_err(), "invalid bearer token");
}

#[test]
fn nothing_secret_shows_in_debug_output() {
    let (_dir, authenticator) = admin_file();
    let shown = format!("{authenticator:?} {:?}", authenticator.tokens);
    assert!(!shown.contains("s3cret"), "{shown}");
}
