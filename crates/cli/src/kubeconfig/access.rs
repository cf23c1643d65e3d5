//! How a server is reached, and as whom.

use std::path::Path;

use serde_json::Value;
use zeroize::Zeroizing;

use super::exec;
use super::files::{Entry, Kubeconfig};
use crate::failure::Failure;
use crate::global::Global;

/// How a server is reached, and as whom.
pub struct Access {
    /// Its address, such as `https://127.0.0.1:6443`.
    pub server: String,
    /// The certificates it may be known by, as PEM; the system's own when there are none.
    pub authority: Option<Vec<u8>>,
    /// Whether it may be anybody.
    pub is_unchecked: bool,
    /// The name its certificate has to have, if it is not that of the address.
    pub server_name: Option<String>,
    /// Who asks.
    pub proof: Proof,
    /// Whom to act as: user, uid and groups.
    pub acts_as: (Option<String>, Option<String>, Vec<String>),
    /// The namespace of requests that name none.
    pub namespace: String,
    /// Whether the namespace was chosen by a flag.
    pub namespace_is_asked_for: bool,
}

/// What shows who asks. Never shown itself.
#[derive(Default)]
pub struct Proof {
    /// A certificate and its key, as PEM.
    pub certificate: Option<(Vec<u8>, Zeroizing<Vec<u8>>)>,
    /// What the header `Authorization` says.
    pub authorization: Option<Zeroizing<String>>,
}

impl Access {
    /// What the files and the flags say together.
    pub async fn of(kubeconfig: &Kubeconfig, global: &Global) -> Result<Access, Failure> {
        let context = kubeconfig.context(global)?;
        let named = |field: &str| context.and_then(|entry| entry.value[field].as_str());
        let cluster = entry(&kubeconfig.clusters, global.cluster.as_deref().or(named("cluster")), "cluster")?;
        let user = entry(&kubeconfig.users, named("user"), "user")?;
        let text = |field: &str| cluster.and_then(|cluster| cluster.value[field].as_str());
        let server = global.server.clone().or_else(|| text("server").map(str::to_owned));
        let server = server.ok_or_else(|| unknown_server(kubeconfig))?;
        let authority = match (&global.certificate_authority, cluster) {
            (Some(file), _) => Some(read(file)?),
            (None, Some(cluster)) => data(cluster, "certificate-authority")?,
            (None, None) => None,
        };
        let flag = |field: &str| cluster.is_some_and(|cluster| cluster.value[field].as_bool() == Some(true));
        let given = |field: &str| user.and_then(|user| user.value[field].as_str()).map(str::to_owned);
        let groups = user.and_then(|user| user.value["as-groups"].as_array());
        let groups = groups.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Access {
            authority,
            is_unchecked: global.insecure_skip_tls_verify || flag("insecure-skip-tls-verify"),
            server_name: global
                .tls_server_name
                .clone()
                .or_else(|| text("tls-server-name").map(str::to_owned)),
            proof: proof(user, global, &server).await?,
            acts_as: (
                global.as_user.clone().or_else(|| given("as")),
                global.as_uid.clone().or_else(|| given("as-uid")),
                if global.as_groups.is_empty() { groups } else { global.as_groups.clone() },
            ),
            namespace: global
                .namespace
                .as_deref()
                .or(named("namespace"))
                .filter(|name| !name.is_empty())
                .unwrap_or("default")
                .to_owned(),
            namespace_is_asked_for: global.namespace.is_some(),
            server,
        })
    }
}

fn unknown_server(kubeconfig: &Kubeconfig) -> Failure {
    let looked: Vec<String> = kubeconfig.files.iter().map(|file| file.display().to_string()).collect();
    let looked = if looked.is_empty() { "any kubeconfig".to_owned() } else { looked.join(", ") };
    Failure::other(format!("no server configured: no usable context in {looked}")).hint(
        "start a server with \"groundplane serve\", or name a kubeconfig with --kubeconfig or KUBECONFIG",
    )
}

fn entry<'a>(entries: &'a [Entry], name: Option<&str>, what: &str) -> Result<Option<&'a Entry>, Failure> {
    let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(None) };
    match entries.iter().find(|entry| entry.name == name) {
        Some(entry) => Ok(Some(entry)),
        None => Err(Failure::other(format!("{what} {} does not exist", krm::field::quote(name)))),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| Failure::other(format!("reading {}: {error}", file.display())))
}

/// What stands in `<field>-data`, or in the file that `<field>` names.
fn data(entry: &Entry, field: &str) -> Result<Option<Vec<u8>>, Failure> {
    if let Some(text) = entry.value[format!("{field}-data")].as_str().filter(|text| !text.is_empty()) {
        return krm::base64::decode(text).map(Some).map_err(|error| {
            Failure::other(format!("{field}-data of \"{}\" in the kubeconfig: {error}", entry.name))
        });
    }
    match entry.value[field].as_str().filter(|path| !path.is_empty()) {
        Some(path) => read(&entry.folder.join(path)).map(Some),
        None => Ok(None),
    }
}

async fn proof(user: Option<&Entry>, global: &Global, server: &str) -> Result<Proof, Failure> {
    let mut proof = Proof::default();
    let bearer = |token: &str| Some(Zeroizing::new(format!("Bearer {}", token.trim())));
    if let Some(user) = user {
        let certificate = data(user, "client-certificate")?;
        let key = data(user, "client-key")?.map(Zeroizing::new);
        proof.certificate = certificate.zip(key);
        let text = |field: &str| user.value[field].as_str().filter(|text| !text.is_empty());
        if let Some(token) = text("token") {
            proof.authorization = bearer(token);
        } else if let Some(file) = text("tokenFile") {
            let token = Zeroizing::new(read(&user.folder.join(file))?);
            proof.authorization = bearer(&String::from_utf8_lossy(&token));
        } else if let Some(name) = text("username") {
            let pair = Zeroizing::new(format!("{name}:{}", text("password").unwrap_or("")));
            proof.authorization =
                Some(Zeroizing::new(format!("Basic {}", krm::base64::encode(pair.as_bytes()))));
        } else if user.value["exec"].is_object() && global.token.is_none() {
            let given = exec::run(&user.value["exec"], server).await?;
            proof.authorization = given.token.as_deref().and_then(|token| bearer(token));
            proof.certificate = given.certificate.or(proof.certificate);
        }
    }
    if let (Some(certificate), Some(key)) = (&global.client_certificate, &global.client_key) {
        proof.certificate = Some((read(certificate)?, Zeroizing::new(read(key)?)));
    }
    if let Some(token) = &global.token {
        proof.authorization = bearer(token);
        // Who names a token means to be its owner; a certificate would count before it.
        if global.client_certificate.is_none() {
            proof.certificate = None;
        }
    }
    Ok(proof)
}
