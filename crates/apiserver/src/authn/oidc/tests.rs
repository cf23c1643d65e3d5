use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use super::*;
use crate::authn::fetch::{FetchError, Fetching};
use crate::authn::jwt::Unproved;
use crate::authn::{Authenticator, CREDENTIAL_ID};

const ISSUER: &str = "https://idp.example.com/realm";

/// The web, as far as a test needs it.
#[derive(Default)]
struct Web {
    pages: Mutex<BTreeMap<String, Value>>,
    asked: AtomicUsize,
}

impl Web {
    fn put(&self, url: &str, page: Value) {
        self.pages.lock().unwrap().insert(url.to_owned(), page);
    }
}

impl Fetch for Web {
    fn get<'a>(&'a self, url: &'a str) -> Fetching<'a> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let page = self.pages.lock().unwrap().get(url).map(|page| Bytes::from(page.to_string()));
        Box::pin(async move { page.ok_or_else(|| FetchError { url: url.to_owned(), why: "404".to_owned() }) })
    }
}

type Sign = Box<dyn Fn(&[u8]) -> Vec<u8>>;

/// A key that signs tokens, and how it is published.
struct Signer {
    kid: &'static str,
    alg: &'static str,
    public: Value,
    sign: Sign,
}

fn ec(kid: &'static str) -> Signer {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
    let point = pair.public_key().as_ref().to_vec();
    let encode = |bytes: &[u8]| krm::base64::url(bytes);
    let public = json!({"kty": "EC", "crv": "P-256", "kid": kid, "use": "sig",
                        "x": encode(&point[1..33]), "y": encode(&point[33..])});
    let sign = Box::new(move |message: &[u8]| pair.sign(&random, message).unwrap().as_ref().to_vec());
    Signer { kid, alg: "ES256", public, sign }
}

fn ed(kid: &'static str) -> Signer {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
    let x = krm::base64::url(pair.public_key().as_ref());
    let public = json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": x});
    let sign = Box::new(move |message: &[u8]| pair.sign(message).as_ref().to_vec());
    Signer { kid, alg: "EdDSA", public, sign }
}

impl Signer {
    fn token(&self, claims: &Value) -> String {
        self.token_with(json!({"alg": self.alg, "kid": self.kid}), claims)
    }

    fn token_with(&self, header: Value, claims: &Value) -> String {
        let encode = |value: &Value| krm::base64::url(value.to_string().as_bytes());
        let to_sign = format!("{}.{}", encode(&header), encode(claims));
        format!("{to_sign}.{}", krm::base64::url(&(self.sign)(to_sign.as_bytes())))
    }
}

fn config(jwt: Value) -> Value {
    json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": [jwt]})
}

fn plain() -> Value {
    json!({
        "issuer": {"url": ISSUER, "audiences": ["us", "also-us"]},
        "claimMappings": {"username": {"claim": "sub", "prefix": "oidc:"}, "groups": {"claim": "groups", "prefix": "oidc:"}},
    })
}

fn publish(web: &Web, keys: &[&Signer]) {
    let jwks = "https://idp.example.com/keys";
    web.put(
        &format!("{ISSUER}/.well-known/openid-configuration"),
        json!({"issuer": ISSUER, "jwks_uri": jwks}),
    );
    let keys: Vec<&Value> = keys.iter().map(|signer| &signer.public).collect();
    web.put(jwks, json!({"keys": keys}));
}

fn stage(jwt: Value, keys: &[&Signer]) -> (Arc<Web>, Authenticator) {
    let web = Arc::new(Web::default());
    publish(&web, keys);
    let config = AuthenticationConfig::from_json(&config(jwt)).unwrap();
    let fetch: Arc<dyn Fetch> = web.clone();
    let issuers = Issuer::all_from(&config, &fetch).unwrap();
    (web, Authenticator::new(vec!["api".into()]).with_issuers(issuers))
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

fn claims() -> Value {
    json!({"iss": ISSUER, "sub": "ann", "aud": "us", "exp": seconds() + 600, "iat": seconds(), "groups": ["a", "b"], "jti": "j"})
}

fn changed(change: impl Fn(&mut Value)) -> Value {
    let mut claims = claims();
    change(&mut claims);
    claims
}

async fn ask(authenticator: &Authenticator, token: &str) -> Result<crate::Identity, String> {
    authenticator.review(token, "", &[]).await.map(|proven| proven.identity)
}

#[tokio::test]
async fn a_token_of_the_issuer_is_its_user_with_prefixes() {
    for signer in [ec("k1"), ed("k2")] {
        let (_, authenticator) = stage(plain(), &[&signer]);
        let ann = ask(&authenticator, &signer.token(&claims())).await.unwrap();
        assert_eq!(&*ann.user, "oidc:ann");
        assert_eq!(ann.groups, ["oidc:a".into(), "oidc:b".into(), "system:authenticated".into()]);
        assert_eq!(ann.extra[CREDENTIAL_ID], ["JTI=j"]);
    }
}

#[tokio::test]
async fn rsa_signatures_are_verified_too() {
    // RFC 7515, appendix A.2: a key and a signature made by others.
    let n = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
    let token = concat!(
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.",
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    );
    let set = json!({"keys": [{"kty": "RSA", "n": n, "e": "AQAB"}]}).to_string();
    let keys = crate::authn::jwk::keys_from_json(set.as_bytes()).unwrap();
    let parsed = Unproved::parse(token).unwrap();
    assert_eq!(parsed.issuer(), "joe");
    assert!(parsed.clone().proved_by(&keys).is_some());
    let other = json!({"keys": [{"kty": "RSA", "n": n, "e": "AQAB", "alg": "RS512"}]}).to_string();
    let other = crate::authn::jwk::keys_from_json(other.as_bytes()).unwrap();
    assert!(parsed.proved_by(&other).is_none(), "a key for RS512 verifies nothing else");
}

#[tokio::test]
async fn a_token_must_be_for_us_and_in_time() {
    let signer = ec("k");
    let (_, authenticator) = stage(plain(), &[&signer]);
    let refused = [
        (changed(|claims| claims["aud"] = "them".into()), "expected audience"),
        (changed(|claims| claims["aud"] = json!(["them", 1])), "expected audience"),
        (changed(|claims| claims["aud"] = Value::Null), "expected audience"),
        (changed(|claims| claims["exp"] = (seconds() - 120).into()), "token is expired"),
        (changed(|claims| claims["exp"] = Value::Null), "token is expired"),
        (changed(|claims| claims["nbf"] = (seconds() + 120).into()), "nbf"),
        (changed(|claims| claims["sub"] = Value::Null), "username"),
        (changed(|claims| claims["sub"] = "".into()), "username"),
        (changed(|claims| claims["sub"] = json!(["ann"])), "username"),
        (changed(|claims| claims["groups"] = json!([1])), "groups"),
        (changed(|claims| claims["groups"] = json!({"a": 1})), "groups"),
        (changed(|claims| claims["iss"] = "https://evil.example.com".into()), "invalid bearer token"),
    ];
    for (claims, why) in &refused {
        let said = ask(&authenticator, &signer.token(claims)).await.unwrap_err();
        assert!(said.contains(why), "{claims}: {said}");
    }
    let several = changed(|claims| claims["aud"] = json!(["x", "also-us"]));
    assert!(ask(&authenticator, &signer.token(&several)).await.is_ok());
    let one_group = changed(|claims| claims["groups"] = "solo".into());
    let ann = ask(&authenticator, &signer.token(&one_group)).await.unwrap();
    assert!(ann.is_in("oidc:solo"));
}

#[tokio::test]
async fn hostile_headers_get_nobody_in() {
    let (signer, stranger) = (ec("k"), ec("k"));
    let (web, authenticator) = stage(plain(), &[&signer]);
    assert!(ask(&authenticator, &signer.token(&claims())).await.is_ok());
    let before = web.asked.load(Ordering::SeqCst);
    let hostile = [
        stranger.token(&claims()),
        signer.token_with(json!({"alg": "none"}), &claims()),
        signer.token_with(json!({"alg": "HS256", "kid": "k"}), &claims()),
        signer.token_with(json!({"alg": "RS256", "kid": "k"}), &claims()),
        signer.token_with(json!({"kid": "k"}), &claims()),
        signer.token_with(json!({"alg": "ES256", "kid": "k", "crit": ["exp"]}), &claims()),
        stranger.token_with(json!({"alg": "ES256", "jwk": stranger.public}), &claims()),
        stranger.token_with(
            json!({"alg": "ES256", "kid": "k", "jku": "https://evil.example.com/keys"}),
            &claims(),
        ),
        stranger.token_with(json!({"alg": "ES256", "kid": "../../etc/passwd"}), &claims()),
        stranger.token_with(json!({"alg": "ES256", "kid": "https://evil.example.com"}), &claims()),
        stranger.token_with(json!({"alg": "ES256", "kid": "x".repeat(10_000)}), &claims()),
    ];
    for token in &hostile {
        assert!(ask(&authenticator, token).await.is_err(), "{token}");
    }
    let asked = web.asked.load(Ordering::SeqCst) - before;
    assert!(asked <= 2, "made-up key names do not make us ask again and again: {asked}");
}

#[tokio::test]
async fn a_new_key_is_fetched_when_a_token_names_it() {
    let (old, new) = (ec("old"), ec("new"));
    let (web, authenticator) = stage(plain(), &[&old]);
    let seen = old.token(&claims());
    assert!(ask(&authenticator, &seen).await.is_ok());
    assert_eq!(web.asked.load(Ordering::SeqCst), 2);
    assert!(ask(&authenticator, &old.token(&claims())).await.is_ok());
    assert_eq!(web.asked.load(Ordering::SeqCst), 2, "a key that is known is not asked for");

    publish(&web, &[&new]);
    // The issuer was asked a moment ago: that has to be over.
    assert!(ask(&authenticator, &new.token(&claims())).await.is_err());
    let Some(issuer) = authenticator_issuer(&authenticator) else { panic!() };
    issuer.keys.forget_when_asked().await;
    assert!(ask(&authenticator, &new.token(&claims())).await.is_ok());
    assert!(ask(&authenticator, &old.token(&claims())).await.is_err(), "the old one was withdrawn");
    assert!(ask(&authenticator, &seen).await.is_err(), "also for tokens that were believed before");
}

fn authenticator_issuer(authenticator: &Authenticator) -> Option<&Issuer> {
    authenticator.issuers.first()
}

#[tokio::test]
async fn an_issuer_that_is_down_or_lies_proves_nobody() {
    let signer = ec("k");
    let (web, authenticator) = stage(plain(), &[&signer]);
    let discovery = format!("{ISSUER}/.well-known/openid-configuration");
    web.put(
        &discovery,
        json!({"issuer": "https://evil.example.com", "jwks_uri": "https://idp.example.com/keys"}),
    );
    let said = ask(&authenticator, &signer.token(&claims())).await.unwrap_err();
    assert!(said.contains("an issuer other than"), "{said}");

    for page in
        [json!([]), json!({"issuer": ISSUER}), json!({"issuer": ISSUER, "jwks_uri": "https://nowhere"})]
    {
        let (web, authenticator) = stage(plain(), &[&signer]);
        web.put(&discovery, page);
        assert!(ask(&authenticator, &signer.token(&claims())).await.is_err());
    }
    for set in [json!({}), json!({"keys": "x"}), json!({"keys": [1, {}, {"kty": "oct", "k": "c2VjcmV0"}]})] {
        let (web, authenticator) = stage(plain(), &[&signer]);
        web.put("https://idp.example.com/keys", set);
        assert!(ask(&authenticator, &signer.token(&claims())).await.is_err());
    }
}

#[tokio::test]
async fn an_address_that_was_not_verified_is_nobody_s() {
    let signer = ec("k");
    let mut jwt = plain();
    jwt["claimMappings"] = json!({"username": {"claim": "email", "prefix": ""}, "uid": {"claim": "sub"}});
    jwt["claimValidationRules"] = json!([{"claim": "hd", "requiredValue": "example.com"}]);
    let (_, authenticator) = stage(jwt, &[&signer]);
    let with = |verified: Value, domain: &str| {
        changed(|claims| {
            claims["email"] = "ann@example.com".into();
            claims["hd"] = domain.into();
            if !verified.is_null() {
                claims["email_verified"] = verified.clone();
            }
        })
    };
    let ann = ask(&authenticator, &signer.token(&with(json!(true), "example.com"))).await.unwrap();
    assert_eq!((&*ann.user, &*ann.uid), ("ann@example.com", "ann"));
    assert!(ask(&authenticator, &signer.token(&with(Value::Null, "example.com"))).await.is_ok());
    for (verified, domain) in
        [(json!(false), "example.com"), (json!("true"), "example.com"), (json!(true), "evil.com")]
    {
        assert!(ask(&authenticator, &signer.token(&with(verified, domain))).await.is_err());
    }
    assert!(ask(&authenticator, &signer.token(&claims())).await.is_err());
}

#[tokio::test]
async fn keys_may_stand_in_a_file() {
    let signer = ec("k");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.json");
    let mut jwt = plain();
    jwt["issuer"]["jwksFile"] = json!(path);
    let config = AuthenticationConfig::from_json(&config(jwt)).unwrap();
    assert!(Issuer::all(&config).unwrap_err().to_string().contains("keys.json"));
    std::fs::write(&path, json!({"keys": [signer.public]}).to_string()).unwrap();
    let authenticator = Authenticator::new(vec![]).with_issuers(Issuer::all(&config).unwrap());
    assert!(ask(&authenticator, &signer.token(&claims())).await.is_ok());
    assert!(ask(&authenticator, &ec("k").token(&claims())).await.is_err());
}

#[test]
fn a_configuration_that_is_not_understood_is_refused() {
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut jwt = plain();
        change(&mut jwt);
        AuthenticationConfig::from_json(&config(jwt)).unwrap_err().to_string()
    };
    let expression = wrong(&|jwt| jwt["claimMappings"]["username"] = json!({"expression": "claims.sub"}));
    assert!(expression.contains("expression"), "{expression}");
    assert!(wrong(&|jwt| jwt["userValidationRules"] = json!([])).contains("userValidationRules"));
    assert!(
        wrong(&|jwt| jwt["issuer"]["url"] = "http://idp.example.com".into()).contains("jwt[0].issuer.url")
    );
    assert!(wrong(&|jwt| jwt["issuer"]["audiences"] = json!([])).contains("jwt[0].issuer.audiences"));
    assert!(wrong(&|jwt| jwt["issuer"]["audienceMatchPolicy"] = "MatchAll".into()).contains("MatchAny"));
    let prefix = wrong(&|jwt| jwt["claimMappings"]["groups"] = json!({"claim": "groups"}));
    assert!(prefix.contains("claimMappings.groups.prefix"), "{prefix}");
    let twice = json!({
        "apiVersion": "apiserver.config.k8s.io/v1beta1", "kind": "AuthenticationConfiguration", "jwt": [plain(), plain()],
    });
    assert!(AuthenticationConfig::from_json(&twice).unwrap_err().to_string().contains("jwt[1].issuer.url"));
    assert!(AuthenticationConfig::from_json(&json!({"kind": "Pod", "apiVersion": "v1"})).is_err());
    let anonymous = json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration",
        "anonymous": {"enabled": true, "conditions": [{"path": "/livez"}]},
    });
    let anonymous = AuthenticationConfig::from_json(&anonymous).unwrap().anonymous;
    assert!(anonymous.may_ask_for("/livez") && !anonymous.may_ask_for("/readyz"));
}
