//! Credentials of registries, as Secrets of the type `kubernetes.io/dockerconfigjson` have them.

use containers::{Credentials, Login, Sensitive};
use serde_json::Value;

use crate::environment::Data;

const KEY: &str = ".dockerconfigjson";

/// The credentials in a Secret. One that can't be read is an error without its contents.
pub fn credentials(secret: &str, data: &Data) -> Result<Vec<Credentials>, String> {
    let unreadable = || format!("Secret {secret:?} has no credentials of registries at the key {KEY:?}");
    let config: Value =
        serde_json::from_slice(data.get(KEY).ok_or_else(unreadable)?).map_err(|_| unreadable())?;
    let auths = config["auths"].as_object().ok_or_else(unreadable)?;
    auths.iter().map(|(registry, login)| credential(registry, login).ok_or_else(unreadable)).collect()
}

fn credential(registry: &str, login: &Value) -> Option<Credentials> {
    let host = registry.trim_start_matches("https://").trim_start_matches("http://");
    let registry = host.split('/').next().unwrap_or(host).to_owned();
    if let Some(token) = login["registrytoken"].as_str() {
        return Some(Credentials { registry, login: Login::Bearer { token: sensitive(token) } });
    }
    let given = login["username"].as_str().zip(login["password"].as_str());
    let (username, password) = match given {
        Some((username, password)) => (username.to_owned(), password.to_owned()),
        None => {
            let decoded = krm::base64::decode(login["auth"].as_str()?).ok()?;
            let text = String::from_utf8(decoded).ok()?;
            let (username, password) = text.split_once(':')?;
            (username.to_owned(), password.to_owned())
        }
    };
    Some(Credentials { registry, login: Login::Basic { username, password: sensitive(&password) } })
}

fn sensitive(text: &str) -> Sensitive {
    Sensitive::from(text.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_read_in_both_forms_and_never_shown() {
        let config = br#"{"auths": {"https://ghcr.io/v2/": {"auth": "YWxpY2U6c2VjcmV0"}, "r:5000": {"username": "u", "password": "p"}}}"#;
        let found = credentials("pull", &Data::from([(KEY.to_owned(), config.to_vec())])).unwrap();
        let registries: Vec<&str> = found.iter().map(|found| found.registry.as_str()).collect();
        assert_eq!(registries, ["ghcr.io", "r:5000"]);
        let Login::Basic { username, password } = &found[0].login else { panic!("{found:?}") };
        assert_eq!((username.as_str(), password.reveal()), ("alice", b"secret".as_slice()));
        assert!(!format!("{found:?}").contains("secret"));
        let wrong = credentials("pull", &Data::from([(KEY.to_owned(), b"secret".to_vec())])).unwrap_err();
        assert!(
            !wrong.contains("secret\"}") && wrong.starts_with("Secret \"pull\" has no credentials"),
            "{wrong}"
        );
    }
}
