//! `groundplane support-bundle`: what somebody who helps needs to know, without secrets.

mod archive;

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use self::archive::Archive;
use super::doctor;
use crate::client::{Ask, Client};
use crate::failure::Failure;
use crate::session::Session;

/// Collect diagnostics for a support request, without secrets.
///
/// Writes an archive with versions, the results of "groundplane doctor", health, metrics, resource types with object counts,
/// CustomResourceDefinitions and recent events. It contains no other objects, and no names of Secrets.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane support-bundle\n  groundplane support-bundle for-support.tar.gz"
)]
pub struct Arguments {
    /// Archive to write.
    #[arg(value_name = "FILE", default_value = "groundplane-support.tar.gz")]
    file: PathBuf,
}

/// Collects.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let mut archive = Archive::default();
    let findings = doctor::examine(session).await;
    archive.add(
        "doctor.txt",
        doctor::report(&findings, |is_well| if is_well { "ok  " } else { "FAIL" }.to_owned()).as_bytes(),
    );
    for (name, path) in [
        ("version.json", "/version"),
        ("readyz.txt", "/readyz?verbose"),
        ("livez.txt", "/livez?verbose"),
        ("metrics.txt", "/metrics"),
    ] {
        let bytes = match client.answer(&Ask::get(path).accept("*/*")).await {
            Ok(answer) => answer.body.to_vec(),
            Err(failure) => failure.text().into_bytes(),
        };
        archive.add(name, &bytes);
    }
    if let Ok(discovery) = session.discovery().await {
        let mut counts = String::new();
        let mut types = String::new();
        for resource in discovery.resources.iter().filter(|resource| discovery.is_preferred(resource)) {
            types += &format!(
                "{} {} {}\n",
                resource.full_name(),
                resource.api_version(),
                resource.verbs.join(",")
            );
            // Endpoints are endpointslices in a deprecated form: asking for them would only warn.
            if resource.can("list") && resource.full_name() != "endpoints" {
                counts += &format!(
                    "{} {}\n",
                    resource.full_name(),
                    count(&client, &resource.collection(None)).await
                );
            }
        }
        archive.add("types.txt", types.as_bytes());
        archive.add("objects.txt", counts.as_bytes());
    }
    for (name, path) in [
        ("definitions.json", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"),
        ("events.json", "/api/v1/events?limit=500"),
        ("leases.json", "/apis/coordination.k8s.io/v1/leases"),
    ] {
        let found =
            client.value(&Ask::get(path)).await.unwrap_or_else(|failure| json!({"error": failure.text()}));
        archive.add(name, krm::encode::to_json_pretty(&redacted(found)).as_bytes());
    }
    let bytes = archive.finish().map_err(|error| Failure::other(format!("packing: {error}")))?;
    let failed = |error| Failure::other(format!("writing {}: {error}", arguments.file.display()));
    use std::os::unix::fs::OpenOptionsExt;
    let file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&arguments.file);
    file.map_err(failed)?.write_all(&bytes).map_err(failed)?;
    session.console.say(&format!(
        "wrote {}, {} bytes; review it before you send it",
        arguments.file.display(),
        bytes.len()
    ));
    Ok(())
}

async fn count(client: &Client, path: &str) -> String {
    match client.value(&Ask::get(path).query("limit", "1")).await {
        Err(failure) => failure.refusal().map_or("unknown".to_owned(), |refusal| refusal.reason().to_owned()),
        Ok(list) => {
            let shown = list["items"].as_array().map_or(0, Vec::len) as u64;
            (shown + list["metadata"]["remainingItemCount"].as_u64().unwrap_or(0)).to_string()
        }
    }
}

/// The document without anything that sounds like a secret.
fn redacted(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(walk),
            Value::Object(fields) => {
                for (field, value) in fields {
                    let name = field.to_lowercase();
                    let is_secret =
                        ["password", "passwd", "token", "secret", "privatekey", "apikey", "credential"]
                            .iter()
                            .any(|word| name.contains(word));
                    if (is_secret && value.is_string())
                        || name == "kubectl.kubernetes.io/last-applied-configuration"
                    {
                        *value = json!("(redacted)");
                    } else {
                        walk(value);
                    }
                }
            }
            _ => {}
        }
    }
    walk(&mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sounds_like_a_secret_is_taken_out() {
        let value = json!({"items": [{"bmcPassword": "x", "name": "a", "tokens": {"n": 1}, "apiKey": "k"}]});
        let shown = json!({"items": [{"bmcPassword": "(redacted)", "name": "a", "tokens": {"n": 1}, "apiKey": "(redacted)"}]});
        assert_eq!(redacted(value), shown);
    }
}
