use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use super::{
    config::{Config, Tls},
    error::Error,
};

/// The members of the cluster and the one that is used now. It is used until it fails, then the next one is.
pub(super) struct Members {
    all: Vec<Member>,
    current: AtomicUsize,
}

struct Member {
    endpoint: Endpoint,
    name: String,
    connection: Mutex<Connection>,
}

/// A connection to one member, made when first used and made again by itself when it breaks.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) channel: Channel,
    pub(super) name: String,
    member: usize,
    /// Counts replacements, so that of many requests that saw the same connection fail only one replaces it.
    generation: u64,
}

impl Members {
    pub(super) fn new(config: &Config) -> Result<Self, Error> {
        if config.endpoints.is_empty() {
            return Err(misconfigured("endpoints", "there is none"));
        }
        let open = |(member, name): (usize, &String)| {
            let endpoint = endpoint(config, name)?;
            let channel = endpoint.connect_lazy();
            let connection = Connection { channel, name: name.clone(), member, generation: 0 };
            Ok(Member { endpoint, name: name.clone(), connection: Mutex::new(connection) })
        };
        let all = config.endpoints.iter().enumerate().map(open).collect::<Result<_, Error>>()?;
        Ok(Self { all, current: AtomicUsize::new(0) })
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn current(&self) -> Connection {
        self.connection(self.current.load(Ordering::Relaxed))
    }

    pub(super) fn at(&self, member: usize) -> Result<Connection, Error> {
        if member >= self.count() {
            return Err(misconfigured("endpoints", format!("member {member} does not exist")));
        }
        Ok(self.connection(member))
    }

    /// The next member is used from now on, unless another request has moved on already.
    pub(super) fn failed(&self, connection: &Connection) {
        let next = (connection.member + 1) % self.count();
        let moved = self
            .current
            .compare_exchange(connection.member, next, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();
        if moved && self.count() > 1 {
            tracing::info!(from = connection.name, to = self.all[next].name, "using another etcd member");
        }
    }

    /// A connection over which nothing came back is never used again: its peer may be gone without a word,
    /// and TCP would take minutes to find out. Requests that still wait on it keep it until they end.
    pub(super) fn replace(&self, silent: &Connection) {
        let member = &self.all[silent.member];
        let mut connection = member.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.generation == silent.generation {
            connection.channel = member.endpoint.connect_lazy();
            connection.generation += 1;
        }
    }

    fn connection(&self, member: usize) -> Connection {
        self.all[member].connection.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// No HTTP/2 pings on purpose: etcd allows one in five seconds (`--grpc-keepalive-min-time`), and none while
/// no call is open, and drops the connection of a client that sends more. Requests have a deadline and
/// watches a pulse instead.
fn endpoint(config: &Config, name: &str) -> Result<Endpoint, Error> {
    let unusable = |error| misconfigured(name, whole(&error));
    let endpoint = Endpoint::from_shared(name.to_owned())
        .map_err(unusable)?
        .connect_timeout(config.dial_timeout)
        .tcp_keepalive(Some(Duration::from_secs(10)))
        .tcp_nodelay(true);
    match (endpoint.uri().scheme_str(), &config.tls) {
        (Some("http"), _) => Ok(endpoint),
        (Some("https"), Some(tls)) => {
            endpoint.tls_config(tls_config(tls, config.dial_timeout)).map_err(unusable)
        }
        (Some("https"), None) => {
            Err(misconfigured(name, "https needs the certificate of an authority (tls)"))
        }
        _ => Err(misconfigured(name, "an endpoint starts with http:// or https://")),
    }
}

fn tls_config(tls: &Tls, handshake_timeout: Duration) -> ClientTlsConfig {
    let mut config =
        ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&tls.ca_pem)).timeout(handshake_timeout);
    if let Some((certificate, key)) = &tls.identity {
        config = config.identity(Identity::from_pem(certificate, key.as_bytes()));
    }
    match &tls.domain {
        Some(domain) => config.domain_name(domain),
        None => config,
    }
}

fn misconfigured(what: &str, cause: impl Into<String>) -> Error {
    Error::Misconfigured { what: what.to_owned(), cause: cause.into() }
}

fn whole(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", whole(source)),
        None => error.to_string(),
    }
}
