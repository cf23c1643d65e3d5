//! How a server is reached, and as whom.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use zeroize::Zeroizing;

use super::exec;
use super::files::{Entry, Kubeconfig};
use super::overrides::Overrides;
use crate::error::{Error, Result};
use crate::login::StoredLogin;

/// How a server is reached, and as whom.
#[derive(Clone)]
pub struct Access {
    /// Its address, such as `https://127.0.0.1:6443`.
    pub server: String,
    /// The certificates it may be known by, as PEM; the system's own when there are none.
    pub authority: Option<Vec<u8>>,
    /// Whether it may be anybody.
    pub is_unchecked: bool,
    /// The name its certificate has to have, if it is not that of the address.
    pub server_name: Option<String>,
    /// The credentials.
    pub proof: Proof,
    /// Where new credentials come from when these expire, if they do.
    pub(crate) renewal: Option<Renewal>,
    /// Whom to act as: user, uid and groups.
    pub acts_as: (Option<String>, Option<String>, Vec<String>),
    /// The namespace of requests that name none.
    pub namespace: String,
    /// Whether the namespace was chosen by the overrides.
    pub namespace_is_asked_for: bool,
}

/// The credentials. Never shown.
#[derive(Clone, Default)]
pub struct Proof {
    /// A certificate and its key, as PEM.
    pub certificate: Option<(Vec<u8>, Zeroizing<Vec<u8>>)>,
    /// What the header `Authorization` says.
    pub authorization: Option<Zeroizing<String>>,
    /// When they expire, in seconds since 1970.
    pub expires: Option<i64>,
}

/// Where credentials that expire come from.
#[derive(Clone)]
pub(crate) enum Renewal {
    /// A file that somebody else keeps current.
    File(PathBuf),
    /// A program, and what its kubeconfig says about it.
    Exec(Box<Value>),
    /// A stored login.
    Login {
        /// The issuer's URL.
        issuer: String,
        /// The OAuth client.
        client: String,
    },
}

impl Access {
    /// The server at an address, without credentials.
    pub fn anonymous(server: &str) -> Access {
        Access {
            server: server.to_owned(),
            authority: None,
            is_unchecked: false,
            server_name: None,
            proof: Proof::default(),
            renewal: None,
            acts_as: (None, None, Vec::new()),
            namespace: "default".to_owned(),
            namespace_is_asked_for: false,
        }
    }

    /// The same with a bearer token instead of other credentials.
    pub fn with_token(mut self, token: &str) -> Access {
        self.proof = Proof { authorization: bearer(token), ..Proof::default() };
        self.renewal = None;
        self
    }

    /// The same with the token of a login at an OpenID Connect issuer, as `groundplane login` stored it. It is refreshed
    /// before it expires.
    pub async fn with_login(mut self, issuer: &str, client: &str) -> Result<Access> {
        let from = Renewal::Login { issuer: issuer.to_owned(), client: client.to_owned() };
        self.proof = from.renewed(&Proof::default(), &self.server).await?;
        self.renewal = Some(from);
        Ok(self)
    }

    /// What the environment's kubeconfig files and the overrides say together.
    pub async fn load(overrides: &Overrides) -> Result<Access> {
        Access::of(&Kubeconfig::load(overrides.kubeconfig.as_deref())?, overrides).await
    }

    /// What the files and the overrides say together.
    pub async fn of(kubeconfig: &Kubeconfig, overrides: &Overrides) -> Result<Access> {
        let context = kubeconfig.context(overrides.context.as_deref())?;
        let named = |field: &str| context.and_then(|entry| entry.value[field].as_str());
        let cluster =
            entry(&kubeconfig.clusters, overrides.cluster.as_deref().or(named("cluster")), "cluster")?;
        let user = entry(&kubeconfig.users, named("user"), "user")?;
        let text = |field: &str| cluster.and_then(|cluster| cluster.value[field].as_str());
        let server = overrides.server.clone().or_else(|| text("server").map(str::to_owned));
        let server = server.ok_or_else(|| unknown_server(kubeconfig))?;
        let authority = match (&overrides.certificate_authority, cluster) {
            (Some(file), _) => Some(read(file)?),
            (None, Some(cluster)) => data(cluster, "certificate-authority")?,
            (None, None) => None,
        };
        let (proof, renewal) = proof(user, overrides, &server).await?;
        let flag = |field: &str| cluster.is_some_and(|cluster| cluster.value[field].as_bool() == Some(true));
        let given = |field: &str| user.and_then(|user| user.value[field].as_str()).map(str::to_owned);
        let groups = user.and_then(|user| user.value["as-groups"].as_array());
        let groups = groups.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Access {
            authority,
            is_unchecked: overrides.insecure_skip_tls_verify || flag("insecure-skip-tls-verify"),
            server_name: overrides
                .tls_server_name
                .clone()
                .or_else(|| text("tls-server-name").map(str::to_owned)),
            proof,
            renewal,
            acts_as: (
                overrides.as_user.clone().or_else(|| given("as")),
                overrides.as_uid.clone().or_else(|| given("as-uid")),
                if overrides.as_groups.is_empty() { groups } else { overrides.as_groups.clone() },
            ),
            namespace: overrides
                .namespace
                .as_deref()
                .or(named("namespace"))
                .filter(|name| !name.is_empty())
                .unwrap_or("default")
                .to_owned(),
            namespace_is_asked_for: overrides.namespace.is_some(),
            server,
        })
    }
}

fn unknown_server(kubeconfig: &Kubeconfig) -> Error {
    let looked: Vec<String> = kubeconfig.files.iter().map(|file| file.display().to_string()).collect();
    Error::NoServer(if looked.is_empty() { "any kubeconfig".to_owned() } else { looked.join(", ") })
}

fn entry<'a>(entries: &'a [Entry], name: Option<&str>, what: &str) -> Result<Option<&'a Entry>> {
    let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(None) };
    match entries.iter().find(|entry| entry.name == name) {
        Some(entry) => Ok(Some(entry)),
        None => Err(Error::Config(format!("{what} {} does not exist", krm::field::quote(name)))),
    }
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).map_err(|error| Error::Config(format!("reading {}: {error}", file.display())))
}

/// What stands in `<field>-data`, or in the file that `<field>` names.
fn data(entry: &Entry, field: &str) -> Result<Option<Vec<u8>>> {
    if let Some(text) = entry.value[format!("{field}-data")].as_str().filter(|text| !text.is_empty()) {
        return krm::base64::decode(text).map(Some).map_err(|error| {
            Error::Config(format!("{field}-data of \"{}\" in the kubeconfig: {error}", entry.name))
        });
    }
    match entry.value[field].as_str().filter(|path| !path.is_empty()) {
        Some(path) => read(&entry.folder.join(path)).map(Some),
        None => Ok(None),
    }
}

async fn proof(
    user: Option<&Entry>,
    overrides: &Overrides,
    server: &str,
) -> Result<(Proof, Option<Renewal>)> {
    let mut proof = Proof::default();
    let mut renewal = None;
    if let Some(user) = user {
        let certificate = data(user, "client-certificate")?;
        let key = data(user, "client-key")?.map(Zeroizing::new);
        proof.certificate = certificate.zip(key);
        let text = |field: &str| user.value[field].as_str().filter(|text| !text.is_empty());
        if let Some(token) = text("token") {
            proof.authorization = bearer(token);
        } else if let Some(file) = text("tokenFile") {
            let from = Renewal::File(user.folder.join(file));
            proof = from.renewed(&proof, server).await?;
            renewal = Some(from);
        } else if let Some(name) = text("username") {
            let pair = Zeroizing::new(format!("{name}:{}", text("password").unwrap_or("")));
            proof.authorization =
                Some(Zeroizing::new(format!("Basic {}", krm::base64::encode(pair.as_bytes()))));
        } else if user.value["exec"].is_object() && overrides.token.is_none() {
            let from = Renewal::Exec(Box::new(user.value["exec"].clone()));
            proof = from.renewed(&proof, server).await?;
            renewal = Some(from);
        }
    }
    if let (Some(certificate), Some(key)) = (&overrides.client_certificate, &overrides.client_key) {
        proof.certificate = Some((read(certificate)?, Zeroizing::new(read(key)?)));
    }
    if let Some(token) = &overrides.token {
        proof.authorization = bearer(token);
        renewal = None;
        // Who names a token means to be its owner; a certificate would count before it.
        if overrides.client_certificate.is_none() {
            proof.certificate = None;
        }
    }
    Ok((proof, renewal))
}

fn bearer(token: &str) -> Option<Zeroizing<String>> {
    Some(Zeroizing::new(format!("Bearer {}", token.trim())))
}

/// The time in seconds since 1970.
pub(crate) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    i64::try_from(now).unwrap_or(i64::MAX)
}

impl Renewal {
    /// How often a token file is read, in seconds.
    const FILE_LASTS: i64 = 60;

    /// New credentials in place of these.
    pub(crate) async fn renewed(&self, old: &Proof, server: &str) -> Result<Proof> {
        match self {
            Renewal::File(file) => {
                let token = Zeroizing::new(read(file)?);
                let authorization = bearer(&String::from_utf8_lossy(&token));
                Ok(Proof { authorization, expires: Some(now() + Renewal::FILE_LASTS), ..old.clone() })
            }
            Renewal::Exec(exec) => {
                let given = exec::run(exec, server).await?;
                Ok(Proof {
                    authorization: given.token.as_deref().and_then(|token| bearer(token)),
                    certificate: given.certificate.or_else(|| old.certificate.clone()),
                    expires: given.expires,
                })
            }
            Renewal::Login { issuer, client } => {
                let login = StoredLogin::current(issuer, client).await?;
                let authorization = bearer(&login.tokens.id);
                Ok(Proof { authorization, expires: login.expires(), ..old.clone() })
            }
        }
    }
}
