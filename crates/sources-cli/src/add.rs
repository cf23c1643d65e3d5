//! `groundplane source add`: a Source, its credentials, and an identity for its synchronizer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cli::{Failure, Session};
use client::Transaction;
use krm::Object;
use serde_json::{Value, json};
use sources::kinds::source::AdapterKind;

use crate::access;
use crate::output;

/// Add a source, and print the command that starts its synchronizer.
///
/// Creates the Source, a Secret with its credentials, and a service account that may touch only hosts and host classes of this
/// source. The token of the account is written into a new kubeconfig.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Name of the source: a DNS label.
    #[arg(value_name = "NAME")]
    name: String,

    /// What the source is.
    #[arg(long, value_enum)]
    adapter: Adapter,

    /// URL of its API; for Redfish the addresses of BMCs.
    #[arg(long, value_name = "URL")]
    endpoint: String,

    /// Credential from a file, by the key of the Secret: username, password, token, tls.crt, tls.key, ca.crt and others.
    #[arg(long = "credential", value_name = "KEY=FILE")]
    credentials: Vec<String>,

    /// Pause between complete lists, such as 10s or 5m.
    #[arg(long, value_name = "DURATION")]
    interval: Option<String>,

    /// HostClass to use for a class of the source.
    #[arg(long = "class", value_name = "THEIRS=OURS")]
    classes: Vec<String>,

    /// How hosts are joined to the inventory.
    #[arg(long, value_enum)]
    inventory: Option<Inventory>,

    /// Site of the nodes that --inventory create makes.
    #[arg(long, value_name = "SITE")]
    site: Option<String>,

    /// What becomes of hosts that the source no longer lists.
    #[arg(long, value_enum)]
    missing: Option<Missing>,

    /// Setting of the adapter.
    #[arg(long = "option", value_name = "KEY=VALUE")]
    options: Vec<String>,

    /// Field that is set on hosts of other sources: the source then only enriches, and makes no hosts.
    #[arg(long = "enrich", value_name = "FIELD")]
    enriches: Vec<String>,

    /// Where the kubeconfig of the synchronizer is written. Defaults to NAME.kubeconfig.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  # An Ironic without authentication
  groundplane source add ironic-fra1 --adapter ironic --endpoint http://127.0.0.1:6385

  # A BCM, by its client certificate
  groundplane source add bcm --adapter bcm --endpoint https://head.internal:8081 \\
      --credential tls.crt=admin.pem --credential tls.key=admin.key --credential ca.crt=ca.pem

  # All BMCs of a subnet, with nodes made in the inventory
  groundplane source add bmcs --adapter redfish --endpoint 192.0.2.0/24 --inventory create --site fra1 \\
      --credential username=user.txt --credential password=password.txt";

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Adapter {
    /// OpenStack Ironic.
    Ironic,
    /// NVIDIA Base Command Manager.
    Bcm,
    /// BMCs that speak Redfish.
    Redfish,
    /// NetBox.
    Netbox,
    /// A program of your own.
    Custom,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Inventory {
    /// Not at all.
    Off,
    /// To nodes that exist.
    Match,
    /// Nodes and ports are created.
    Create,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Missing {
    /// They stay as they are.
    Keep,
    /// They are not chosen for clusters.
    Mark,
    /// They are deleted after a week.
    Delete,
}

/// Splits `KEY=VALUE`.
fn pairs(flag: &str, given: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let split = |pair: &String| {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("--{flag} {pair:?} has no '='; write KEY=VALUE")))?;
        Ok((key.to_owned(), value.to_owned()))
    };
    given.iter().map(split).collect()
}

/// Adds a source.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let name = arguments.name.clone();
    let mut secret = BTreeMap::new();
    for (key, file) in pairs("credential", &arguments.credentials)? {
        let content =
            std::fs::read(&file).map_err(|error| Failure::other(format!("reading {file}: {error}")))?;
        secret.insert(key, data_encoding::BASE64.encode(&content));
    }
    let secret_name = (!secret.is_empty()).then(|| format!("{name}-credentials"));
    let adapter = match arguments.adapter {
        Adapter::Ironic => AdapterKind::Ironic,
        Adapter::Bcm => AdapterKind::BCM,
        Adapter::Redfish => AdapterKind::Redfish,
        Adapter::Netbox => AdapterKind::NetBox,
        Adapter::Custom => AdapterKind::Custom,
    };
    let mut spec = json!({"adapter": adapter, "endpoint": arguments.endpoint});
    let mut set = |field: &str, value: Value| {
        if !value.is_null() {
            spec[field] = value;
        }
    };
    set("credentialsRef", secret_name.as_ref().map_or(Value::Null, |name| json!({ "name": name })));
    set("interval", json!(arguments.interval));
    set("siteRef", arguments.site.as_ref().map_or(Value::Null, |site| json!({ "name": site })));
    set("inventory", json!(arguments.inventory.map(|mode| format!("{mode:?}"))));
    set("missing", json!(arguments.missing.map(|policy| format!("{policy:?}"))));
    let (classes, options) = (pairs("class", &arguments.classes)?, pairs("option", &arguments.options)?);
    if !classes.is_empty() {
        set("classes", json!(classes));
    }
    if !options.is_empty() {
        set("options", json!(options));
    }
    if !arguments.enriches.is_empty() {
        set("enriches", json!(arguments.enriches));
    }
    let mut transaction =
        Transaction::new().because(arguments.message.as_deref().unwrap_or("added the source"));
    if let Some(secret_name) = &secret_name {
        let object = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": secret,
            "metadata": {"name": secret_name, "namespace": sources::NAMESPACE}});
        transaction = transaction.create(&object_of(object)?);
    }
    for object in access::manifest(&name, secret_name.as_deref()) {
        transaction = transaction.create(&object);
    }
    let source = json!({"apiVersion": format!("{}/{}", sources::GROUP, sources::VERSION), "kind": "Source",
        "metadata": {"name": name}, "spec": spec});
    transaction = transaction.create(&object_of(source)?);
    let client = session.client().await?.inner().in_root();
    client.transact(&transaction).await?;
    let out = arguments.out.unwrap_or_else(|| PathBuf::from(format!("{name}.kubeconfig")));
    write_kubeconfig(&client, &name, &out, session).await?;
    output::line(&format!("source.{}/{name} created", sources::GROUP), session)?;
    let path = out.display();
    output::line(
        &format!("Start its synchronizer with:\n  groundplane sync {name} --kubeconfig {path}"),
        session,
    )
}

fn object_of(value: Value) -> Result<Object, Failure> {
    Object::from_value(value).ok_or_else(|| Failure::other("the object can't be made"))
}

/// Writes a kubeconfig with a new token, readable by its owner alone.
async fn write_kubeconfig(
    client: &client::Client,
    name: &str,
    out: &Path,
    session: &mut Session,
) -> Result<(), Failure> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let token = access::token(client, name).await?;
    let overrides = client::Overrides {
        kubeconfig: session.global.kubeconfig.clone(),
        context: session.global.context.clone(),
        cluster: session.global.cluster.clone(),
        server: session.global.server.clone(),
        certificate_authority: session.global.certificate_authority.clone(),
        ..client::Overrides::default()
    };
    let access = client::Access::load(&overrides).await?;
    let config = access::kubeconfig(&access.server, access.authority.as_deref(), name, &token);
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(out);
    let mut file = file.map_err(|error| {
        Failure::other(format!("writing {}: {error}", out.display())).hint("choose another file with --out")
    })?;
    Ok(file.write_all(krm::encode::to_yaml(&config).as_bytes())?)
}
