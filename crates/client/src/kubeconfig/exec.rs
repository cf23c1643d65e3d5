//! Programs that give credentials, as a kubeconfig's `exec` names them.

use std::io::IsTerminal;
use std::process::Stdio;

use krm::time::Moment;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// What such a program gave.
#[derive(Default)]
pub struct Given {
    pub token: Option<Zeroizing<String>>,
    pub certificate: Option<(Vec<u8>, Zeroizing<Vec<u8>>)>,
    /// When they expire, in seconds since 1970.
    pub expires: Option<i64>,
}

/// Runs the program and reads its `ExecCredential`.
pub async fn run(exec: &Value, server: &str) -> Result<Given> {
    let text = |field: &str| exec[field].as_str().unwrap_or("");
    let program = text("command");
    let wants_terminal = text("interactiveMode");
    let can_ask = wants_terminal != "Never" && std::io::stdin().is_terminal();
    if wants_terminal == "Always" && !can_ask {
        return Err(Error::Config(format!(
            "exec plugin \"{program}\" of the kubeconfig needs a terminal (interactiveMode: Always)"
        )));
    }
    let mut command = tokio::process::Command::new(program);
    for argument in exec["args"].as_array().into_iter().flatten() {
        command.arg(argument.as_str().unwrap_or(""));
    }
    for variable in exec["env"].as_array().into_iter().flatten() {
        let part = |field: &str| variable[field].as_str().unwrap_or("");
        command.env(part("name"), part("value"));
    }
    let mut spec = json!({"interactive": can_ask});
    if exec["provideClusterInfo"].as_bool() == Some(true) {
        spec["cluster"] = json!({"server": server});
    }
    let info = json!({"apiVersion": text("apiVersion"), "kind": "ExecCredential", "spec": spec});
    command.env("KUBERNETES_EXEC_INFO", info.to_string());
    command.stdin(if can_ask { Stdio::inherit() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::inherit());
    let failed = |why: &dyn std::fmt::Display| Error::Exec {
        program: program.to_owned(),
        why: why.to_string(),
        install_hint: text("installHint").to_owned(),
    };
    // What it says to people goes to their terminal: `output` would keep it.
    let child = command.spawn().map_err(|error| failed(&error))?;
    let ended = child.wait_with_output().await.map_err(|error| failed(&error))?;
    if !ended.status.success() {
        return Err(failed(&ended.status));
    }
    let printed = Zeroizing::new(ended.stdout);
    let credential: Value =
        serde_json::from_slice(&printed).map_err(|_| failed(&"what it printed is no ExecCredential"))?;
    let status = |field: &str| credential["status"][field].as_str().filter(|text| !text.is_empty());
    let pem = |field: &str| status(field).map(|text| text.as_bytes().to_vec());
    let given = Given {
        token: status("token").map(|token| Zeroizing::new(token.to_owned())),
        certificate: pem("clientCertificateData").zip(pem("clientKeyData").map(Zeroizing::new)),
        expires: status("expirationTimestamp")
            .and_then(|time| Moment::parse(time).ok())
            .map(|moment| moment.seconds),
    };
    match given.token.is_none() && given.certificate.is_none() {
        true => Err(failed(&"it gave neither a token nor a certificate")),
        false => Ok(given),
    }
}
