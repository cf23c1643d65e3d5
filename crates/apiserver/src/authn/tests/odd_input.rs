//! Nothing that a client can send makes us panic.

use proptest::prelude::*;

use super::*;

fn encoded(json: &str) -> String {
    krm::base64::url(json.as_bytes())
}

proptest! {
    #[test]
    fn no_token_is_too_odd(token in any::<String>(), parts in proptest::collection::vec("[A-Za-z0-9_=.-]{0,40}", 3)) {
        let _ = jwt::Unproved::parse(&token);
        let _ = jwt::Unproved::parse(&parts.join("."));
    }

    #[test]
    fn no_claim_is_too_odd(
        alg in "[A-Z0-9a-z]{0,6}",
        claim in "(exp|nbf|iat|aud|iss|kubernetes.io)",
        value in "(null|-?[0-9]{1,25}|1e[0-9]{1,4}|\\[\\]|\\{\\}|\"[a-z]{0,5}\"|true)",
    ) {
        let header = encoded(&format!("{{\"alg\":\"{alg}\"}}"));
        let claims = encoded(&format!("{{\"{claim}\":{value}}}"));
        let token = format!("{header}.{claims}.AAAA");
        if let Some(token) = jwt::Unproved::parse(&token) {
            prop_assert!(token.proved_by(&[jwk::Key::p256("k", &[4; 65])]).is_none());
        }
        let claims = format!("{{\"{claim}\":{value}}}");
        if let Ok(claims) = serde_json::from_str(&claims) {
            let claims = jwt::Claims(&claims);
            let _ = (claims.audiences(), claims.timely(SystemTime::now(), Duration::from_secs(60)));
        }
    }

    #[test]
    fn no_set_of_keys_is_too_odd(bytes: Vec<u8>, field in "[a-zA-Z0-9_-]{0,100}") {
        let _ = jwk::keys_from_json(&bytes);
        for kind in ["RSA", "EC", "OKP"] {
            let key = serde_json::json!({"kty": kind, "crv": "P-256", "n": field, "e": field, "x": field, "y": field});
            let set = serde_json::json!({"keys": [key]}).to_string();
            for key in jwk::keys_from_json(set.as_bytes()).unwrap() {
                prop_assert!(!key.verifies(jwk::Algorithm::Rs256, b"m", &bytes));
                prop_assert!(!key.verifies(jwk::Algorithm::Es256, b"m", &bytes));
            }
        }
    }

    #[test]
    fn no_header_is_too_odd(name in "[a-z0-9%.~-]{0,20}", value: Vec<u8>) {
        let mut headers = HeaderMap::new();
        for name in ["authorization", "sec-websocket-protocol", "impersonate-user", &format!("impersonate-extra-{name}")] {
            if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(&value)) {
                headers.append(name, value);
            }
        }
        headers.insert("upgrade", HeaderValue::from_static("websocket"));
        let _ = bearer::token(&headers);
        let _ = Impersonation::requested(&headers);
        Impersonation::strip(&mut headers);
        strip_credentials(&mut headers);
    }
}
