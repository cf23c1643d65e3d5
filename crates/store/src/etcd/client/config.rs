use std::{fmt, time::Duration};

use zeroize::Zeroizing;

/// Where an etcd cluster is and how to be let in.
#[derive(Debug, Clone)]
pub struct Config {
    /// `http://host:port` or `https://host:port` of the members; the first that answers is used until it
    /// fails.
    pub endpoints: Vec<String>,
    /// Whom to trust, and who we are; needed for `https://`.
    pub tls: Option<Tls>,
    /// The user to log in as, if the cluster has passwords switched on.
    pub login: Option<Login>,
    /// The longest a call may take, failover included.
    pub request_timeout: Duration,
    /// The longest it may take to open a connection to one member.
    pub dial_timeout: Duration,
}

impl Config {
    /// A cluster without TLS and passwords, five seconds for each call.
    pub fn new(endpoints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            endpoints: endpoints.into_iter().map(Into::into).collect(),
            tls: None,
            login: None,
            request_timeout: Duration::from_secs(5),
            dial_timeout: Duration::from_secs(2),
        }
    }
}

/// TLS towards the members, everything in PEM.
#[derive(Clone)]
pub struct Tls {
    /// The authorities that may have signed a member's certificate.
    pub ca_pem: String,
    /// Our certificate and its private key, if the members ask for one.
    pub identity: Option<(String, Zeroizing<String>)>,
    /// The name in the members' certificates, if it is not the host of the endpoint.
    pub domain: Option<String>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("identity", &self.identity.as_ref().map(|_| "certificate and key"))
            .field("domain", &self.domain)
            .finish_non_exhaustive()
    }
}

/// A user of etcd.
#[derive(Clone)]
pub struct Login {
    /// Its name.
    pub user: String,
    /// Its password, wiped from memory when dropped.
    pub password: Zeroizing<String>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_keeps_password_and_key_to_itself() {
        let mut config = Config::new(["https://etcd-1:2379"]);
        let key = Zeroizing::new("the key".to_owned());
        config.tls = Some(Tls { ca_pem: String::new(), identity: Some((String::new(), key)), domain: None });
        config.login = Some(Login { user: "gp".into(), password: Zeroizing::new("the password".into()) });
        let shown = format!("{config:?}");
        assert!(shown.contains("gp") && shown.contains("etcd-1"));
        assert!(!shown.contains("the key") && !shown.contains("the password"), "{shown}");
    }
}
