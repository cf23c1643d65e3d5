//! Tokens of service accounts, good ones and hostile ones.

use serde_json::{Value, json};

use super::*;

struct Stage {
    tokens: Arc<ServiceAccountTokens>,
    known: Arc<Known>,
    authenticator: Authenticator,
    now: SystemTime,
}

fn key() -> Vec<u8> {
    rcgen::KeyPair::generate().unwrap().serialize_der()
}

fn stage() -> Stage {
    let audiences = vec!["https://us".to_owned()];
    let tokens = Arc::new(ServiceAccountTokens::new(&key(), "https://us", audiences.clone()).unwrap());
    let known = Arc::new(Known::default());
    known.accounts.lock().unwrap().insert(("".into(), "ns".into(), "robot".into()), "uid-1".into());
    known.accounts.lock().unwrap().insert(("proj".into(), "ns".into(), "robot".into()), "uid-2".into());
    let authenticator = Authenticator::new(audiences).with_service_accounts(tokens.clone(), known.clone());
    Stage { tokens, known, authenticator, now: SystemTime::now() }
}

const ROBOT: Account<'static> =
    Account { plane: "", namespace: "ns", name: "robot", uid: "uid-1", secret: None };
const HOUR: Duration = Duration::from_secs(3600);

impl Stage {
    fn issue(&self, account: &Account<'_>, audiences: &[&str]) -> String {
        let audiences: Vec<String> = audiences.iter().map(|name| (*name).to_owned()).collect();
        self.tokens.issue(account, &audiences, HOUR, self.now).unwrap().token
    }

    async fn ask(&self, token: &str) -> Result<Identity, String> {
        self.ask_at(token, "", self.now).await
    }

    async fn ask_at(&self, token: &str, plane: &str, now: SystemTime) -> Result<Identity, String> {
        let audiences = ["https://us".to_owned()];
        let proven = self.authenticator.token_at(token, plane, &audiences, now).await?;
        Ok(proven.identity)
    }
}

fn part(token: &str, index: usize) -> Value {
    let part = token.split('.').nth(index).unwrap();
    serde_json::from_slice(&krm::base64::from_url(part).unwrap()).unwrap()
}

fn encoded(value: &Value) -> String {
    krm::base64::url(value.to_string().as_bytes())
}

#[tokio::test]
async fn an_account_is_known_by_its_token() {
    let stage = stage();
    let issued = stage.tokens.issue(&ROBOT, &[], HOUR, stage.now).unwrap();
    let robot = stage.ask(&issued.token).await.unwrap();
    assert_eq!((&*robot.user, &*robot.uid), ("system:serviceaccount:ns:robot", "uid-1"));
    assert_eq!(
        robot.groups,
        ["system:serviceaccounts".into(), "system:serviceaccounts:ns".into(), "system:authenticated".into()]
    );
    assert_eq!(robot.extra[CREDENTIAL_ID], std::slice::from_ref(&issued.credential_id));
    assert!(!format!("{issued:?}").contains(&issued.token));

    let claims = part(&issued.token, 1);
    assert_eq!(claims["iss"], "https://us");
    assert_eq!(claims["sub"], "system:serviceaccount:ns:robot");
    assert_eq!(claims["aud"], json!(["https://us"]));
    assert_eq!(claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap(), 3600);
    assert_eq!(claims["nbf"], claims["iat"]);
    assert_eq!(claims["jti"].as_str().unwrap().len(), 36);
    assert_eq!(
        claims["kubernetes.io"],
        json!({"namespace": "ns", "serviceaccount": {"name": "robot", "uid": "uid-1"}})
    );
    let header = part(&issued.token, 0);
    assert_eq!(header, json!({"alg": "ES256", "kid": stage.tokens.key_set()["keys"][0]["kid"]}));
}

#[tokio::test]
async fn a_token_ends_with_its_time_its_account_and_its_secret() {
    let stage = stage();
    let token = stage.issue(&ROBOT, &[]);
    let at = |seconds: i64| match seconds < 0 {
        true => stage.now - Duration::from_secs(seconds.unsigned_abs()),
        false => stage.now + Duration::from_secs(seconds.unsigned_abs()),
    };
    assert!(stage.ask_at(&token, "", at(3650)).await.is_ok(), "clocks may differ by a minute");
    assert_eq!(stage.ask_at(&token, "", at(3700)).await.unwrap_err(), "service account token has expired");
    assert_eq!(
        stage.ask_at(&token, "", at(-70)).await.unwrap_err(),
        "service account token is not valid yet"
    );

    let bound = Account { secret: Some(BoundSecret { name: "s", uid: "s-1" }), ..ROBOT };
    let bound = stage.issue(&bound, &[]);
    assert_eq!(stage.ask(&bound).await.unwrap_err(), "service account token has been invalidated");
    let place = ("".to_owned(), "ns".to_owned(), "s".to_owned());
    stage.known.secrets.lock().unwrap().insert(place.clone(), "s-1".into());
    assert!(stage.ask(&bound).await.is_ok());
    stage.known.secrets.lock().unwrap().insert(place, "s-2".into());
    assert!(stage.ask(&bound).await.is_err());

    let place = ("".to_owned(), "ns".to_owned(), "robot".to_owned());
    stage.known.accounts.lock().unwrap().insert(place.clone(), "uid-9".into());
    assert_eq!(
        stage.ask(&token).await.unwrap_err(),
        "service account UID (uid-9) does not match claim (uid-1)"
    );
    stage.known.accounts.lock().unwrap().remove(&place);
    assert_eq!(stage.ask(&token).await.unwrap_err(), "serviceaccounts \"robot\" not found");
}

#[tokio::test]
async fn a_token_for_others_is_not_for_us() {
    let stage = stage();
    assert_eq!(
        stage.ask(&stage.issue(&ROBOT, &["vault"])).await.unwrap_err(),
        r#"token audiences ["vault"] is invalid for the target audiences ["https://us"]"#
    );
    assert!(stage.ask(&stage.issue(&ROBOT, &["vault", "https://us"])).await.is_ok());
    let vault = ["vault".to_owned()];
    let token = stage.issue(&ROBOT, &["vault"]);
    assert_eq!(stage.authenticator.review(&token, "", &vault).await.unwrap().audiences, ["vault"]);
}

#[tokio::test]
async fn an_account_of_a_project_is_nobody_elsewhere() {
    let stage = stage();
    let project = Account { plane: "proj", uid: "uid-2", ..ROBOT };
    let token = stage.issue(&project, &[]);
    assert!(stage.ask_at(&token, "proj", stage.now).await.is_ok());
    for elsewhere in ["", "other"] {
        let said = stage.ask_at(&token, elsewhere, stage.now).await.unwrap_err();
        assert_eq!(said, "service account token is for another control plane");
    }
    let root = stage.issue(&ROBOT, &[]);
    assert!(stage.ask_at(&root, "proj", stage.now).await.is_err());
}

#[tokio::test]
async fn no_hostile_token_gets_through() {
    let stage = stage();
    let good = stage.issue(&ROBOT, &[]);
    assert!(stage.ask(&good).await.is_ok());
    let [header, claims, signature] = good.split('.').collect::<Vec<_>>()[..] else { panic!() };
    let kid = part(&good, 0)["kid"].clone();
    let mut elevated = part(&good, 1);
    elevated["kubernetes.io"]["serviceaccount"]["name"] = "admin".into();
    let elevated = encoded(&elevated);
    let with_header = |changed: Value| format!("{}.{claims}.{signature}", encoded(&changed));
    let unsigned = |alg: &str| format!("{}.{elevated}.", encoded(&json!({"alg": alg, "kid": kid})));

    // Signed with the public key as if it were a shared secret.
    let set = stage.tokens.key_set();
    let point: Vec<u8> = ["x", "y"]
        .iter()
        .flat_map(|field| krm::base64::from_url(set["keys"][0][*field].as_str().unwrap()).unwrap())
        .collect();
    let confused = format!("{}.{elevated}", encoded(&json!({"alg": "HS256", "kid": kid})));
    let mac = ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &point), confused.as_bytes());
    let confused = format!("{confused}.{}", krm::base64::url(mac.as_ref()));

    let foreign = ServiceAccountTokens::new(&key(), "https://us", vec!["https://us".into()]).unwrap();
    let foreign = foreign.issue(&ROBOT, &[], HOUR, stage.now).unwrap().token;
    let foreign_claims = foreign.split('.').nth(1).unwrap();

    let zeros = krm::base64::url(&[0_u8; 64]);
    let hostile = [
        unsigned("none"),
        unsigned("None"),
        unsigned("ES256"),
        format!("{header}.{elevated}.{signature}"),
        format!("{header}.{claims}."),
        format!("{header}.{claims}.{zeros}"),
        format!("{header}.{claims}.{}", &signature[..signature.len() - 4]),
        format!("{header}.{claims}.{signature}="),
        format!("{header}.{claims}.{signature}.x"),
        format!("{good} "),
        with_header(json!({"alg": "ES256", "kid": "../../../../dev/null"})),
        with_header(json!({"alg": "ES256", "kid": ["a"]})),
        with_header(json!({"alg": "ES384", "kid": kid})),
        with_header(json!({"alg": "RS256", "kid": kid})),
        with_header(json!({"alg": "ES256", "kid": kid, "crit": ["b64"], "b64": false})),
        with_header(json!({"alg": "ES256", "kid": kid, "jwk": set["keys"][0]})),
        confused,
        foreign.clone(),
        format!("{header}.{foreign_claims}.{}", foreign.split('.').nth(2).unwrap()),
        "a.b.c".into(),
        "..".into(),
        ".".into(),
        "{}".into(),
        format!("{}.{}.{}", encoded(&json!([])), encoded(&json!(1)), zeros),
        format!("{header}.{}.{signature}", "A".repeat(10 << 20)),
        format!("{header}.{}.{signature}", krm::base64::url("[".repeat(40_000).as_bytes())),
    ];
    for token in &hostile {
        let shown: String = token.chars().take(120).collect();
        assert!(stage.ask(token).await.is_err(), "{shown}");
    }
}

#[tokio::test]
async fn claims_of_odd_types_are_no_good_claims() {
    let stage = stage();
    let pkcs8 = key();
    let tokens =
        Arc::new(ServiceAccountTokens::new(&pkcs8, "https://us", vec!["https://us".into()]).unwrap());
    let authenticator = Authenticator::new(vec!["https://us".into()])
        .with_service_accounts(tokens.clone(), stage.known.clone());
    let rng = ring::rand::SystemRandom::new();
    let pair = ring::signature::EcdsaKeyPair::from_pkcs8(
        &ring::signature::ECDSA_P256_SHA256_FIXED_SIGNING,
        &pkcs8,
        &rng,
    )
    .unwrap();
    let template = tokens.issue(&ROBOT, &[], HOUR, stage.now).unwrap().token;
    let signed = |change: &dyn Fn(&mut Value)| {
        let mut claims = part(&template, 1);
        change(&mut claims);
        let to_sign = format!("{}.{}", encoded(&part(&template, 0)), encoded(&claims));
        let signature = pair.sign(&rng, to_sign.as_bytes()).unwrap();
        format!("{to_sign}.{}", krm::base64::url(signature.as_ref()))
    };
    let audiences = ["https://us".to_owned()];
    let ask = |token: String| {
        let (authenticator, audiences) = (&authenticator, &audiences);
        async move { authenticator.token_at(&token, "", audiences, stage.now).await }
    };
    assert!(ask(signed(&|_| {})).await.is_ok());
    let remove = |claim: &'static str| {
        signed(&move |claims: &mut Value| {
            claims.as_object_mut().unwrap().remove(claim);
        })
    };
    assert!(ask(remove("exp")).await.is_err(), "a token has to end");
    assert!(ask(remove("aud")).await.is_err());
    assert!(ask(remove("kubernetes.io")).await.is_err());
    assert!(ask(remove("jti")).await.is_ok());
    for (claim, value) in [
        ("exp", json!("never")),
        ("exp", json!(1e300)),
        ("exp", json!(-1)),
        ("nbf", json!("x")),
        ("nbf", json!(9e15)),
        ("iat", json!(9e15)),
        ("iat", json!({})),
        ("aud", json!({"https://us": true})),
        ("aud", json!([["https://us"]])),
        ("groundplane.dev/plane", json!("proj")),
        ("kubernetes.io", json!({"namespace": "ns", "serviceaccount": {"name": ["robot"], "uid": "uid-1"}})),
        (
            "kubernetes.io",
            json!({"namespace": "ns", "serviceaccount": {"name": "robot", "uid": "uid-1"}, "pod": {}}),
        ),
    ] {
        let endless = claim == "exp" && value == json!(1e300);
        let token = signed(&|claims: &mut Value| claims[claim] = value.clone());
        assert_eq!(ask(token).await.is_ok(), endless, "{claim}: {value}");
    }
}

#[test]
fn the_published_key_is_the_one_that_verifies() {
    let stage = stage();
    let set = stage.tokens.key_set();
    let keys = jwk::keys_from_json(set.to_string().as_bytes()).unwrap();
    let token = stage.issue(&ROBOT, &[]);
    assert!(jwt::Unproved::parse(&token).unwrap().proved_by(&keys).is_some());
    assert_eq!(stage.tokens.discovery("https://us/openid/v1/jwks")["jwks_uri"], "https://us/openid/v1/jwks");
}

#[test]
fn a_key_that_is_none_is_told_from_one() {
    let said = ServiceAccountTokens::new(b"junk", "x", vec![]).unwrap_err().to_string();
    assert!(said.contains("service-accounts.pem"), "{said}");
}
