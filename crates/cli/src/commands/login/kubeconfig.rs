//! The user of a login in the kubeconfig: an entry that asks this program for its token.

use std::io::Write;

use serde_json::{Value, json};

use super::At;
use crate::failure::Failure;
use crate::global::Global;
use crate::kubeconfig;

/// Adds the user, and a context of it on the cluster that is used now; gives that context, if there is a cluster.
pub fn add(at: &At, global: &Global) -> Result<Option<String>, Failure> {
    let kubeconfig = kubeconfig::load(global)?;
    let Some(file) = kubeconfig.files.first() else { return Ok(None) };
    let context = kubeconfig.context(global.context.as_deref())?;
    let cluster = context.and_then(|context| context.value["cluster"].as_str()).map(str::to_owned);
    let namespace = context.and_then(|context| context.value["namespace"].as_str()).map(str::to_owned);
    let failed = |why: &dyn std::fmt::Display| Failure::other(format!("changing {}: {why}", file.display()));
    let bytes = match std::fs::read(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        read => read.map_err(|error| failed(&error))?,
    };
    let mut document = krm::decode::read_yaml(&bytes).map_err(|error| failed(&error))?.value;
    if !document.is_object() {
        document = json!({ "apiVersion": "v1", "kind": "Config" });
    }
    let host = at.issuer.split("://").last().unwrap_or_default().trim_end_matches('/').replace('/', "-");
    let user = format!("{}@{host}", at.client_id);
    let mut words = vec!["credential", "--issuer", &at.issuer, "--client-id", &at.client_id];
    let authority =
        at.issuer_ca.as_ref().map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone()));
    let authority = authority.map(|file| file.display().to_string());
    if let Some(authority) = &authority {
        words.extend(["--issuer-ca", authority]);
    }
    let program =
        std::env::current_exe().map_or_else(|_| "groundplane".to_owned(), |path| path.display().to_string());
    let exec = json!({ "exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": program, "args": words,
        "interactiveMode": "Never", "provideClusterInfo": false,
        "installHint": "this user logs in with the program groundplane",
    } });
    put(&mut document, "users", "user", &user, exec);
    let made = cluster.map(|cluster| {
        let name = format!("{user}/{cluster}");
        let mut context = json!({ "cluster": cluster, "user": user });
        if let Some(namespace) = namespace {
            context["namespace"] = namespace.into();
        }
        put(&mut document, "contexts", "context", &name, context);
        document["current-context"] = name.as_str().into();
        name
    });
    let text = krm::encode::to_yaml(&document);
    let beside = file.with_extension(format!("{}.new", std::process::id()));
    let written = (|| {
        use std::os::unix::fs::OpenOptionsExt;
        let mut new = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        new.write_all(text.as_bytes())?;
        new.sync_all()?;
        std::fs::rename(&beside, file)
    })();
    written.map_err(|error: std::io::Error| failed(&error))?;
    Ok(made)
}

/// Puts a named entry into a list, in the place of one of the same name.
fn put(document: &mut Value, list: &str, inner: &str, name: &str, value: Value) {
    if !document[list].is_array() {
        document[list] = json!([]);
    }
    let entry = json!({ "name": name, inner: value });
    let Some(entries) = document[list].as_array_mut() else { return };
    match entries.iter_mut().find(|entry| entry["name"] == name) {
        Some(known) => *known = entry,
        None => entries.push(entry),
    }
}
