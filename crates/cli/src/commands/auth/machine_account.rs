//! `groundplane auth machine-account`: a program's own account, with a key and a kubeconfig that uses it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use http::Method;
use krm::base64;
use krm::time::Moment;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::signing::{self, CREDENTIALS};
use crate::client::{Ask, segment};
use crate::failure::Failure;
use crate::flags;
use crate::kubeconfig;
use crate::session::Session;

const GROUP_VERSION: &str = "iam.miloapis.com/v1alpha1";

/// Create a machine account, a key for it, and a kubeconfig that uses it.
///
/// Creates the MachineAccount if it does not exist, and a new MachineAccountKey. The private key is generated locally, is never
/// sent to the server, and is stored only in the kubeconfig that is written, with mode 0600. A lost key can't be recovered:
/// delete its MachineAccountKey and create another.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane auth machine-account ci --to ci.kubeconfig --valid-for 2160h\n  \
    groundplane --kubeconfig ci.kubeconfig auth whoami\n  \
    groundplane get machineaccountkeys             delete one to revoke it"
)]
pub struct MachineAccount {
    /// Name of the account.
    #[arg(value_name = "NAME")]
    name: String,

    /// Kubeconfig to write. The file must not exist.
    #[arg(long, value_name = "FILE")]
    to: PathBuf,

    /// Lifetime of the key, such as 2160h. By default it does not expire.
    #[arg(long, value_name = "TIME")]
    valid_for: Option<String>,
}

/// Makes the account, the key and the file.
pub async fn run(arguments: &MachineAccount, session: &mut Session) -> Result<(), Failure> {
    let until = arguments.valid_for.as_deref().map(end_of).transpose()?;
    // First the file: a key whose other half can't be kept is of no use to anybody.
    let mut file = new_file(&arguments.to)?;
    let made = make(arguments, until, session).await;
    let written = made.and_then(|(config, address)| {
        let failed = |error: std::io::Error| unwritten(&arguments.to, &error);
        file.write_all(config.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        Ok(address)
    });
    match written {
        Ok(address) => {
            let to = arguments.to.display();
            session.console.say(&format!("{to} authenticates as {address}."));
            session
                .console
                .say("The account has no permissions until a PolicyBinding or a RoleBinding grants some.");
            Ok(())
        }
        Err(failure) => {
            let _ = std::fs::remove_file(&arguments.to);
            Err(failure)
        }
    }
}

async fn make(
    arguments: &MachineAccount,
    until: Option<String>,
    session: &mut Session,
) -> Result<(Zeroizing<String>, String), Failure> {
    let (client, namespace) = (session.client().await?, session.namespace().await?);
    let collection =
        |plural: &str| format!("/apis/{GROUP_VERSION}/namespaces/{}/{plural}", segment(&namespace));
    let account = json!({
        "apiVersion": GROUP_VERSION, "kind": "MachineAccount", "metadata": {"name": arguments.name},
    });
    let accounts = collection("machineaccounts");
    let account = match client.value(&Ask::new(Method::POST, &accounts).json(&account)).await {
        Err(failure) if failure.refusal().is_some_and(|refusal| refusal.reason() == "AlreadyExists") => {
            client.value(&Ask::get(format!("{accounts}/{}", segment(&arguments.name)))).await?
        }
        made => made?,
    };
    let address = account["status"]["email"].as_str().unwrap_or_default().to_owned();
    let audience = account["status"]["audience"].as_str().unwrap_or_default();
    let (private, public) = signing::new_pair()?;
    let mut spec = json!({"machineAccountName": arguments.name, "publicKey": public});
    if let Some(until) = until {
        spec["expirationDate"] = until.into();
    }
    let key = json!({
        "apiVersion": GROUP_VERSION, "kind": "MachineAccountKey",
        "metadata": {"generateName": format!("{}-", arguments.name)}, "spec": spec,
    });
    client.value(&Ask::new(Method::POST, collection("machineaccountkeys")).json(&key)).await?;
    let credentials = Zeroizing::new(
        json!({
            "type": signing::TYPE, "client_email": address, "client_id": address, "audience": audience,
            "private_key_id": signing::key_id(&public), "private_key": &*private,
        })
        .to_string(),
    );
    let config = kubeconfig(&address, &namespace, &credentials, session).await?;
    Ok((Zeroizing::new(krm::encode::to_yaml(&config)), address))
}

/// A kubeconfig of one user, who signs a token whenever one is needed.
async fn kubeconfig(
    address: &str,
    namespace: &str,
    credentials: &str,
    session: &Session,
) -> Result<Value, Failure> {
    let access = kubeconfig::access(&kubeconfig::load(&session.global)?, &session.global).await?;
    let mut server = access.server.trim_end_matches('/').to_owned();
    if let Some(project) = session.global.project.as_deref().filter(|project| !project.is_empty()) {
        server += &format!(
            "/apis/resourcemanager.miloapis.com/v1alpha1/projects/{}/control-plane",
            segment(project)
        );
    }
    let mut cluster = json!({"server": server});
    if let Some(authority) = &access.authority {
        cluster["certificate-authority-data"] = base64::encode(authority).into();
    }
    if let Some(name) = &access.server_name {
        cluster["tls-server-name"] = name.as_str().into();
    }
    if access.is_unchecked {
        cluster["insecure-skip-tls-verify"] = true.into();
    }
    let program =
        std::env::current_exe().map_or_else(|_| "groundplane".to_owned(), |path| path.display().to_string());
    let exec = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "command": program, "args": ["auth", "machine-token"],
        "env": [{"name": CREDENTIALS, "value": credentials}],
        "interactiveMode": "Never", "provideClusterInfo": false,
        "installHint": "this user signs in with the program groundplane",
    });
    Ok(json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "groundplane",
        "clusters": [{"name": "groundplane", "cluster": cluster}],
        "users": [{"name": address, "user": {"exec": exec}}],
        "contexts": [{
            "name": "groundplane",
            "context": {"cluster": "groundplane", "user": address, "namespace": namespace},
        }],
    }))
}

fn end_of(text: &str) -> Result<String, Failure> {
    let time = flags::duration(text).filter(|time| !time.is_zero());
    let time =
        time.ok_or_else(|| Failure::usage(format!("--valid-for {text}: use a duration such as 2160h")))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(now.saturating_add(time).as_secs()).unwrap_or(i64::MAX);
    Ok(Moment::of_seconds(seconds).to_string())
}

fn new_file(path: &Path) -> Result<File, Failure> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    opened.map_err(|error| unwritten(path, &error))
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    let failure = Failure::other(format!("writing {}: {error}", path.display()));
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => failure.hint("choose a file that does not exist: --to FILE"),
        _ => failure,
    }
}
